//! What is in a journal: its stage, its number, what each file was and will be.

use bytes::Bytes;

use crate::core::file::Mode;
use crate::core::path::VPath;
use crate::protocol::Replacement;
use crate::side::{Reader, Writer};

/// What is to be done with the files of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing yet: reads and files are being compared.
    Preparing,
    /// Every file gets its content after.
    Applying,
    /// Every file gets its content before.
    Undoing,
}

impl Stage {
    fn word(self) -> &'static str {
        match self {
            Stage::Preparing => "preparing",
            Stage::Applying => "applying",
            Stage::Undoing => "undoing",
        }
    }
}

/// The record of a commit in its journal.
pub(super) struct Record {
    pub(super) stage: Stage,
    /// Different for each commit, so that no two journals are equal.
    pub(super) id: u64,
    pub(super) files: Vec<Replacement>,
}

impl Record {
    pub(super) fn bytes(&self) -> Bytes {
        let mut out = Writer::default();
        out.text(self.stage.word());
        out.number(self.id);
        for file in &self.files {
            out.text(file.path.as_str());
            out.part(file.before.as_deref());
            out.part(file.after.as_deref());
            out.optional(file.mode.map(Mode::bits));
        }
        out.finish()
    }

    pub(super) fn parse(bytes: &Bytes) -> Option<Record> {
        let mut from = Reader::new(bytes);
        let stage = match from.text()?.as_str() {
            "preparing" => Stage::Preparing,
            "applying" => Stage::Applying,
            "undoing" => Stage::Undoing,
            _ => return None,
        };
        let id = from.number()?;
        let mut files = Vec::new();
        while !from.is_empty() {
            files.push(Replacement {
                path: VPath::parse(&from.text()?).ok()?,
                before: from.part()?,
                after: from.part()?,
                mode: from.optional()?.map(Mode::of),
            });
        }
        Some(Record { stage, id, files })
    }

    pub(super) fn at(&self, stage: Stage) -> Record {
        Record {
            stage,
            id: self.id,
            files: self.files.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_broken_one_is_refused() {
        let body = |text: &'static [u8]| Some(Bytes::from_static(text));
        let file = |path: &str, before, after| Replacement {
            path: VPath::parse(path).expect("a path"),
            before,
            after,
            mode: None,
        };
        let record = Record {
            stage: Stage::Applying,
            id: u64::MAX,
            files: vec![
                file("/a\u{e9}", None, body(b"")),
                Replacement {
                    mode: Some(Mode::of(0o600)),
                    ..file("/b", body(b"-\n3\nx"), None)
                },
                file("/c", body(&[0, 255, 10]), body(b"text\n")),
            ],
        };
        let bytes = record.bytes();
        let read = Record::parse(&bytes).expect("a record");
        assert_eq!(read.bytes(), bytes);
        assert_eq!(read.files, record.files);
        for end in 0..bytes.len() {
            let part = Record::parse(&bytes.slice(..end));
            assert!(
                part.is_none_or(|part| part.files.len() < read.files.len()),
                "{end}"
            );
        }
        assert!(Record::parse(&Bytes::from_static(b"{}")).is_none());
    }
}
