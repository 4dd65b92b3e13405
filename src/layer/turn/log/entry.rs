//! The entries in which a turn is kept: what each holds, and how it is written. An entry says of
//! files what the turn has there now, so that reading all entries in order gives the turn.

use bytes::Bytes;

use super::super::overlay::{Before, Change, Read};
use crate::core::file::{Format, Mode};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::protocol::{GlobQuery, GrepQuery, Page};
use crate::side::{Reader, Writer};

/// The last part of an entry: one without it was broken off.
const END: &str = "end";

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The turn as a whole, with the salt of its digests; what is in earlier entries is void.
    Start([u64; 2]),
    /// What changed.
    More,
    /// What changed, and then a commit began.
    Commit,
}

/// One thing that an entry says.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// The turn changes a file; `after` is its content, if there is one.
    Change {
        path: VPath,
        change: Change,
        after: Option<Bytes>,
    },
    /// The content of a file that the turn changes already.
    Content { path: VPath, after: Option<Bytes> },
    /// The turn changes a file no more.
    Drop(VPath),
    /// Something was read.
    Read(Read, u128),
    /// Something was read again, and all earlier answers are void.
    ReadAgain(Read, u128),
}

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// Which process wrote it.
    pub(super) writer: u64,
    pub(super) records: Vec<Record>,
}

impl Entry {
    pub(super) fn bytes(&self) -> Bytes {
        let mut out = Writer::default();
        out.number(self.writer);
        match self.kind {
            Kind::Start([first, second]) => {
                out.text("start");
                out.number(first);
                out.number(second);
            }
            Kind::More => out.text("more"),
            Kind::Commit => out.text("commit"),
        }
        for record in &self.records {
            put_record(&mut out, record);
        }
        out.text(END);
        out.finish()
    }

    /// Reads an entry; `None` if the bytes are none, or not all of it.
    pub(super) fn parse(bytes: &Bytes) -> Option<Entry> {
        let mut from = Reader::new(bytes);
        let writer = from.number()?;
        let kind = match from.text()?.as_str() {
            "start" => Kind::Start([from.number()?, from.number()?]),
            "more" => Kind::More,
            "commit" => Kind::Commit,
            _ => return None,
        };
        let mut records = Vec::new();
        loop {
            let name = from.text()?;
            if name == END {
                break;
            }
            records.push(record(&mut from, &name)?);
        }
        from.is_empty().then_some(Entry {
            kind,
            writer,
            records,
        })
    }
}

fn put_record(out: &mut Writer, record: &Record) {
    match record {
        Record::Change {
            path,
            change,
            after,
        } => {
            out.text("change");
            out.text(path.as_str());
            let before = change.before.as_ref();
            out.part(before.map(|before| before.body.as_ref()));
            out.optional(before.and_then(|before| before.created).map(Time::micros));
            let is_v1 = before.is_some_and(|before| before.format == Format::V1);
            out.number(u8::from(is_v1));
            out.optional(before.and_then(|before| before.mode).map(Mode::bits));
            out.optional(change.mode.map(Mode::bits));
            out.part(after.as_deref());
        }
        Record::Content { path, after } => {
            out.text("content");
            out.text(path.as_str());
            out.part(after.as_deref());
        }
        Record::Drop(path) => {
            out.text("drop");
            out.text(path.as_str());
        }
        Record::Read(read, digest) | Record::ReadAgain(read, digest) => {
            let is_note = matches!(record, Record::Read(..));
            out.text(if is_note { "read" } else { "reread" });
            out.number(digest);
            put_read(out, read);
        }
    }
}

fn record(from: &mut Reader, name: &str) -> Option<Record> {
    Some(match name {
        "change" => {
            let path = path(from)?;
            let body = from.part()?;
            let created: Option<i64> = from.optional()?;
            let format = match from.number::<u8>()? {
                1 => Format::V1,
                _ => Format::V2,
            };
            let old_mode = from.optional()?.map(Mode::of);
            let mode = from.optional()?.map(Mode::of);
            let after = from.part()?;
            let before = body.map(|body| Before {
                body,
                created: created.map(Time::from_micros),
                format,
                mode: old_mode,
            });
            let exists = after.is_some();
            let change = Change {
                before,
                exists,
                mode,
            };
            Record::Change {
                path,
                change,
                after,
            }
        }
        "content" => Record::Content {
            path: path(from)?,
            after: from.part()?,
        },
        "drop" => Record::Drop(path(from)?),
        "read" | "reread" => {
            let digest = from.number()?;
            let read = read(from)?;
            match name {
                "read" => Record::Read(read, digest),
                _ => Record::ReadAgain(read, digest),
            }
        }
        _ => return None,
    })
}

fn path(from: &mut Reader) -> Option<VPath> {
    VPath::parse(&from.text()?).ok()
}

fn put_read(out: &mut Writer, read: &Read) {
    match read {
        Read::Exists(path) => {
            out.text("exists");
            out.text(path.as_str());
        }
        Read::Whole(path) => {
            out.text("whole");
            out.text(path.as_str());
        }
        Read::Page(path, page) => {
            out.text("page");
            out.text(path.as_str());
            out.number(page.offset);
            out.number(page.limit);
        }
        Read::Names(path, hidden) => {
            out.text("names");
            out.text(path.as_str());
            put_paths(out, hidden);
        }
        Read::Glob(query, hidden) => {
            out.text("glob");
            out.text(query.path.as_str());
            out.text(&query.pattern);
            put_paths(out, hidden);
        }
        Read::Grep(query, hidden) => {
            out.text("grep");
            put_query(out, query);
            put_paths(out, hidden);
        }
    }
}

fn read(from: &mut Reader) -> Option<Read> {
    Some(match from.text()?.as_str() {
        "exists" => Read::Exists(path(from)?),
        "whole" => Read::Whole(path(from)?),
        "page" => {
            let path = path(from)?;
            let (offset, limit) = (from.number()?, from.number()?);
            Read::Page(path, Page { offset, limit })
        }
        "names" => Read::Names(path(from)?, paths(from)?),
        "glob" => {
            let path = path(from)?;
            let pattern = from.text()?;
            Read::Glob(GlobQuery::new(pattern, path), paths(from)?)
        }
        "grep" => Read::Grep(Box::new(query(from)?), paths(from)?),
        _ => return None,
    })
}

/// A query is kept without its sieve; a kept turn asks none with one (`merge.rs`).
fn put_query(out: &mut Writer, query: &GrepQuery) {
    let GrepQuery {
        pattern,
        path,
        glob,
        max_count,
        max_per_file,
        regex,
        ignore_case,
        before,
        after,
        stats: _,
        sieve: _,
    } = query;
    out.text(pattern);
    out.text(path.as_str());
    out.part(glob.as_ref().map(|glob| glob.as_bytes()));
    out.optional(*max_count);
    out.optional(*max_per_file);
    out.number(u8::from(*regex));
    out.number(u8::from(*ignore_case));
    out.number(before);
    out.number(after);
}

fn query(from: &mut Reader) -> Option<GrepQuery> {
    let mut query = GrepQuery::literal(&from.text()?);
    query.path = path(from)?;
    query.glob = match from.part()? {
        Some(glob) => Some(std::str::from_utf8(&glob).ok()?.into()),
        None => None,
    };
    query.max_count = from.optional()?;
    query.max_per_file = from.optional()?;
    query.regex = from.number::<u8>()? == 1;
    query.ignore_case = from.number::<u8>()? == 1;
    query.before = from.number()?;
    query.after = from.number()?;
    Some(query)
}

fn put_paths(out: &mut Writer, paths: &[VPath]) {
    out.number(paths.len());
    for path in paths {
        out.text(path.as_str());
    }
}

fn paths(from: &mut Reader) -> Option<Vec<VPath>> {
    let count: usize = from.number()?;
    (0..count).map(|_| path(from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> VPath {
        VPath::parse(text).expect("a path")
    }

    fn entry() -> Entry {
        let change = Change {
            before: Some(Before {
                body: Bytes::from_static(b"-\n3\nx"),
                created: Some(Time::from_micros(-5)),
                format: Format::V1,
                mode: Some(Mode::of(0o600)),
            }),
            exists: true,
            mode: Some(Mode::of(0o755)),
        };
        let mut grep = GrepQuery::literal("a\nb");
        grep.glob = Some("*.rs".into());
        grep.max_count = Some(7);
        grep.regex = true;
        grep.after = 3;
        let reads = [
            Read::Exists(file("/e")),
            Read::Whole(file("/w")),
            Read::Page(
                file("/p"),
                Page {
                    offset: 3,
                    limit: 9,
                },
            ),
            Read::Names(file("/"), vec![file("/x"), file("/y")]),
            Read::Glob(GlobQuery::new("**", file("/g")), Vec::new()),
            Read::Grep(Box::new(grep), vec![file("/h")]),
        ];
        let mut records: Vec<Record> = reads
            .into_iter()
            .map(|read| Record::Read(read, u128::MAX))
            .collect();
        records.push(Record::ReadAgain(Read::Whole(file("/w")), 0));
        records.push(Record::Change {
            path: file("/a\u{e9}"),
            change,
            after: Some(Bytes::from_static(&[0, 255])),
        });
        records.push(Record::Content {
            path: file("/a\u{e9}"),
            after: None,
        });
        records.push(Record::Drop(file("/b")));
        Entry {
            kind: Kind::Start([1, u64::MAX]),
            writer: 77,
            records,
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let written = entry();
        let read = Entry::parse(&written.bytes()).expect("an entry");
        assert_eq!(format!("{read:?}"), format!("{written:?}"));
    }

    #[test]
    fn no_part_of_an_entry_is_an_entry() {
        let bytes = entry().bytes();
        for end in 0..bytes.len() {
            assert!(Entry::parse(&bytes.slice(..end)).is_none(), "{end}");
        }
        let mut longer = bytes.to_vec();
        longer.push(b'\n');
        assert!(Entry::parse(&Bytes::from(longer)).is_none());
    }
}
