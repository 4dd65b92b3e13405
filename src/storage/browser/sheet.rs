//! Sheets: the metadata of neighbouring files, a few hundred of them packed into one record. A
//! storage where every record read costs time lists ten thousand files from a few dozen sheets.
//! Sheets divide the sorted paths into adjacent ranges. Each sheet is stored under its upper bound,
//! the greatest path that it may hold; so the sheet of a path is the first one whose upper bound is
//! not less than the path, whether the file exists or not. This module contains only the format and
//! the splitting; other modules store the records.

use crate::core::file::{Format, Mime, Texture};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::storage::{Entry, Meta, Version};

/// A sheet longer than this is split. Chromium stores values of 64 KiB and more in separate files,
/// which would cost more than they save, and every write stores the whole sheet again.
const LIMIT: usize = 16 * 1024;
/// The fill size after a split, which leaves room to grow; files are often added in sorted order.
const FILL: usize = LIMIT * 3 / 4;
/// The first byte of every sheet in this format.
const FORM: u8 = 1;

const HAS_CREATED: u8 = 1;
const HAS_VERSION: u8 = 2;
const IS_V1: u8 = 4;
const TEXTURE_SHIFT: u8 = 4;

/// Neighbouring files, in byte order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The greatest path that the sheet may hold; `None` for the last sheet.
    upper: Option<VPath>,
    rows: Vec<Entry>,
}

/// A sheet as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its upper bound; `None` for the last sheet.
    pub upper: Option<VPath>,
    /// The encoded sheet.
    pub bytes: Vec<u8>,
}

impl Sheet {
    /// The last sheet, with these files, which must be sorted and unique.
    pub fn last(rows: Vec<Entry>) -> Sheet {
        Sheet { upper: None, rows }
    }

    /// The upper bound.
    pub fn upper(&self) -> Option<&VPath> {
        self.upper.as_ref()
    }

    /// Its files.
    pub fn rows(&self) -> &[Entry] {
        &self.rows
    }

    /// The files whose path is not less than that text.
    pub fn rows_from(&self, text: &str) -> &[Entry] {
        let at = self.rows.partition_point(|row| row.path.as_str() < text);
        self.rows.get(at..).unwrap_or_default()
    }

    /// Whether the path belongs to this sheet or an earlier one.
    pub fn reaches(&self, path: &VPath) -> bool {
        self.upper.as_ref().is_none_or(|upper| path <= upper)
    }

    fn place(&self, path: &VPath) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| row.path.cmp(path))
    }

    /// The metadata of a file.
    pub fn get(&self, path: &VPath) -> Option<&Meta> {
        let at = self.place(path).ok()?;
        self.rows.get(at).map(|row| &row.meta)
    }

    /// Adds a file or replaces its metadata.
    pub fn set(&mut self, path: &VPath, meta: Meta) {
        match self.place(path) {
            Ok(at) => {
                if let Some(row) = self.rows.get_mut(at) {
                    row.meta = meta;
                }
            }
            Err(at) => self.rows.insert(
                at,
                Entry {
                    path: path.clone(),
                    meta,
                },
            ),
        }
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &VPath) {
        if let Ok(at) = self.place(path) {
            self.rows.remove(at);
        }
    }

    /// Removes those of these files that are in the sheet; `paths` must be sorted.
    pub fn leave_out(&mut self, paths: &[VPath]) {
        self.rows
            .retain(|row| paths.binary_search(&row.path).is_err());
    }

    /// Removes and returns all files whose path begins with that text.
    pub fn remove_beginning(&mut self, text: &str) -> Vec<VPath> {
        let is_in = |row: &Entry| row.path.as_str().starts_with(text);
        let gone: Vec<VPath> = self
            .rows
            .iter()
            .filter(|row| is_in(row))
            .map(|row| row.path.clone())
            .collect();
        self.rows.retain(|row| !is_in(row));
        gone
    }

    /// The records to store for the sheet: usually one, several if it has grown too long, none if
    /// it is empty. The last of several keeps the upper bound.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        let mut rest = self.rows.as_slice();
        while !rest.is_empty() {
            let whole = records.is_empty().then(|| packed(rest, LIMIT));
            let (rows, mimes, count) = match whole {
                Some(all) if all.2 == rest.len() => all,
                _ => packed(rest, FILL),
            };
            let (piece, others) = rest.split_at(count);
            rest = others;
            let upper = match (rest.is_empty(), piece.last()) {
                (false, Some(last)) => Some(last.path.clone()),
                _ => self.upper.clone(),
            };
            let bytes = bound(upper.as_ref(), &mimes, count, &rows);
            records.push(Record { upper, bytes });
        }
        records
    }

    /// Decodes a record; `None` if it is not a sheet.
    pub fn read(bytes: &[u8]) -> Option<Sheet> {
        let mut reader = Reader(bytes);
        if reader.byte()? != FORM {
            return None;
        }
        let upper = match reader.text()? {
            "" => None,
            text => Some(VPath::from_stored(text)?),
        };
        let mimes = (0..reader.length()?)
            .map(|_| reader.text().map(Mime::given))
            .collect::<Option<Vec<Mime>>>()?;
        let count = reader.length()?;
        let mut rows: Vec<Entry> = Vec::with_capacity(count);
        let mut path = Vec::new();
        let mut before = 0i64;
        for _ in 0..count {
            let shared = reader.length_up_to(path.len())?;
            path.truncate(shared);
            path.extend_from_slice(reader.slice()?);
            let path = VPath::from_stored(std::str::from_utf8(&path).ok()?)?;
            if rows.last().is_some_and(|last| last.path >= path) {
                return None;
            }
            let meta = reader.meta(&mimes, &mut before)?;
            rows.push(Entry { path, meta });
        }
        reader.0.is_empty().then_some(Sheet { upper, rows })
    }
}

/// Packs as many rows as fit, at least one; returns their bytes, the MIME types used, and their
/// number.
fn packed(rows: &[Entry], limit: usize) -> (Vec<u8>, Vec<&str>, usize) {
    let mut bytes = Vec::new();
    let mut mimes: Vec<&str> = Vec::new();
    let mut count = 0;
    let mut path: &[u8] = &[];
    let mut before = 0i64;
    for row in rows {
        if count > 0 && bytes.len() >= limit {
            break;
        }
        let next = row.path.as_str().as_bytes();
        let shared = path.iter().zip(next).take_while(|(a, b)| a == b).count();
        number(&mut bytes, shared as u64);
        slice(&mut bytes, next.get(shared..).unwrap_or_default());
        path = next;
        let meta = &row.meta;
        let version = match &meta.version {
            Some(Version::Number(number)) => Some(*number),
            _ => None,
        };
        bytes.push(flags(meta, version));
        let mime = match &meta.mime {
            None => 0,
            Some(mime) => {
                let text = mime.as_str();
                match mimes.iter().position(|known| *known == text) {
                    Some(at) => at + 1,
                    None => {
                        mimes.push(text);
                        mimes.len()
                    }
                }
            }
        };
        number(&mut bytes, mime as u64);
        number(&mut bytes, meta.size);
        let modified = meta.modified.micros();
        signed(&mut bytes, modified.wrapping_sub(before));
        before = modified;
        if let Some(created) = meta.created {
            signed(&mut bytes, modified.wrapping_sub(created.micros()));
        }
        if let Some(version) = version {
            bytes.extend_from_slice(&version.to_le_bytes());
        }
        count += 1;
    }
    (bytes, mimes, count)
}

/// Adds the header to packed rows.
fn bound(upper: Option<&VPath>, mimes: &[&str], count: usize, rows: &[u8]) -> Vec<u8> {
    let mut bytes = vec![FORM];
    slice(&mut bytes, upper.map_or("", VPath::as_str).as_bytes());
    number(&mut bytes, mimes.len() as u64);
    for mime in mimes {
        slice(&mut bytes, mime.as_bytes());
    }
    number(&mut bytes, count as u64);
    bytes.extend_from_slice(rows);
    bytes
}

fn flags(meta: &Meta, version: Option<u64>) -> u8 {
    let texture = match meta.texture {
        None => 0,
        Some(Texture::Ascii) => 1,
        Some(Texture::Text) => 2,
        Some(Texture::Binary) => 3,
    };
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    flag(meta.created.is_some(), HAS_CREATED)
        | flag(version.is_some(), HAS_VERSION)
        | flag(meta.format == Format::V1, IS_V1)
        | texture << TEXTURE_SHIFT
}

/// Variable-length integer: seven bits per byte, least significant first; the eighth bit is set if
/// more bytes follow.
fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Zigzag encoding: integers near zero of either sign become small numbers.
fn signed(bytes: &mut Vec<u8>, value: i64) {
    number(bytes, (value.wrapping_shl(1) ^ (value >> 63)) as u64);
}

fn slice(bytes: &mut Vec<u8>, content: &[u8]) {
    number(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Decodes from the front; `None` at the end or for invalid bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn length_up_to(&mut self, most: usize) -> Option<usize> {
        let length = usize::try_from(self.number()?).ok()?;
        (length <= most).then_some(length)
    }

    /// The number of items, each of which takes at least one byte.
    fn length(&mut self) -> Option<usize> {
        let length = self.number()?;
        let length = usize::try_from(length).ok()?;
        (length <= self.0.len()).then_some(length)
    }

    fn slice(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.slice()?).ok()
    }

    fn meta(&mut self, mimes: &[Mime], before: &mut i64) -> Option<Meta> {
        let flags = self.byte()?;
        let mime = match self.length_up_to(mimes.len())? {
            0 => None,
            at => Some(mimes.get(at - 1)?.clone()),
        };
        let size = self.number()?;
        let modified = before.wrapping_add(self.signed()?);
        *before = modified;
        let created = if flags & HAS_CREATED != 0 {
            Some(Time::from_micros(modified.wrapping_sub(self.signed()?)))
        } else {
            None
        };
        let version = if flags & HAS_VERSION != 0 {
            let bytes = self.take(8)?.try_into().ok()?;
            Some(Version::Number(u64::from_le_bytes(bytes)))
        } else {
            None
        };
        Some(Meta {
            size,
            created,
            modified: Time::from_micros(modified),
            mime,
            format: if flags & IS_V1 != 0 {
                Format::V1
            } else {
                Format::V2
            },
            texture: match flags >> TEXTURE_SHIFT {
                0 => None,
                1 => Some(Texture::Ascii),
                2 => Some(Texture::Text),
                3 => Some(Texture::Binary),
                _ => return None,
            },
            mode: None,
            version,
        })
    }
}

#[cfg(test)]
mod tests;
