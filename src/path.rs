//! The only parser and normaliser of paths. Every rule, route and storage sees a [`VPath`] and
//! nothing else, so a spelling that goes round a rule cannot exist behind this door.

use std::fmt;
use std::rc::Rc;

use crate::error::{Error, Kind, Result};

/// The longest canonical path, in UTF-8 bytes.
pub const MAX_BYTES: usize = 1024;

/// A canonical path. Always true of one:
///
/// - it starts with `/`;
/// - no segment is empty, `.` or `..`, and none but the root ends with `/`;
/// - the first segment is neither `~` nor a Windows drive;
/// - it holds no C0 control character and no backslash;
/// - it is at most [`MAX_BYTES`] long.
///
/// Paths compare by bytes, which is the order of every listing. Cloning counts a reference.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VPath(Rc<str>);

impl VPath {
    /// The root, `/`.
    pub fn root() -> VPath {
        VPath(Rc::from("/"))
    }

    /// Reads what a caller wrote; the root is a fine answer.
    pub fn parse(text: &str) -> Result<VPath> {
        let refuse = |why: &str| {
            let shown: String = text
                .chars()
                .take(200)
                .flat_map(char::escape_debug)
                .collect();
            Err(Error::new(
                Kind::InvalidPath,
                format!("Invalid path '{shown}': {why}"),
            ))
        };
        if text.len() > MAX_BYTES * 4 {
            return refuse("it is longer than 1024 bytes");
        }
        if let Some(bad) = text.bytes().find(|b| *b < 0x20 || *b == b'\\') {
            return refuse(if bad == b'\\' {
                "backslashes are not allowed; separate segments with '/'"
            } else {
                "control characters are not allowed"
            });
        }
        if is_canonical(text.as_bytes()) {
            return match first_segment_fault(text) {
                Some(why) => refuse(why),
                None if text.len() > MAX_BYTES => refuse("it is longer than 1024 bytes"),
                None => Ok(VPath(Rc::from(text))),
            };
        }
        let mut canonical = String::with_capacity(text.len() + 1);
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." => return refuse("'..' segments are not allowed"),
                _ => {
                    canonical.push('/');
                    canonical.push_str(segment);
                }
            }
        }
        if let Some(why) = first_segment_fault(&canonical) {
            return refuse(why);
        }
        if canonical.len() > MAX_BYTES {
            return refuse("it is longer than 1024 bytes");
        }
        if canonical.is_empty() {
            return Ok(VPath::root());
        }
        Ok(VPath(Rc::from(canonical)))
    }

    /// Reads the path of a file: like [`VPath::parse`], but the root and an empty text are refused.
    pub fn parse_file(text: &str) -> Result<VPath> {
        let path = VPath::parse(text)?;
        if path.is_root() {
            return Err(Error::new(
                Kind::InvalidPath,
                format!(
                    "Invalid path '{text}': a file path is needed, not the root or an empty text"
                ),
            ));
        }
        Ok(path)
    }

    /// Reads a key that a storage reported. A key that is not canonical as it stands has no
    /// path, and listings pass over it.
    pub fn from_stored(key: &str) -> Option<VPath> {
        let path = VPath::parse(key).ok()?;
        (path.as_str() == key).then_some(path)
    }

    /// The text, starting with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The directory that holds it; the root holds itself.
    pub fn parent(&self) -> VPath {
        match self.0.rfind('/') {
            Some(0) | None => VPath::root(),
            Some(at) => VPath(Rc::from(self.0.get(..at).unwrap_or("/"))),
        }
    }

    /// The segments, from the top.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The text that every path beneath it starts with: `/a/`, or `/` for the root.
    pub fn dir_prefix(&self) -> String {
        if self.is_root() {
            String::from("/")
        } else {
            format!("{}/", self.0)
        }
    }

    /// Whether it is `dir` itself or stands beneath it. Whole segments: `/ab` is not under `/a`.
    pub fn is_under(&self, dir: &VPath) -> bool {
        match self.0.strip_prefix(dir.as_str()) {
            Some(rest) => dir.is_root() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// What follows `dir`, without a leading `/`: `b/c` for `/a/b/c` in `/a`, empty for `dir` itself.
    pub fn relative_to(&self, dir: &VPath) -> Option<&str> {
        if !self.is_under(dir) {
            return None;
        }
        let rest = self.0.get(dir.0.len()..)?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    /// The path of `relative` beneath this one. Fails where the whole is no canonical path.
    pub fn join(&self, relative: &str) -> Result<VPath> {
        if relative.is_empty() {
            return Ok(self.clone());
        }
        VPath::parse(&format!("{}{relative}", self.dir_prefix()))
    }

    /// The same path with the leading `from` exchanged for `to`. `None` where it is not under
    /// `from`, or where the outcome would be too long.
    pub fn rebase(&self, from: &VPath, to: &VPath) -> Option<VPath> {
        to.join(self.relative_to(from)?).ok()
    }
}

/// Cheap proof that nothing needs rewriting: no empty, `.` or `..` segment, no trailing `/`.
fn is_canonical(text: &[u8]) -> bool {
    if text == b"/" {
        return true;
    }
    let Some(rest) = text.strip_prefix(b"/") else {
        return false;
    };
    rest.split(|byte| *byte == b'/')
        .all(|segment| !matches!(segment, b"" | b"." | b".."))
}

fn first_segment_fault(canonical: &str) -> Option<&'static str> {
    let first = canonical.trim_start_matches('/').split('/').next()?;
    if first == "~" {
        return Some("'~' is not expanded; write a path from the root '/'");
    }
    match first.as_bytes() {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => {
            Some("Windows drives are not allowed; write a path from the root '/'")
        }
        _ => None,
    }
}

impl fmt::Display for VPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for VPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.0)
    }
}

impl AsRef<str> for VPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A map keyed by paths can be asked, and ranged over, by plain text: both order by bytes.
impl std::borrow::Borrow<str> for VPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_are_one_path() {
        for (given, canonical) in [
            ("notes.txt", "/notes.txt"),
            ("//a/./b/", "/a/b"),
            ("/a/b", "/a/b"),
            ("", "/"),
            (".", "/"),
            ("/", "/"),
            ("///", "/"),
            ("~backup", "/~backup"),
            ("a..b", "/a..b"),
            ("/x/~", "/x/~"),
            ("__proto__", "/__proto__"),
            ("/日本/語", "/日本/語"),
            ("/x/c:", "/x/c:"),
        ] {
            assert_eq!(VPath::parse(given).expect(given).as_str(), canonical);
        }
    }

    #[test]
    fn what_cannot_be_a_path_is_refused() {
        let long = format!("/{}", "x".repeat(1024));
        for bad in [
            "..",
            "/../etc",
            "a/../b",
            "/a/..",
            "~",
            "~/x",
            "/~",
            "//~/x",
            "a\0b",
            "a\nb",
            "a\\b",
            "C:",
            "C:/x",
            "/c:/x",
            "c:x",
            long.as_str(),
        ] {
            let error = VPath::parse(bad).expect_err(bad);
            assert_eq!(error.kind(), Kind::InvalidPath, "{bad:?}");
        }
        assert!(VPath::parse(&format!("/{}", "x".repeat(1023))).is_ok());
        for bad in ["", "/", ".", "//"] {
            assert!(VPath::parse_file(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn prefixes_are_whole_segments() {
        let path = VPath::parse("/abc/d").expect("a path");
        let under = |dir: &str| path.is_under(&VPath::parse(dir).expect("a path"));
        assert!(under("/") && under("/abc") && under("/abc/d"));
        assert!(!under("/ab") && !under("/abc/d/e"));
        let root = VPath::root();
        assert_eq!(path.relative_to(&root), Some("abc/d"));
        assert_eq!(path.parent().as_str(), "/abc");
        assert_eq!(path.parent().parent().as_str(), "/");
        let moved = path.rebase(&VPath::parse("/abc").expect("a path"), &root);
        assert_eq!(moved.expect("rebased").as_str(), "/d");
        assert_eq!(root.relative_to(&root), Some(""));
    }

    #[test]
    fn stored_keys_that_no_path_can_name_are_passed_over() {
        assert!(VPath::from_stored("/a/b").is_some());
        for key in ["a", "/a//b", "/a/", "/a/../b", "/a\\b"] {
            assert!(VPath::from_stored(key).is_none(), "{key}");
        }
    }
}
