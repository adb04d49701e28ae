//! Floats that may be infinite, for formats whose numbers are finite (JSON): infinity is null.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};

/// Writes a finite number as it is and infinity as null.
pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_none(),
        finite if finite.is_finite() => finite.serialize(serializer),
        other => Err(S::Error::custom(format!("{other} is neither finite nor infinity"))),
    }
}

/// Reads what [`serialize`] wrote.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}
