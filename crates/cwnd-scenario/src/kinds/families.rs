//! The tables: every kind of queue, loss and jitter.

mod jitters;
mod losses;
mod queues;

pub(super) use jitters::JITTERS;
pub(super) use losses::LOSSES;
pub(super) use queues::QUEUES;

/// A parameter that lies at a place within a pattern: how it is read and set there.
macro_rules! parameter {
    (
        $name:literal, $pattern:pat => $place:expr, $takes:expr, $unit:literal, $about:literal, $source:literal
        $(, $required:ident)?
    ) => {
        Parameter {
            name: $name,
            about: $about,
            unit: $unit,
            takes: $takes,
            required: parameter!(@required $($required)?),
            source: $source,
            // A kind's parameters are asked only of what is of the kind.
            get: |spec| match spec {
                $pattern => ParameterValue::value(&$place),
                #[allow(unreachable_patterns)]
                _ => Value::Switch(false),
            },
            set: |spec, value| {
                #[allow(irrefutable_let_patterns)]
                if let $pattern = spec {
                    ParameterValue::take(&mut $place, value);
                }
            },
        }
    };
    (@required) => { false };
    (@required required) => { true };
}

use parameter;
