//! Packs outgoing replies. A reply is one contiguous block of memory; large bodies are not copied
//! into it but referenced by address, and kept alive until the next reply. Texts of listings and
//! matches are columns: the texts concatenated in chunks, with the end of each in UTF-16 units, so
//! that JavaScript decodes a chunk once and slices it.

use bytes::Bytes;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::Error;
use crate::core::path::VPath;
use crate::core::scan;
use crate::env::host::ForeignCause;
use crate::protocol::index;

/// Size of the chunks that JavaScript decodes. With short chunks, one non-Latin character does not
/// double the size of all text, and a slice does not keep a large text alive.
const CHUNK: usize = 16 * 1024;

thread_local! {
    static OUT: RefCell<Reply> = RefCell::new(Reply::default());
}

/// A reply under construction.
#[derive(Default)]
pub struct Reply {
    bytes: Vec<u8>,
    bodies: Vec<Bytes>,
    cause: Option<JsValue>,
    /// Its fields, as `tests/wasm/fields.json` names them.
    #[cfg(feature = "testing")]
    fields: Vec<&'static str>,
}

impl Reply {
    #[cfg(feature = "testing")]
    fn note(&mut self, kind: &'static str) {
        self.fields.push(kind);
    }

    #[cfg(not(feature = "testing"))]
    fn note(&mut self, _kind: &'static str) {}

    /// A successful reply; the result follows.
    pub fn ok() -> Reply {
        let mut reply = Reply::default();
        reply.u8(0);
        reply
    }

    /// A reply with an error.
    pub fn error(error: &Error) -> Reply {
        let mut reply = Reply::default();
        reply.u8(1);
        reply.put_error(error);
        reply
    }

    /// Packs an error inside a reply.
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
        self.note("u8");
        self.bytes.push(value);
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) {
        self.note("bool");
        self.bytes.push(u8::from(value));
    }

    fn number(&mut self, value: usize) {
        self.bytes.extend_from_slice(&index(value).to_le_bytes());
    }

    /// An unsigned integer.
    pub fn u32(&mut self, value: u32) {
        self.note("u32");
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A length or count.
    pub fn len(&mut self, value: usize) {
        self.u32(index(value));
    }

    /// A JavaScript number.
    pub fn f64(&mut self, value: f64) {
        self.note("f64");
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A short string.
    pub fn str(&mut self, text: &str) {
        self.note("text");
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// The path from the arguments; a marker if it was given in canonical form.
    pub fn path(&mut self, path: &VPath, as_given: bool) {
        self.note("path");
        match as_given {
            true => self.bytes.extend_from_slice(&u32::MAX.to_le_bytes()),
            false => self.text(path.as_str()),
        }
    }

    /// An optional string.
    pub fn optional_str(&mut self, text: Option<&str>) {
        self.bool(text.is_some());
        if let Some(text) = text {
            self.str(text);
        }
    }

    /// A body, by address.
    pub fn body(&mut self, body: Bytes) {
        self.note("body");
        self.reference(body);
    }

    fn reference(&mut self, body: Bytes) {
        self.number(body.as_ptr() as usize);
        self.number(body.len());
        self.bodies.push(body);
    }

    /// A column of strings.
    pub fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.note("texts");
        let rows = texts.len();
        let mut column = Column::default();
        column.ends.reserve_exact(rows);
        for text in texts {
            column.push(text);
        }
        column.seal();
        self.number(rows);
        self.number(column.chunks.len());
        for (end, row) in column.chunks {
            self.number(end);
            self.number(row);
        }
        self.column(column.ends.into_iter().map(u32::to_le_bytes));
        self.reference(Bytes::from(column.packed));
    }

    /// A column of unsigned integers.
    pub fn u32s(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.note("u32s");
        self.column(values.map(u32::to_le_bytes));
    }

    /// A column of JavaScript numbers.
    pub fn f64s(&mut self, values: impl ExactSizeIterator<Item = f64>) {
        self.note("f64s");
        self.column(values.map(f64::to_le_bytes));
    }

    /// Reserves space for all values at once instead of per value.
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

    /// Publishes the reply to JavaScript; drops the previous one.
    pub fn send(self) {
        let before = OUT.with_borrow_mut(|out| std::mem::replace(out, self));
        drop(before);
    }
}

/// A column of strings under construction.
#[derive(Default)]
struct Column {
    packed: Vec<u8>,
    /// Where each text ends, in UTF-16 units of its chunk.
    ends: Vec<u32>,
    /// Where each chunk ends: in bytes, and in rows.
    chunks: Vec<(usize, usize)>,
}

impl Column {
    fn sealed(&self) -> (usize, usize) {
        self.chunks.last().copied().unwrap_or_default()
    }

    /// Counts bytes as units, which is correct for ASCII, the usual case; `seal` corrects the rest.
    fn push(&mut self, text: &[u8]) {
        self.packed.extend_from_slice(text);
        let inside = self.packed.len() - self.sealed().0;
        self.ends.push(index(inside));
        if inside >= CHUNK {
            self.seal();
        }
    }

    /// Ends a chunk. One check shows whether all of it is ASCII.
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

    /// Counts the units of each text of a chunk.
    fn count(&mut self, start: usize, row: usize) {
        if !self.is_sound(start, row) {
            self.repair(start, row);
        }
        let (mut from, mut units) = (start, 0);
        for end in self.ends.get_mut(row..).unwrap_or_default() {
            let behind = start + *end as usize;
            units += scan::utf16_units(self.packed.get(from..behind).unwrap_or_default());
            from = behind;
            *end = index(units);
        }
    }

    /// Whether each text of a chunk is UTF-8.
    fn is_sound(&self, start: usize, row: usize) -> bool {
        let chunk = self.packed.get(start..).unwrap_or_default();
        let ends = self.ends.get(row..).unwrap_or_default();
        std::str::from_utf8(chunk)
            .is_ok_and(|chunk| ends.iter().all(|end| chunk.is_char_boundary(*end as usize)))
    }

    /// Replaces what is not UTF-8 as JavaScript does, so that the counts match what it decodes.
    fn repair(&mut self, start: usize, row: usize) {
        let chunk = self.packed.split_off(start);
        let mut from = 0usize;
        for end in self.ends.get_mut(row..).unwrap_or_default() {
            let text = chunk.get(from..*end as usize).unwrap_or_default();
            from = *end as usize;
            let text = String::from_utf8_lossy(text);
            self.packed.extend_from_slice(text.as_bytes());
            *end = index(self.packed.len() - start);
        }
    }
}

/// The address of the last reply.
#[wasm_bindgen]
pub fn reply_ptr() -> *const u8 {
    OUT.with_borrow(|out| out.bytes.as_ptr())
}

/// The length of the last reply.
#[wasm_bindgen]
pub fn reply_len() -> usize {
    OUT.with_borrow(|out| out.bytes.len())
}

/// Drops the last reply and the bodies it references.
#[wasm_bindgen]
pub fn reply_done() {
    Reply::default().send();
}

/// The exception of the host, if the last reply says that there is one.
#[wasm_bindgen]
pub fn reply_cause() -> JsValue {
    OUT.with_borrow_mut(|out| out.cause.take())
        .unwrap_or(JsValue::UNDEFINED)
}

/// The fields of the last message, as they were read.
#[cfg(feature = "testing")]
#[wasm_bindgen]
pub fn message_fields() -> String {
    crate::boundary::args::fields::read()
}

/// The fields of the last reply, as they were packed.
#[cfg(feature = "testing")]
#[wasm_bindgen]
pub fn reply_fields() -> String {
    OUT.with_borrow(|out| out.fields.join(" "))
}
