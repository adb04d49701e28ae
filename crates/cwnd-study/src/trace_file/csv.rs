//! Traces as comma-separated values (RFC 4180, lines ended by a line feed).

use std::borrow::Cow;
use std::io::{self, Write};

use super::Columns;
use crate::TracedRun;

/// Writes a header and a line for each sample. Numbers are the shortest text that reads back as the same
/// number; an absent value is an empty field.
pub(super) fn write(out: &mut impl Write, runs: &[TracedRun<'_>], columns: &Columns<'_>) -> io::Result<()> {
    write!(out, "algorithm,seed,time_s,flow,cwnd,ssthresh,rtt_s,delivered_bytes,in_flight,state")?;
    for (name, _) in columns.names() {
        write!(out, ",{}", field(&name))?;
    }
    writeln!(out)?;
    for run in runs {
        let (places, states) = (columns.places(run), columns.states(run));
        for sample in &run.trace.samples {
            let algorithm = field(run.algorithm_of(sample.flow));
            let time = run.trace.times[sample.time_index].as_secs_f64();
            write!(out, "{algorithm},{},{time},{},{},", run.seed, sample.flow + 1, sample.cwnd)?;
            if sample.ssthresh.is_finite() {
                write!(out, "{}", sample.ssthresh)?;
            }
            write!(out, ",")?;
            if let Some(rtt) = sample.rtt {
                write!(out, "{}", rtt.as_secs_f64())?;
            }
            write!(out, ",{},{},{}", sample.delivered_bytes, sample.in_flight, sample.state.name())?;
            let lengths = &run.trace.queue_lengths[sample.time_index];
            for place in &places {
                match place {
                    Some(i) => write!(out, ",{}", lengths[*i])?,
                    None => write!(out, ",")?,
                }
            }
            for value in columns.values(&states, sample) {
                match value {
                    Some(value) => write!(out, ",{value}")?,
                    None => write!(out, ",")?,
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Returns a text as one field. A text that a spreadsheet would take for a formula gets an apostrophe before it, which tells
/// spreadsheets that it is text; numbers stay as they are.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text: Cow<'_, str> = if is_formula { format!("'{text}").into() } else { text.into() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn no_text_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+a", "'+a"),
            ("-a", "'-a"),
            ("\ta", "'\ta"),
            ("\ra", "\"'\ra\""),
            ("=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\""),
            // Numbers stay numbers, and texts texts.
            ("-5", "-5"),
            ("+1e-3", "+1e-3"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
