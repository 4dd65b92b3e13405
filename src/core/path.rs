//! The only parser and normaliser of paths. Every rule, route and storage receives a [`VPath`], so
//! no alternative spelling of a path can bypass a rule.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::core::bugs::{Bug, has};
use crate::core::names::{self, Marks, ROOM};
use crate::core::visible::visible;

/// The longest canonical path, in UTF-8 bytes.
pub const MAX_BYTES: usize = 1024;

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPath(String);

impl fmt::Display for InvalidPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidPath {}

impl From<InvalidPath> for String {
    fn from(error: InvalidPath) -> String {
        error.0
    }
}

type Result<T> = std::result::Result<T, InvalidPath>;

/// Values by path. Since they are boxed, the code of all such trees is the same, and WebAssembly has it
/// only once; and a walk over paths reads little else.
pub type ByPath<T> = BTreeMap<VPath, Box<T>>;

/// A canonical path. Invariants:
///
/// - it starts with `/`;
/// - no segment is empty, `.` or `..`, and none but the root ends with `/`;
/// - the first segment is neither `~` nor a Windows drive;
/// - it holds no C0 control character and no backslash;
/// - it is at most [`MAX_BYTES`] long.
///
/// A path into the library's own files ([`ROOM`]) exists only where the library itself asks for it
/// ([`VPath::own`]) or finds it ([`VPath::from_stored`]): what a caller names is parsed by
/// [`VPath::parse`], which refuses it. So whoever holds such a path may use it, and every backend
/// leaves such files out of what is asked about other paths.
///
/// Paths compare by bytes, which is also the order of every listing. A clone shares the text by
/// reference count.
#[derive(Clone)]
pub struct VPath {
    text: Rc<str>,
    tail: Tail,
}

/// The last seven bytes of a text, or all of it if it is shorter. A path stores its own tail, so
/// that a search for `*.ts` can skip a file without reading its text from elsewhere in memory. The
/// byte above them has the marks of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail(u64);

impl Tail {
    /// The longest suffix that a tail can hold.
    pub const BYTES: usize = 7;

    const ROOM: u64 = 1 << 56;
    const DECEPTIVE: u64 = 1 << 57;
    const VOUCHED: u64 = 1 << 58;

    /// The tail of `text`.
    pub fn of(text: &str) -> Tail {
        let bytes = text.as_bytes().iter().rev().take(Tail::BYTES).rev();
        Tail(bytes.fold(0, |tail, byte| tail << 8 | u64::from(*byte)))
    }

    /// Mask for a suffix of `bytes` bytes.
    pub fn mask(bytes: usize) -> u64 {
        (1 << (bytes.min(Tail::BYTES) * 8)) - 1
    }

    /// Whether the two tails are equal under `mask`. No path contains a zero byte, so a text that
    /// is shorter than a suffix never matches it.
    pub fn agrees(self, other: Tail, mask: u64) -> bool {
        (self.0 ^ other.0) & mask == 0
    }
}

impl VPath {
    fn canonical(text: &str) -> VPath {
        let mut tail = Tail::of(text).0;
        let Marks { room, deceptive } = Marks::of(text);
        if room {
            tail |= Tail::ROOM;
        }
        if deceptive {
            tail |= Tail::DECEPTIVE;
        }
        VPath {
            text: Rc::from(text),
            tail: Tail(tail),
        }
    }

    /// Whether this is in the room of the library's own files.
    pub fn is_own(&self) -> bool {
        self.tail.0 & Tail::ROOM != 0
    }

    /// Whether a name in it has a character that no reader sees or that reorders what a reader sees.
    pub fn is_deceptive(&self) -> bool {
        self.tail.0 & Tail::DECEPTIVE != 0
    }

    /// The same path of a caller that was allowed this name, whatever is in it.
    pub fn vouched(mut self) -> VPath {
        self.tail.0 |= Tail::VOUCHED;
        self
    }

    /// Whether somebody has vouched for it.
    pub fn is_vouched(&self) -> bool {
        self.tail.0 & Tail::VOUCHED != 0
    }

    /// Why no file may be created here; `None` if its name is what it seems to be, or was allowed.
    pub fn deception(&self) -> Option<InvalidPath> {
        // The library's own files are in nobody's listing.
        if !self.is_deceptive() || self.is_own() || self.is_vouched() {
            return None;
        }
        deception(&self.text)
    }

    /// Whether an answer about `asked` may have this path: the library's own files are only in answers
    /// about themselves.
    pub fn is_shown_at(&self, asked: &VPath) -> bool {
        !self.is_own() || asked.is_own()
    }

    /// The root, `/`.
    pub fn root() -> VPath {
        VPath::canonical("/")
    }

    /// The last bytes of the text.
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// Parses a path from a caller; the root is allowed, the library's own files are not.
    pub fn parse(text: &str) -> Result<VPath> {
        let path = VPath::any(text)?;
        match path.is_own() && !has(Bug::OwnReachable) {
            true => Err(refused(text, names::CLOSED)),
            false => Ok(path),
        }
    }

    /// A directory or file of the library itself: the given path, in the room. A path that is not in
    /// a room names the directory of one.
    pub fn own(text: &str) -> Result<VPath> {
        let path = VPath::any(text)?;
        match path.is_own() {
            true => Ok(path),
            false => path.join(ROOM),
        }
    }

    /// A file of the library itself: the given one, in the room of its directory.
    pub fn own_file(text: &str) -> Result<VPath> {
        let path = VPath::any(text)?.of_file(text)?;
        match path.is_own() {
            true => Ok(path),
            false => path.parent().join(ROOM)?.join(path.name()),
        }
    }

    /// Parses a path that may be one of the library's own files.
    pub fn any(text: &str) -> Result<VPath> {
        let refuse = |why: &str| Err(refused(text, why));
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
                None => Ok(VPath::canonical(text)),
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
        Ok(VPath::canonical(&canonical))
    }

    /// Parses the path of a file: like [`VPath::parse`], but refuses the root and an empty text.
    pub fn parse_file(text: &str) -> Result<VPath> {
        VPath::parse(text)?.of_file(text)
    }

    /// Refuses the root, for which a caller gave `text`.
    pub fn of_file(self, text: &str) -> Result<VPath> {
        match self.is_root() {
            true => Err(refused(
                text,
                "a file path is needed, not the root or an empty text",
            )),
            false => Ok(self),
        }
    }

    /// Parses a key that a storage reported. A key that is not canonical has no path; listings skip
    /// it.
    pub fn from_stored(key: &str) -> Option<VPath> {
        let path = VPath::any(key).ok()?;
        (path.as_str() == key).then_some(path)
    }

    /// The text, starting with `/`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.text.len() == 1
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// The parent directory; the root is its own parent.
    pub fn parent(&self) -> VPath {
        match self.text.rfind('/') {
            Some(0) | None => VPath::root(),
            Some(at) => VPath::canonical(self.text.get(..at).unwrap_or("/")),
        }
    }

    /// The segments, from the root down.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// The prefix of every path below this one: `/a/`, or `/` for the root.
    pub fn dir_prefix(&self) -> String {
        if self.is_root() {
            String::from("/")
        } else {
            format!("{}/", self.text)
        }
    }

    /// Whether it is `dir` itself or lies below it. Compares whole segments: `/ab` is not under
    /// `/a`.
    pub fn is_under(&self, dir: &VPath) -> bool {
        match self.text.strip_prefix(dir.as_str()) {
            Some(rest) => dir.is_root() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// The rest after `dir`, without a leading `/`: `b/c` for `/a/b/c` in `/a`, empty for `dir`
    /// itself.
    pub fn relative_to(&self, dir: &VPath) -> Option<&str> {
        if !self.is_under(dir) {
            return None;
        }
        let rest = self.text.get(dir.text.len()..)?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    /// The path of `relative` below this one, which may be in the room. Fails if the result is not a
    /// canonical path.
    pub fn join(&self, relative: &str) -> Result<VPath> {
        if relative.is_empty() {
            return Ok(self.clone());
        }
        VPath::any(&format!("{}{relative}", self.dir_prefix()))
    }

    /// The same path with the prefix `from` replaced by `to`. `None` if it is not under `from`, or
    /// if the result would be too long.
    pub fn rebase(&self, from: &VPath, to: &VPath) -> Option<VPath> {
        let rest = self.relative_to(from)?;
        if rest.is_empty() {
            return Some(to.clone());
        }
        // Both are canonical, so the result is, but for how it begins and how long it is.
        let text: Rc<str> = match (from.is_root(), to.is_root()) {
            (true, true) => return Some(self.clone()),
            (false, true) => self.text.get(from.text.len()..)?.into(),
            (_, false) => [to.as_str(), "/", rest].concat().into(),
        };
        let faulty = to.is_root() && first_segment_fault(&text).is_some();
        if faulty || text.len() > MAX_BYTES {
            return None;
        }
        // Marks are those of segments, so without one in both there is none in the result.
        Some(
            match (self.tail.0 | to.tail.0) & (Tail::ROOM | Tail::DECEPTIVE) {
                0 => VPath {
                    tail: Tail::of(&text),
                    text,
                },
                _ => VPath::canonical(&text),
            },
        )
    }
}

/// Why no file may be created under this text; `None` if it is what it seems to be.
pub fn deception(text: &str) -> Option<InvalidPath> {
    let (at, one) = names::deceptive(text)?;
    let why = format!(
        "character {} is U+{:04X}, which shows nothing or reorders what is around it; leave it out. \
         withPolicy(backend, {{ hiddenCharacters: \"allow\" }}) allows such names",
        at.saturating_add(1),
        u32::from(one)
    );
    Some(refused(text, &why))
}

fn refused(text: &str, why: &str) -> InvalidPath {
    let shown: String = text
        .chars()
        .take(200)
        .flat_map(char::escape_debug)
        .collect();
    InvalidPath(format!("Invalid path '{}': {why}", visible(&shown)))
}

/// Fast check that the text is already canonical: no empty, `.` or `..` segment, no trailing `/`.
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

impl PartialEq for VPath {
    fn eq(&self, other: &VPath) -> bool {
        let apart = self.tail.0 ^ other.tail.0;
        apart & !Tail::VOUCHED == 0 && self.text == other.text
    }
}

impl Eq for VPath {}

impl PartialOrd for VPath {
    fn partial_cmp(&self, other: &VPath) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for VPath {
    fn cmp(&self, other: &VPath) -> Ordering {
        self.text.cmp(&other.text)
    }
}

/// Hashes like its text, so that a map can be queried with a `str`.
impl Hash for VPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for VPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for VPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.text)
    }
}

impl AsRef<str> for VPath {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Orders like its text, so that a map can be queried and ranged over with a `str`.
impl std::borrow::Borrow<str> for VPath {
    fn borrow(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests;
