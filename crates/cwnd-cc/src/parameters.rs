//! Parameters of algorithms: their declaration, and conversion from values by name.
//!
//! An algorithm declares its parameters once, with `parameters!`: name, default, range, unit and source. The
//! macro makes the settings struct, its defaults and the table that documents it, so that they cannot differ.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A number.
    Number(f64),
    /// A switch.
    Switch(bool),
    /// One of a few words.
    Word(String),
}

impl From<&str> for ParameterValue {
    /// Parses a value from a scenario's text: `on` and `off` (or `true` and `false`) are switches, what reads as a number is
    /// one, and the rest are words.
    fn from(text: &str) -> Self {
        match (text, text.parse()) {
            ("on" | "true", _) => ParameterValue::Switch(true),
            ("off" | "false", _) => ParameterValue::Switch(false),
            (_, Ok(number)) => ParameterValue::Number(number),
            _ => ParameterValue::Word(text.to_string()),
        }
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Number(number) => write!(f, "{number}"),
            ParameterValue::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            ParameterValue::Word(word) => f.write_str(word),
        }
    }
}

/// Parameters by name; a missing parameter has its default.
pub type Parameters = BTreeMap<String, ParameterValue>;

/// Kind, default and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number from `min` to `max`, both allowed.
    Number {
        /// Default value.
        default: f64,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// On or off.
    Switch {
        /// Default value.
        default: bool,
    },
    /// One of a few words.
    Word {
        /// Default value.
        default: &'static str,
        /// All values.
        choices: &'static [&'static str],
    },
}

impl ParameterKind {
    /// Returns whether `value` is of this kind and within its range (NaN never is).
    pub fn accepts(&self, value: &ParameterValue) -> bool {
        match (self, value) {
            (ParameterKind::Number { min, max, .. }, ParameterValue::Number(number)) => {
                (*min..=*max).contains(number)
            }
            (ParameterKind::Switch { .. }, ParameterValue::Switch(_)) => true,
            (ParameterKind::Word { choices, .. }, ParameterValue::Word(word)) => {
                choices.contains(&word.as_str())
            }
            _ => false,
        }
    }

    /// Returns the default value.
    pub fn default_value(&self) -> ParameterValue {
        match self {
            ParameterKind::Number { default, .. } => ParameterValue::Number(*default),
            ParameterKind::Switch { default } => ParameterValue::Switch(*default),
            ParameterKind::Word { default, .. } => ParameterValue::Word(default.to_string()),
        }
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterKind::Number { min, max, .. } => write!(f, "a number from {min} to {max}"),
            ParameterKind::Switch { .. } => f.write_str("on or off"),
            ParameterKind::Word { choices, .. } => write!(f, "one of {}", choices.join(", ")),
        }
    }
}

/// One parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name, as a scenario writes it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Unit (`"segments"`, `"s"`, `"1"` for a ratio).
    pub unit: &'static str,
    /// Default and range.
    pub kind: ParameterKind,
    /// Where the default comes from.
    pub source: &'static str,
}

impl Parameter {
    /// Parses a value as a person writes it. Switches are `on`, `true`, `yes`, `off`, `false` and `no`. Text that does not fit the kind
    /// becomes a word, which [`ParameterSet::from_values`] refuses.
    pub fn parse(&self, text: &str) -> ParameterValue {
        let word = || ParameterValue::Word(text.into());
        match self.kind {
            ParameterKind::Number { .. } => text.parse().map_or_else(|_| word(), ParameterValue::Number),
            ParameterKind::Switch { .. } => match text {
                "true" | "on" | "yes" => ParameterValue::Switch(true),
                "false" | "off" | "no" => ParameterValue::Switch(false),
                _ => word(),
            },
            ParameterKind::Word { .. } => word(),
        }
    }
}

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// No parameter has this name.
    Unknown {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The value is outside its range or of another kind.
    Invalid {
        /// Which parameter.
        name: String,
        /// The value given, as text.
        value: String,
        /// What would be right.
        expected: String,
    },
}

impl ParameterError {
    fn unknown(name: &str, table: &[Parameter]) -> Self {
        let known = table.iter().map(|parameter| parameter.name).collect();
        ParameterError::Unknown { name: name.to_string(), known }
    }

    fn invalid(parameter: &Parameter, value: &ParameterValue) -> Self {
        ParameterError::Invalid {
            name: parameter.name.to_string(),
            value: value.to_string(),
            expected: parameter.kind.to_string(),
        }
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::Unknown { name, known } if known.is_empty() => {
                write!(f, "there is no parameter `{name}`: this algorithm has none")
            }
            ParameterError::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`: this algorithm has {}", known.join(", "))
            }
            ParameterError::Invalid { name, value, expected } => {
                write!(f, "parameter `{name}` cannot be `{value}`: it takes {expected}")
            }
        }
    }
}

impl core::error::Error for ParameterError {}

/// The settings of an algorithm, as a struct with one field for each parameter of its table.
pub trait ParameterSet: Default {
    /// The table of parameters: name, meaning, unit, default, range and source.
    const PARAMETERS: &'static [Parameter];

    /// Returns the settings by name.
    fn values(&self) -> Parameters;

    /// Changes one setting; `value` is of the kind that the table states.
    fn set(&mut self, name: &str, value: &ParameterValue);

    /// Creates the settings from `given`, with defaults for the rest.
    ///
    /// # Errors
    /// A name that the table does not have, or a value outside its range (or not a number) is refused.
    fn from_values(given: &Parameters) -> Result<Self, ParameterError> {
        let mut settings = Self::default();
        for (name, value) in given {
            let parameter = Self::PARAMETERS
                .iter()
                .find(|parameter| parameter.name == name)
                .ok_or_else(|| ParameterError::unknown(name, Self::PARAMETERS))?;
            if !parameter.kind.accepts(value) {
                return Err(ParameterError::invalid(parameter, value));
            }
            settings.set(name, value);
        }
        Ok(settings)
    }

    /// Checks the ranges of settings that were made otherwise, by hand or by deserialising.
    ///
    /// # Errors
    /// The first value outside its range is refused.
    fn check(&self) -> Result<(), ParameterError> {
        Self::from_values(&self.values()).map(drop)
    }
}

/// A Rust type that a parameter can have.
pub trait Setting: Sized {
    /// Returns the setting, if the value is of the right kind.
    fn from_value(value: &ParameterValue) -> Option<Self>;
    /// Returns the setting as a value.
    fn to_value(&self) -> ParameterValue;
}

impl Setting for f64 {
    fn from_value(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn to_value(&self) -> ParameterValue {
        ParameterValue::Number(*self)
    }
}

impl Setting for bool {
    fn from_value(value: &ParameterValue) -> Option<Self> {
        match value {
            ParameterValue::Switch(on) => Some(*on),
            _ => None,
        }
    }

    fn to_value(&self) -> ParameterValue {
        ParameterValue::Switch(*self)
    }
}

/// Declares the settings of an algorithm:
///
/// ```text
/// parameters! {
///     /// Settings of an algorithm.
///     pub struct Settings {
///         /// What it does, in a line.
///         name: number(default, min..=max), "unit", "source of the default";
///         other: switch(default), "", "source";
///         third: word(Enum::Default), "", "source";
///     }
/// }
/// ```
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                $field:ident: $kind:ident($($spec:tt)*), $unit:literal, $source:literal;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
        pub struct $name {
            $(
                $(#[doc = $about])+
                pub $field: parameters!(@type $kind($($spec)*)),
            )*
        }

        /// Checks that the struct, its table and its serialised form agree.
        #[cfg(test)]
        #[test]
        #[allow(non_snake_case)]
        fn $name() {
            $crate::testing::check_parameters::<$name>();
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: parameters!(@default $kind($($spec)*)),)* }
            }
        }

        impl $crate::ParameterSet for $name {
            const PARAMETERS: &'static [$crate::Parameter] = &[
                $($crate::Parameter {
                    name: stringify!($field),
                    about: concat!($($about),+).trim_ascii_start(),
                    unit: $unit,
                    kind: parameters!(@kind $kind($($spec)*)),
                    source: $source,
                },)*
            ];

            fn values(&self) -> $crate::Parameters {
                use $crate::Setting;
                [$((stringify!($field).into(), self.$field.to_value()),)*].into_iter().collect()
            }

            fn set(&mut self, name: &str, value: &$crate::ParameterValue) {
                $(
                    if name == stringify!($field)
                        && let Some(setting) = $crate::Setting::from_value(value)
                    {
                        self.$field = setting;
                    }
                )*
            }
        }
    };

    (@type number($($spec:tt)*)) => { f64 };
    (@type switch($($spec:tt)*)) => { bool };
    (@type word($words:ident :: $default:ident)) => { $words };

    (@default number($default:expr, $min:literal ..= $max:literal)) => { $default };
    (@default switch($default:expr)) => { $default };
    (@default word($words:ident :: $default:ident)) => { $words::$default };

    (@kind number($default:expr, $min:literal ..= $max:literal)) => {
        $crate::ParameterKind::Number { default: $default, min: $min, max: $max }
    };
    (@kind switch($default:expr)) => { $crate::ParameterKind::Switch { default: $default } };
    (@kind word($words:ident :: $default:ident)) => {
        $crate::ParameterKind::Word { default: $words::$default.as_str(), choices: $words::CHOICES }
    };
}

/// Declares an enum whose values a scenario writes as words.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $( $(#[$doc])+ #[cfg_attr(feature = "serde", serde(rename = $word))] $variant, )+
        }

        impl $name {
            /// All words.
            pub const CHOICES: &'static [&'static str] = &[$($word),+];

            /// Returns the word.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl $crate::Setting for $name {
            fn from_value(value: &$crate::ParameterValue) -> Option<Self> {
                match value {
                    $($crate::ParameterValue::Word(word) if word == $word => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn to_value(&self) -> $crate::ParameterValue {
                $crate::ParameterValue::Word(self.as_str().into())
            }
        }
    };
}
