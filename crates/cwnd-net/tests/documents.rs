//! The how-to page has the example of the README, which is compiled as a documentation test.

use std::fs;
use std::path::Path;

#[test]
fn the_page_shows_the_example_that_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(page) = fs::read_to_string(folder.join("../../docs/how-to/test-your-transport.md")) else {
        return; // A package of the crate alone has no pages.
    };
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let start = readme.find("```rust").unwrap();
    let example = &readme[start..start + readme[start..].find("\n# Ok").unwrap()];
    assert!(page.contains(example), "copy the example of README.md to docs/how-to/test-your-transport.md");
}
