//! A writer of JSON: a few lines instead of a library, because the module is downloaded.

use std::fmt::Write;

/// A JSON text that grows.
#[derive(Default)]
pub struct Json(String);

impl Json {
    /// Returns the text.
    pub fn into_text(self) -> String {
        self.0
    }

    /// Writes an object whose members `fill` writes.
    pub fn object(&mut self, fill: impl FnOnce(&mut Json)) {
        self.separate();
        self.0.push('{');
        fill(self);
        self.0.push('}');
    }

    /// Writes a list with what `each` writes of every item.
    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Json, &T)) {
        self.separate();
        self.0.push('[');
        items.iter().for_each(|item| each(self, item));
        self.0.push(']');
    }

    /// Writes a member that is a list.
    pub fn member_list<T>(&mut self, key: &str, items: &[T], each: impl FnMut(&mut Json, &T)) {
        self.key(key);
        self.list(items, each);
    }

    /// Writes a member that is a text.
    pub fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    /// Writes a member that is a number; `null` if it is not finite.
    pub fn number(&mut self, key: &str, value: f64) {
        self.key(key);
        let _ = if value.is_finite() { write!(self.0, "{value}") } else { write!(self.0, "null") };
    }

    /// Writes a text in a list.
    pub fn item(&mut self, value: &str) {
        self.separate();
        self.string(value);
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.string(key);
        self.0.push(':');
    }

    fn separate(&mut self) {
        if !matches!(self.0.bytes().last(), None | Some(b'{' | b'[' | b':' | b',')) {
            self.0.push(',');
        }
    }

    fn string(&mut self, text: &str) {
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => {
                    self.0.push('\\');
                    self.0.push(c);
                }
                c if u32::from(c) < 0x20 => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_writes_is_read_by_a_parser() {
        let mut json = Json::default();
        json.object(|json| {
            json.text("a \"quoted\" key", "line\nbreak, \\ and {");
            json.number("number", -1.5e-9);
            json.number("none", f64::NAN);
            json.member_list("list", &["x", "[", ""], |json, item| json.item(item));
        });
        let value: serde_json::Value = serde_json::from_str(&json.into_text()).expect("it is JSON");
        assert_eq!(value["a \"quoted\" key"], "line\nbreak, \\ and {");
        assert_eq!(value["number"], -1.5e-9);
        assert!(value["none"].is_null());
        assert_eq!(value["list"], serde_json::json!(["x", "[", ""]));
    }
}
