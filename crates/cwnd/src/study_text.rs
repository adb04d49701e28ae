//! Values in the text of a study that a command writes.

use cwnd_experiment::settings::SettingKind;
use cwnd_scenario::notation::toml_string;
use cwnd_study::keys;

/// Returns the value of a setting as TOML: switches and whole numbers as such, all else as a string.
pub fn value(key: &str, value: &str) -> String {
    let kind = keys::find(key).map(|setting| setting.kind);
    let number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) && !value.starts_with('0');
    match (kind, value) {
        (Some(SettingKind::Switch), "on" | "true") => "true".to_owned(),
        (Some(SettingKind::Switch), "off" | "false") => "false".to_owned(),
        (Some(SettingKind::Count | SettingKind::Number), _) if number => value.to_owned(),
        _ => toml_string(value),
    }
}
