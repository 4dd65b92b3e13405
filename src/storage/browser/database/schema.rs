//! The schema of the database and its upgrade. There are two object stores: one for sheets of file
//! metadata, one for the bytes of each file, so that listings never load bodies. A key is the
//! namespace and the path, with every UTF-8 byte as a Latin-1 character: IndexedDB orders strings
//! by UTF-16 units, but listings are in byte order. So a directory is a range of keys. Version 1
//! kept one record for each file; [`version1`](super::version1) migrates these.

use wasm_bindgen::JsValue;
use web_sys::{IdbDatabase, IdbKeyRange, IdbTransaction};

use crate::core::error::{Error, Result};
use crate::core::path::VPath;
use crate::storage::browser::database::transaction::body_of;
use crate::storage::browser::sheet::Sheet;

/// The object store of the file metadata.
pub const SHEETS: &str = "sheets";
/// The object store of the file bodies.
pub const BODIES: &str = "bodies";
/// The object store of version 1 in place of sheets: one record for each file.
pub const FILES: &str = "files";

/// The newest schema version.
pub const VERSION: u32 = 2;

/// What remains to be done after the object stores were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// The records of version 1 must be migrated.
    Version1,
    /// The database does not belong to kitbag; nothing was changed.
    Strange,
}

/// Creates the object stores of the newest schema inside the upgrade transaction.
pub fn prepare(
    database: &IdbDatabase,
    transaction: &IdbTransaction,
    from: u32,
) -> std::result::Result<Rest, JsValue> {
    if from == 0 {
        database.create_object_store(SHEETS)?;
        database.create_object_store(BODIES)?;
        return Ok(Rest::Nothing);
    }
    let ours = [FILES, BODIES];
    if ours
        .iter()
        .any(|name| transaction.object_store(name).is_err())
    {
        return Ok(Rest::Strange);
    }
    database.create_object_store(SHEETS)?;
    Ok(Rest::Version1)
}

/// Separates the namespace from the path.
pub const AFTER_NAMESPACE: char = '\0';
/// The key of the last sheet of a namespace: greater than every path, since `0xff` does not occur
/// in UTF-8.
const LAST: char = '\u{ff}';

/// The keys of one namespace.
#[derive(Clone)]
pub struct Keys {
    prefix: String,
}

fn letters(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

impl Keys {
    /// The keys of this namespace.
    pub fn new(namespace: &str) -> Keys {
        Keys::stored(&letters(namespace))
    }

    /// The keys of a namespace that is already encoded as in a key.
    pub fn stored(namespace: &str) -> Keys {
        let mut prefix = namespace.to_owned();
        prefix.push(AFTER_NAMESPACE);
        Keys { prefix }
    }

    /// The key for that text, as a string.
    pub fn text(&self, key: &str) -> String {
        if key.is_ascii() {
            self.prefix.clone() + key
        } else {
            self.prefix.clone() + &letters(key)
        }
    }

    fn end(&self) -> String {
        let mut end = self.prefix.clone();
        end.push(LAST);
        end
    }

    /// The key of a file's body.
    pub fn of(&self, path: &VPath) -> JsValue {
        JsValue::from_str(&self.text(path.as_str()))
    }

    /// The key of the sheet with that upper bound.
    pub fn sheet(&self, upper: Option<&VPath>) -> JsValue {
        match upper {
            Some(path) => self.of(path),
            None => JsValue::from_str(&self.end()),
        }
    }

    /// The key, among the sheets, of the mark that every row has a body.
    pub fn mark(&self) -> JsValue {
        JsValue::from_str(&self.prefix)
    }

    /// All keys from that text on.
    pub fn from(&self, text: &str) -> Result<IdbKeyRange> {
        range(&self.text(text), &self.end(), false)
    }

    /// All keys that begin with `prefix`, starting at `from`; and all keys after those.
    pub fn beginning(&self, from: &str, prefix: &str) -> Result<(IdbKeyRange, IdbKeyRange)> {
        let past = past(self.text(prefix));
        let within = range(&self.text(from), &past, true)?;
        Ok((within, range(&past, &self.end(), false)?))
    }

    /// All keys that begin with `prefix`.
    pub fn within(&self, prefix: &str) -> Result<IdbKeyRange> {
        let text = self.text(prefix);
        let past = past(text.clone());
        range(&text, &past, true)
    }

    /// All keys from the first file to the last, both included.
    pub fn span(&self, first: &VPath, last: &VPath) -> Result<IdbKeyRange> {
        range(&self.text(first.as_str()), &self.text(last.as_str()), false)
    }
}

fn range(lower: &str, upper: &str, upper_open: bool) -> Result<IdbKeyRange> {
    IdbKeyRange::bound_with_lower_open_and_upper_open(
        &JsValue::from_str(lower),
        &JsValue::from_str(upper),
        false,
        upper_open,
    )
    .map_err(|_| Error::internal("A range of keys ends before it begins"))
}

/// The smallest string that is greater than every string that begins with `text`.
fn past(mut text: String) -> String {
    let last = text.pop().map_or(0, u32::from);
    text.extend(char::from_u32(last + 1));
    text
}

/// The error for a record that cannot be parsed.
pub fn damaged() -> Error {
    Error::internal("The database holds a record that this version did not write")
}

/// Parses a record as a sheet; an empty one if the record does not exist.
pub fn sheet_of(value: &JsValue) -> Result<Sheet> {
    if value.is_undefined() {
        return Ok(Sheet::default());
    }
    Sheet::read(&body_of(value)?).ok_or_else(damaged)
}
