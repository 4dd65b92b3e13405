//! What kitbag notes with an object of its own: times, format, digest, and who wrote it, to find out whether a
//! write happened whose response was lost.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use md5::Md5;
use sha2::{Digest, Sha256};

use crate::core::file::{Format, Texture};
use crate::core::pace::{ITEMS, Pace};
use crate::core::scan::newlines;
use crate::core::time::Time;
use crate::storage::{Meta, NewFile};

/// The header with kitbag's metadata of a file.
pub const META: &str = "x-amz-meta-kitbag";
/// Number of previous write ids that an object keeps. S3 allows 2 KB of metadata per object; this
/// takes less than half.
const TRAIL: usize = 64;

/// The size of the first part that is fetched for a page. This is about as fast as fetching one
/// byte.
pub const PART: u64 = 64 * 1024;

/// The metadata that kitbag stores with an object, in one header, so that a page's CORS rules need
/// to expose only one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// When the file was first written.
    pub created: Option<Time>,
    /// When it was last written.
    pub modified: Option<Time>,
    /// The format of text files.
    pub format: Format,
    /// Text, ASCII or bytes.
    pub texture: Option<Texture>,
    /// The SHA-256 digest of the body, to detect bytes that were corrupted in transit.
    pub digest: String,
    /// The number of lines of a large text and the number of bytes in which they were counted, so
    /// that a page can state the total without reading the whole file.
    pub lines: Option<(u64, u64)>,
    /// The id of this write. It identifies the write if its response was lost.
    pub write: String,
    /// The ids of the previous writes, the latest first.
    pub trail: Vec<String>,
}

/// A digest in the form that [`Note`] stores, with pauses: that of some megabytes takes long.
pub async fn digest_at(pace: &Pace, body: &[u8]) -> String {
    let mut digest = Sha256::new();
    for (part, some) in body.chunks(ITEMS * 16).enumerate() {
        if part > 0 {
            pace.worked(ITEMS).await;
        }
        digest.update(some);
    }
    STANDARD_NO_PAD.encode(digest.finalize())
}

/// Whether an ETag is the MD5 of the body; `None` if it cannot be an MD5.
pub fn is_md5(tag: &str, body: &[u8]) -> Option<bool> {
    if tag.len() != 32 || !tag.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let digest = u128::from_be_bytes(Md5::digest(body).into());
    Some(u128::from_str_radix(tag, 16) == Ok(digest))
}

impl Note {
    /// The note for new content of a file that replaces the object with the note `before`.
    #[cfg(test)]
    pub fn of(file: &NewFile, write: &str, before: Option<&Note>) -> Note {
        let pace = Pace::new(crate::env::clock::now, crate::env::timer::pause);
        let digest = crate::core::testing::now(digest_at(&pace, &file.body));
        Note::of_body(file, digest, write, before)
    }

    /// The same, of a body with this digest.
    pub fn of_body(file: &NewFile, digest: String, write: &str, before: Option<&Note>) -> Note {
        let size = file.body.len() as u64;
        Note {
            created: Some(file.created),
            modified: Some(file.modified),
            format: file.format,
            texture: Some(file.texture),
            digest,
            lines: (file.texture.is_text() && size > PART).then(|| (line_count(&file.body), size)),
            ..Note::after(write, before)
        }
    }

    /// The note for a file whose bytes come later: they are not counted, and have no digest.
    pub fn of_parts(now: Time, write: &str, before: Option<&Note>) -> Note {
        Note {
            created: Some(now),
            modified: Some(now),
            ..Note::after(write, before)
        }
    }

    /// The note for a copy of a file with the note `known` that replaces the object with the note `before`.
    pub fn of_copy(known: Option<&Note>, meta: &Meta, write: &str, before: Option<&Note>) -> Note {
        Note {
            created: meta.created,
            modified: Some(meta.modified),
            format: meta.format,
            texture: meta.texture,
            digest: known.map(|note| note.digest.clone()).unwrap_or_default(),
            lines: known.and_then(|note| note.lines),
            ..Note::after(write, before)
        }
    }

    /// The history of a write that replaces the object with the note `before`.
    fn after(write: &str, before: Option<&Note>) -> Note {
        let mut trail = Vec::new();
        if let Some(before) = before {
            trail.push(before.write.clone());
            trail.extend(before.trail.iter().take(TRAIL - 1).cloned());
        }
        Note {
            write: write.to_owned(),
            trail,
            ..Note::default()
        }
    }

    /// Whether that write produced this version or one that it is based on.
    pub fn has(&self, write: &String) -> bool {
        self.write == *write || self.trail.contains(write)
    }

    /// Encodes the note as a header value.
    pub fn write(&self) -> String {
        let mut out = String::new();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(name);
                out.push('=');
                out.push_str(value);
            }
        };
        let time = |time: Option<Time>| time.map(|time| time.to_string()).unwrap_or_default();
        put("created", &time(self.created));
        put("modified", &time(self.modified));
        put("format", if self.format == Format::V1 { "v1" } else { "" });
        put(
            "texture",
            match self.texture {
                Some(Texture::Ascii) => "ascii",
                Some(Texture::Text) => "text",
                Some(Texture::Binary) => "binary",
                None => "",
            },
        );
        put("sha256", &self.digest);
        let lines = self.lines.map(|(lines, bytes)| format!("{lines}/{bytes}"));
        put("lines", &lines.unwrap_or_default());
        put("write", &self.write);
        put("trail", &self.trail.join(","));
        out
    }

    /// Parses a header value; unknown fields are ignored.
    pub fn read(text: &str) -> Note {
        let mut note = Note::default();
        for (name, value) in text.split(' ').filter_map(|part| part.split_once('=')) {
            match name {
                "created" => note.created = Time::parse(value),
                "modified" => note.modified = Time::parse(value),
                "format" if value == "v1" => note.format = Format::V1,
                "texture" => {
                    note.texture = match value {
                        "ascii" => Some(Texture::Ascii),
                        "text" => Some(Texture::Text),
                        "binary" => Some(Texture::Binary),
                        _ => None,
                    }
                }
                "lines" => {
                    note.lines = value
                        .split_once('/')
                        .and_then(|(lines, bytes)| Some((lines.parse().ok()?, bytes.parse().ok()?)))
                }
                "sha256" => note.digest = value.to_owned(),
                "write" => note.write = value.to_owned(),
                "trail" => note.trail = value.split(',').map(str::to_owned).collect(),
                _ => {}
            }
        }
        note
    }
}

fn line_count(text: &[u8]) -> u64 {
    let open = text.last().is_some_and(|last| *last != b'\n');
    newlines(text) as u64 + u64::from(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::file::Mime;
    use bytes::Bytes;

    #[test]
    fn a_note_is_read_back_and_remembers_who_wrote_before() {
        let file = NewFile {
            body: Bytes::from_static(b"hi"),
            created: Time::from_micros(1_000_000),
            modified: Time::from_micros(2_000_001),
            mime: Mime::TEXT,
            format: Format::V1,
            texture: Texture::Ascii,
            mode: None,
        };
        let mut note = Note::of(&file, "w0", None);
        for turn in 1..100 {
            note = Note::of(&file, &format!("w{turn}"), Some(&note));
        }
        assert_eq!(note.trail.len(), TRAIL);
        assert_eq!(note.trail.first().map(String::as_str), Some("w98"));
        assert_eq!(Note::read(&note.write()), note);
        assert!(note.write().len() < 1200 && note.write().is_ascii());
        let _ = Note::read("created=never trail= texture=? = =x");
    }
}
