//! Classifies file contents: the MIME type, whether it is text, and the format in which `readRaw`
//! returns it. The type comes from the name first, then from the content. For names, a small table
//! here overrides the `mime_guess` database (in `types`), which takes `main.ts` for a video and
//! `go.mod` for audio.

mod types;

use std::rc::Rc;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::scan;

/// Most bytes by which a content grows in the place of the one before, which is then gone.
pub const GROWTH: usize = 65_536;

/// A MIME type. Types from the tables are cloned without allocation.
#[derive(Clone, Debug)]
pub struct Mime(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Known(&'static str),
    Given(Rc<str>),
}

impl Mime {
    /// `text/plain`.
    pub const TEXT: Mime = Mime::known("text/plain");
    /// `application/octet-stream`.
    pub const BYTES: Mime = Mime::known("application/octet-stream");

    /// A type from the tables.
    pub const fn known(text: &'static str) -> Mime {
        Mime(Repr::Known(text))
    }

    /// A type given by a caller or a storage.
    pub fn given(text: &str) -> Mime {
        Mime(Repr::Given(Rc::from(text)))
    }

    /// The type's text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Known(text) => text,
            Repr::Given(text) => text,
        }
    }

    /// Whether files of this type are text.
    pub fn is_text(&self) -> bool {
        let full = self.as_str();
        let essence = full.split(';').next().unwrap_or(full).trim();
        if essence.len() > 5
            && essence
                .as_bytes()
                .get(..5)
                .is_some_and(|s| s.eq_ignore_ascii_case(b"text/"))
        {
            return true;
        }
        let essence = essence.to_ascii_lowercase();
        if essence == "image/svg+xml" {
            return true;
        }
        match essence.strip_prefix("application/") {
            Some(sub) => TEXTUAL.contains(&sub) || sub.ends_with("+json") || sub.ends_with("+xml"),
            None => false,
        }
    }
}

/// Permission bits of a file, as POSIX has them: `rwxrwxrwx`, without the bits above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(u16);

impl Mode {
    /// The nine bits of a number; the others are dropped, so that no copy runs as another user.
    pub fn of(bits: u32) -> Mode {
        Mode((bits & 0o777) as u16)
    }

    /// The bits.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

impl PartialEq for Mime {
    fn eq(&self, other: &Mime) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Mime {}

/// Subtypes of `application/` that are text.
const TEXTUAL: [&str; 24] = [
    "json",
    "javascript",
    "x-javascript",
    "ecmascript",
    "typescript",
    "x-typescript",
    "xml",
    "yaml",
    "x-yaml",
    "toml",
    "x-toml",
    "sql",
    "x-sql",
    "x-sh",
    "x-csh",
    "graphql",
    "x-ndjson",
    "jsonlines",
    "json5",
    "xhtml",
    "x-httpd-php",
    "x-tex",
    "x-latex",
    "x-subrip",
];

/// Extensions with a fixed type, which override the database.
const FIXED: [(&str, &str); 62] = [
    ("3gpp", "video/3gpp"),
    ("aac", "audio/aac"),
    ("aiff", "audio/aiff"),
    ("asc", "text/plain"),
    ("avi", "video/x-msvideo"),
    ("bat", "text/plain"),
    ("cjs", "application/javascript"),
    ("cls", "text/plain"),
    ("cmd", "text/plain"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("cts", "text/plain"),
    ("flac", "audio/flac"),
    ("flv", "video/x-flv"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("inf", "text/plain"),
    ("java", "text/plain"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "application/javascript"),
    ("json", "application/json"),
    ("m", "text/plain"),
    ("md", "text/markdown"),
    ("mjs", "application/javascript"),
    ("mod", "text/plain"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("mts", "text/plain"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("pem", "text/plain"),
    ("php", "text/plain"),
    ("pl", "text/plain"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("ps1", "text/plain"),
    ("py", "text/plain"),
    ("r", "text/plain"),
    ("rs", "text/plain"),
    ("sh", "text/plain"),
    ("sql", "text/plain"),
    ("svg", "image/svg+xml"),
    ("tcl", "text/plain"),
    ("tex", "text/plain"),
    ("toml", "text/plain"),
    ("ts", "text/plain"),
    ("tsx", "text/plain"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("wmv", "video/x-ms-wmv"),
    ("xml", "text/xml"),
    ("yaml", "text/plain"),
];

/// What a body contains, as far as a search needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texture {
    /// Not text; searches skip it.
    Binary,
    /// Text with bytes above 127.
    Text,
    /// Text in ASCII only.
    Ascii,
}

impl Texture {
    /// Whether it is text, ASCII or not.
    pub fn is_text(self) -> bool {
        self != Texture::Binary
    }

    /// The texture of a body of a known type.
    pub fn of(mime: &Mime, body: &[u8]) -> Texture {
        if !mime.is_text() {
            Texture::Binary
        } else if scan::is_ascii(body) {
            Texture::Ascii
        } else {
            Texture::Text
        }
    }
}

/// The format of `FileData` in which a text file is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// An array of lines.
    V1,
    /// One string, or bytes.
    #[default]
    V2,
}

/// No known extension has more bytes.
const LONGEST: usize = 16;

/// The type for a path's extension, if the extension is known.
pub fn mime_of_name(path: &VPath) -> Option<Mime> {
    let (_, extension) = path.name().rsplit_once('.')?;
    if extension.is_empty() || extension.len() > LONGEST {
        return None;
    }
    let mut small = [0; LONGEST];
    let small = small.get_mut(..extension.len())?;
    small.copy_from_slice(extension.as_bytes());
    small.make_ascii_lowercase();
    let extension = std::str::from_utf8(small).ok()?;
    match FIXED.binary_search_by(|(known, _)| (*known).cmp(extension)) {
        Ok(at) => FIXED.get(at).map(|(_, mime)| Mime::known(mime)),
        Err(_) => types::of(extension).map(Mime::known),
    }
}

/// Whether the name alone shows that files at this path are not text.
pub fn is_binary_name(path: &VPath) -> bool {
    mime_of_name(path).is_some_and(|mime| !mime.is_text())
}

/// The type and texture of a body at a path: from the given type, else the name, else the bytes.
pub fn classify(path: &VPath, body: &[u8], given: Option<&Mime>) -> (Mime, Texture) {
    if let Some(mime) = given.cloned().or_else(|| mime_of_name(path)) {
        let texture = Texture::of(&mime, body);
        return (mime, texture);
    }
    if scan::is_ascii(body) {
        if memchr::memchr(0, body).is_none() {
            return (Mime::TEXT, Texture::Ascii);
        }
    } else if memchr::memchr(0, body).is_none() && std::str::from_utf8(body).is_ok() {
        return (Mime::TEXT, Texture::Text);
    }
    (Mime::BYTES, Texture::Binary)
}

/// Decodes a caller's string for a path: as it is, or as base64 (also in a `data:` URL) if the name
/// says that the file is not text.
pub fn decode_content(path: &VPath, text: Bytes) -> Result<Bytes> {
    if !is_binary_name(path) {
        return Ok(text);
    }
    from_base64(&text).map_err(|error| {
        Error::at(
            Kind::InvalidArgument,
            "Content for '",
            path,
            format!("' must be base64, since its type is not text: {error}"),
        )
    })
}

/// The body of a stored file whose content is a text although its type, given or by its name, is
/// not: packages that keep only text store such files as base64. A text that is no base64 is the
/// body itself.
pub fn decode_stored(path: &VPath, given: Option<&Mime>, text: Bytes) -> Bytes {
    let is_text = given.map_or_else(|| !is_binary_name(path), Mime::is_text);
    match is_text {
        true => text,
        false => from_base64(&text).unwrap_or(text),
    }
}

fn from_base64(text: &Bytes) -> std::result::Result<Bytes, base64::DecodeError> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let encoded = match (text.starts_with(b"data:"), memchr::memchr(b',', text)) {
        (true, Some(comma)) => text.slice(comma + 1..),
        _ => text.clone(),
    };
    let encoded: Vec<u8> = encoded
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    LENIENT.decode(encoded).map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> VPath {
        VPath::parse_file(text).expect("a path")
    }

    #[test]
    fn the_table_is_sorted_for_its_binary_search() {
        assert!(FIXED.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn source_code_is_text_whatever_databases_say() {
        for name in [
            "/a.ts",
            "/a.tsx",
            "/go.mod",
            "/a.bat",
            "/a.sh",
            "/a.sql",
            "/a.svg",
            "/a.json",
            "/a.jsonl",
            "/a.yml",
            "/a.vue",
            "/a.go",
            "/a.java",
            "/a.c",
            "/a.h",
            "/a.rb",
            "/a.swift",
            "/a.kt",
            "/Makefile",
            "/.env",
            "/a.lock",
            "/a.ini",
            "/a.log",
            "/a.diff",
            "/a.patch",
            "/a.lua",
            "/a.proto",
            "/a.graphql",
            "/a.xsl",
            "/a.rst",
            "/a.jsx",
            "/a.scss",
            "/a.conf",
            "/a.cpp",
        ] {
            let (mime, texture) = classify(&path(name), b"plain text\n", None);
            assert_eq!(texture, Texture::Ascii, "{name}: {}", mime.as_str());
        }
        for name in [
            "/a.png", "/a.zip", "/a.woff2", "/a.wasm", "/a.xlsx", "/a.PDF", "/a.gz",
        ] {
            assert!(is_binary_name(&path(name)), "{name}");
        }
    }

    #[test]
    fn without_a_known_extension_the_bytes_decide() {
        for (bytes, texture) in [
            (&b"hi"[..], Texture::Ascii),
            ("é".as_bytes(), Texture::Text),
            (b"a\0b", Texture::Binary),
            (b"\xff\xfe", Texture::Binary),
            (b"", Texture::Ascii),
        ] {
            assert_eq!(classify(&path("/x.unknownext"), bytes, None).1, texture);
            assert_eq!(classify(&path("/x"), bytes, None).1, texture);
        }
    }

    #[test]
    fn base64_is_decoded_only_for_binary_names() {
        let give = |name: &str, text: &str| {
            decode_content(&path(name), Bytes::copy_from_slice(text.as_bytes()))
        };
        assert_eq!(give("/a.txt", "aGk=").expect("text"), "aGk=");
        for text in ["aGk=", "aGk", "data:image/png;base64,aGk=", " aG\nk= "] {
            assert_eq!(give("/a.png", text).expect(text), "hi");
        }
        let error = give("/a.png", "not base64!").expect_err("refused");
        assert_eq!(error.kind(), Kind::InvalidArgument);
    }

    #[test]
    fn a_stored_text_of_a_binary_type_is_base64() {
        let png = Mime::known("image/png");
        let cases: [(&str, Option<&Mime>, &str, &str); 8] = [
            ("/a.png", None, "aGk=", "hi"),
            ("/a.png", None, "aG\nk=", "hi"),
            ("/a.png", None, "data:image/png;base64,aGk=", "hi"),
            ("/a.png", None, "not base64!", "not base64!"),
            ("/a.png", Some(&Mime::TEXT), "aGk=", "aGk="),
            ("/a.txt", None, "aGk=", "aGk="),
            ("/a", None, "aGk=", "aGk="),
            ("/a", Some(&png), "aGk=", "hi"),
        ];
        for (name, given, text, body) in cases {
            let text = Bytes::copy_from_slice(text.as_bytes());
            assert_eq!(decode_stored(&path(name), given, text), body, "{name}");
        }
    }
}
