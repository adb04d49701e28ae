//! What is said of files that are wrong.

use super::*;
use proptest::prelude::*;

#[track_caller]
fn said(lines: &str) -> String {
    match parse(lines) {
        Ok(_) => panic!("this is right:\n{lines}"),
        Err(error) => error.to_string(),
    }
}

const AXES: &str = "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]\n\
                    [[axes]]\nname = \"per\"\nkey = \"per\"\nvalues = [0, 1e-5]\n";

#[test]
fn errors_show_their_place_and_what_would_be_right() {
    let files: &[(&str, String)] = &[
        ("not TOML, in two places", "[run\nrepeats = 1\nseed = = 2\n".into()),
        ("a key twice", "title = \"b\"".into()),
        ("unknown keys", "sorce = \"x\"\n[run]\nrepeat = 3\n[scenario]\nalgorithm = \"cubic\"\nbufer = 5\nrepeats = 2".into()),
        ("a key in the wrong table", "[run]\nbuffer = 5\n[scenario]\nalgorithm = \"cubic\"\nseed = 3".into()),
        ("wrong types", "notes = 3\nsource = [1]\n[run]\nrepeats = \"5\"\nseed = -1\n[scenario]\nalgorithm = \"cubic\"\nsack = 1\nrate = true\nflow = \"cubic\"".into()),
        ("wrong units", "[scenario]\nalgorithm = \"cubic\"\nrate = \"1 Gbps\"\ndelay = 5\nbuffer = \"1 bdp\"\nper = 5\nduration = \"100 secs.\"\nflows = 0".into()),
        ("no algorithm", "[scenario]\nbuffer = 5".into()),
        ("an unknown algorithm and parameter", "[[axes]]\nname = \"v\"\nkey = \"algorithm\"\nvalues = [\"cubik\", { name = \"agile-sd\", lamda_max = 4 }, { lambda_max = 4 }]".into()),
        ("delay and rtt", "[scenario]\nalgorithm = \"cubic\"\ndelay = \"5 ms\"\n[[axes]]\nname = \"rtt\"\nkey = \"rtt\"\nvalues = [\"10 ms\"]".into()),
        ("axes without points", "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"a\"\nkey = \"buffer\"\nvalues = []\n[[axes]]\nname = \"b\"\n[[axes]]\nname = \"c\"\nvalues = [1]\n[[axes]]\nname = \"d\"\nkey = \"bufer\"\nvalues = [1]".into()),
        ("labels", "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"a\"\nkey = \"buffer\"\nvalues = [5, 5]\n[[axes]]\nname = \"b\"\nkey = \"per\"\nvalues = [0, 1e-5]\nlabels = [\"none\"]".into()),
        ("a zip of unequal length", "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"path\"\nzip = { rate = [\"10 Mbit/s\", \"100 Mbit/s\"], rtt = [\"10 ms\"] }".into()),
        ("a key that two axes set, and one without effect", "[scenario]\nalgorithm = \"cubic\"\nper = 0\n[[axes]]\nname = \"a\"\nkey = \"per\"\nvalues = [0, 1e-5]\n[[axes]]\nname = \"b\"\npoints = [{ label = \"x\", per = 1e-4 }]\n".into()),
        ("a key without effect", "[scenario]\nalgorithm = \"cubic\"\nper = 0\n[[axes]]\nname = \"a\"\nkey = \"per\"\nvalues = [0, 1e-5]".into()),
        ("cells that cannot be", "[scenario]\nalgorithm = \"cubic\"\ntopology = \"path\"\nwarm-up = \"5 s\"\n[[axes]]\nname = \"duration\"\nkey = \"duration\"\nvalues = [\"5 s\", \"10 s\"]\n[[axes]]\nname = \"access\"\nkey = \"access-rate\"\nvalues = [\"1 Gbit/s\", \"2 Gbit/s\"]".into()),
        ("too many cells", {
            let values: Vec<String> = (1..=400).map(|value| value.to_string()).collect();
            let axis = |name: &str, key: &str| format!("[[axes]]\nname = \"{name}\"\nkey = \"{key}\"\nvalues = [{}]\n", values.join(", "));
            format!("[scenario]\nalgorithm = \"cubic\"\n{}{}", axis("a", "buffer"), axis("b", "access-buffer"))
        }),
        ("skips", format!("{AXES}[[skip]]\nbuffer = 7\n[[skip]]\nbufer = 5\n[[skip]]\n")),
        ("every cell skipped", format!("{AXES}[[skip]]\nbuffer = [5, 10]\n[[skip]]\nbuffer = 5\nper = 0\n")),
        ("figures", format!("{AXES}[[figures]]\nname = \"a b\"\ntitle = \"A\"\nkind = \"line\"\nx = \"bufer\"\ny = \"throughput\"\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"line\"\nx = \"buffer\"\ny = \"mean_packets\"\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"lines\"\n[[figures]]\nname = \"c\"\ntitle = \"C\"\nkind = \"line\"\nx = \"buffer\"\ny = \"goodput_bps\"\nseries = \"buffer\"\nvalue = \"goodput_bps\"")),
        ("axes left open, and laid out twice", format!("{AXES}[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"line\"\nx = \"buffer\"\ny = \"goodput_bps\"\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"heat-map\"\nx = \"buffer\"\ny = \"buffer\"\nvalue = \"goodput_bps\"\n[[tables]]\nname = \"t\"\ntitle = \"T\"\nrows = [\"per\"]\nmetrics = [\"flow2.goodput_bps\", \"cubic.goodput_bps\"]")),
        ("traces that nobody records", format!("{AXES}[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"trace\"\nshow = [\"cwnd\", \"window\"]\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"trace\"\nshow = [\"cwnd\"]\nseries = \"per\"\nwhere = {{ buffer = 5 }}")),
        ("traces of other cells", format!("{AXES}[trace]\nrepeats = 2\nsample = \"0 s\"\nwhere = {{ buffer = 5 }}\n")),
        ("a figure of cells without a trace", format!("{AXES}[trace]\nwhere = {{ buffer = 5 }}\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"trace\"\nshow = [\"cwnd\"]\nseries = \"per\"\nwhere = {{ buffer = 10 }}")),
        ("claims", format!("{AXES}[[claims]]\ntext = \"a\"\nmeasure = \"gain\"\nmetric = \"goodput_bps\"\nexpect = \"more\"\n[[claims]]\ntext = \"b\"\nmeasure = \"mean\"\nmetric = \"goodput_bps\"\naxis = \"per\"\nexpect = \">= 1\"\n[[claims]]\ntext = \"c\"\nmeasure = \"gain\"\nmetric = \"harm\"\naxis = \"per\"\nof = \"0\"\nover = [\"1e-6\"]\nexpect = \"2 to 1\"\n[[claims]]\ntext = \"d\"\nmeasure = \"wins\"\nmetric = \"goodput_bps\"\naxis = \"buffer\"\nof = 5\nover = [10]\nwhere = {{ buffer = 5 }}\nexpect = \"<= 1\"")),
        ("too many repeats and no seeds", format!("[run]\nrepeats = 1000000\nmetrics = [\"goodput_bps\", \"goodput_bps\"]\n{AXES}")),
        ("engines", "[scenario]\nalgorithm = \"cubic\"\nengine = \"sim\"\n[run]\nengine = \"ns3\"".into()),
        ("an engine without effect", "[scenario]\nalgorithm = \"cubic\"\n[run]\nengine = \"sim\"\n[[axes]]\nname = \"engine\"\nkey = \"engine\"\nvalues = [\"sim\", \"kernel\"]".into()),
        ("engines that are no word", "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"other\"\npoints = [{ label = \"a\", engine = 5 }, { label = \"b\", engine = \"kernl\" }]".into()),
        ("no seeds", format!("[run]\nrepeats = 2\nseed = 18446744073709551615\nmetrics = []\n{AXES}")),
    ];
    let mut all = String::new();
    for (name, lines) in files {
        all += &format!("======== {name}\n{}\n\n", said(lines));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn round_trips_in_turn_have_the_place_of_their_list() {
    let error = said("[scenario]\nalgorithm = \"cubic\"\nflows = 2\nrtts = \"10 ms, 80 ms\"");
    for time in ["10 ms", "80 ms"] {
        let message =
            format!("`rtts`: a base round trip of {time} is shorter than the bottleneck's own, 200 ms");
        assert_eq!(error.matches(&message).count(), 1, "{error}");
    }
    assert_eq!(error.matches("a-study.toml:6:8").count(), 2, "{error}");
}

#[test]
fn too_many_samples_have_a_place() {
    let sampled = |more: &str| {
        let scenario = "[scenario]\nalgorithm = \"cubic\"\nduration = \"10 s\"";
        parse(&format!("{scenario}\n[trace]\nsample = \"1 ns\"\n{more}"))
    };
    let expected = "`sample`: one every 1 ns makes 10000000000 samples of 10 s; 10000000 are the most\n --> a-study.toml:7:10\n";
    let error = sampled("").unwrap_err().to_string();
    assert!(error.starts_with(expected) && !error.contains("help"), "{error}");
    let axis = "[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]";
    let error = sampled(&format!("where = {{ buffer = 10 }}\n{axis}")).unwrap_err().to_string();
    assert!(error.starts_with(expected) && error.contains("help: in the cell `10`"), "{error}");
}

#[test]
fn what_cannot_be_read_is_said_without_a_place() {
    let load = |path: &Path| Study::load(path, &check).unwrap_err().to_string();
    let folder = tempfile::tempdir().unwrap();
    assert!(load(&folder.path().join("none.toml")).starts_with("cannot read the study `"));
    assert!(load(folder.path()).contains("cannot read the study"));
    let file = folder.path().join("latin.toml");
    std::fs::write(&file, b"title = \"\xe4\"").unwrap();
    assert!(load(&file).ends_with("latin.toml`: it is not UTF-8 text"));
}

#[test]
fn a_study_is_called_by_its_path() {
    assert_eq!(name(Path::new("/x/studies/agile-sd/throughput.toml")), "agile-sd/throughput");
    assert_eq!(name(Path::new("studies/one.toml")), "one");
    assert_eq!(name(Path::new("work/studies.toml")), "studies");
    assert_eq!(name(Path::new("mine.toml")), "mine");
}

/// Results go to a directory of this name.
#[test]
fn no_name_of_a_study_leads_upwards() {
    assert_eq!(name(Path::new("...toml")), "...toml");
    assert_eq!(name(Path::new("..toml")), "..toml");
    assert_eq!(name(Path::new("studies/a/...toml")), "a/...toml");
    assert_eq!(name(Path::new("studies/../../mine.toml")), "mine");
    assert_eq!(name(Path::new("studies/a/../b/mine.toml")), "b/mine");
    assert_eq!(name(Path::new("studies//etc/mine.toml")), "etc/mine");
    assert_eq!(name(Path::new("..")), "");
}

#[test]
fn many_errors_take_no_longer_than_some() {
    let begin = std::time::Instant::now();
    let text = format!("title = \"a\"\n{}", "a = 1\n".repeat(100_000));
    let error = Study::parse("a", "a.toml", &text, &check).unwrap_err();
    assert_eq!((error.diagnostics.len(), error.more), (20, 99_979));
    // A walk through the file for each error takes a quarter of a minute.
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

#[test]
fn a_text_that_is_no_study_is_refused_in_one_message() {
    let text = "# cwnd\n\n**cwnd** is a laboratory.\n\n- [ ] one\n- [ ] two\n\n| a | b |\n";
    let error = Study::parse("a", "README.md", text, &check).unwrap_err();
    assert_eq!((error.diagnostics.len(), error.more), (1, 0), "{error}");
    assert!(error.to_string().starts_with("this is not TOML: "), "{error}");
}

/// Pieces of studies, so that arbitrary files come further than their first line.
fn piece() -> impl Strategy<Value = String> {
    let keys = FILE.keys.iter().map(|key| key.name);
    let more =
        [&RUN, &TRACE, &keys::AXIS, &keys::FIGURE, &keys::TABLE, &keys::CLAIM, &keys::NETWORK, &keys::LINK];
    let keys: Vec<String> = keys
        .chain(more.iter().flat_map(|section| section.keys.iter().map(|key| key.name)))
        .chain(cwnd_experiment::settings::SETTINGS.iter().map(|setting| setting.key))
        .map(str::to_owned)
        .collect();
    let values = [
        "1",
        "0",
        "-1",
        "1e-5",
        "nan",
        "true",
        "\"\"",
        "\"cubic\"",
        "\"5 ms\"",
        "\"1 BDP\"",
        "[]",
        "[5, 10]",
        "[\"cubic\"]",
        "{}",
        "{ a = 1 }",
        "[{}]",
        "[{ label = \"x\", per = 1 }]",
        "{ buffer = [5] }",
        "{ rate = [\"1 Mbit/s\"] }",
        "1979-05-27",
        "99999999999999999999",
        "\"buffer\"",
        "\"throughput_bps\"",
        "\"line\"",
        "\"mean\"",
        "\"codel:ecn\"",
        "[\"1 s: down\"]",
        "\"a -> b\"",
        "[\"a\", \"b\"]",
        "[{ from = \"a\", to = \"b\" }]",
        "\">= 1\"",
        "0x1F",
        "\"\u{202e}ä\"",
    ];
    let headers = [
        "[scenario]",
        "[network]",
        "[[network.links]]",
        "[run]",
        "[trace]",
        "[[axes]]",
        "[[skip]]",
        "[[figures]]",
        "[[tables]]",
        "[[claims]]",
    ];
    prop_oneof![
        3 => (proptest::sample::select(keys), proptest::sample::select(values.to_vec())).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => proptest::sample::select(headers.to_vec()).prop_map(str::to_owned),
        1 => "[ -~\u{e4}]{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_files_are_answered(pieces in proptest::collection::vec(piece(), 0..25)) {
        if let Err(error) = Study::parse("x", "x.toml", &pieces.join("\n"), &check) {
            prop_assert!(!error.diagnostics.is_empty() && !error.to_string().is_empty());
        }
    }

    #[test]
    fn arbitrary_text_is_answered(text in "\\PC*") {
        prop_assert!(Study::parse("x", "x.toml", &text, &check).is_err());
    }
}
