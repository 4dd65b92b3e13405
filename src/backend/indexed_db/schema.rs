//! How the database is laid out, and how an older one becomes a newer one. Two object stores
//! with the same keys: what is known of each file in one, its bytes in the other, so that
//! listings never load bodies. A key is the namespace and the path, byte for byte as Latin-1
//! letters, since IndexedDB orders strings by UTF-16 units and listings are in byte order: a
//! directory is a range of keys. What is known of a file is one short text, because a thousand
//! texts cross from the browser far quicker than a thousand objects.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbKeyRange};

use crate::error::{Error, Result};
use crate::file::{Format, Mime, Texture};
use crate::path::VPath;
use crate::storage::{Meta, Version};
use crate::time::Time;

/// The object store of what is known of files.
pub const FILES: &str = "files";
/// The object store of their bytes.
pub const BODIES: &str = "bodies";

type Step = fn(&IdbDatabase) -> std::result::Result<(), JsValue>;

/// What makes each version of the layout of the one before it. Steps that have been published
/// are never changed; a new layout is a new step at the end.
const STEPS: [Step; 1] = [|database| {
    database.create_object_store(FILES)?;
    database.create_object_store(BODIES)?;
    Ok(())
}];

/// The newest version of the layout.
pub const VERSION: u32 = STEPS.len() as u32;

/// Brings a database from an older layout to the newest; runs inside the upgrade's transaction.
pub fn migrate(database: &IdbDatabase, from: u32) -> std::result::Result<(), JsValue> {
    STEPS
        .iter()
        .skip(from as usize)
        .try_for_each(|step| step(database))
}

/// Between the fields of a record; between records that were joined; after the namespace.
const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';
const AFTER_NAMESPACE: char = '\0';

/// The keys of one namespace.
pub struct Keys {
    prefix: String,
}

fn letters(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

impl Keys {
    /// Those of this namespace.
    pub fn new(namespace: &str) -> Keys {
        let mut prefix = letters(namespace);
        prefix.push(AFTER_NAMESPACE);
        Keys { prefix }
    }

    fn text(&self, key: &str) -> String {
        if key.is_ascii() {
            self.prefix.clone() + key
        } else {
            self.prefix.clone() + &letters(key)
        }
    }

    /// The key of a file.
    pub fn of(&self, path: &VPath) -> JsValue {
        JsValue::from_str(&self.text(path.as_str()))
    }

    /// All keys that begin with this text; those behind `after` where it is given.
    pub fn beginning(&self, text: &str, after: Option<&After>) -> Result<IdbKeyRange> {
        let (lower, open) = match after {
            None => (self.text(text), false),
            Some(After::File(path)) => (self.text(path.as_str()), true),
            Some(After::Directory(path)) => (past(self.text(&path.dir_prefix())), false),
        };
        let upper = past(self.text(text));
        range(&lower, open, &upper, true)
    }

    /// All keys from one file's to another's, both included.
    pub fn span(&self, first: &VPath, last: &VPath) -> Result<IdbKeyRange> {
        range(
            &self.text(first.as_str()),
            false,
            &self.text(last.as_str()),
            false,
        )
    }
}

/// Where a listing goes on.
pub enum After {
    /// Behind this file.
    File(VPath),
    /// Behind everything in this directory.
    Directory(VPath),
}

fn range(lower: &str, lower_open: bool, upper: &str, upper_open: bool) -> Result<IdbKeyRange> {
    IdbKeyRange::bound_with_lower_open_and_upper_open(
        &JsValue::from_str(lower),
        &JsValue::from_str(upper),
        lower_open,
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

/// The record of a file.
pub fn record(path: &VPath, meta: &Meta) -> JsValue {
    let created = meta.created.map(|time| time.micros().to_string());
    let version = match &meta.version {
        Some(Version::Number(number)) => *number,
        _ => 0,
    };
    let mime = meta.mime.as_ref().map_or("", Mime::as_str);
    let mime = if mime.contains(char::is_control) {
        ""
    } else {
        mime
    };
    let text = format!(
        "{}{FIELD}{}{FIELD}{}{FIELD}{version}{FIELD}{}{FIELD}{}{FIELD}{mime}{FIELD}{path}",
        meta.size,
        created.unwrap_or_default(),
        meta.modified.micros(),
        match meta.format {
            Format::V1 => '1',
            Format::V2 => '2',
        },
        match meta.texture {
            Some(Texture::Ascii) => 'a',
            Some(Texture::Text) => 't',
            Some(Texture::Binary) => 'b',
            None => ' ',
        },
    );
    JsValue::from_str(&text)
}

fn read(record: &str) -> Option<(VPath, Meta)> {
    let mut fields = record.splitn(8, FIELD);
    let size = fields.next()?.parse().ok()?;
    let created = fields.next()?.parse().ok().map(Time::from_micros);
    let modified = Time::from_micros(fields.next()?.parse().ok()?);
    let version = fields.next()?.parse().ok()?;
    let format = match fields.next()? {
        "1" => Format::V1,
        _ => Format::V2,
    };
    let texture = match fields.next()? {
        "a" => Some(Texture::Ascii),
        "t" => Some(Texture::Text),
        "b" => Some(Texture::Binary),
        _ => None,
    };
    let mime = fields.next()?;
    let meta = Meta {
        size,
        created,
        modified,
        mime: (!mime.is_empty()).then(|| Mime::given(mime)),
        format,
        texture,
        version: Some(Version::Number(version)),
    };
    Some((VPath::from_stored(fields.next()?)?, meta))
}

fn damaged() -> Error {
    Error::internal("The database holds a record that this version did not write")
}

/// Reads one record; `undefined` is no file.
pub fn meta_of(value: &JsValue) -> Result<Option<Meta>> {
    if value.is_undefined() {
        return Ok(None);
    }
    let text = value.as_string().ok_or_else(damaged)?;
    read(&text).map(|(_, meta)| Some(meta)).ok_or_else(damaged)
}

/// Reads many records that came as one array, in one crossing.
pub fn metas_of(values: &JsValue) -> Result<Vec<(VPath, Meta)>> {
    let array: &js_sys::Array = values.unchecked_ref();
    if array.length() == 0 {
        return Ok(Vec::new());
    }
    let joined = String::from(array.join(RECORD.encode_utf8(&mut [0; 4])));
    joined
        .split(RECORD)
        .map(|record| read(record).ok_or_else(damaged))
        .collect()
}
