//! The comparison of packets that have left with a packet that a script expects.

use crate::endpoint::Sent;
use crate::script::{EcnMark, Packet, TcpOption};

/// Returns whether `next` can be part of the same expected packet as those before it.
pub(super) fn continues(before: &[Sent], next: &Sent) -> bool {
    let Some(last) = before.last() else { return true };
    let end = last.packet.seq.wrapping_add(last.packet.length);
    next.packet.seq == end && next.packet.length > 0
}

/// Compares; an error names the field that differs.
pub(super) fn packets(expected: &Packet, sent: &[Sent], push: bool, _blocked: bool) -> Result<(), String> {
    let (Some(first), Some(last)) = (sent.first(), sent.last()) else { return Err("nothing".to_owned()) };
    let (first, last) = (&first.packet, &last.packet);
    let length: u64 = sent.iter().map(|sent| u64::from(sent.packet.length)).sum();
    let field = |name: &str, same: bool| if same { Ok(()) } else { Err(name.to_owned()) };
    field("sequence number", first.seq == expected.seq)?;
    field("length", length == u64::from(expected.length))?;
    let contiguous = sent.windows(2).all(|pair| continues(&pair[..1], &pair[1]));
    field("sequence numbers", contiguous)?;
    let (flags, wanted) = (last.flags, expected.flags);
    field("flag SYN", flags.syn == wanted.syn)?;
    field("flag FIN", flags.fin == wanted.fin)?;
    field("flag RST", flags.rst == wanted.rst)?;
    field("flag ACK", flags.ack == wanted.ack)?;
    field("flag ECE", flags.ece == wanted.ece)?;
    field("flag CWR", sent.iter().any(|sent| sent.packet.flags.cwr) == wanted.cwr)?;
    field("acknowledgement", expected.ack.is_none() || last.ack == expected.ack)?;
    if push {
        field("flag PSH", flags.psh == wanted.psh)?;
    }
    if expected.ecn != EcnMark::Unstated {
        field("ECN mark", sent.iter().all(|sent| sent.packet.ecn == expected.ecn))?;
    }
    if let (Some(wanted), Some(options)) = (&expected.options, &last.options) {
        field("TCP options", same_options(wanted, options))?;
    }
    Ok(())
}

/// Returns whether the options are the same. Values of timestamps are not compared: scripts number them as they like.
fn same_options(wanted: &[TcpOption], options: &[TcpOption]) -> bool {
    let same = |pair: (&TcpOption, &TcpOption)| match pair {
        (TcpOption::Timestamps { .. }, TcpOption::Timestamps { .. }) => true,
        (wanted, option) => wanted == option,
    };
    wanted.len() == options.len() && wanted.iter().zip(options).all(same)
}

/// Returns the packets as text, those that follow each other in one.
pub(super) fn joined(sent: &[Sent]) -> String {
    let mut parts: Vec<(Packet, i64)> = Vec::new();
    for (i, one) in sent.iter().enumerate() {
        match parts.last_mut() {
            Some((packet, at)) if i > 0 && continues(&sent[..i], one) && *at == one.at => {
                packet.length += one.packet.length;
                packet.flags = one.packet.flags;
            }
            _ => parts.push((one.packet.clone(), one.at)),
        }
    }
    let parts: Vec<String> =
        parts.iter().map(|(packet, at)| format!("{packet} at {}", seconds(*at))).collect();
    parts.join(", ")
}

/// Returns what is expected as text.
pub(super) fn expectation(packet: &Packet, from: i64, to: i64) -> String {
    match from == to {
        true => format!("{packet} at {}", seconds(from)),
        false => format!("{packet} from {} to {}", seconds(from), seconds(to)),
    }
}

/// Returns a time as text.
pub(super) fn seconds(nanos: i64) -> String {
    format!("{:.6} s", nanos as f64 / 1e9)
}
