//! A database: a table, and an interpreter of exactly the statements that kitbag sends. Each
//! statement is atomic, as a database executes it. One that is not in the connection's dialect, or
//! has too many parameters, is refused.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::error::{Error, Kind};
use kitbag::core::future::Pending;
use kitbag::storage::sql::dialect::Dialect;
use kitbag::storage::sql::statement::{Statement, Value};
use kitbag::storage::sql::{Column, Database, Rows};

use super::{Line, Luck};
use crate::watch::Durable;
use crate::wire::Leave;

/// The answer of a busy database.
const LOCKED: &str = "database is locked";

const LUCK: &[Luck] = &[Luck::Lost, Luck::Unanswered, Luck::Busy];

#[derive(Clone)]
struct Row {
    mime: Value,
    version: i64,
    created: Value,
    modified: Value,
    content: Bytes,
}

/// The table: rows by path.
#[derive(Default)]
pub struct Table(RefCell<BTreeMap<String, Row>>);

/// A client's connection.
pub struct Connection {
    /// The table.
    pub table: Rc<Table>,
    /// The way to it.
    pub line: Line,
    /// Its dialect.
    pub dialect: Dialect,
}

impl Connection {
    /// What is wrong with a statement, as its database would say.
    fn fault(&self, statement: &Statement) -> Option<String> {
        let Statement { sql, values, .. } = statement;
        if values.len() > self.dialect.most_parameters() {
            return Some(format!("too many parameters: {}", values.len()));
        }
        let kind = |value: &Value| match value {
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytea",
            Value::Number(_) => "bigint",
        };
        let other = match self.dialect {
            Dialect::Sqlite => {
                let marks = sql.matches('?').count() == values.len();
                !marks
                    || ["::", "$1", "LATERAL", "octet_length", "strpos"]
                        .iter()
                        .any(|word| sql.contains(word))
            }
            Dialect::Postgres => {
                let typed = |(at, value): (usize, &Value)| {
                    sql.contains(&format!("${}::{}", at + 1, kind(value)))
                };
                !values.iter().enumerate().all(typed)
                    || ["?", "instr(", "x''"].iter().any(|word| sql.contains(word))
            }
        };
        other.then(|| format!("syntax error in {:?}: {sql}", self.dialect))
    }
}

impl Durable for Table {
    fn files(&self) -> Vec<(String, Bytes)> {
        let rows = self.0.borrow();
        let file = |(path, row): (&String, &Row)| (path.clone(), row.content.clone());
        rows.iter().map(file).collect()
    }
}

impl Database for Connection {
    fn refused(&self, error: &Error) -> bool {
        error.to_string().contains(LOCKED)
    }

    fn query<'a>(&'a self, statement: Statement, _columns: &'a [Column]) -> Pending<'a, Rows> {
        let word = statement
            .sql
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        let luck = self.line.luck(&word, LUCK);
        if let Some(fault) = self.fault(&statement) {
            self.line.watch.violation(fault);
        }
        let (table, line) = (self.table.clone(), self.line.clone());
        let execute = move || {
            let execute = || {
                let rows = table.execute(&statement);
                if matches!(word.as_str(), "INSERT" | "UPDATE" | "DELETE") {
                    line.watch.changed(&line.world);
                }
                rows
            };
            let error =
                |text: &str| Error::new(Kind::Unavailable, format!("query() failed: {text}"));
            match luck {
                Luck::Lost => Err(error("connection lost")),
                Luck::Busy => Err(error(LOCKED)),
                Luck::Unanswered => {
                    execute();
                    Err(error("connection lost"))
                }
                _ => Ok(execute()),
            }
        };
        Box::pin(self.line.send(luck, Leave::Settle, execute))
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        _ => String::new(),
    }
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Number(number) => *number,
        _ => 0,
    }
}

fn bytes(value: &Value) -> Bytes {
    match value {
        Value::Bytes(bytes) => bytes.clone(),
        _ => Bytes::new(),
    }
}

fn changed(path: &str, version: i64) -> Vec<Option<Value>> {
    vec![Some(Value::from(path)), Some(Value::Number(version))]
}

fn shown(path: &str, row: &Row, with_content: bool) -> Vec<Option<Value>> {
    let mut shown = vec![
        Some(Value::from(path)),
        Some(Value::Number(row.content.len() as i64)),
        Some(row.mime.clone()),
        Some(Value::Number(row.version)),
        Some(row.created.clone()),
        Some(row.modified.clone()),
    ];
    if with_content {
        shown.push(Some(Value::Bytes(row.content.clone())));
    }
    shown
}

impl Table {
    fn execute(&self, statement: &Statement) -> Rows {
        let (sql, values) = (statement.sql.as_str(), statement.values.as_slice());
        match sql.split(' ').next() {
            Some("INSERT") => self.insert(values, sql.contains("DO NOTHING")),
            Some("UPDATE") => self.update(values),
            Some("DELETE") => self.delete(sql, values),
            Some("SELECT") => self.select(sql, values),
            Some("WITH") => self.level(&text(&values[1])),
            _ => Rows::new(),
        }
    }

    fn insert(&self, values: &[Value], only_new: bool) -> Rows {
        let mut rows = self.0.borrow_mut();
        let mut told = Rows::new();
        for values in values.chunks(7) {
            let path = text(&values[1]);
            let old = rows.get(&path).map(|row| row.version);
            if only_new && old.is_some() {
                continue;
            }
            let version = old.map_or(number(&values[3]), |version| version + 1);
            told.push(changed(&path, version));
            let row = Row {
                mime: values[2].clone(),
                version,
                created: values[4].clone(),
                modified: values[5].clone(),
                content: bytes(&values[6]),
            };
            rows.insert(path, row);
        }
        told
    }

    fn update(&self, values: &[Value]) -> Rows {
        let mut rows = self.0.borrow_mut();
        let path = text(&values[5]);
        let Some(row) = rows.get_mut(&path) else {
            return Rows::new();
        };
        if row.version != number(&values[6]) {
            return Rows::new();
        }
        *row = Row {
            mime: values[0].clone(),
            version: row.version + 1,
            created: values[1].clone(),
            modified: values[2].clone(),
            content: bytes(&values[3]),
        };
        vec![changed(&path, row.version)]
    }

    fn delete(&self, sql: &str, values: &[Value]) -> Rows {
        let mut rows = self.0.borrow_mut();
        let path = text(&values[1]);
        let mut gone = Vec::new();
        if sql.contains("(path = ") {
            let (from, until) = (text(&values[2]), values.get(3).map(text));
            let is_in = |key: &str| {
                key == path
                    || (key >= from.as_str() && until.as_deref().is_none_or(|until| key < until))
            };
            gone.extend(rows.keys().filter(|key| is_in(key)).cloned());
        } else if let Some(row) = rows.get(&path)
            && values
                .get(2)
                .is_none_or(|version| number(version) == row.version)
        {
            gone.push(path);
        }
        let told = gone.iter().map(|path| {
            let version = rows.remove(path).map_or(0, |row| row.version);
            changed(path, version)
        });
        told.collect()
    }

    fn select(&self, sql: &str, values: &[Value]) -> Rows {
        let rows = self.0.borrow();
        let columns = sql.split(" FROM ").next().unwrap_or_default();
        let with_content = columns.ends_with(", content");
        let row = |path: &str| rows.get(path).map(|row| shown(path, row, with_content));
        if sql.contains(" IN (") {
            let paths = values.iter().skip(1).map(text);
            return paths.filter_map(|path| row(&path)).collect();
        }
        let literal = values.iter().find_map(|value| match value {
            Value::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        });
        let holds = |row: &Row| {
            let Some(literal) = &literal else { return true };
            row.content
                .windows(literal.len())
                .any(|part| part == literal)
        };
        if sql.contains(" AND path = ") {
            let path = text(&values[1]);
            let found = rows.get(&path).filter(|row| holds(row));
            return found
                .map(|row| shown(&path, row, with_content))
                .into_iter()
                .collect();
        }
        let limit = sql
            .rsplit_once(" LIMIT ")
            .and_then(|(_, limit)| limit.parse().ok());
        let until = match values.get(2) {
            Some(Value::Text(until)) => Bound::Excluded(until.to_string()),
            _ => Bound::Unbounded,
        };
        let within = rows.range((Bound::Included(text(&values[1])), until));
        within
            .filter(|(_, row)| holds(row))
            .take(limit.unwrap_or(usize::MAX))
            .map(|(path, row)| shown(path, row, with_content))
            .collect()
    }

    /// The entries of one directory; a deeper row stands for each directory.
    fn level(&self, prefix: &str) -> Rows {
        let rows = self.0.borrow();
        let mut told = Rows::new();
        let mut last = String::new();
        for (path, row) in rows.range(prefix.to_owned()..) {
            let Some(rest) = path.strip_prefix(prefix) else {
                break;
            };
            if let Some((dir, _)) = rest.split_once('/') {
                if last == dir {
                    continue;
                }
                dir.clone_into(&mut last);
            }
            told.push(shown(path, row, false));
        }
        told
    }
}
