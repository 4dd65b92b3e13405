//! A statement under construction, and bounds of key ranges. Values are never part of the text:
//! `bind` writes a placeholder and adds the value to a list.

use std::rc::Rc;

use bytes::Bytes;

use crate::storage::sql::dialect::Dialect;

/// A parameter value of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(Rc<str>),
    /// Bytes.
    Bytes(Bytes),
    /// An integer; kitbag's integers stay below 2^53, so that JavaScript can represent them.
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(Rc::from(text))
    }
}

/// A statement with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The SQL text.
    pub sql: String,
    /// The values in the order of their placeholders.
    pub values: Vec<Value>,
    dialect: Dialect,
}

impl Statement {
    /// A statement that begins with this SQL.
    pub fn new(dialect: Dialect, sql: &str) -> Statement {
        Statement {
            sql: sql.to_owned(),
            values: Vec::new(),
            dialect,
        }
    }

    /// Appends trusted SQL.
    pub fn push(&mut self, sql: &str) -> &mut Statement {
        self.sql.push_str(sql);
        self
    }

    /// Appends a placeholder and adds its value.
    pub fn bind(&mut self, value: Value) -> &mut Statement {
        self.values.push(value);
        match self.dialect {
            Dialect::Sqlite => self.sql.push('?'),
            Dialect::Postgres => {
                // The type is always explicit, so that no driver or planner has to guess it.
                let kind = match self.values.last() {
                    Some(Value::Text(_)) => "text",
                    Some(Value::Bytes(_)) => "bytea",
                    _ => "bigint",
                };
                self.sql
                    .push_str(&format!("${}::{kind}", self.values.len()));
            }
        }
        self
    }

    /// Adds a text value.
    pub fn text(&mut self, text: &str) -> &mut Statement {
        self.bind(Value::from(text))
    }

    /// Adds an integer value.
    pub fn number(&mut self, number: u64) -> &mut Statement {
        self.bind(Value::Number(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

/// The smallest string, in byte order, that is greater than every string that starts with `prefix`;
/// `None` if there is none. The byte order of UTF-8 is the order of code points.
pub fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            _ => char::from_u32(u32::from(last).saturating_add(1)),
        };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn placeholders_are_those_of_the_dialect() {
        let written = |dialect| {
            let mut statement = Statement::new(dialect, "SELECT ");
            statement.text("a").push(", ").number(7);
            (statement.sql, statement.values.len())
        };
        assert_eq!(written(Dialect::Sqlite), ("SELECT ?, ?".into(), 2));
        assert_eq!(
            written(Dialect::Postgres),
            ("SELECT $1::text, $2::bigint".into(), 2)
        );
    }

    #[test]
    fn a_directory_ends_where_its_name_with_0_begins() {
        assert_eq!(after_prefix("/src/").as_deref(), Some("/src0"));
        assert_eq!(after_prefix("/a\u{d7ff}").as_deref(), Some("/a\u{e000}"));
        assert_eq!(after_prefix("/\u{10ffff}").as_deref(), Some("0"));
        assert_eq!(after_prefix("\u{10ffff}"), None);
        assert_eq!(after_prefix(""), None);
    }

    proptest! {
        #[test]
        fn the_bound_parts_what_starts_with_the_prefix(prefix in "\\PC{1,6}", other in "\\PC{0,8}") {
            let end = after_prefix(&prefix).expect("no text of only last characters");
            let joined = format!("{prefix}{other}");
            prop_assert!(joined < end);
            let inside = other.as_str() >= prefix.as_str() && other < end;
            prop_assert_eq!(inside, other.starts_with(&prefix));
        }
    }
}
