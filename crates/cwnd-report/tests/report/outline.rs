//! What a page says, as text: headings, captions, tables and links, and of each picture what is written in it.

use scraper::{ElementRef, Html, Node, Selector};

/// Parses a page, which must be correct HTML.
#[track_caller]
pub fn parse(html: &str) -> Html {
    let page = Html::parse_document(html);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    page
}

/// The elements that a selector finds.
pub fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).collect()
}

/// The outline of a page.
pub fn outline(html: &str) -> String {
    let page = parse(html);
    let mut out = String::new();
    let body = all(&page, "body");
    walk(body[0], 0, &mut out);
    out
}

fn walk(element: ElementRef<'_>, depth: usize, out: &mut String) {
    let name = element.value().name();
    let line = |out: &mut String, text: &str| {
        if !text.is_empty() {
            *out += &format!("{}{text}\n", "  ".repeat(depth));
        }
    };
    match name {
        "script" | "style" => {
            let kind = element.value().attr("type").unwrap_or("the page's own");
            return line(out, &format!("[{name}: {kind}]"));
        }
        "svg" => {
            let label = element.value().attr("aria-label").unwrap_or_default();
            return line(out, &format!("[picture: {label}] {}", words(element)));
        }
        "tr" => {
            let cells = element.child_elements().map(|cell| {
                let best = cell.value().attr("class").is_some_and(|class| class.contains("best"));
                format!("{}{}", text(cell), if best { " *" } else { "" })
            });
            return line(out, &format!("| {} |", cells.collect::<Vec<_>>().join(" | ")));
        }
        "a" => {
            return line(
                out,
                &format!("{} -> {}", text(element), element.value().attr("href").unwrap_or("?")),
            );
        }
        "h1" | "h2" | "h3" | "p" | "dt" | "dd" | "pre" | "summary" => {
            return line(out, &format!("{name}: {}", text(element)));
        }
        "section" | "figure" | "nav" | "header" | "main" | "li" => {
            let id = element.value().attr("id").map(|id| format!(" #{id}")).unwrap_or_default();
            line(out, &format!("{name}{id}"));
        }
        _ => {}
    }
    let inner = if matches!(name, "section" | "figure" | "nav" | "header" | "main" | "li") {
        depth + 1
    } else {
        depth
    };
    element.child_elements().for_each(|child| walk(child, inner, out));
}

/// The text of an element in one line.
pub fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is written in a picture, each text once.
fn words(svg: ElementRef<'_>) -> String {
    let mut words: Vec<String> = Vec::new();
    for node in svg.descendants() {
        let Node::Element(element) = node.value() else { continue };
        let Some(own) = ElementRef::wrap(node).filter(|_| element.name() == "text") else { continue };
        let own = text(own);
        if !words.contains(&own) {
            words.push(own);
        }
    }
    words.join(" | ")
}
