//! Arbitrary text is an error with a place, never a panic or an endless run.

use cwnd_drill::{Settings, events, parse, run};
use cwnd_scenario::mix;
use std::path::Path;

/// Pieces of the language, which random texts consist of.
const PIECES: &[&str] = &[
    "+0 ",
    "+.1 ",
    "0 ",
    "* ",
    "+0~+1 ",
    "+0...1 ",
    "< ",
    "> ",
    "S ",
    "S. ",
    ". ",
    "P. ",
    "F. ",
    "SEW ",
    "1:1(0) ",
    "0:0(0) ",
    "1:1001(1000) ",
    "ack 1 ",
    "ack 4294967295 ",
    "win 0 ",
    "win 65535 ",
    "<mss 1000,nop,nop,sackOK,nop,wscale 7>",
    "<...>",
    "<nop,nop,sack 1:2 3:4>",
    "<TS val 1 ecr 0>",
    "\n",
    "`sysctl -q net.ipv4.tcp_sack=0`",
    "`../common/defaults.sh`",
    "`tc qdisc add fq`",
    "%{ assert tcpi_snd_cwnd == 10 }%",
    "%{ x = 1; print(x // 0) }%",
    "%{ ((((((1 }%",
    "socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
    "listen(3, 1) = 0",
    "accept(3, ..., ...) = 4",
    "write(4, ..., 3000) = 3000",
    "close(4) = 0",
    "read(4, ..., 10) = 10",
    "connect(3, ..., ...) = 0",
    "--tolerance_usecs=5",
    "[ect0] ",
    "// x\n",
    "/* ",
    "\"",
    "[",
    "{",
    "é",
    "\0",
    "4294967296",
    "<",
    "close(4) = 0\n",
    "write(4, ..., 2147483648) = 0",
];

fn random(seed: u64, count: u64) -> String {
    (0..count).map(|i| PIECES[(mix(seed ^ mix(i)) % PIECES.len() as u64) as usize]).collect()
}

/// Parses and plays a text, whatever comes of it.
fn play(text: &str) {
    if let Ok(script) = parse(text) {
        let _ = run(&script, Settings::default(), &|_| None);
    }
}

/// Changes a few bytes of a text.
fn mutated(text: &str, seed: u64) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for i in 0..1 + mix(seed) % 4 {
        let at = (mix(seed ^ mix(i + 1)) % bytes.len() as u64) as usize;
        let value = mix(seed ^ mix(i + 77));
        match value % 3 {
            0 => bytes[at] = (value >> 8) as u8 & 0x7f,
            1 => {
                bytes.remove(at);
            }
            _ => bytes.insert(at, b"0123456789+.<>()"[(value >> 8) as usize % 16]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn texts(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn random_texts_do_not_panic() {
    for seed in 0..4000 {
        play(&random(seed, 1 + seed % 40));
        let bytes: Vec<u8> = (0..seed % 200).map(|i| mix(seed ^ mix(i)) as u8).collect();
        play(&String::from_utf8_lossy(&bytes));
        let _ = events::run(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn changed_scripts_do_not_panic() {
    for (i, text) in texts("tests/scripts").iter().enumerate() {
        for seed in 0..300 {
            play(&mutated(text, seed ^ mix(i as u64)));
        }
    }
}

#[test]
fn changed_events_do_not_panic() {
    for (i, text) in texts("fixtures").iter().enumerate() {
        for seed in 0..1000 {
            let _ = events::run(&mutated(text, seed ^ mix(i as u64)));
        }
    }
}

#[test]
fn deep_texts_are_refused() {
    for text in ["+0 %{ assert ", "+0 f("] {
        for piece in ["(", "not ", "-", "[", "1+"] {
            play(&format!("{text}{}", piece.repeat(50_000)));
        }
    }
    let sum = format!("+0 %{{ x = {}1 }}%", "1+".repeat(1500));
    play(&sum);
}

#[test]
fn errors_name_the_place_and_what_is_valid() {
    let error = |text: &str| match parse(text) {
        Err(error) => error.to_string(),
        Ok(script) => run(&script, Settings::default(), &|_| None).unwrap_err().to_string(),
    };
    let cases = [
        ("+0 > X. 1:1(0)", "1:6: `X` is not a TCP flag"),
        ("\n+0 < . 1:2(0) ack 1", "2:8: the sequence numbers 1:2 span 1 bytes, but the length is 0"),
        (
            "+0 < S 0:0(0) <md5 ...>",
            "1:16: the TCP option `md5` is not supported; supported options are mss N",
        ),
        ("+0 fork() = 0", "1:4: the system call `fork` is not supported; supported calls are socket"),
        ("`reboot`", "1:2: the command `reboot` is not supported; commands with an effect are sysctl"),
        ("+0 %{ while 1 }%", "1:7: this statement is not supported (found `while`); a statement is `assert"),
        ("+0 %{ assert tcpi_cwnd == 1 }%", "1:14: `tcpi_cwnd` has no value"),
        ("// nothing\n", "1:1: the script has no event; an event is a packet"),
        ("hello", "1:1: expected the time of an event, found `hello`; a time is `+.1`"),
        (
            "--color=red\n",
            "1:1: the option --color is not supported; options with an effect are --tolerance_usecs",
        ),
    ];
    for (text, begin) in cases {
        let error = error(text);
        assert!(error.starts_with(begin), "{text}: {error}");
    }
}

#[test]
fn a_difference_names_the_line_and_the_mechanism() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n\
                +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK>\n+0 > S. 0:0(0) ack 1 <...>\n\
                +.1 < . 1:1(0) ack 1 win 65535\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 20000) = 20000\n";
    let difference = |rest: &str| {
        let script = parse(&format!("{text}{rest}")).unwrap();
        let difference = run(&script, Settings::default(), &|_| None).unwrap().difference.unwrap();
        (difference.place.line, difference.mechanism.to_string())
    };
    assert_eq!(difference("+0 > . 1:11001(11000) ack 1\n"), (8, "slow start growth".to_owned()));
    assert_eq!(difference("+0 %{ assert tcpi_snd_cwnd == 9 }%\n"), (8, "slow start growth".to_owned()));
    let sacks = "+0 > . 1:10001(10000) ack 1\n+.1 < . 1:1(0) ack 1 win 65535 <nop,nop,sack 1001:4001>\n";
    let late = format!("{sacks}+.1 > . 1:1001(1000) ack 1\n");
    assert_eq!(difference(&late), (10, "fast retransmit".to_owned()));
}
