//! Parses the arguments of a model. Lenient about common mistakes of models (another name for an
//! argument, a number as a string, null for "none", the whole input as a string), strict where
//! guessing would be harmful: a value of the wrong type is refused, and the error tells the model
//! what was expected.

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::tool::json::{self, Value};

/// The arguments of one call.
pub struct Input(Vec<(String, Value)>);

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
    /// Parses the input of a call. No text, null and an empty text are an empty input.
    pub fn parse(text: &str) -> Result<Input> {
        if text.trim().is_empty() {
            return Ok(Input(Vec::new()));
        }
        let mut value = json::parse(text)
            .map_err(|why| refuse(format!("The input is not valid JSON: {why}")))?;
        // Some models send the object as a JSON string.
        if let Value::Text(inner) = &value {
            if inner.trim().is_empty() {
                return Ok(Input(Vec::new()));
            }
            if let Ok(object @ Value::Object(_)) = json::parse(inner) {
                value = object;
            }
        }
        match value {
            Value::Object(members) => Ok(Input(members)),
            Value::Null => Ok(Input(Vec::new())),
            other => Err(refuse(format!(
                "The input must be a JSON object with the tool's parameters, not {}",
                other.kind()
            ))),
        }
    }

    fn get(&self, name: &Name) -> Option<&Value> {
        let find = |wanted: &str| {
            let members = self.0.iter().rev();
            members
                .filter(|(name, value)| name == wanted && *value != Value::Null)
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
        Ok(VPath::parse_file(self.text(&FILE_PATH)?)?)
    }

    /// The path of a directory or file; the root if there is none.
    pub fn path(&self) -> Result<VPath> {
        Ok(VPath::parse(self.optional_text(&PATH)?.unwrap_or("/"))?)
    }

    /// A whole number, zero or more. Negative numbers become zero, fractions are rounded down, and
    /// numbers that are too large saturate.
    pub fn count(&self, name: &Name) -> Result<Option<usize>> {
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => *number,
            Some(Value::Text(text)) if text.trim().is_empty() => return Ok(None),
            Some(Value::Text(text)) => text.trim().parse().map_err(|_| {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Input {
        Input::parse(json).expect(json)
    }

    #[test]
    fn slips_of_models_are_understood() {
        for json in [
            r#"{"file_path":"/a"}"#,
            r#"{"path":"/a"}"#,
            r#"{"filePath":"a"}"#,
            r#"{"file_path":null,"path":"//a/"}"#,
            r#""{\"file_path\":\"/a\"}""#,
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
            ("", None),
            ("null", None),
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
        for bad in ["[]", "7", "{", r#""x""#] {
            assert!(Input::parse(bad).is_err(), "{bad}");
        }
    }
}
