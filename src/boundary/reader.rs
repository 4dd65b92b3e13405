//! Reads the fields of a described message. The reader keeps the first failure instead of returning it
//! at each field: a decoder that can stop at every field has to drop what it has read so far at each of
//! them, which made that of S3 five times as large.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::boundary::args::Args;
use crate::boundary::buffers;
#[cfg(test)]
use crate::boundary::printed::Node;
use crate::core::error::{Error, Result};
use crate::core::path::VPath;

/// A type that can be in a message.
pub trait Field: Sized {
    /// Reads it; after a failure, some value that is not used.
    fn read(reader: &mut Reader<'_>) -> Self;

    /// How TypeScript checks and packs it.
    #[cfg(test)]
    fn kind() -> Node;
}

/// A message that is being read.
pub struct Reader<'a> {
    args: Args<'a>,
    hosts: u32,
    failed: Option<Error>,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of a message.
    pub fn new(message: &'a [u8]) -> Reader<'a> {
        Reader {
            args: Args::new(message),
            hosts: 0,
            failed: None,
        }
    }

    fn keep<T>(&mut self, otherwise: T, next: impl FnOnce(&mut Args<'a>) -> Result<T>) -> T {
        if self.failed.is_some() {
            return otherwise;
        }
        next(&mut self.args).unwrap_or_else(|error| {
            self.failed = Some(error);
            otherwise
        })
    }

    /// Something read is wrong; only the first failure counts.
    pub fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
    }

    /// One of several words, by its place among them.
    pub fn word<T: Copy>(&mut self, all: &[T], first: T) -> T {
        let place = self.number();
        let word = all.get(usize::from(place)).copied();
        if word.is_none() {
            self.fail(Error::internal("There is no such word"));
        }
        word.unwrap_or(first)
    }

    /// One byte.
    pub fn number(&mut self) -> u8 {
        self.keep(0, Args::u8)
    }

    /// How many follow.
    fn count(&mut self) -> u32 {
        self.keep(0, Args::u32)
    }

    /// A short text, as it is in the message.
    pub fn short(&mut self) -> &'a str {
        self.keep("", Args::str)
    }

    fn text(&mut self) -> Rc<str> {
        self.keep(Rc::from(""), Args::text_blob)
    }

    fn path(&mut self, parse: impl FnOnce(&str) -> Result<VPath>) -> VPath {
        let text = self.text();
        self.keep(VPath::root(), |_| parse(&text))
    }

    /// What was read, unless something of it was wrong.
    pub fn end<T>(self, read: T) -> Result<T> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(read),
        }
    }
}

/// Reads the message of a call, which is in the scratch memory.
pub fn read<T: Field>(len: usize) -> Result<T> {
    buffers::with_scratch(len, |message| {
        let mut reader = Reader::new(message);
        let read = T::read(&mut reader);
        reader.end(read)
    })
}

/// The number of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u32);

/// A value of the host, by its place in the array beside the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host(pub u32);

/// The path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(pub VPath);

impl Field for bool {
    fn read(reader: &mut Reader<'_>) -> bool {
        reader.keep(false, Args::bool)
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("flag")
    }
}

impl Field for f64 {
    fn read(reader: &mut Reader<'_>) -> f64 {
        reader.keep(0.0, Args::f64)
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("amount")
    }
}

impl Field for u64 {
    fn read(reader: &mut Reader<'_>) -> u64 {
        // A float-to-integer cast saturates.
        f64::read(reader) as u64
    }

    #[cfg(test)]
    fn kind() -> Node {
        f64::kind()
    }
}

impl Field for usize {
    fn read(reader: &mut Reader<'_>) -> usize {
        // A float-to-integer cast saturates.
        f64::read(reader) as usize
    }

    #[cfg(test)]
    fn kind() -> Node {
        f64::kind()
    }
}

/// In milliseconds.
impl Field for Duration {
    fn read(reader: &mut Reader<'_>) -> Duration {
        Duration::from_millis(u64::read(reader))
    }

    #[cfg(test)]
    fn kind() -> Node {
        f64::kind()
    }
}

impl Field for Rc<str> {
    fn read(reader: &mut Reader<'_>) -> Rc<str> {
        reader.text()
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("text")
    }
}

impl Field for String {
    fn read(reader: &mut Reader<'_>) -> String {
        String::from(&*reader.text())
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("text")
    }
}

impl Field for VPath {
    fn read(reader: &mut Reader<'_>) -> VPath {
        reader.path(|text| Ok(VPath::parse(text)?))
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("text")
    }
}

impl Field for FilePath {
    fn read(reader: &mut Reader<'_>) -> FilePath {
        FilePath(reader.path(|text| Ok(VPath::parse_file(text)?)))
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("text")
    }
}

impl Field for Bytes {
    fn read(reader: &mut Reader<'_>) -> Bytes {
        reader.keep(Bytes::new(), Args::blob)
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("bytes")
    }
}

impl Field for Handle {
    fn read(reader: &mut Reader<'_>) -> Handle {
        Handle(reader.count())
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("handle")
    }
}

impl Field for Host {
    fn read(reader: &mut Reader<'_>) -> Host {
        let place = reader.hosts;
        reader.hosts += 1;
        Host(place)
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("function")
    }
}

impl<T: Field> Field for Option<T> {
    fn read(reader: &mut Reader<'_>) -> Option<T> {
        bool::read(reader).then(|| T::read(reader))
    }

    #[cfg(test)]
    fn kind() -> Node {
        T::kind().with("maybe", Node::flag())
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(reader: &mut Reader<'_>) -> Vec<T> {
        let mut all = Vec::new();
        for _ in 0..reader.count() {
            all.push(T::read(reader));
            if reader.failed.is_some() {
                break;
            }
        }
        all
    }

    #[cfg(test)]
    fn kind() -> Node {
        Node::kind("list").with("of", T::kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::macros::{calls, options, words};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Size {
        Small,
        Large,
    }

    words! { Size { Small = "small", Large = "large" } }

    options! {
        /// Options with fields of several kinds.
        pub struct Given {
            size: Size = "small",
            names: Vec<String>,
            limit: Option<u64>,
            first: Option<Host>,
            second: Host,
        }
    }

    calls! {
        /// Two calls.
        pub enum Asked {
            List { path: VPath },
            Stop {},
        }
    }

    fn read_all<T: Field>(message: &[u8]) -> Result<T> {
        let mut reader = Reader::new(message);
        let read = T::read(&mut reader);
        reader.end(read)
    }

    /// Size, two names, no limit, no first function.
    const MESSAGE: &[u8] = &[
        1, 2, 0, 0, 0, 0, 1, 0, 0, 0, b'a', 0, 1, 0, 0, 0, b'b', 0, 0,
    ];

    #[test]
    fn fields_are_read_in_their_order() {
        let given: Given = read_all(MESSAGE).expect("the message is whole");
        assert_eq!(given.size, Size::Large);
        assert_eq!(given.names, ["a", "b"]);
        assert_eq!(given.limit, None);
        assert_eq!((given.first, given.second), (None, Host(0)));
    }

    #[test]
    fn a_message_that_ends_too_soon_is_refused() {
        for end in 0..MESSAGE.len() {
            let cut = MESSAGE.get(..end).expect("it is longer");
            assert!(read_all::<Given>(cut).is_err(), "cut after {end} bytes");
        }
    }

    #[test]
    fn a_word_that_is_not_described_is_refused() {
        let mut message = MESSAGE.to_vec();
        message[0] = 2;
        assert!(read_all::<Given>(&message).is_err());
        assert!(read_all::<Size>(&[255]).is_err());
    }

    #[test]
    fn a_count_that_is_far_too_large_ends_with_the_message() {
        let message = [0, 255, 255, 255, 255];
        assert!(read_all::<Given>(&message).is_err());
    }

    #[test]
    fn the_first_failure_is_kept() {
        let message = [0, 0, 3, 0, 0, 0, b'.', b'.', b'/'];
        let error = read_all::<Asked>(&message).expect_err("the path leads out");
        assert_eq!(error.code(), "invalid_path");
        assert!(matches!(read_all::<Asked>(&[1]), Ok(Asked::Stop {})));
    }

    #[test]
    fn a_call_that_is_not_described_is_refused() {
        let list = [0, 0, 2, 0, 0, 0, b'/', b'a'];
        let Ok(Asked::List { path }) = read_all(&list) else {
            panic!("the first call is a list");
        };
        assert_eq!(path.as_str(), "/a");
        assert!(read_all::<Asked>(&[2]).is_err());
    }

    #[test]
    fn typescript_is_told_the_same_fields_in_the_same_order() {
        let given = Given::printed().print();
        let fields = ["size", "names", "limit", "first", "second"];
        let places = fields.map(|name| given.find(&format!("  {name}: ")));
        assert!(places.iter().all(Option::is_some), "{given}");
        assert!(places.is_sorted(), "{given}");
        let asked = Asked::printed().print();
        assert!(asked.contains("list: { call: 0"), "{asked}");
        assert!(asked.contains("stop: { call: 1"), "{asked}");
    }
}
