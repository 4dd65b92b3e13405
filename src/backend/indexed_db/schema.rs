//! How the database is laid out, and how an older one becomes a newer one. Two object stores:
//! sheets of what is known of files in one, the bytes of each file in the other, so that
//! listings never load bodies. A key is the namespace and a path, byte for byte as Latin-1
//! letters, since IndexedDB orders strings by UTF-16 units and listings are in byte order: a
//! directory is a range of keys. The first version kept a record for each file; what it left is
//! read in [`version1`](super::version1).

use wasm_bindgen::JsValue;
use web_sys::{IdbDatabase, IdbKeyRange, IdbTransaction};

use crate::error::{Error, Result};
use crate::path::VPath;

/// The object store of what is known of files.
pub const SHEETS: &str = "sheets";
/// The object store of their bytes.
pub const BODIES: &str = "bodies";
/// What the first version of the layout had in place of sheets: a record for each file.
pub const FILES: &str = "files";

/// The newest version of the layout.
pub const VERSION: u32 = 2;

/// What is still to be done after the stores of the newest layout were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// The records of the first version are to be carried over.
    Version1,
    /// It is not a database of ours; nothing was changed.
    Strange,
}

/// Makes the object stores of the newest layout, inside the upgrade's transaction.
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

/// Stands between a namespace and a path.
pub const AFTER_NAMESPACE: char = '\0';
/// What the last sheet of a namespace is named by: greater than any path, whose letters are
/// bytes of UTF-8.
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
    /// Those of this namespace.
    pub fn new(namespace: &str) -> Keys {
        Keys::stored(&letters(namespace))
    }

    /// Those of a namespace as it stands in a key.
    pub fn stored(namespace: &str) -> Keys {
        let mut prefix = namespace.to_owned();
        prefix.push(AFTER_NAMESPACE);
        Keys { prefix }
    }

    /// What the key of that text is, as a text.
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

    /// The key of the sheet of that name.
    pub fn sheet(&self, upper: Option<&VPath>) -> JsValue {
        match upper {
            Some(path) => self.of(path),
            None => JsValue::from_str(&self.end()),
        }
    }

    /// Where it is marked, among the sheets, that each file has a body.
    pub fn mark(&self) -> JsValue {
        JsValue::from_str(&self.prefix)
    }

    /// All keys at that text and behind it.
    pub fn from(&self, text: &str) -> Result<IdbKeyRange> {
        range(&self.text(text), &self.end(), false)
    }

    /// All keys that begin with `prefix`, from `from` on, and all that are behind those.
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

    /// All keys from one file's to another's, both included.
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

/// The least text that is greater than all that begin with `text`.
fn past(mut text: String) -> String {
    let last = text.pop().map_or(0, u32::from);
    text.extend(char::from_u32(last + 1));
    text
}

/// What is said of a record that cannot be read.
pub fn damaged() -> Error {
    Error::internal("The database holds a record that this version did not write")
}
