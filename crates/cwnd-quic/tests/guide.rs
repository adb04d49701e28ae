//! The code of `docs/how-to/quic.md` is that of the example, which is compiled.

#[test]
fn the_guide_has_the_code_of_the_example() {
    let guide = include_str!("../../../docs/how-to/quic.md");
    let example = include_str!("../examples/own_algorithm.rs");
    let blocks: Vec<&str> =
        guide.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(example.contains(block), "the example does not contain:\n{block}");
    }
}
