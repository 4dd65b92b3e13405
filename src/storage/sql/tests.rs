//! What is sent to a database, and what is not sent again.

use bytes::Bytes;

use super::dialect::{Dialect, Table};
use super::statement::Value;
use super::*;
use crate::core::cell::RefCell;
use crate::core::error::Kind;
use crate::core::file::{Format, Mime, Texture};
use crate::core::future::done;
use crate::core::testing::now;
use crate::core::time::Time;

/// A database that fails with this text for statements of several rows, and records all of them.
struct Failing {
    text: &'static str,
    sent: RefCell<Vec<usize>>,
}

impl Database for Rc<Failing> {
    fn query<'a>(&'a self, statement: Statement, _: &'a [Column]) -> Pending<'a, Rows> {
        let rows = statement.values.len() / ROW_VALUES;
        self.sent.borrow_mut().push(rows);
        if rows > 1 {
            return done(Err(Error::new(Kind::Unavailable, self.text)));
        }
        let path = statement.values.get(1).cloned();
        done(Ok(vec![vec![path, Some(Value::Number(1))]]))
    }

    fn refused(&self, error: &Error) -> bool {
        error.to_string().contains("too big")
    }
}

/// Uploads three files; how many were stored, and how many rows each statement had.
fn uploaded(text: &'static str) -> (usize, Vec<usize>) {
    let database = Rc::new(Failing {
        text,
        sent: RefCell::new(Vec::new()),
    });
    let place = Place {
        dialect: Dialect::Sqlite,
        table: Table::parse("files").expect("a name"),
        namespace: Rc::from("n"),
    };
    let sql = Sql::new(database.clone(), place, SqlOptions::default());
    let file = |name: &str| {
        let new = NewFile {
            body: Bytes::from_static(b"x"),
            created: Time::from_micros(0),
            modified: Time::from_micros(0),
            mime: Mime::TEXT,
            format: Format::V2,
            texture: Texture::Ascii,
            mode: None,
        };
        (VPath::parse(name).expect("a path"), new)
    };
    let files = ["/a", "/b", "/c"].map(file).to_vec();
    let answers = now(sql.put_many(files));
    let stored = answers.iter().filter(|answer| answer.is_ok()).count();
    (stored, database.sent.take())
}

#[test]
fn a_batch_whose_answer_was_lost_is_not_sent_again() {
    // It may have been executed, and others may have changed the files since.
    assert_eq!(uploaded("the connection was lost"), (0, vec![3]));
}

#[test]
fn a_batch_that_the_database_refused_is_stored_one_by_one() {
    assert_eq!(uploaded("a row is too big"), (3, vec![3, 1, 1, 1]));
}
