//! Parses JSON from a model. Written by hand, because a general library would need more wasm than
//! all tools together. It is strict about JSON syntax and limits the depth; the meaning of values
//! is defined in `input`.

/// A JSON value. Objects keep their order; of two members with the same name the last one counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// The type, as used in error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

/// Maximum depth of nested arrays and objects.
const MAX_DEPTH: usize = 64;

/// Parses one value without trailing text. The error contains the reason and the byte offset.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        text,
        at: 0,
    };
    let value = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("something follows the value")),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.step();
        }
    }

    fn wrong(&self, what: &str) -> String {
        format!("{what} (at byte {})", self.at)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.step();
        }
        there
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.wrong("an unknown word"));
        }
        self.at = self.at.saturating_add(word.len());
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("values are nested too deeply"));
        }
        self.space();
        match self.peek() {
            None => Err(self.wrong("the text ends too soon")),
            Some(b'n') => self.word("null", Value::Null),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.wrong("no JSON value begins like this")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.step();
        let mut items = Vec::new();
        self.space();
        if self.eat(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth.saturating_add(1))?);
            self.space();
            if self.eat(b']') {
                return Ok(Value::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.wrong("',' or ']' was expected"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.step();
        let mut members = Vec::new();
        self.space();
        if self.eat(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a name in double quotes was expected"));
            }
            let name = self.string()?;
            self.space();
            if !self.eat(b':') {
                return Err(self.wrong("':' was expected"));
            }
            members.push((name, self.value(depth.saturating_add(1))?));
            self.space();
            if self.eat(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.eat(b',') {
                return Err(self.wrong("',' or '}' was expected"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        ) {
            self.step();
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        digits
            .parse()
            .map(Value::Number)
            .map_err(|_| self.wrong("this is no number"))
    }

    fn string(&mut self) -> Result<String, String> {
        self.step();
        let mut out = String::new();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(run) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.wrong("a string does not end"));
            };
            let until = self.at.saturating_add(run);
            // The range starts after an ASCII byte and ends before one, so both ends are character
            // boundaries.
            out.push_str(self.text.get(self.at..until).unwrap_or_default());
            self.at = until;
            if self.eat(b'"') {
                return Ok(out);
            }
            self.step();
            out.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let letter = self.peek();
        self.step();
        Ok(match letter {
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.wrong("an unknown escape in a string")),
        })
    }

    /// A `\u` escape, or two for a surrogate pair; a lone surrogate becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if !(0xd800..0xe000).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let back = self.at;
        if first < 0xdc00 && self.eat(b'\\') && self.eat(b'u') {
            let second = self.hex()?;
            let pair = char::decode_utf16([first as u16, second as u16]).next();
            if let Some(Ok(letter)) = pair {
                return Ok(letter);
            }
        }
        self.at = back;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, String> {
        let until = self.at.saturating_add(4);
        let digits = self.text.get(self.at..until).unwrap_or_default();
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.wrong("four hexadecimal digits were expected"));
        }
        self.at = until;
        u32::from_str_radix(digits, 16).map_err(|_| self.wrong("this is no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The reference: the library that is too large to ship.
    fn twin(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::Number(number.as_f64().expect("a number")),
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Array(items) => Value::Array(items.iter().map(twin).collect()),
            serde_json::Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), twin(value)))
                    .collect(),
            ),
        }
    }

    #[test]
    fn values_are_read_as_the_large_library_reads_them() {
        for text in [
            "null",
            " true ",
            "[1, -2.5e3, \"a\\u00e9\\ud83d\\ude00\\n\", []]",
            "{\"a\": {\"b\": [false, {}]}, \"c\": \"\\\"\\\\\\/\"}",
            "\"日本\"",
        ] {
            let expected = twin(&serde_json::from_str(text).expect(text));
            assert_eq!(parse(text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        let deep = "[".repeat(500);
        for bad in [
            "",
            "{",
            "[1,",
            "{\"a\"}",
            "{a:1}",
            "nul",
            "\"open",
            "1 2",
            "\"\\x\"",
            "\"\\u12\"",
            "--1",
            "+1",
            "'a'",
            deep.as_str(),
        ] {
            assert!(parse(bad).expect_err(bad).contains("at byte"), "{bad}");
        }
    }

    #[test]
    fn a_lone_surrogate_is_the_replacement_character() {
        for text in ["\"\\ud800\"", "\"\\udc00\""] {
            assert_eq!(parse(text), Ok(Value::Text("\u{fffd}".to_owned())));
        }
        let then = parse("\"\\ud800\\u0041\"").expect("read");
        assert_eq!(then, Value::Text("\u{fffd}A".to_owned()));
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "\\PC*") {
            let json = serde_json::to_string(&text).expect("json");
            prop_assert_eq!(parse(&json), Ok(Value::Text(text)));
        }

        #[test]
        fn no_input_breaks_it(text in "[\\[\\]{}\",:0-9eEtruefalsn\\\\ud -]{0,60}") {
            let _ = parse(&text);
        }
    }
}
