//! A note of the history: one call that changed files.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::file::Mode;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::pins::Digest;
use crate::side::{Reader, Writer};

/// The last part of a note: one without it was broken off.
const END: &str = "end";

/// How many digits of the digest of a path are in the name of a note.
const TAG: usize = 8;

/// One file that a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: VPath,
    /// The digest of its content before; `None` if there was no file.
    pub before: Option<Rc<str>>,
    /// The digest of its content after; `None` if it was deleted.
    pub after: Option<Rc<str>>,
    /// The permission bits of a file that was created or deleted, if they are known.
    pub mode: Option<Mode>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its name. Names sort by time.
    pub id: Rc<str>,
    /// Who made it.
    pub by: Rc<str>,
    /// The call, as its maker names it.
    pub call: Rc<str>,
    /// The operation.
    pub operation: Rc<str>,
    /// What it changed.
    pub files: Vec<Change>,
}

/// The digest by which a content is kept, in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> Rc<str> {
    Digest::of(bytes).hex().into()
}

/// What the name of a note says of the one file that it is about.
pub(super) fn tag(path: &VPath) -> String {
    digest(path.as_str().as_bytes()).chars().take(TAG).collect()
}

/// The name of a note.
pub(super) fn name(micros: i64, random: u64, files: &[Change]) -> Rc<str> {
    let tag = match files {
        [one] => tag(&one.path),
        _ => "many".into(),
    };
    format!("{micros:016}-{random:016x}-{tag}").into()
}

/// The time in a name, in milliseconds; `None` if it is no name.
pub(super) fn millis(id: &str) -> Option<i64> {
    let mut parts = id.split('-');
    let micros = parts.next().filter(|digits| digits.len() == 16)?;
    let (_, _) = (parts.next()?, parts.next()?);
    let micros: i64 = micros.parse().ok()?;
    parts.next().is_none().then_some(micros / 1000)
}

/// Whether a note of this name can be about a file or something in a directory.
pub(super) fn may_be_of(id: &str, path: &VPath, wanted: &str) -> bool {
    path.is_root() || id.ends_with(wanted) || id.ends_with("-many")
}

impl Note {
    /// When it was made.
    pub fn at(&self) -> Time {
        Time::from_millis(millis(&self.id).unwrap_or(0) as f64)
    }

    pub(super) fn bytes(&self) -> Bytes {
        let mut out = Writer::default();
        for text in [&self.by, &self.call, &self.operation] {
            out.text(text);
        }
        for Change {
            path,
            before,
            after,
            mode,
        } in &self.files
        {
            out.text("file");
            out.text(path.as_str());
            for digest in [before, after] {
                out.part(digest.as_ref().map(|digest| digest.as_bytes()));
            }
            out.optional(mode.map(Mode::bits));
        }
        out.text(END);
        out.finish()
    }

    pub(super) fn parse(id: &str, bytes: &Bytes) -> Option<Note> {
        let mut from = Reader::new(bytes);
        let mut note = Note {
            id: id.into(),
            by: from.text()?.into(),
            call: from.text()?.into(),
            operation: from.text()?.into(),
            files: Vec::new(),
        };
        loop {
            match from.text()?.as_str() {
                END => return from.is_empty().then_some(note),
                "file" => note.files.push(Change {
                    path: VPath::parse(&from.text()?).ok()?,
                    before: optional(&mut from)?,
                    after: optional(&mut from)?,
                    mode: from.optional()?.map(Mode::of),
                }),
                _ => return None,
            }
        }
    }

    /// The digests that it names.
    pub(super) fn digests(&self) -> impl Iterator<Item = &Rc<str>> {
        let both = self.files.iter().map(|file| [&file.before, &file.after]);
        both.flatten().flatten()
    }
}

fn optional(from: &mut Reader) -> Option<Option<Rc<str>>> {
    Some(match from.part()? {
        Some(digest) => Some(std::str::from_utf8(&digest).ok()?.into()),
        None => None,
    })
}
