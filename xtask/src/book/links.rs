//! Links of Markdown documents: whether each file and anchor that they name is there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Returns a line for each link of the documents that leads nowhere, and for each page of `docs/` that the book's summary lacks.
pub fn broken(root: &Path, documents: &[String]) -> Result<Vec<String>, String> {
    let read = |path: &String| {
        let text = std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        Ok((path.clone(), text))
    };
    let texts: BTreeMap<String, String> = documents.iter().map(read).collect::<Result<_, String>>()?;
    let mut problems = Vec::new();
    let mut in_summary = Vec::new();
    for (path, text) in &texts {
        for place in targets(text) {
            let link = &text[place.clone()];
            let line = text[..place.start].lines().count().max(1);
            match problem(root, &texts, path, link) {
                Ok(file) if path == "docs/SUMMARY.md" => in_summary.push(file),
                Ok(_) => {}
                Err(why) => problems.push(format!("{path}:{line}: {link}: {why}")),
            }
        }
    }
    let pages = texts.keys().filter(|path| path.starts_with("docs/") && *path != "docs/SUMMARY.md");
    for page in pages.filter(|page| !in_summary.contains(page)) {
        problems.push(format!("{page}: docs/SUMMARY.md does not have this page"));
    }
    Ok(problems)
}

/// Returns the file to which a link of a document leads (empty for another site), or why it leads nowhere.
fn problem(root: &Path, texts: &BTreeMap<String, String>, from: &str, link: &str) -> Result<String, String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(String::new());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let file = if file.is_empty() {
        from.to_owned()
    } else {
        resolved(from, file).ok_or("it leaves the repository")?
    };
    if !root.join(&file).exists() {
        return Err("there is no such file".to_owned());
    }
    match texts.get(&file) {
        Some(text) if !anchor.is_empty() && !anchors(text).iter().any(|known| known == anchor) => {
            Err(format!("{file} has no such heading"))
        }
        _ => Ok(file),
    }
}

/// Returns a relative path of a document as a path of the repository.
fn resolved(from: &str, to: &str) -> Option<String> {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in Path::new(to).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path.to_string_lossy().replace('\\', "/"))
}

/// Returns the address in the repository of a link that leaves `docs/`.
pub fn outside_of_docs(from: &str, link: &str, repository: &str) -> Option<String> {
    let (file, anchor) =
        link.split_once('#').map_or((link, String::new()), |(file, a)| (file, format!("#{a}")));
    if file.is_empty() || link.contains("://") {
        return None;
    }
    let file = resolved(from, file).filter(|file| !file.starts_with("docs/"))?;
    Some(format!("{repository}{file}{anchor}"))
}

/// Returns a text with other link targets, where `other` has one.
pub fn rewrite(text: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let (mut rewritten, mut end) = (String::new(), 0);
    for place in targets(text) {
        rewritten += &text[end..place.start];
        rewritten += &other(&text[place.clone()]).unwrap_or_else(|| text[place.clone()].to_owned());
        end = place.end;
    }
    rewritten + &text[end..]
}

/// Returns the places of all link targets: what is between the parentheses of `[text](target)`, outside of code.
fn targets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut offset, mut fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let is_code = |index: usize| line[..index].matches('`').count() % 2 == 1;
            for (index, _) in line.match_indices("](").filter(|(index, _)| !is_code(*index)) {
                let start = index + 2;
                if let Some(length) = line[start..].find([')', ' ', '\n']) {
                    found.push(offset + start..offset + start + length);
                }
            }
        }
        offset += line.len();
    }
    found
}

/// Returns the anchors of a document's headings, as GitHub and mdBook name them.
fn anchors(text: &str) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    let mut anchors = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = slug(heading.trim());
        let earlier = slugs.iter().filter(|known| **known == name).count();
        anchors.push(if earlier == 0 { name.clone() } else { format!("{name}-{earlier}") });
        slugs.push(name);
    }
    anchors
}

/// Returns the anchor of a heading: letters, digits, `-` and `_` in lower case, with `-` for each space.
fn slug(heading: &str) -> String {
    let letters = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => letter.to_lowercase().next(),
        _ => None,
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_outside_of_code() {
        let text = "A [b](c.md#d) `[e](f)` ![g](h.svg)\n```\n[i](j)\n```\n[k](<l>)\n";
        let found: Vec<&str> = targets(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["c.md#d", "h.svg", "<l>"]);
    }

    #[test]
    fn names_anchors() {
        let text = "# A `[run]` table, 6.1!\n## Same\n```\n# code\n```\n## Same\n";
        assert_eq!(anchors(text), ["a-run-table-61", "same", "same-1"]);
    }

    #[test]
    fn reports_what_leads_nowhere() {
        let folder = std::env::temp_dir().join(format!("cwnd-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("docs")).unwrap();
        let summary = "[a](a.md)\n";
        let page =
            "# A\n[self](#a) [none](b.md) [no heading](a.md#b) [out](../../x) [site](https://example.org)\n";
        std::fs::write(folder.join("docs/SUMMARY.md"), summary).unwrap();
        std::fs::write(folder.join("docs/a.md"), page).unwrap();
        std::fs::write(folder.join("docs/c.md"), "").unwrap();
        let documents = ["docs/SUMMARY.md", "docs/a.md", "docs/c.md"].map(str::to_owned);
        let problems = broken(&folder, &documents).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(problems.len(), 4, "{problems:?}");
        for (problem, start) in
            problems.iter().zip(["docs/a.md:2: b.md", "docs/a.md:2: a.md#b", "docs/a.md:2: ../", "docs/c.md"])
        {
            assert!(problem.starts_with(start), "{problem}");
        }
    }

    #[test]
    fn rewrites_links_that_leave_the_book() {
        let other = |link: &str| outside_of_docs("docs/how-to/a.md", link, "R/");
        assert_eq!(rewrite("[a](../b.md) [c](../../C.md#d)", other), "[a](../b.md) [c](R/C.md#d)");
    }
}
