use super::queues;
use crate::{
    CoDel, Discipline, DualPi2, FqCoDel, GilbertElliott, Jitter, JitterShape, Loss, Pie, Policer, Rate, Red,
    Time,
};
use std::{fmt::Display, str::FromStr};

#[track_caller]
fn reads<T: FromStr<Err = crate::NotationError> + Display + PartialEq + std::fmt::Debug>(
    text: &str,
    value: T,
) {
    let read: T = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(read, value, "{text}");
    // What is written reads back as the same.
    let written = read.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&value), "{written}");
}

#[track_caller]
fn refused<T: FromStr<Err = crate::NotationError> + std::fmt::Debug>(text: &str) -> String {
    text.parse::<T>().expect_err(text).to_string()
}

#[test]
fn every_parameter_of_every_queue_is_read_and_written() {
    // Whole structs, so that a field which the table does not have breaks this test.
    reads("drop-tail", Discipline::DropTail);
    reads(
        "red:min=20,max=60,p_max=0.2,weight=1,gentle=off,ecn=on",
        Discipline::Red(Red { min: 20.0, max: 60.0, p_max: 0.2, weight: 1.0, gentle: false, ecn: true }),
    );
    let codel = CoDel { target: Time::from_millis(20), interval: Time::from_millis(400), ecn: true };
    reads("codel:target=20 ms,interval=400 ms,ecn", Discipline::CoDel(codel));
    let codel = CoDel { ecn: false, ..codel };
    reads(
        "fq-codel:queues=16,quantum=300,target=20 ms,interval=400 ms,ecn=off",
        Discipline::FqCoDel(FqCoDel { queues: 16, quantum: 300, codel }),
    );
    reads(
        "pie:target=20 ms,update=30 ms,alpha=0.25,beta=2.5,max_burst=0,ecn=on,ecn_most=20 %",
        Discipline::Pie(Pie {
            target: Time::from_millis(20),
            update: Time::from_millis(30),
            alpha: 0.25,
            beta: 2.5,
            max_burst: Time::ZERO,
            ecn: true,
            ecn_most: 0.2,
        }),
    );
    reads(
        "dualpi2:target=20 ms,update=17 ms,alpha=0.2,beta=3,coupling=1,step=500 us,classic_most=1,classic_share=0.2",
        Discipline::DualPi2(DualPi2 {
            target: Time::from_millis(20),
            update: Time::from_millis(17),
            alpha: 0.2,
            beta: 3.0,
            coupling: 1.0,
            step: Time(500_000),
            classic_most: 1.0,
            classic_share: 0.2,
        }),
    );
}

#[test]
fn what_is_left_out_has_the_defaults_of_its_type() {
    let defaults = [
        ("red", Discipline::Red(Red::default())),
        ("codel", Discipline::CoDel(CoDel::default())),
        ("fq-codel", Discipline::FqCoDel(FqCoDel::default())),
        ("pie", Discipline::Pie(Pie::default())),
        ("dualpi2", Discipline::DualPi2(DualPi2::default())),
    ];
    for (name, default) in defaults {
        reads(name, default);
        assert_eq!(default.to_string(), name);
        // The table's defaults, said one by one, are the same.
        let kind = queues().into_iter().find(|kind| kind.name == name).expect(name);
        let said: Vec<String> = kind
            .parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.name, parameter.default.clone().expect("a default")))
            .collect();
        reads(&format!("{name}:{}", said.join(",")), default);
    }
}

#[test]
fn losses_are_numbers_or_kinds() {
    reads("0", Loss::None);
    reads("none", Loss::None);
    reads("0.1 %", Loss::Bernoulli(1e-3));
    reads("bernoulli:1e-5", Loss::Bernoulli(1e-5));
    assert_eq!(Loss::Bernoulli(1e-5).to_string(), "1e-5");
    let chain = GilbertElliott { to_bad: 1e-4, to_good: 0.1, loss_good: 1e-6, loss_bad: 0.5 };
    reads(
        "gilbert-elliott:to_bad=1e-4,to_good=0.1,loss_good=1e-6,loss_bad=50 %",
        Loss::GilbertElliott(chain),
    );
    let chain = GilbertElliott { loss_good: 0.0, loss_bad: 1.0, ..chain };
    reads("gilbert-elliott:to_good=0.1,to_bad=1e-4", Loss::GilbertElliott(chain));
    let written = Loss::GilbertElliott(chain).to_string();
    assert_eq!(written, "gilbert-elliott:to_bad=1e-4,to_good=0.1");
    reads("nth:5,17,100", Loss::Nth(vec![5, 17, 100]));
    reads("nth:1", Loss::Nth(vec![1]));
}

#[test]
fn jitters_take_bare_values() {
    let fifo = |shape| Jitter { shape, reorders: false };
    reads("uniform:5 ms", fifo(JitterShape::Uniform(Time::from_millis(5))));
    reads("exponential:mean=2 ms", fifo(JitterShape::Exponential(Time::from_millis(2))));
    let normal = JitterShape::Normal(Time::from_millis(5), Time::from_millis(1));
    reads("normal:5 ms,1 ms", fifo(normal));
    reads("normal:5 ms,1 ms,reorder", Jitter { shape: normal, reorders: true });
    assert_eq!(Jitter { shape: normal, reorders: true }.to_string(), "normal:5 ms,1 ms,reorder");
    let sometimes = JitterShape::Sometimes(0.01, Time::from_millis(10));
    reads(" sometimes : 0.01 , 10 ms , reorder", Jitter { shape: sometimes, reorders: true });
}

#[test]
fn policers_have_a_rate_and_a_burst() {
    reads("50 Mbit/s, 100 KB", Policer { rate: Rate(50_000_000), burst: 100_000 });
    assert!(refused::<Policer>("50 Mbit/s").ends_with("`50 Mbit/s, 100 KB`"));
    assert!(refused::<Policer>("unlimited, 1 KB").contains("a policer has a rate"));
    assert!(refused::<Policer>("1 Mbit/s, 0").starts_with("column 11: nothing would ever pass"));
}

#[test]
fn errors_say_what_would_be_right() {
    let said = [
        refused::<Discipline>("coddle"),
        refused::<Discipline>("codel:tarket=5 ms"),
        refused::<Discipline>("codel:target=5"),
        refused::<Discipline>("codel:target=0.1 us"),
        refused::<Discipline>("codel:5 ms"),
        refused::<Discipline>("codel:target=5 ms,target=6 ms"),
        refused::<Discipline>("codel:target=5 ms;interval=100 ms"),
        refused::<Discipline>("codel:target=5 ms interval=100 ms"),
        refused::<Discipline>("codel:target="),
        refused::<Discipline>("codel:"),
        refused::<Discipline>(""),
        refused::<Discipline>("drop-tail:limit=5"),
        refused::<Discipline>("drop-tail:5"),
        refused::<Discipline>("red:min=20,max=5"),
        refused::<Discipline>("red:ecn=yes"),
        refused::<Discipline>("red:p_max=2"),
        refused::<Discipline>("red:weight=0"),
        refused::<Discipline>("fq-codel:queues=0"),
        refused::<Discipline>("fq-codel:queues=1e3"),
        refused::<Loss>("gilbert-elliot:to_bad=1"),
        refused::<Loss>("gilbert-elliott:to_bad=0.1"),
        refused::<Loss>("5"),
        refused::<Loss>("-1"),
        refused::<Loss>("nth"),
        refused::<Loss>("nth:5,5"),
        refused::<Loss>("nth:0"),
        refused::<Loss>("nth:x"),
        refused::<Jitter>("5 ms"),
        refused::<Jitter>("uniform"),
        refused::<Jitter>("uniform:5 ms,6 ms"),
        refused::<Jitter>("normal:5 ms"),
        refused::<Jitter>("uniform:5 ms,reoder"),
        refused::<Jitter>("uniform:0"),
    ];
    insta::assert_snapshot!(said.join("\n"));
}
