//! Sheets: what is known of neighbouring files, a few hundred of them packed into one record. A
//! storage that pays for each record it loads lists ten thousand files from a few dozen sheets.
//! Sheets cut the order of paths into pieces that meet: each is named by the greatest path it may
//! hold, so the sheet of a path is the first whose name is not less, whether the file is there or
//! not. Only the format and the cutting stand here; where the records are kept does not.

use crate::file::{Format, Mime, Texture};
use crate::path::VPath;
use crate::storage::{Entry, Meta, Version};
use crate::time::Time;

/// A sheet longer than this is cut. Chromium keeps values of 64 KiB and more in files of their
/// own, which would cost more than it saves; and a write stores the whole sheet anew.
const LIMIT: usize = 16 * 1024;
/// Pieces are filled so far, which leaves room to grow; files mostly come in order.
const FILL: usize = LIMIT * 3 / 4;
/// The first byte of every sheet of this form.
const FORM: u8 = 1;

const HAS_CREATED: u8 = 1;
const HAS_VERSION: u8 = 2;
const IS_V1: u8 = 4;
const TEXTURE_SHIFT: u8 = 4;

/// Neighbouring files, in byte order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The greatest path that may be in it; none for the last sheet of all.
    upper: Option<VPath>,
    rows: Vec<Entry>,
}

/// A sheet as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is named by; none for the last one.
    pub upper: Option<VPath>,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Sheet {
    /// The last sheet with these files, which must be in order and all different.
    pub fn last(rows: Vec<Entry>) -> Sheet {
        Sheet { upper: None, rows }
    }

    /// What it is named by.
    pub fn upper(&self) -> Option<&VPath> {
        self.upper.as_ref()
    }

    /// Its files.
    pub fn rows(&self) -> &[Entry] {
        &self.rows
    }

    /// Its files whose path is at or behind that text.
    pub fn rows_from(&self, text: &str) -> &[Entry] {
        let at = self.rows.partition_point(|row| row.path.as_str() < text);
        self.rows.get(at..).unwrap_or_default()
    }

    /// Whether no path up to this one belongs to a later sheet.
    pub fn reaches(&self, path: &VPath) -> bool {
        self.upper.as_ref().is_none_or(|upper| path <= upper)
    }

    fn place(&self, path: &VPath) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| row.path.cmp(path))
    }

    /// What is known of a file.
    pub fn get(&self, path: &VPath) -> Option<&Meta> {
        let at = self.place(path).ok()?;
        self.rows.get(at).map(|row| &row.meta)
    }

    /// Puts a file in, in the place of what is known of it.
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

    /// Takes a file out.
    pub fn remove(&mut self, path: &VPath) {
        if let Ok(at) = self.place(path) {
            self.rows.remove(at);
        }
    }

    /// Takes these files out, as far as they are in it; they must come in order.
    pub fn leave_out(&mut self, paths: &[VPath]) {
        self.rows
            .retain(|row| paths.binary_search(&row.path).is_err());
    }

    /// Takes out every file whose path begins with that text, and gives them.
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

    /// What is to be stored in its place: one record mostly, several where it has grown too
    /// long, none where nothing is left. The last of several has its name.
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

    /// Reads what was stored; none where this is no sheet.
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

/// Packs as many rows as fit, one at least: their bytes, the types they name, and their number.
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

/// Puts a head before packed rows.
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

/// Seven bits a byte, the least first; the eighth says that more follow.
fn number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Small numbers of either sign become small numbers.
fn signed(bytes: &mut Vec<u8>, value: i64) {
    number(bytes, (value.wrapping_shl(1) ^ (value >> 63)) as u64);
}

fn slice(bytes: &mut Vec<u8>, content: &[u8]) {
    number(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Reads from the front; none at the end, or where the bytes make no sense.
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

    /// A number of things of which each takes a byte at least.
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
            version,
        })
    }
}

#[cfg(test)]
mod tests;
