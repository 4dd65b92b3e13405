//! The arguments of a model. JavaScript has parsed the JSON (`ts/tool/input.ts`). Lenient about common mistakes of models (another name for an
//! argument, a number as a string, null for "none"), strict where
//! guessing would be harmful: a value of the wrong type is refused, and the error tells the model
//! what was expected.

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::visible::meant;

/// A value of an argument. No tool takes an array or an object, so their content is left out.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    Text(Rc<str>),
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Value {
    /// The type, as used in error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Array => "an array",
            Value::Object => "an object",
        }
    }
}

/// The arguments of one call, by name.
pub struct Input(pub Vec<(Rc<str>, Value)>);

/// The name of an argument, and aliases that models use.
pub struct Name {
    /// The name in the schema.
    pub real: &'static str,
    /// The aliases.
    pub aliases: &'static [&'static str],
}

/// The path of a file.
pub const FILE_PATH: Name = Name {
    real: "file_path",
    aliases: &["path", "filePath", "file", "filename", "filepath"],
};

/// A directory.
pub const PATH: Name = Name {
    real: "path",
    aliases: &["dir", "directory", "file_path", "filePath", "dir_path"],
};

/// An argument without aliases.
pub const fn plain(real: &'static str) -> Name {
    Name { real, aliases: &[] }
}

fn refuse(message: String) -> Error {
    Error::new(Kind::InvalidArgument, message)
}

impl Input {
    fn get(&self, name: &Name) -> Option<&Value> {
        let find = |wanted: &str| {
            let members = self.0.iter().rev();
            members
                .filter(|(name, value)| **name == *wanted && *value != Value::Null)
                .map(|(_, value)| value)
                .next()
        };
        find(name.real).or_else(|| name.aliases.iter().find_map(|alias| find(alias)))
    }

    /// A string, if there is one.
    pub fn optional_text(&self, name: &Name) -> Result<Option<&str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(refuse(format!(
                "'{}' must be a string, not {}",
                name.real,
                other.kind()
            ))),
        }
    }

    /// A required string; it may be empty.
    pub fn text(&self, name: &Name) -> Result<&str> {
        self.optional_text(name)?.ok_or_else(|| {
            refuse(format!(
                "'{}' is missing; it is required and must be a string",
                name.real
            ))
        })
    }

    /// A required file path.
    pub fn file_path(&self) -> Result<VPath> {
        self.path_of(&FILE_PATH)
    }

    /// A required path, also as answers of tools show it.
    pub fn path_of(&self, name: &Name) -> Result<VPath> {
        Ok(VPath::parse_file(&meant(self.text(name)?))?)
    }

    /// The path of a directory or file; the root if there is none.
    pub fn path(&self) -> Result<VPath> {
        let text = self.optional_text(&PATH)?.unwrap_or("/");
        Ok(VPath::parse(&meant(text))?)
    }

    /// A whole number, zero or more. Negative numbers become zero, fractions are rounded down, and
    /// numbers that are too large saturate.
    pub fn count(&self, name: &Name) -> Result<Option<usize>> {
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => *number,
            Some(Value::Text(text)) if text.trim().is_empty() => return Ok(None),
            Some(Value::Text(text)) => whole_number(text.trim()).ok_or_else(|| {
                let shown: String = text.chars().take(40).collect();
                refuse(format!(
                    "'{}' must be a whole number, zero or more, not \"{shown}\"",
                    name.real
                ))
            })?,
            Some(other) => {
                return Err(refuse(format!(
                    "'{}' must be a whole number, zero or more, not {}",
                    name.real,
                    other.kind()
                )));
            }
        };
        if f64::is_nan(number) {
            return Ok(None);
        }
        // A float-to-integer cast saturates.
        Ok(Some(number as usize))
    }

    /// A boolean; false if it is missing.
    pub fn flag(&self, name: &Name) -> Result<bool> {
        let text = match self.get(name) {
            None => return Ok(false),
            Some(Value::Bool(value)) => return Ok(*value),
            Some(Value::Number(number)) if *number == 0.0 || *number == 1.0 => {
                return Ok(*number == 1.0);
            }
            Some(Value::Text(text)) => text.trim().to_ascii_lowercase(),
            Some(other) => other.kind().to_owned(),
        };
        match text.as_str() {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" | "" => Ok(false),
            _ => {
                let shown: String = text.chars().take(40).collect();
                Err(refuse(format!(
                    "'{}' must be true or false, not {shown}",
                    name.real
                )))
            }
        }
    }
}

/// The arguments in a JSON object.
/// A decimal number in a text, rounded down; a negative one is zero. Not by `f64`, whose parser is
/// as large as a storage's smallest chunk.
fn whole_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = !(whole.is_empty() && fraction.is_empty())
        && [whole, fraction]
            .iter()
            .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number {
        return None;
    }
    let number = whole.bytes().fold(0u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    });
    Some(if text.starts_with('-') {
        0.0
    } else {
        f64::from(number)
    })
}

#[cfg(test)]
pub(super) fn parsed(json: &str) -> Input {
    use serde_json::Value as Json;
    let members: serde_json::Map<String, Json> = serde_json::from_str(json).expect(json);
    let values = members.into_iter().map(|(name, value)| {
        let value = match value {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(number) => Value::Number(number.as_f64().expect("a number")),
            Json::String(text) => Value::Text(text.into()),
            Json::Array(_) => Value::Array,
            Json::Object(_) => Value::Object,
        };
        (name.into(), value)
    });
    Input(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_are_read_as_floats_would_be() {
        for text in [
            "0",
            "7",
            "+7",
            "-7",
            "7.9",
            "-7.9",
            ".5",
            "5.",
            "007",
            "4000000000",
        ] {
            let float: f64 = text.parse().expect("a number");
            assert_eq!(whole_number(text), Some(float.max(0.0).floor()), "{text}");
        }
        for text in [
            "", ".", "-", "+", "1e3", "inf", "nan", "1,5", "0x1", "1 2", "--1",
        ] {
            assert_eq!(whole_number(text), None, "{text}");
        }
        assert_eq!(whole_number("99999999999"), Some(f64::from(u32::MAX)));
    }

    fn read(json: &str) -> Input {
        parsed(json)
    }

    #[test]
    fn slips_of_models_are_understood() {
        for json in [
            r#"{"file_path":"/a"}"#,
            r#"{"path":"/a"}"#,
            r#"{"filePath":"a"}"#,
            r#"{"file_path":null,"path":"//a/"}"#,
        ] {
            assert_eq!(read(json).file_path().expect(json).as_str(), "/a");
        }
        let limit = plain("limit");
        for (json, count) in [
            (r#"{"limit":"10"}"#, Some(10)),
            (r#"{"limit":10.9}"#, Some(10)),
            (r#"{"limit":-3}"#, Some(0)),
            (r#"{"limit":1e300}"#, Some(usize::MAX)),
            (r#"{"limit":""}"#, None),
            (r#"{"limit":null}"#, None),
            ("{}", None),
        ] {
            assert_eq!(read(json).count(&limit).expect(json), count, "{json}");
        }
        let all = plain("all");
        for (json, flag) in [
            (r#"{"all":"True"}"#, true),
            (r#"{"all":1}"#, true),
            (r#"{"all":"false"}"#, false),
            ("{}", false),
        ] {
            assert_eq!(read(json).flag(&all).expect(json), flag, "{json}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_was_expected() {
        let said = |error: Error| error.to_string();
        assert!(
            said(read("{}").file_path().expect_err("missing")).contains("'file_path' is missing")
        );
        let wrong = read(r#"{"file_path":7}"#).file_path().expect_err("wrong");
        assert_eq!(said(wrong), "'file_path' must be a string, not a number");
        let limit = read(r#"{"limit":"many"}"#);
        let wrong = limit.count(&plain("limit")).expect_err("wrong");
        assert!(said(wrong).contains("whole number, zero or more, not \"many\""));
        let flag = read(r#"{"all":{}}"#)
            .flag(&plain("all"))
            .expect_err("wrong");
        assert!(said(flag).contains("must be true or false, not an object"));
    }
}
