//! JSON, as far as the answers of a server need it: a reader for values of a limited depth, and a writer
//! of objects. Native builds have `serde_json` in their tests, which check this one.

use std::fmt::Write;

use std::borrow::Cow;

use memchr::memchr2;

/// Deeper values are refused: the reader calls itself for each level.
const DEPTH: usize = 32;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Flag(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object, in the order of its text; of a name that comes twice the first counts.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Reads a whole text; `None` if it is no JSON.
    pub fn parse(text: &str) -> Option<Value> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(DEPTH)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// A field of an object; `None` if it is missing or null.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let Value::Object(fields) = self else {
            return None;
        };
        let found = fields.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value)
            .filter(|value| **value != Value::Null)
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Null | Value::Flag(_) | Value::Number(_) | Value::List(_) | Value::Object(_) => {
                None
            }
        }
    }

    /// A field that is a text.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.field(name)?.text()
    }

    /// A field that is a number, zero or more.
    pub fn number_of(&self, name: &str) -> Option<f64> {
        match self.field(name) {
            Some(Value::Number(number)) if *number >= 0.0 => Some(*number),
            _ => None,
        }
    }

    /// A field that is a flag.
    pub fn flag_of(&self, name: &str) -> Option<bool> {
        match self.field(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A field that is an array.
    pub fn list_of(&self, name: &str) -> Option<&[Value]> {
        match self.field(name) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes past a byte, if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let is_next = self.next() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        let rest = self.text.get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word).then_some(value)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let inside = depth.checked_sub(1)?;
        self.space();
        match self.next()? {
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Flag(true)),
            b'f' => self.word("false", Value::Flag(false)),
            b'"' => self.string().map(Value::Text),
            b'[' => {
                self.at += 1;
                let mut list = Vec::new();
                if self.takes(b']') {
                    return Some(Value::List(list));
                }
                loop {
                    list.push(self.value(inside)?);
                    if self.takes(b']') {
                        return Some(Value::List(list));
                    }
                    self.takes(b',').then_some(())?;
                }
            }
            b'{' => {
                self.at += 1;
                let mut fields = Vec::new();
                if self.takes(b'}') {
                    return Some(Value::Object(fields));
                }
                loop {
                    self.space();
                    let name = self.string()?;
                    self.takes(b':').then_some(())?;
                    fields.push((name, self.value(inside)?));
                    if self.takes(b'}') {
                        return Some(Value::Object(fields));
                    }
                    self.takes(b',').then_some(())?;
                }
            }
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(byte)).count();
        self.at += length;
        number_of(rest.get(..length)?).map(Value::Number)
    }

    fn string(&mut self) -> Option<String> {
        if self.next() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let end = memchr2(b'"', b'\\', rest.as_bytes())?;
            out.push_str(rest.get(..end)?);
            self.at += end + 1;
            if rest.as_bytes().get(end) == Some(&b'"') {
                return Some(out);
            }
            self.escape(&mut out)?;
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let letter = self.next()?;
        self.at += 1;
        out.push(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unit()?,
            _ => return None,
        });
        Some(())
    }

    /// The letter of one or two units of UTF-16; half of a pair alone is U+FFFD, as everywhere.
    fn unit(&mut self) -> Option<char> {
        let first = self.four()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        if self.next() == Some(b'\\') {
            self.at += 1;
            if self.next() == Some(b'u') {
                self.at += 1;
                let second = self.four()?;
                if (0xdc00..0xe000).contains(&second) {
                    let high = first.wrapping_sub(0xd800) << 10;
                    return char::from_u32(0x10000 + (high | second.wrapping_sub(0xdc00)));
                }
            }
        }
        self.at = before;
        Some(char::REPLACEMENT_CHARACTER)
    }

    fn four(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

/// Writes a string with its quotes.
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            letter if letter < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// The string with which a text begins, and what is behind it.
pub fn string_first(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inside = text.strip_prefix('"')?;
    let end = memchr2(b'"', b'\\', inside.as_bytes())?;
    if inside.as_bytes().get(end) == Some(&b'"') {
        let (plain, behind) = inside.split_at_checked(end)?;
        return Some((Cow::Borrowed(plain), behind.get(1..)?));
    }
    let mut reader = Reader { text, at: 0 };
    let read = reader.string()?;
    Some((Cow::Owned(read), text.get(reader.at..)?))
}

/// The number that is written so: exact for counts, sizes and short fractions, others are off by a few units
/// in the last place. What the standard library has is always exact, with a table of 10 KB.
fn number_of(text: &str) -> Option<f64> {
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power_of(power)?),
        None => (text, 0),
    };
    let digits = mantissa.strip_prefix('-');
    let sign = if digits.is_some() { -1.0 } else { 1.0 };
    let digits = digits.unwrap_or(mantissa);
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, "0"));
    if !is_digits(whole) || !is_digits(behind) {
        return None;
    }
    let behind = behind.trim_end_matches('0');
    let (mut value, mut power) = (0_u64, power - i32::try_from(behind.len()).ok()?);
    for digit in whole.bytes().chain(behind.bytes()) {
        match value < 1 << 53 {
            true => value = value * 10 + u64::from(digit - b'0'),
            false => power += 1,
        }
    }
    let value = value as f64;
    Some(match power {
        _ if value == 0.0 => 0.0 * sign,
        0.. => sign * value * 10_f64.powi(power),
        _ => sign * value / 10_f64.powi(-power),
    })
}

/// A power of ten; all that are out of reach are alike.
fn power_of(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !is_digits(digits) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let power = match digits.len() {
        0 => 0,
        1..=4 => digits.parse().ok()?,
        _ => 9999,
    };
    Some(if text.starts_with('-') { -power } else { power })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::cases;
    use proptest::prelude::*;

    fn same(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(flag) => Value::Flag(*flag),
            serde_json::Value::Number(number) => Value::Number(number.as_f64().expect("a number")),
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Array(list) => Value::List(list.iter().map(same).collect()),
            serde_json::Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, one)| (name.clone(), same(one)))
                    .collect(),
            ),
        }
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn it_reads_what_another_library_writes(value in any_value()) {
            prop_assert_eq!(Value::parse(&value.to_string()), Some(same(&value)));
        }

        #[test]
        fn another_library_reads_its_strings(text in any::<String>()) {
            let mut out = String::new();
            quote(&mut out, &text);
            let read: String = serde_json::from_str(&out).expect("JSON");
            prop_assert_eq!(read, text);
        }

        #[test]
        fn it_accepts_no_more_than_another_library(text in "[\\[\\]{},:\"\\\\ntrue0-9.eE+ -]{0,24}") {
            if Value::parse(&text).is_none() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_err());
            }
        }
    }

    #[test]
    fn half_a_letter_is_the_replacement_character() {
        let value = |text: &str| Value::parse(text);
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        assert_eq!(value(r#""\ud83d\ude00""#), text("😀"));
        assert_eq!(value(r#""\ud83dx""#), text("\u{fffd}x"));
        assert_eq!(value(r#""\ude00""#), text("\u{fffd}"));
        assert_eq!(value(r#""\ud83d\n""#), text("\u{fffd}\n"));
    }

    #[test]
    fn numbers_are_those_that_are_written() {
        let number = |text: &str| match Value::parse(text) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let exact = [
            "0",
            "-0",
            "7",
            "-7",
            "1000",
            "9007199254740991",
            "9007199254740992",
            "0.5",
            "-2.25",
            "12.500",
            "1e3",
            "1E+3",
            "15e-1",
            "1e22",
            "0e999999999999",
            "1e-999999999999",
            "0.1",
            "123456.789",
        ];
        for text in exact {
            assert_eq!(number(text), text.parse().ok(), "{text}");
        }
        for text in [
            "", "-", "+1", ".5", "1.", "1e", "1e+", "--1", "1.2.3", "1e1.5",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number("1e999"), Some(f64::INFINITY));
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn other_numbers_are_off_by_little(wanted in any::<f64>().prop_filter("finite", |one| one.is_normal())) {
            let text = format!("{wanted:e}");
            let Some(Value::Number(read)) = Value::parse(&text) else {
                panic!("{text}");
            };
            // Above the largest and below the smallest power of ten, digits are lost.
            if (1e-290..1e290).contains(&wanted.abs()) {
                prop_assert!((read / wanted - 1.0).abs() < 1e-13, "{} {}", text, read);
            }
        }
    }

    #[test]
    fn depth_is_limited_and_a_cut_text_is_refused() {
        assert_eq!(Value::parse(&"[".repeat(100_000)), None);
        let whole = r#"{"a":[1,"b"]}"#;
        for end in 0..whole.len() {
            assert_eq!(Value::parse(&whole[..end]), None, "{end}");
        }
        assert!(Value::parse(whole).is_some());
    }
}
