//! Answers on their way out. An answer is packed into one stretch of memory; large bodies are
//! not copied there but pointed at, and kept alive until the next answer. Texts of listings and
//! matches go as columns: the texts one behind the other in chunks, with the end of each in
//! UTF-16 units, so that JavaScript decodes a chunk once and slices it.

use bytes::Bytes;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cell::{LocalCell, RefCell};
use crate::env::host::ForeignCause;
use crate::error::Error;
use crate::path::VPath;
use crate::protocol::index;
use crate::search::scan;

/// What JavaScript decodes at a time. Short chunks keep one foreign letter from doubling the
/// size of everything, and a slice from keeping a large text alive.
const CHUNK: usize = 16 * 1024;

thread_local! {
    static OUT: RefCell<Reply> = RefCell::new(Reply::default());
}

/// An answer being packed.
#[derive(Default)]
pub struct Reply {
    bytes: Vec<u8>,
    bodies: Vec<Bytes>,
    cause: Option<JsValue>,
}

impl Reply {
    /// An answer that tells of success; what it is follows.
    pub fn ok() -> Reply {
        let mut reply = Reply::default();
        reply.u8(0);
        reply
    }

    /// An answer that tells of a refusal.
    pub fn error(error: &Error) -> Reply {
        let mut reply = Reply::default();
        reply.u8(1);
        reply.put_error(error);
        reply
    }

    /// A refusal inside an answer.
    pub fn put_error(&mut self, error: &Error) {
        self.str(error.code());
        self.str(&error.to_string());
        self.str(error.kind().file_operation_error());
        self.f64(
            error
                .wait()
                .map_or(-1.0, |wait| wait.as_secs_f64() * 1000.0),
        );
        self.cause = error
            .cause()
            .and_then(|cause| cause.downcast_ref::<ForeignCause>())
            .map(|cause| cause.0.clone());
        self.bool(self.cause.is_some());
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A yes or no.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// A whole number.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A length or count.
    pub fn len(&mut self, value: usize) {
        self.u32(index(value));
    }

    /// A JavaScript number.
    pub fn f64(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A short text.
    pub fn str(&mut self, text: &str) {
        self.len(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A path that was asked about: where it was given as it is spelled, a mark says so.
    pub fn path(&mut self, path: &VPath, as_given: bool) {
        match as_given {
            true => self.u32(u32::MAX),
            false => self.str(path.as_str()),
        }
    }

    /// A text, or none.
    pub fn optional_str(&mut self, text: Option<&str>) {
        self.bool(text.is_some());
        if let Some(text) = text {
            self.str(text);
        }
    }

    /// A body, pointed at.
    pub fn body(&mut self, body: Bytes) {
        self.len(body.as_ptr() as usize);
        self.len(body.len());
        self.bodies.push(body);
    }

    /// A column of texts.
    pub fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a [u8]>) {
        let rows = texts.len();
        let mut column = Column::default();
        column.ends.reserve_exact(rows);
        for text in texts {
            column.push(text);
        }
        column.seal();
        self.len(rows);
        self.len(column.chunks.len());
        for (end, row) in column.chunks {
            self.len(end);
            self.len(row);
        }
        self.u32s(column.ends.into_iter());
        self.body(Bytes::from(column.packed));
    }

    /// A column of whole numbers.
    pub fn u32s(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.column(values.map(u32::to_le_bytes));
    }

    /// A column of JavaScript numbers.
    pub fn f64s(&mut self, values: impl ExactSizeIterator<Item = f64>) {
        self.column(values.map(f64::to_le_bytes));
    }

    /// Room for all is made at once, so that no number asks for its own.
    fn column<const N: usize>(&mut self, values: impl ExactSizeIterator<Item = [u8; N]>) {
        let from = self.bytes.len();
        self.bytes.resize(from + values.len() * N, 0);
        let (places, _) = self
            .bytes
            .get_mut(from..)
            .unwrap_or_default()
            .as_chunks_mut::<N>();
        for (place, value) in places.iter_mut().zip(values) {
            *place = value;
        }
    }

    /// Puts the answer where JavaScript reads it; the one before is dropped.
    pub fn send(self) {
        let before = OUT.with_borrow_mut(|out| std::mem::replace(out, self));
        drop(before);
    }
}

/// A column of texts being packed.
#[derive(Default)]
struct Column {
    packed: Vec<u8>,
    /// Where each text ends, in UTF-16 units of its chunk.
    ends: Vec<u32>,
    /// Where each chunk ends: bytes, and rows.
    chunks: Vec<(usize, usize)>,
}

impl Column {
    fn sealed(&self) -> (usize, usize) {
        self.chunks.last().copied().unwrap_or_default()
    }

    /// In ASCII, which nearly everything is, a unit is a byte; `seal` sees to the rest.
    fn push(&mut self, text: &[u8]) {
        self.packed.extend_from_slice(text);
        let inside = self.packed.len() - self.sealed().0;
        self.ends.push(index(inside));
        if inside >= CHUNK {
            self.seal();
        }
    }

    /// Ends a chunk. One look tells whether all of it is ASCII.
    fn seal(&mut self) {
        let (start, row) = self.sealed();
        if row == self.ends.len() {
            return;
        }
        if !scan::is_ascii(self.packed.get(start..).unwrap_or_default()) {
            self.count(start, row);
        }
        self.chunks.push((self.packed.len(), self.ends.len()));
    }

    /// Counts units text by text. What is not UTF-8 is shown with replacement characters, put
    /// here so that the units counted are those that JavaScript sees.
    fn count(&mut self, start: usize, row: usize) {
        let chunk = self.packed.split_off(start);
        let (mut from, mut units) = (0usize, 0usize);
        for end in self.ends.get_mut(row..).unwrap_or_default() {
            let text = chunk.get(from..*end as usize).unwrap_or_default();
            from = *end as usize;
            let text = String::from_utf8_lossy(text);
            self.packed.extend_from_slice(text.as_bytes());
            units += text.chars().map(char::len_utf16).sum::<usize>();
            *end = index(units);
        }
    }
}

/// Where the last answer begins.
#[wasm_bindgen]
pub fn reply_ptr() -> *const u8 {
    OUT.with_borrow(|out| out.bytes.as_ptr())
}

/// How long the last answer is.
#[wasm_bindgen]
pub fn reply_len() -> usize {
    OUT.with_borrow(|out| out.bytes.len())
}

/// Drops the last answer and the bodies it keeps alive.
#[wasm_bindgen]
pub fn reply_done() {
    Reply::default().send();
}

/// What a foreign object threw, where the last answer says that something was thrown.
#[wasm_bindgen]
pub fn reply_cause() -> JsValue {
    OUT.with_borrow_mut(|out| out.cause.take())
        .unwrap_or(JsValue::UNDEFINED)
}
