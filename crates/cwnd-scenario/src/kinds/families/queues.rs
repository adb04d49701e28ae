//! Kinds of queues.

use super::parameter;
use crate::kinds::{
    kind::{Kind, Parameter, any, read, write},
    value::{ParameterValue, Value, ValueType},
};
use crate::{CoDel, Discipline, DualPi2, FqCoDel, NotationError, Pie, Red, Time};
use std::{fmt, str::FromStr};

/// Delays and intervals of a controller.
const SPAN: ValueType = ValueType::Time(Time(1_000), Time::from_secs(100));
/// Gains of a controller, 1/s.
const GAIN: ValueType = ValueType::Number(0.0, 1e6);
/// Lengths of queues, packets.
const LENGTH: ValueType = ValueType::Number(0.0, 1e9);

pub(in crate::kinds) static QUEUES: &[Kind<Discipline>] = &[
    Kind {
        name: "drop-tail",
        title: "Drop-tail",
        about: "First in, first out; packets that do not fit are dropped. With the setting `ecn-threshold` it marks packets \
                that find a longer queue.",
        source: "",
        bare: false,
        is: |queue| matches!(queue, Discipline::DropTail),
        new: || Discipline::DropTail,
        parameters: &[],
        check: any,
    },
    Kind {
        name: "red",
        title: "Random early detection",
        about: "Drops or marks with a probability that grows with the average length of the queue. With `weight=1` the \
                length itself counts; with `min` = `max` and `gentle=off` besides, everything over it is dropped or marked, \
                as DCTCP's switches do.",
        source: "S. Floyd and V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM ToN 1(4), 1993",
        bare: false,
        is: |queue| matches!(queue, Discipline::Red(_)),
        new: || Discipline::Red(Red::default()),
        parameters: &[
            parameter!("min", Discipline::Red(red) => red.min, LENGTH, "packets", "Average length at which drops begin.", "S. Floyd, RED: Discussions of Setting Parameters, 1997"),
            parameter!("max", Discipline::Red(red) => red.max, LENGTH, "packets", "Average length at which the probability is `p_max`.", "the same: three times `min`"),
            parameter!("p_max", Discipline::Red(red) => red.p_max, ValueType::Probability, "", "The probability at `max`.", "the same"),
            parameter!("weight", Discipline::Red(red) => red.weight, ValueType::Number(1e-9, 1.0), "", "Weight of a new length in the average.", "the paper"),
            parameter!("gentle", Discipline::Red(red) => red.gentle, ValueType::Switch, "", "From `max` to twice `max` the probability rises to 1, instead of jumping there.", "S. Floyd, Recommendation on using the gentle variant of RED, 2000"),
            parameter!("ecn", Discipline::Red(red) => red.ecn, ValueType::Switch, "", "Marks packets that can be marked instead of dropping them, until the probability is 1.", "RFC 3168, section 7"),
        ],
        check: |queue| match queue {
            Discipline::Red(red) if red.min > red.max => {
                Err("`min` is over `max`: RED begins at `min` and reaches `p_max` at `max`")
            }
            _ => Ok(()),
        },
    },
    Kind {
        name: "codel",
        title: "Controlled delay",
        about: "Drops or marks while packets have waited longer than a target for a whole interval, the faster the longer \
                it lasts.",
        source: "RFC 8289",
        bare: false,
        is: |queue| matches!(queue, Discipline::CoDel(_)),
        new: || Discipline::CoDel(CoDel::default()),
        parameters: &[
            parameter!("target", Discipline::CoDel(codel) => codel.target, SPAN, "", "The standing delay that is acceptable.", "RFC 8289, section 4.3"),
            parameter!("interval", Discipline::CoDel(codel) => codel.interval, SPAN, "", "How long it may be exceeded before the first drop: a worst-case round trip.", "RFC 8289, section 4.2"),
            parameter!("ecn", Discipline::CoDel(codel) => codel.ecn, ValueType::Switch, "", "Marks packets that can be marked instead of dropping them.", "as in Linux"),
        ],
        check: any,
    },
    Kind {
        name: "fq-codel",
        title: "Flow queues with CoDel",
        about: "Hashes flows into queues that are served by turns, new ones first; each has CoDel. The limit is that of all \
                queues together: who holds most loses.",
        source: "RFC 8290",
        bare: false,
        is: |queue| matches!(queue, Discipline::FqCoDel(_)),
        new: || Discipline::FqCoDel(FqCoDel::default()),
        parameters: &[
            parameter!("queues", Discipline::FqCoDel(fq) => fq.queues, ValueType::Count(1, 65_536), "", "Number of queues into which flows are hashed.", "RFC 8290, section 5.2.5"),
            parameter!("quantum", Discipline::FqCoDel(fq) => fq.quantum, ValueType::Count(64, 1_000_000), "bytes", "Bytes that a queue may send in a round.", "RFC 8290, section 5.2.4: a packet of Ethernet"),
            parameter!("target", Discipline::FqCoDel(fq) => fq.codel.target, SPAN, "", "The standing delay that is acceptable in each of them.", "RFC 8290, section 5.2.2"),
            parameter!("interval", Discipline::FqCoDel(fq) => fq.codel.interval, SPAN, "", "How long it may be exceeded before the first drop.", "RFC 8290, section 5.2.1"),
            parameter!("ecn", Discipline::FqCoDel(fq) => fq.codel.ecn, ValueType::Switch, "", "Marks packets that can be marked instead of dropping them.", "RFC 8290, section 5.2.6"),
        ],
        check: any,
    },
    Kind {
        name: "pie",
        title: "Proportional integral controller, enhanced",
        about: "Drops or marks arrivals with a probability that a controller steers, so that the delay comes to a target.",
        source: "RFC 8033",
        bare: false,
        is: |queue| matches!(queue, Discipline::Pie(_)),
        new: || Discipline::Pie(Pie::default()),
        parameters: &[
            parameter!("target", Discipline::Pie(pie) => pie.target, SPAN, "", "The target delay.", "RFC 8033, section 4.2"),
            parameter!("update", Discipline::Pie(pie) => pie.update, SPAN, "", "Interval between updates of the probability.", "RFC 8033, section 4.2"),
            parameter!("alpha", Discipline::Pie(pie) => pie.alpha, GAIN, "1/s", "Weight of the difference to the target.", "RFC 8033, section 4.2"),
            parameter!("beta", Discipline::Pie(pie) => pie.beta, GAIN, "1/s", "Weight of the trend.", "RFC 8033, section 4.2"),
            parameter!("max_burst", Discipline::Pie(pie) => pie.max_burst, ValueType::Time(Time(0), Time::from_secs(100)), "", "Duration for which a burst passes without drops.", "RFC 8033, section 4.4"),
            parameter!("ecn", Discipline::Pie(pie) => pie.ecn, ValueType::Switch, "", "Marks packets that can be marked instead of dropping them, while the probability is under `ecn_most`.", "RFC 8033, section 5.1"),
            parameter!("ecn_most", Discipline::Pie(pie) => pie.ecn_most, ValueType::Probability, "", "The greatest probability at which packets are marked; above it they are dropped.", "RFC 8033, section 5.1"),
        ],
        check: any,
    },
    Kind {
        name: "dualpi2",
        title: "Dual queue with coupled PI2",
        about: "Two queues for one link: packets that are ECT(1) or CE go into the L queue, which marks early and goes \
                first; the others into a classic queue that a PI2 controller holds at a target. One probability couples \
                both, so that scalable and classic flows share.",
        source: "RFC 9332, appendix A",
        bare: false,
        is: |queue| matches!(queue, Discipline::DualPi2(_)),
        new: || Discipline::DualPi2(DualPi2::default()),
        parameters: &[
            parameter!("target", Discipline::DualPi2(dual) => dual.target, SPAN, "", "The classic queue's target delay.", "RFC 9332, appendix A.1"),
            parameter!("update", Discipline::DualPi2(dual) => dual.update, SPAN, "", "Interval between updates of the base probability.", "RFC 9332, appendix A.1, as Linux has it"),
            parameter!("alpha", Discipline::DualPi2(dual) => dual.alpha, GAIN, "1/s", "Integral gain.", "RFC 9332, appendix A.1, as Linux has it"),
            parameter!("beta", Discipline::DualPi2(dual) => dual.beta, GAIN, "1/s", "Proportional gain.", "RFC 9332, appendix A.1, as Linux has it"),
            parameter!("coupling", Discipline::DualPi2(dual) => dual.coupling, ValueType::Number(0.0, 1e3), "", "The coupling factor.", "RFC 9332, appendix A.1"),
            parameter!("step", Discipline::DualPi2(dual) => dual.step, ValueType::Time(Time(0), Time::from_secs(100)), "", "Delay in the L queue over which its packets are marked.", "as in Linux"),
            parameter!("classic_most", Discipline::DualPi2(dual) => dual.classic_most, ValueType::Probability, "", "The classic queue's greatest probability of marking; beyond it both queues drop.", "RFC 9332, appendix A.1"),
            parameter!("classic_share", Discipline::DualPi2(dual) => dual.classic_share, ValueType::Probability, "", "The classic queue's share of the link while both have packets.", "RFC 9332, appendix A.1"),
        ],
        check: any,
    },
];

impl FromStr for Discipline {
    type Err = NotationError;

    /// A kind of queue, perhaps with parameters: `codel`, `red:min=20,max=60,ecn=on`.
    fn from_str(text: &str) -> Result<Discipline, NotationError> {
        read(QUEUES, "queues", text)
    }
}

impl Discipline {
    /// Returns its name without its parameters, as it is read: `fq-codel`.
    pub fn name(&self) -> &'static str {
        QUEUES.iter().find(|kind| (kind.is)(self)).map_or("", |kind| kind.name)
    }
}

/// As it is read.
impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(QUEUES, self, f)
    }
}
