//! The form of a journal: its stage, its number, what each file was and will be, and the seal of the
//! process that wrote it.

use bytes::Bytes;

use crate::core::path::VPath;
use crate::layer::parts::{Reader, Writer};
use crate::layer::seal;
use crate::protocol::Replacement;

/// The first bytes of a journal: what it is, and the version of its format.
const MAGIC: &[u8] = b"kitbag turn 2\n";

/// What is to be done with the files of a journal.
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
    fn byte(self) -> u8 {
        match self {
            Stage::Preparing => b'p',
            Stage::Applying => b'a',
            Stage::Undoing => b'u',
        }
    }
}

/// A journal.
pub(super) struct Journal {
    pub(super) stage: Stage,
    /// Different for each commit, so that no two journals are equal.
    pub(super) id: u64,
    pub(super) files: Vec<Replacement>,
}

impl Journal {
    pub(super) fn bytes(&self) -> Bytes {
        let mut magic = MAGIC.to_vec();
        magic.push(self.stage.byte());
        let mut out = Writer::new(&magic);
        out.number(self.id);
        for file in &self.files {
            out.text(file.path.as_str());
            out.part(file.before.as_deref());
            out.part(file.after.as_deref());
        }
        let content = out.finish();
        let seal = seal::of(&content);
        Bytes::from([&content[..], seal.as_bytes()].concat())
    }

    /// A journal, and whether this process wrote it.
    pub(super) fn open(sealed: &Bytes) -> Option<(Journal, bool)> {
        let (content, is_ours) = seal::opened(sealed)?;
        Some((Journal::parse(&sealed.slice_ref(content))?, is_ours))
    }

    fn parse(bytes: &Bytes) -> Option<Journal> {
        let stage = match bytes.get(MAGIC.len())? {
            b'p' => Stage::Preparing,
            b'a' => Stage::Applying,
            b'u' => Stage::Undoing,
            _ => return None,
        };
        let mut magic = MAGIC.to_vec();
        magic.push(stage.byte());
        let mut from = Reader::new(bytes, &magic)?;
        let id = from.number()?;
        let mut files = Vec::new();
        while !from.is_empty() {
            files.push(Replacement {
                path: VPath::parse(&from.text()?).ok()?,
                before: from.part()?,
                after: from.part()?,
            });
        }
        Some(Journal { stage, id, files })
    }

    pub(super) fn at(&self, stage: Stage) -> Journal {
        Journal {
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
    fn a_journal_is_read_as_it_was_written_and_a_broken_one_is_refused() {
        let body = |text: &'static [u8]| Some(Bytes::from_static(text));
        let file = |path: &str, before, after| Replacement {
            path: VPath::parse(path).expect("a path"),
            before,
            after,
        };
        let journal = Journal {
            stage: Stage::Applying,
            id: u64::MAX,
            files: vec![
                file("/a\u{e9}", None, body(b"")),
                file("/b", body(b"-\n3\nx"), None),
                file("/c", body(&[0, 255, 10]), body(b"text\n")),
            ],
        };
        let bytes = journal.bytes();
        let (read, is_ours) = Journal::open(&bytes).expect("a journal");
        assert!(is_ours);
        assert_eq!(read.bytes(), bytes);
        assert_eq!(read.files, journal.files);
        for end in 0..bytes.len() {
            let part = Journal::open(&bytes.slice(..end));
            assert!(part.is_none_or(|(_, is_ours)| !is_ours), "{end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            let read = Journal::open(&changed.into());
            assert!(read.is_none_or(|(_, is_ours)| !is_ours), "{at}");
        }
        assert!(Journal::open(&Bytes::from_static(b"{}")).is_none());
    }
}
