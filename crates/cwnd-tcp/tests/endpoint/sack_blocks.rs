//! What a receiver reports: RFC 2018 sections 3 and 4.

use crate::bench::{BARE_ACK, Far, only, receiver_config};
use cwnd_tcp::ReceiverConfig;

/// The blocks of the ACK that each segment causes.
fn reports(config: ReceiverConfig, segments: &[u32]) -> Vec<Vec<(u32, u32)>> {
    let mut far = Far::new(config);
    let ack = |(i, &segment): (usize, &u32)| only(far.data(1000 + i as u64, segment)).blocks;
    segments.iter().enumerate().map(ack).collect()
}

#[test]
fn the_block_of_the_latest_segment_comes_first() {
    // Section 4: the first block holds the segment that triggered the ACK, the others repeat the blocks
    // reported most recently. 0 arrives, 1, 3 and 5 do not.
    let seen = reports(receiver_config(), &[0, 2, 4, 6]);
    assert_eq!(seen, [vec![], vec![(2, 3)], vec![(4, 5), (2, 3)], vec![(6, 7), (4, 5), (2, 3)]]);
}

#[test]
fn an_older_block_that_grows_comes_first_again() {
    // 3 joins (2, 3): that block is now the latest.
    let seen = reports(receiver_config(), &[0, 2, 5, 3]);
    assert_eq!(seen.last().unwrap(), &[(2, 4), (5, 6)]);
}

#[test]
fn a_segment_between_two_blocks_merges_them() {
    let seen = reports(receiver_config(), &[0, 2, 4, 7, 3]);
    assert_eq!(seen.last().unwrap(), &[(2, 5), (7, 8)]);
}

#[test]
fn a_hole_filled_takes_its_block_away() {
    // 1 fills the hole under (2, 4): everything up to 4 is acknowledged, (6, 7) is left. 4 and 5 then
    // acknowledge up to 7, and nothing is left.
    let mut far = Far::new(receiver_config());
    for (i, segment) in [0, 2, 3, 6].into_iter().enumerate() {
        far.data(1000 + i as u64, segment);
    }
    let ack = only(far.data(1010, 1));
    assert_eq!((ack.next, ack.blocks), (4, vec![(6, 7)]));
    far.data(1011, 4);
    let ack = only(far.data(1012, 5));
    assert_eq!((ack.next, ack.blocks), (7, vec![]));
    assert_eq!(far.receiver.in_order(), 7);
}

#[test]
fn four_blocks_fit_without_timestamps_and_three_with() {
    // Section 3: 40 bytes of options hold four blocks (2 + 8*4 = 34); timestamps take 12 (with padding), so
    // that three are left (2 + 8*3 = 26). Holes at 1, 3, 5, 7, 9.
    let segments = [0, 2, 4, 6, 8, 10];
    for (most, expected) in
        [(4, vec![(10, 11), (8, 9), (6, 7), (4, 5)]), (3, vec![(10, 11), (8, 9), (6, 7)]), (0, vec![])]
    {
        let config = ReceiverConfig { sack_blocks: most, ..receiver_config() };
        assert_eq!(reports(config, &segments).last().unwrap(), &expected);
    }
}

#[test]
fn blocks_weigh_what_they_are_configured_to() {
    // 4 bytes for any, 8 for each: 50, 62, 70, 78, and no more than three.
    let mut far = Far::new(receiver_config());
    let segments = [0, 2, 4, 6, 8].into_iter().enumerate();
    let sizes: Vec<u16> =
        segments.map(|(i, segment)| only(far.data(1000 + i as u64, segment)).size).collect();
    assert_eq!(sizes, [0, 12, 20, 28, 28].map(|extra| BARE_ACK as u16 + extra));
}

#[test]
fn a_block_that_was_crowded_out_is_still_held() {
    // With room for three, (2, 3) is not reported after 4, 6 and 8. 1 then acknowledges 2 as well.
    let mut far = Far::new(receiver_config());
    for (i, segment) in [0, 2, 4, 6, 8].into_iter().enumerate() {
        far.data(1000 + i as u64, segment);
    }
    assert_eq!(only(far.data(1010, 1)).next, 3);
}

#[test]
fn the_first_block_is_whole_however_many_there_are() {
    // Section 4: the first block is the contiguous block of data with the segment that triggered the ACK.
    // After 2, 4, ..., 24 (twelve blocks) segment 3 joins the two oldest to 2..5.
    let mut segments: Vec<u32> = (0..=12).map(|i| 2 * i).collect();
    segments.push(3);
    let seen = reports(receiver_config(), &segments);
    assert_eq!(seen.last().unwrap()[0], (2, 5));
}

#[test]
fn a_held_segment_that_comes_again_puts_its_block_first() {
    // Section 4: the first block must hold the segment that triggered the ACK unless the ACK number
    // advanced, so a copy of 2 brings (2, 3) to the front.
    let seen = reports(receiver_config(), &[0, 2, 4, 2]);
    assert_eq!(seen.last().unwrap(), &[(2, 3), (4, 5)]);
}

#[test]
fn a_segment_below_the_window_is_acknowledged_again() {
    // RFC 9293 section 3.10.7.4: an unacceptable segment is answered by an ACK of what is expected. With the
    // blocks held; the copy counts as a duplicate.
    let mut far = Far::new(receiver_config());
    for (i, segment) in [0, 1, 3].into_iter().enumerate() {
        far.data(1000 + i as u64, segment);
    }
    let ack = only(far.data(1010, 0));
    assert_eq!((ack.next, ack.blocks), (2, vec![(3, 4)]));
    let counts = far.receiver.counts;
    assert_eq!((counts.received, counts.duplicates, counts.wire_bytes), (3, 1, 3 * 1050));
}

#[test]
fn far_segments_are_held_across_many_words() {
    // A hole at 1, then 2..=700 arrive from the top down; every ACK names one block, which grows downwards.
    let mut far = Far::new(receiver_config());
    far.data(1000, 0);
    for segment in (2..=700).rev() {
        let ack = only(far.data(2000, segment));
        assert_eq!((ack.next, ack.blocks), (1, vec![(segment, 701)]));
    }
    let ack = only(far.data(3000, 1));
    assert_eq!((ack.next, ack.blocks), (701, vec![]));
}

#[test]
fn a_copy_of_a_segment_that_is_not_listed_any_more_puts_its_block_first() {
    // Section 4 again, with so many blocks (2, 4, ..., 24) that the oldest are not remembered as recent: a copy
    // of 2 triggers the ACK, so (2, 3) is its first block.
    let mut segments: Vec<u32> = (0..=12).map(|i| 2 * i).collect();
    segments.push(2);
    let seen = reports(receiver_config(), &segments);
    assert_eq!(seen.last().unwrap()[0], (2, 3));
}

#[test]
fn a_range_that_is_crowded_out_is_told_of_again_when_it_is_remembered() {
    // 0 is missing; 2, 4, 6, 8 come. 7 joins 6 and 8: of the ranges so far, one that remembers three knows (4, 5) only.
    for (sack_memory, expected) in [(3, &[(6, 9), (4, 5)][..]), (8, &[(6, 9), (4, 5), (2, 3)])] {
        let mut far = Far::new(ReceiverConfig { sack_memory, ..receiver_config() });
        let mut told = Vec::new();
        for (at, seq) in [2, 4, 6, 8, 7].into_iter().enumerate() {
            told = far.data(100 + at as u64, seq).remove(0).blocks;
        }
        assert_eq!(told, expected);
        // What was crowded out is held all the same: 3 joins 2 and 4.
        assert_eq!(far.data(200, 3).remove(0).blocks[0], (2, 5));
    }
}
