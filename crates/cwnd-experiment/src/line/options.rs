//! What happens in one direction of a line beyond its rate, delay and buffer.

use crate::line::problem;
use crate::{Bottleneck, Buffer, BufferContext, ScheduleChoice};
use cwnd_scenario::{
    ByteSize, Counting, DeliveryTrace, Discipline, EcnRemark, Effects, Jitter, LinkSpec, Loss, NodeId,
    Policer, Problem, QueueSpec, Rate, Schedule, Time,
};

/// What one direction of a line does; what is left out it does not do, or has as the direction before it. An effect that is said to be none
/// (`Some(None)`) is not as before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineOptions {
    /// Its own rate; the mean of its trace if it has one, else the line's.
    pub rate: Option<Rate>,
    /// Its own buffer; the line's.
    pub buffer: Option<Buffer>,
    /// Its queue; drop-tail forward, and in reverse as forward.
    pub queue: Option<Discipline>,
    /// What it loses; nothing.
    pub loss: Option<Loss>,
    /// A delay that differs from packet to packet.
    pub jitter: Option<Option<Jitter>>,
    /// Each packet comes out twice with this probability.
    pub duplication: Option<f64>,
    /// Packets leave at whole multiples of this time.
    pub slot: Option<Option<Time>>,
    /// So many ACKs may be thinned to one.
    pub ack_thinning: Option<u32>,
    /// What comes too fast is dropped before the queue.
    pub policer: Option<Option<Policer>>,
    /// How the ECN field of arriving packets is changed.
    pub ecn_remark: Option<Option<EcnRemark>>,
    /// How rate and delay vary; in reverse as forward.
    pub schedule: Option<ScheduleChoice>,
    /// A file that says when packets may leave; its rate is then the file's mean unless it is said.
    pub trace: Option<TraceFile>,
}

/// A file with a delivery trace: its path as it was said, and what is in it once it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceFile {
    /// As it was said.
    pub path: String,
    /// What it says.
    pub trace: Option<DeliveryTrace>,
}

impl LineOptions {
    /// These, and what they leave out as `other` has it.
    pub fn or(&self, other: &LineOptions) -> LineOptions {
        LineOptions {
            rate: self.rate.or(other.rate),
            buffer: self.buffer.clone().or(other.buffer.clone()),
            queue: self.queue.or(other.queue),
            loss: self.loss.clone().or(other.loss.clone()),
            jitter: self.jitter.or(other.jitter),
            duplication: self.duplication.or(other.duplication),
            slot: self.slot.or(other.slot),
            ack_thinning: self.ack_thinning.or(other.ack_thinning),
            policer: self.policer.or(other.policer),
            ecn_remark: self.ecn_remark.or(other.ecn_remark),
            schedule: self.schedule.clone().or(other.schedule.clone()),
            trace: self.trace.clone().or(other.trace.clone()),
        }
    }

    /// The rate that it has if not the line's.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let mean = self.trace.as_ref().and_then(|file| file.trace.as_ref()).map(DeliveryTrace::mean_rate);
        self.rate.or(mean)
    }
}

/// One direction of a line that becomes a link.
pub(crate) struct Direction<'a> {
    pub line: &'a Bottleneck,
    pub reverse: bool,
    pub context: &'a BufferContext,
    pub counting: Counting,
}

impl Direction<'_> {
    /// The link.
    pub fn link(self, name: String, from: NodeId, to: NodeId, delay: Time) -> Result<LinkSpec, Vec<Problem>> {
        let line = self.line;
        let options = if self.reverse { &line.reverse } else { &line.forward };
        let mut problems = Vec::new();
        let rate = options.rate().unwrap_or(line.rate);
        // A buffer in BDPs of a direction is of the rate that the direction has.
        let context = BufferContext { rate, ..*self.context };
        let (place, buffer) = match &options.buffer {
            Some(buffer) => (self.place("buffer"), buffer),
            None => ("buffer".to_owned(), &line.buffer),
        };
        let limit = match options.buffer.is_some() {
            true => problem(&place, buffer.resolve(&context), &mut problems),
            false => problem(&place, buffer.resolve(self.context), &mut problems),
        };
        let discipline = options.queue.or(line.forward.queue).unwrap_or_default();
        let drop_tail = discipline == Discipline::DropTail;
        let threshold = line.ecn_threshold.filter(|_| drop_tail || !self.reverse).zip(limit);
        let ecn_threshold = threshold.and_then(|(threshold, limit)| {
            problem("ecn_threshold", threshold.resolve(limit, context.full_packet), &mut problems)
        });
        let mut wrong = |place: String, message: &str| {
            problems.push(Problem { place, message: message.to_owned() });
        };
        if ecn_threshold.is_some() && !drop_tail {
            let message = "only a drop-tail queue has one: this queue marks by its own rules, with `ecn=on` where it has that";
            wrong("ecn_threshold".to_owned(), message);
        }
        if options.ack_thinning.is_some() && !drop_tail {
            let message = "only a drop-tail queue thins ACKs: say `reverse-queue = \"drop-tail\"` too";
            wrong("ack_thinning".to_owned(), message);
        }
        if let Some(policer) =
            options.policer.flatten().filter(|p| !self.reverse && p.burst < u64::from(context.full_packet))
        {
            let (holds, packet) = (ByteSize(policer.burst), context.full_packet);
            let message =
                format!("it holds {holds}, and packets of {packet} B would never pass: it must hold one");
            wrong("policer".to_owned(), &message);
        }
        let schedule = match (&options.trace, options.schedule.as_ref()) {
            (Some(_), Some(_)) => {
                wrong(self.place("rate_trace"), "a line follows a schedule or a trace, not both");
                None
            }
            (Some(TraceFile { path, trace: Some(trace) }), None) => {
                let mean = trace.mean_rate();
                if options.rate.is_none() && !(Rate::LEAST..=Rate::MOST).contains(&mean) {
                    let (least, most, key) = (Rate::LEAST, Rate::MOST, self.place("rate").replace('_', "-"));
                    let message = format!(
                        "the mean rate of `{path}` is {mean}, and the rate of a link must be {least} to {most}: take another trace, \
                         or give `{key}`, of which buffers in BDP are computed"
                    );
                    wrong(self.place("rate_trace"), &message);
                }
                Some(Schedule::Trace(trace.clone()))
            }
            (Some(TraceFile { path, trace: None }), None) => {
                wrong(self.place("rate_trace"), &format!("the file `{path}` was not read"));
                None
            }
            (None, Some(steps)) => Some(steps.resolve(rate, delay, false)),
            // What varies forward varies in reverse too, unless that has a way of its own.
            (None, None) if self.reverse => {
                let steps = line.forward.schedule.as_ref();
                steps.map(|steps| steps.resolve(rate, delay, options.rate.is_some()))
            }
            (None, None) => None,
        };
        let Some(limit) = limit.filter(|_| problems.is_empty()) else { return Err(problems) };
        Ok(LinkSpec {
            queue: QueueSpec { limit, counting: self.counting, ecn_threshold, discipline },
            loss: options.loss.clone().unwrap_or(Loss::None),
            schedule,
            effects: Effects {
                policer: options.policer.flatten(),
                ack_thinning: options.ack_thinning,
                slot: options.slot.flatten(),
                jitter: options.jitter.flatten(),
                duplication: options.duplication.unwrap_or(0.0),
                ecn_remark: options.ecn_remark.flatten(),
            },
            ..LinkSpec::new(name, from, to, rate, delay)
        })
    }

    fn place(&self, field: &str) -> String {
        if self.reverse { format!("reverse_{field}") } else { field.to_owned() }
    }
}
