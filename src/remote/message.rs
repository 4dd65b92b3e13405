//! The bodies that cross: one line of JSON, and the bytes behind it. In the JSON they are
//! `{"bytes": [at, length]}`, counted from the line feed on.

use std::fmt::Write;

use bytes::Bytes;

use super::json::{Value, quote};

/// The type of such a body.
pub const PACKED: &str = "application/vnd.kitbag";
/// The type of a body with one value a line.
pub const LINES: &str = "application/x-ndjson";

/// A request while it is written.
pub struct Writer {
    json: String,
    tail: Vec<u8>,
}

impl Writer {
    /// A request of this operation.
    pub fn new(operation: &str) -> Writer {
        let mut json = String::from("{\"op\":");
        quote(&mut json, operation);
        Writer {
            json,
            tail: Vec::new(),
        }
    }

    fn name(&mut self, name: &str) {
        self.json.push(',');
        quote(&mut self.json, name);
        self.json.push(':');
    }

    /// A field with a text.
    #[must_use]
    pub fn text(mut self, name: &str, text: &str) -> Writer {
        self.name(name);
        quote(&mut self.json, text);
        self
    }

    /// A field with a number, if there is one.
    #[must_use]
    pub fn count(self, name: &str, count: Option<usize>) -> Writer {
        match count {
            Some(count) => self.number(name, count as u64),
            None => self,
        }
    }

    /// A field with a number.
    #[must_use]
    pub fn number(mut self, name: &str, number: u64) -> Writer {
        self.name(name);
        let _ = write!(self.json, "{number}");
        self
    }

    /// A field that is true; none if it is false.
    #[must_use]
    pub fn flag(mut self, name: &str, flag: bool) -> Writer {
        if flag {
            self.name(name);
            self.json.push_str("true");
        }
        self
    }

    /// A field with bytes.
    #[must_use]
    pub fn bytes(mut self, name: &str, bytes: &[u8]) -> Writer {
        self.name(name);
        self.put(Some(bytes));
        self
    }

    /// A field with a list, of which `one` writes each element.
    #[must_use]
    pub fn list<T>(mut self, name: &str, all: &[T], one: impl Fn(&mut Writer, &T)) -> Writer {
        self.name(name);
        self.json.push('[');
        for (at, element) in all.iter().enumerate() {
            if at > 0 {
                self.json.push(',');
            }
            one(&mut self, element);
        }
        self.json.push(']');
        self
    }

    /// An element that is a text.
    pub fn element(&mut self, text: &str) {
        quote(&mut self.json, text);
    }

    /// An element about a file, with bytes under these names.
    pub fn file(&mut self, path: &str, contents: &[(&str, Option<&[u8]>)]) {
        self.json.push_str("{\"path\":");
        quote(&mut self.json, path);
        for (name, bytes) in contents {
            self.name(name);
            self.put(*bytes);
        }
        self.json.push('}');
    }

    fn put(&mut self, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else {
            self.json.push_str("null");
            return;
        };
        let _ = write!(
            self.json,
            "{{\"bytes\":[{},{}]}}",
            self.tail.len(),
            bytes.len()
        );
        self.tail.extend_from_slice(bytes);
    }

    /// The whole body.
    pub fn body(self) -> Bytes {
        let mut body = self.json.into_bytes();
        body.extend_from_slice(b"}\n");
        body.extend_from_slice(&self.tail);
        Bytes::from(body)
    }
}

/// The body of an answer.
pub struct Message {
    /// The value.
    pub value: Value,
    tail: Bytes,
}

impl Message {
    /// Reads a body; `None` if it is none.
    pub fn read(body: &Bytes) -> Option<Message> {
        let end = memchr::memchr(b'\n', body).unwrap_or(body.len());
        let value = Value::parse(std::str::from_utf8(body.get(..end)?).ok()?)?;
        let behind = end.saturating_add(1).min(body.len());
        Some(Message {
            value,
            tail: body.slice(behind..),
        })
    }

    /// The bytes that a value names.
    pub fn bytes(&self, value: &Value) -> Option<Bytes> {
        let [Value::Number(at), Value::Number(length)] = value.list_of("bytes")? else {
            return None;
        };
        let (at, length) = (*at as usize, *length as usize);
        let end = at.checked_add(length)?;
        (end <= self.tail.len()).then(|| self.tail.slice(at..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_bytes_behind_one_line() {
        let body = Writer::new("x")
            .text("a", "1\n\"2\"")
            .count("n", Some(7))
            .count("none", None)
            .flag("yes", true)
            .flag("no", false)
            .bytes("b", b"\n\0")
            .list("files", &["/a", "/b"], |out, path| {
                out.file(path, &[("before", Some(&b"12"[..])), ("after", None)]);
            })
            .body();
        let message = Message::read(&body).expect("a message");
        let value = &message.value;
        assert_eq!(value.text_of("op"), Some("x"));
        assert_eq!(value.text_of("a"), Some("1\n\"2\""));
        assert_eq!(value.number_of("n"), Some(7.0));
        assert_eq!(value.flag_of("yes"), Some(true));
        assert!(value.field("no").is_none() && value.field("none").is_none());
        let bytes = |value: &Value, name| message.bytes(value.field(name)?);
        assert_eq!(bytes(value, "b"), Some(Bytes::from_static(b"\n\0")));
        let second = value.list_of("files").and_then(|files| files.get(1));
        let second = second.expect("two files");
        assert_eq!(bytes(second, "before"), Some(Bytes::from_static(b"12")));
        assert_eq!(second.field("after"), None);
    }

    #[test]
    fn bytes_that_are_not_there_are_none() {
        let body = Bytes::from_static(b"{\"b\":{\"bytes\":[1,9]}}\n123");
        let message = Message::read(&body).expect("a message");
        let named = message.value.field("b").expect("a field");
        assert_eq!(message.bytes(named), None);
        assert!(Message::read(&Bytes::from_static(b"<html>")).is_none());
    }
}
