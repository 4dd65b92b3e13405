//! Parses the arguments of a call: little-endian numbers, texts with a length prefix, and buffers
//! by number. A truncated message is a bug of the JavaScript side and reported as an internal
//! error.

use std::rc::Rc;

use bytes::Bytes;

use crate::boundary::buffers;
use crate::core::error::{Error, Result};

/// The unread rest of a message.
pub struct Args<'a>(&'a [u8]);

impl<'a> Args<'a> {
    /// Starts at the beginning of a message.
    pub fn new(message: &'a [u8]) -> Args<'a> {
        fields::begin();
        Args(message)
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.0.split_at_checked(len) {
            Some((head, rest)) => {
                self.0 = rest;
                Ok(head)
            }
            None => Err(Error::internal("A call's message ended too soon")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(N)?);
        Ok(out)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn number(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8> {
        fields::note("u8");
        self.byte()
    }

    /// A boolean.
    pub fn bool(&mut self) -> Result<bool> {
        fields::note("bool");
        Ok(self.byte()? != 0)
    }

    /// An unsigned integer.
    pub fn u32(&mut self) -> Result<u32> {
        fields::note("u32");
        self.number()
    }

    /// A JavaScript number.
    pub fn f64(&mut self) -> Result<f64> {
        fields::note("f64");
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// A string.
    pub fn str(&mut self) -> Result<&'a str> {
        fields::note("text");
        let len = self.number()? as usize;
        std::str::from_utf8(self.bytes(len)?)
            .map_err(|_| Error::internal("A call's message holds text that is not UTF-8"))
    }

    /// File content: short content is inside the message, longer content in a buffer.
    pub fn blob(&mut self) -> Result<Bytes> {
        fields::note("blob");
        if self.byte()? == 0 {
            let len = self.number()? as usize;
            return self.bytes(len).map(Bytes::copy_from_slice);
        }
        let (id, len) = (self.number()?, self.number()? as usize);
        buffers::take(id, len)
            .map(Bytes::from)
            .ok_or_else(|| Error::internal("A call's buffer was taken before"))
    }

    /// Content that is text.
    pub fn text_blob(&mut self) -> Result<Rc<str>> {
        let bytes = self.blob()?;
        std::str::from_utf8(&bytes)
            .map(Rc::from)
            .map_err(|_| Error::internal("A call's message holds text that is not UTF-8"))
    }
}

/// In a build for tests: the fields of the last message, in the order in which they were read.
#[cfg(feature = "testing")]
pub mod fields {
    use crate::core::cell::{LocalCell, RefCell};

    thread_local! {
        static READ: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    /// A new message begins.
    pub fn begin() {
        READ.with_borrow_mut(Vec::clear);
    }

    /// A field was read.
    pub fn note(kind: &'static str) {
        READ.with_borrow_mut(|read| read.push(kind));
    }

    /// All that were read.
    pub fn read() -> String {
        READ.with_borrow(|read| read.join(" "))
    }
}

#[cfg(not(feature = "testing"))]
mod fields {
    #[inline]
    pub fn begin() {}
    #[inline]
    pub fn note(_kind: &'static str) {}
}
