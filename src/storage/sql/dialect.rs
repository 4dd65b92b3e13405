//! The differences between PostgreSQL and SQLite: placeholders, type names and functions. The table
//! name, which cannot be a parameter, and the namespace are validated here before they are used.

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};

/// The SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL and compatible databases.
    Postgres,
    /// SQLite and databases based on it: D1, Durable Objects, libsql.
    Sqlite,
}

impl Dialect {
    /// The dialect of that name.
    pub fn parse(name: &str) -> Result<Dialect> {
        match name {
            "postgres" => Ok(Dialect::Postgres),
            "sqlite" => Ok(Dialect::Sqlite),
            _ => Err(refuse(
                "dialect must be \"postgres\" or \"sqlite\"".to_owned(),
            )),
        }
    }

    /// Maximum number of parameters in one statement. PostgreSQL counts them in 16 bits; D1 and
    /// Durable Objects accept a hundred, and plain SQLite uses the same limit here.
    pub fn most_parameters(self) -> usize {
        match self {
            Dialect::Postgres => 7_000,
            Dialect::Sqlite => 100,
        }
    }

    /// The text type that sorts by bytes.
    pub fn text_type(self) -> &'static str {
        match self {
            Dialect::Postgres => "text COLLATE \"C\"",
            Dialect::Sqlite => "TEXT COLLATE BINARY",
        }
    }

    /// The binary type.
    pub fn bytes_type(self) -> &'static str {
        match self {
            Dialect::Postgres => "bytea",
            Dialect::Sqlite => "BLOB",
        }
    }

    /// The 64-bit integer type.
    pub fn number_type(self) -> &'static str {
        match self {
            Dialect::Postgres => "bigint",
            Dialect::Sqlite => "INTEGER",
        }
    }
}

/// A table name, validated and quoted, with its schema if given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(Rc<str>);

impl Table {
    /// Parses `files` or `schema.files`.
    pub fn parse(name: &str) -> Result<Table> {
        let parts: Vec<&str> = name.split('.').collect();
        if parts.len() > 2 || !parts.iter().all(|part| is_identifier(part)) {
            // The text is not shown: it may be a secret in the wrong option.
            return Err(refuse(
                "table must be a name such as files or agents.files (letters, digits and _, at \
                 most 63 of them, no digit first)"
                    .to_owned(),
            ));
        }
        let quoted: Vec<String> = parts.iter().map(|part| format!("\"{part}\"")).collect();
        Ok(Table(Rc::from(quoted.join("."))))
    }

    /// The name for use in a statement.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The quoted name without the schema.
    pub fn last(&self) -> &str {
        self.0.rsplit('.').next().unwrap_or(&self.0)
    }

    /// The schema, if it is given, without quotes.
    pub fn schema(&self) -> Option<String> {
        let (schema, _) = self.0.rsplit_once('.')?;
        Some(schema.replace('"', ""))
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        self.0.replace('"', "")
    }

    /// A table in the same schema whose name has this at its end.
    pub fn with_suffix(&self, suffix: &str) -> Result<Table> {
        Table::parse(&format!("{}{suffix}", self.name()))
    }
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 63
        && bytes
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Maximum length of a namespace, so that it fits into an index key together with a path.
const NAMESPACE_BYTES: usize = 512;

/// Validates the parts of a namespace: none is empty, and none contains a character that a store or
/// a pattern could interpret as syntax.
pub fn check_namespace(parts: &[&str]) -> Result<()> {
    for part in parts {
        if part.is_empty() {
            return Err(refuse(
                "namespace must not have an empty part; leave the part out, or name it".to_owned(),
            ));
        }
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@+:~".contains(&byte);
        if !part.bytes().all(sound) {
            return Err(refuse(
                "namespace has a part with a character that is not allowed; letters, digits and \
                 - _ . @ + : ~ are"
                    .to_owned(),
            ));
        }
    }
    let length: usize = parts.iter().map(|part| part.len().saturating_add(1)).sum();
    if length > NAMESPACE_BYTES {
        return Err(refuse(format!(
            "namespace is {length} bytes long, over the limit of {NAMESPACE_BYTES}"
        )));
    }
    Ok(())
}

/// Joins the parts of a namespace. No part can contain the separator, so the result is unique.
pub fn namespace_key(parts: &[&str]) -> Result<Rc<str>> {
    check_namespace(parts)?;
    Ok(Rc::from(parts.join("/")))
}

fn refuse(message: String) -> Error {
    Error::new(Kind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_are_identifiers_and_nothing_else() {
        let quoted = |name: &str| Table::parse(name).map(|table| table.as_str().to_owned());
        assert_eq!(quoted("files").expect("sound"), "\"files\"");
        assert_eq!(quoted("_a.b9").expect("sound"), "\"_a\".\"b9\"");
        assert!(quoted(&"x".repeat(63)).is_ok());
        for bad in [
            "",
            ".",
            "a.",
            ".a",
            "a.b.c",
            "9a",
            "a b",
            "a\"b",
            "a;drop table x",
            "a--",
            "a'",
            "ä",
            "a\0",
            "a\n",
            "\"a\"",
            "[a]",
            "`a`",
            &"x".repeat(64),
        ] {
            assert!(Table::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn no_two_namespaces_share_a_text() {
        let key = |parts: &[&str]| namespace_key(parts).expect("sound");
        assert_ne!(key(&["a", "b"]), key(&["a:b"]));
        assert_ne!(key(&["a", "b"]), key(&["ab"]));
        assert_eq!(&*key(&["a", "b"]), "a/b");
        assert_eq!(&*key(&[]), "");
        for bad in [
            &[""][..],
            &["a", ""],
            &["*"],
            &["a/b"],
            &["%"],
            &["a b"],
            &["ä"],
            &["a\0"],
            &["a\n"],
        ] {
            assert!(namespace_key(bad).is_err(), "{bad:?}");
        }
        assert!(namespace_key(&[&"x".repeat(600)]).is_err());
    }
}
