//! What a link can become while it is in use.

use cwnd_link::{
    Discipline, Effects, LinkSpec, Loss, QueueLimit, QueueSpec, Rate, Schedule, Time, check_change,
};
use cwnd_scenario::{DeliveryTrace, Step, Steps};

fn link(queue: &str) -> LinkSpec {
    let mut link = LinkSpec::new("bottleneck", 0, 1, Rate(10_000_000), Time::from_millis(20));
    link.queue.discipline = discipline(queue);
    link
}

fn discipline(text: &str) -> Discipline {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn steps() -> Schedule {
    let step = Step { at: Time::from_secs(1), rate: Rate(1_000_000), delay: Time::from_millis(5) };
    Schedule::Steps(Steps { steps: vec![step], period: None })
}

fn trace(name: &str) -> Schedule {
    Schedule::Trace(DeliveryTrace { name: name.to_owned(), times_ms: [1, 2, 3].into() })
}

#[test]
fn rate_delay_losses_limits_parameters_and_most_effects_can_change() {
    for (queue, other) in
        [("drop-tail", "drop-tail"), ("red", "red:min=20,max=60"), ("fq-codel:ecn=on", "fq-codel")]
    {
        let is = link(queue);
        let limit = QueueLimit::Packets(5);
        let wanted = LinkSpec {
            rate: Rate(1_000),
            delay: Time::ZERO,
            loss: Loss::Bernoulli(0.1),
            queue: QueueSpec { limit, discipline: discipline(other), ..is.queue },
            effects: Effects { slot: Some(Time::from_millis(1)), duplication: 0.5, ..is.effects },
            ..is.clone()
        };
        assert_eq!(check_change(&is, &wanted), Ok(()), "{queue} to {other}");
    }
    let scheduled = LinkSpec { schedule: Some(steps()), ..link("codel") };
    assert_eq!(check_change(&scheduled, &LinkSpec { rate: Rate(1), ..scheduled.clone() }), Ok(()));
    let traced = LinkSpec { schedule: Some(trace("lte")), ..link("codel") };
    assert_eq!(check_change(&traced, &LinkSpec { delay: Time(1), ..traced.clone() }), Ok(()));
}

#[test]
fn what_cannot_change_is_refused_with_what_would_be_valid() {
    let refused = |is: &LinkSpec, wanted: &LinkSpec| check_change(is, wanted).unwrap_err().to_string();
    let plain = link("drop-tail");
    for (is, wanted, message) in [
        (
            "drop-tail",
            "pie:target=20 ms",
            "the queue is drop-tail and cannot become pie while the link is in use; its parameters and its limit can change: \
             give the link a pie queue from the start",
        ),
        (
            "fq-codel",
            "fq-codel:queues=16",
            "FQ-CoDel has 1024 queues and cannot have 16 while the link is in use, because packets wait in them: `queues` must \
             stay 1024",
        ),
    ] {
        assert_eq!(refused(&link(is), &link(wanted)), message);
    }
    let thinned = Effects { ack_thinning: Some(2), ..plain.effects };
    assert_eq!(
        refused(&plain, &LinkSpec { effects: thinned, ..plain.clone() }),
        "ACK thinning cannot change while the link is in use: give the link this ACK thinning from the start"
    );
    for schedule in [steps(), trace("lte")] {
        assert_eq!(
            refused(&plain, &LinkSpec { schedule: Some(schedule), ..plain.clone() }),
            "a schedule or a delivery trace cannot change while the link is in use: give the link this one from the start"
        );
    }
    for (name, called) in [("lte.trace", "the delivery trace `lte.trace`"), ("", "a delivery trace")] {
        let traced = LinkSpec { schedule: Some(trace(name)), ..plain.clone() };
        assert_eq!(
            refused(&traced, &LinkSpec { rate: Rate(1_000), ..traced.clone() }),
            format!(
                "the rate of `bottleneck` cannot change, because {called} says when its packets leave; its delay can: give the \
                 link a rate or a schedule instead of the trace"
            )
        );
    }
}
