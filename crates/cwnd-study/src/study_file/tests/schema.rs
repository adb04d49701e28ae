//! The schema and the parser: what the parser takes the schema takes, and it refuses what it can see.

use super::*;
use crate::schema;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

const ALGORITHMS: [&str; 6] = ["agile-sd", "cubic", "cubic-2008", "elastic", "compound-ns2", "compound"];

fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().expect("a whole number")),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().expect("a number")),
        DeValue::Boolean(on) => json!(on),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| as_json(item.get_ref())).collect(),
        DeValue::Table(table) => table_as_json(table),
    }
}

fn table_as_json(table: &DeTable<'_>) -> Value {
    let fields = table.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref())));
    Value::Object(fields.collect())
}

/// What the schema finds wrong with a text.
fn problems(text: &str) -> Vec<String> {
    let validator = jsonschema::draft202012::new(&schema(&ALGORITHMS)).expect("a schema");
    let document = table_as_json(DeTable::parse(text).expect("TOML").get_ref());
    validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

const HEAD: &str = "title = \"A\"\nquestion = \"B\"\n";

#[test]
fn it_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&schema(&ALGORITHMS)));
}

#[test]
fn it_takes_the_studies_of_the_repository() {
    for name in ["agile-sd/throughput", "agile-sd/cwnd", "elastic/cwnd"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").join(name).with_extension("toml");
        let text = std::fs::read_to_string(path).expect("a study");
        assert_eq!(problems(&text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn it_takes_every_form_that_the_parser_takes() {
    let forms = [
        "[scenario]\nalgorithm = { name = \"agile-sd\", lambda_max = 4 }\nbuffer = 5\nper = 1e-5\nsack = false\necn = true",
        "[scenario]\nmix = \"cubic*2,elastic\"\n[run]\nmetrics = \"elastic.throughput_bps\"",
        "[scenario]\nflow = [\"cubic; start=1 s\", \"elastic\"]\n[run]\nmetrics = [\"flow2.cwnd_max\", \"bottleneck.max_packets\"]",
        "[[axes]]\nname = \"v\"\nkey = \"algorithm\"\nvalues = [\"cubic\", { name = \"elastic\" }, \"agile-sd:lambda_max=4\"]",
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"b\"\nkeys = [\"buffer\", \"access-buffer\"]\nvalues = [5, \"1 BDP\"]\nlabels = [1, \"all\"]",
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"p\"\nzip = { rate = [\"1 Mbit/s\"], rtt = [\"10 ms\"] }",
        "[[axes]]\nname = \"p\"\npoints = [{ label = \"a\", algorithm = \"cubic\" }, { mix = \"cubic*2\" }]\n[[skip]]\np = \"a\"",
        "[scenario]\nalgorithm = \"cubic\"\nqueue = \"red:min=20,max=60\"\nloss = 1e-3\nreverse-loss = \"nth:5\"\nschedule = [\"1 s: down\", \"2 s: up\"]\njitter = \"uniform:5 ms\"",
        "[scenario]\nalgorithm = \"cubic\"\ntopology = \"satellite\"\ncross-flows = 4\nsatellite-loss = \"0.1 %\"\nschedule = \"1 s: down; 2 s: up\"\npolicer = \"5 Mbit/s, 10 KB\"",
        "[scenario]\nalgorithm = \"cubic\"\n[network]\nnodes = [\"a\", \"b\"]\npaths = \"a -> b\"\n[[network.links]]\nfrom = \"a\"\nto = \"b\"\nboth-ways = true\nbuffer = 5\nqueue = \"codel\"\njitter = \"none\"\nslot = \"none\"",
        "[scenario]\nalgorithm = \"cubic\"\n[quick]\nrepeats = 1\naxes = { buffer = 5 }\n[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]\n[[derived]]\nname = \"more\"\ntitle = \"More\"\nmetric = \"goodput_bps\"\naxis = \"buffer\"\nreference = 5\nformula = \"ratio\"\n[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"more\"\nprinted = 1.5\nscale = 100\n[[claims]]\ntext = \"b\"\nnot-testable = \"lost\"\n[[claims]]\ntext = \"c\"\nmeasure = \"gain\"\nmetric = \"more\"\naxis = \"buffer\"\nof = 10\nover = 5\ngain = 0.4",
        "[scenario]\nalgorithm = \"cubic\"\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"model\"\nmodel = \"epoch\"\n[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]\n[[tables]]\nname = \"a\"\ntitle = \"A\"\nrows = \"buffer\"\nmetrics = \"goodput_bps\"\nprinted = [{ buffer = 5, goodput_bps = 3 }]\nscale = { goodput_bps = 1e-6 }",
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10]\n[[tables]]\nname = \"a\"\ntitle = \"A\"\nrows = \"buffer\"\nmetrics = \"goodput_bps\"\nprinted = [{ buffer = 5, goodput_bps = 3 }]\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"line\"\nx = \"buffer\"\ny = \"goodput_bps\"\nprinted = \"a\"\nlines = [{ y = \"9 Mbit/s\", label = \"a\" }, { x = 10, label = \"b\" }]\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"deviation\"\ntable = \"a\"",
        "[scenario]\nalgorithm = \"cubic\"\n[run]\nengine = \"kernel\"",
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"e\"\nkey = \"engine\"\nvalues = [\"sim\", \"kernel\"]",
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"e\"\npoints = [{ label = \"a\" }, { engine = \"kernel\", stack = \"linux\" }]",
    ];
    for form in forms {
        parse(form).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(problems(&format!("{HEAD}{form}")), Vec::<String>::new(), "{form}");
    }
}

#[test]
fn it_refuses_what_it_can_see() {
    let scenario = "[scenario]\nalgorithm = \"cubic\"\n";
    let wrong = [
        "title = \"A\"".to_owned(),
        format!("{HEAD}sorce = \"x\""),
        format!("{HEAD}{scenario}bufer = 5"),
        format!("{HEAD}{scenario}delay = \"1 ms\"\nrtt = \"10 ms\""),
        format!("{HEAD}{scenario}topology = \"ring\""),
        format!("{HEAD}[scenario]\nalgorithm = \"cubik\""),
        format!("{HEAD}{scenario}queue = \"coddle\""),
        format!("{HEAD}{scenario}loss = \"often\""),
        format!("{HEAD}{scenario}per = 0.1\nloss = 0.1"),
        format!(
            "{HEAD}{scenario}[network]\nnodes = [\"a\", \"b\"]\nlinks = [{{ from = \"a\", to = \"b\" }}]"
        ),
        format!(
            "{HEAD}{scenario}[network]\nnodes = [\"a\", \"b\"]\nlinks = [{{ from = \"a\", to = \"b\", flows = 3 }}]\npaths = \"a -> b\""
        ),
        format!("{HEAD}{scenario}[run]\nrepeats = 0"),
        format!("{HEAD}{scenario}[run]\nengine = \"ns3\""),
        format!("{HEAD}{scenario}engine = \"sim\""),
        format!("{HEAD}{scenario}[[axes]]\nname = \"e\"\nkey = \"engine\"\nvalues = [\"ns3\"]"),
        format!("{HEAD}{scenario}[run]\nmetrics = [\"throughput\"]"),
        format!("{HEAD}{scenario}[run]\nmetrics = [\"flow1.throughput\"]"),
        format!("{HEAD}{scenario}[[axes]]\nname = \"a\"\nkey = \"buffer\""),
        format!("{HEAD}{scenario}[[axes]]\nname = \"a\"\nkey = \"bufer\"\nvalues = [1]"),
        format!("{HEAD}{scenario}[[axes]]\nname = \"a\"\nkey = \"topology\"\nvalues = [\"ring\"]"),
        format!("{HEAD}{scenario}[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"lines\""),
        format!(
            "{HEAD}{scenario}[trace]\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"trace\"\nshow = [\"cwnd\"]\nlines = [{{ x = 1, y = 2, label = \"a\" }}]"
        ),
        format!(
            "{HEAD}{scenario}[trace]\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"trace\"\nshow = [\"cwnd\"]\nlines = [{{ x = 1 }}]"
        ),
        format!(
            "{HEAD}{scenario}[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"goodput_bps\"\nexpect = \"much\""
        ),
        format!("{HEAD}{scenario}[quick]\nrepeats = 0"),
        format!(
            "{HEAD}{scenario}[[derived]]\nname = \"a\"\ntitle = \"A\"\nmetric = \"a\"\naxis = \"b\"\nreference = 5\nformula = \"ratio\""
        ),
        format!(
            "{HEAD}{scenario}[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"more\"\nexpect = \">= 1\""
        ),
        format!("{HEAD}{scenario}[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"goodput_bps\""),
        format!(
            "{HEAD}{scenario}[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"goodput_bps\"\nprinted = 1\nexpect = \">= 1\""
        ),
        format!("{HEAD}{scenario}[[claims]]\ntext = \"a\"\nnot-testable = \"lost\"\nexpect = \">= 1\""),
    ];
    for text in wrong {
        assert!(!problems(&text).is_empty(), "{text}");
        assert!(Study::parse("a", "a.toml", &text, &check).is_err(), "{text}");
    }
}
