//! Scripts of packetdrill.
//!
//! Most changes of single bytes leave no script: to leave out one option of a packet, for example, a whole word and its comma must go. The
//! [`mutate`] of this target therefore changes lines, words, numbers and the items of lists.

use cwnd_drill::{FileError, Place, Settings, parse, report, run};

pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse(text) {
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(is_in(text, error.place), "{error} is not in the text");
        }
        Ok(script) => {
            let play = || run(&script, Settings::default(), &|_| None);
            let outcome = play();
            assert_eq!(format!("{outcome:?}"), format!("{:?}", play()), "two plays of one script differ");
            let places = match &outcome {
                Ok(outcome) => outcome.difference.iter().map(|difference| difference.place).collect(),
                Err(error) => vec![error.place],
            };
            for place in places {
                assert!(is_in(text, place), "{place} is not in the text: {outcome:?}");
            }
            let result = outcome.map_err(FileError::Script);
            assert!(report::text("script", &result, true).ends_with('\n'));
            assert_eq!(report::json("script", &result)["script"], "script");
        }
    }
}

/// Returns whether a place is in a text, or just behind a line of it.
fn is_in(text: &str, place: Place) -> bool {
    let line = text.split('\n').nth((place.line as usize).wrapping_sub(1));
    line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&(place.column as usize)))
}

/// Lines that scripts are made of.
const LINES: [&str; 40] = [
    "--tolerance_usecs=500",
    "--mss=536",
    "`sysctl -q net.ipv4.tcp_sack=0`",
    "`sysctl -q net.ipv4.tcp_timestamps=0`",
    "`sysctl -q net.ipv4.tcp_ecn=1`",
    "`sysctl -q net.ipv4.tcp_congestion_control=cubic`",
    "`sysctl -q net.ipv4.tcp_rmem=\"4096 131072 15728640\"`",
    "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
    "+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
    "+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"cubic\", 5) = 0",
    "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0",
    "+0 setsockopt(4, SOL_SOCKET, SO_MAX_PACING_RATE, [20000], 4) = 0",
    "+0 bind(3, ..., ...) = 0",
    "+0 listen(3, 1) = 0",
    "+0 connect(3, ..., ...) = 0",
    "+0 accept(3, ..., ...) = 4",
    "+0 write(4, ..., 1000) = 1000",
    "+0 write(4, ..., 40000) = 40000",
    "+0 read(4, ..., 1000) = 1000",
    "+0 shutdown(4, SHUT_WR) = 0",
    "+0 close(4) = 0",
    "+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>",
    "+0 < SEW 0:0(0) win 65535 <mss 1000,sackOK,TS val 100 ecr 0,nop,wscale 7>",
    "+0 < S 0:0(0) win 65535",
    "+0 > S. 0:0(0) ack 1 <...>",
    "+.05 < . 1:1(0) ack 1 win 1000",
    "+.05 < . 1:1(0) ack 1001 win 1000",
    "+.05 < . 1:1(0) ack 1 win 1000 <nop,nop,sack 2001:3001>",
    "+.05 < .E 1:1(0) ack 1001 win 1000",
    "+.05 < P. 1:1001(1000) ack 1 win 1000",
    "+.05 < [ce] P. 1:1001(1000) ack 1 win 1000",
    "+.05 < F. 1:1(0) ack 1 win 1000",
    "+0 < R. 1:1(0) ack 1 win 0",
    "+0 > . 1:10001(10000) ack 1",
    "+0 > P. 1:1001(1000) ack 1",
    "* > . 1:1(0) ack 1",
    "+.2~+.3 > . 1:1001(1000) ack 1",
    "+0 %{ assert tcpi_snd_cwnd == 10 }%",
    "+0 %{ print(tcpi_snd_ssthresh, tcpi_ca_state) }%",
    "+1 %{ x = tcpi_unacked + 1; assert x > 0, x }%",
];

/// Items of the lists in `<>`.
const OPTIONS: [&str; 10] = [
    "mss 1000",
    "mss 1460",
    "mss 536",
    "nop",
    "sackOK",
    "wscale 7",
    "wscale 0",
    "TS val 100 ecr 0",
    "sack 1001:2001",
    "sack 2001:3001 4001:5001",
];

/// Flags of packets.
const FLAGS: [&str; 12] = ["S", "S.", "SEW", "SE.", ".", "P.", "F.", "R", "R.", ".E", ".W", "PE."];

/// Numbers at which something may change.
const NUMBERS: [u64; 12] =
    [0, 1, 2, 3, 1000, 1460, 32767, 65535, 65536, 2_147_483_647, 2_147_483_648, 4_294_967_295];

/// Changes a script in one to three places. Returns nothing if the bytes are no text.
pub fn mutate(data: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut random = Random(u64::from(seed));
    let mut lines: Vec<String> = std::str::from_utf8(data).ok()?.split('\n').map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(lines.len());
        match random.below(9) {
            0 if lines.len() > 1 => _ = lines.remove(at),
            1 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            2 => {
                let line = lines[random.below(lines.len())].clone();
                lines.insert(at, line);
            }
            3 => lines.insert(at, LINES[random.below(LINES.len())].to_owned()),
            4 | 5 => {
                // Any line with a list, if there is one: most lines have none.
                let with_list: Vec<usize> =
                    (0..lines.len()).filter(|line| list(&lines[*line]).is_some()).collect();
                if !with_list.is_empty() {
                    let line = &mut lines[with_list[random.below(with_list.len())]];
                    *line = change_list(line, &mut random);
                }
            }
            6 | 7 => lines[at] = change_number(&lines[at], &mut random),
            _ => lines[at] = change_word(&lines[at], &mut random),
        }
    }
    Some(lines.join("\n").into_bytes())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Returns what is between the last `<` of a line and the `>` at its end.
fn list(line: &str) -> Option<(&str, &str)> {
    line.trim_end().strip_suffix('>')?.rsplit_once('<')
}

/// Removes, adds, repeats or replaces an item of a list.
fn change_list(line: &str, random: &mut Random) -> String {
    let Some((before, items)) = list(line) else { return line.to_owned() };
    let mut items: Vec<&str> = items.split(',').collect();
    let at = random.below(items.len());
    match random.below(5) {
        // A list without items is left out as a whole.
        0 | 1 => _ = items.remove(at),
        2 => items.insert(at, random.pick(&OPTIONS)),
        3 => items[at] = random.pick(&OPTIONS),
        _ => {
            let other = random.below(items.len());
            items.swap(at, other);
        }
    }
    if items.is_empty() { before.trim_end().to_owned() } else { format!("{before}<{}>", items.join(",")) }
}

/// Replaces a number of a line.
fn change_number(line: &str, random: &mut Random) -> String {
    let digits = |c: char| c.is_ascii_digit();
    let starts: Vec<usize> = (line.char_indices())
        .filter(|(i, c)| digits(*c) && !line[..*i].ends_with(digits))
        .map(|(i, _)| i)
        .collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let start = starts[random.below(starts.len())];
    let end = line[start..].find(|c| !digits(c)).map_or(line.len(), |length| start + length);
    let old: u64 = line[start..end].parse().unwrap_or(0);
    let new = match random.below(7) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.wrapping_add(1000),
        3 => old.wrapping_sub(1000),
        4 => old.wrapping_mul(2),
        5 => old / 2,
        _ => NUMBERS[random.below(NUMBERS.len())],
    };
    format!("{}{new}{}", &line[..start], &line[end..])
}

/// Removes, repeats or replaces a word of a line.
fn change_word(line: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = random.below(words.len());
    match random.below(4) {
        0 => _ = words.remove(at),
        1 => words.insert(at, words[at]),
        2 => words[at] = random.pick(&FLAGS),
        // The flags follow the direction.
        _ => {
            if let Some(direction) = words.iter().position(|word| matches!(*word, "<" | ">"))
                && let Some(flags) = words.get_mut(direction + 1)
            {
                *flags = random.pick(&FLAGS);
            }
        }
    }
    words.join(" ")
}
