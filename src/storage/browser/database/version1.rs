//! Migration of databases with schema version 1, which has one text record for each file. It
//! happens atomically inside the upgrade transaction, when such a database is opened for the first
//! time. Bodies stay in place.

use wasm_bindgen::JsCast;
use web_sys::{IdbDatabase, IdbKeyRange};

use crate::core::error::Result;
use crate::core::file::{Format, Mime, Texture};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::storage::browser::database::schema::{AFTER_NAMESPACE, FILES, Keys, damaged};
use crate::storage::browser::database::sheets::Sheets;
use crate::storage::browser::database::transaction::{Transaction, failed};
use crate::storage::browser::sheet::Sheet;
use crate::storage::{Entry, Meta, Version};

/// Number of records per request.
const PAGE: u32 = 5_000;
/// Separates the fields of a record.
const FIELD: char = '\u{1f}';

/// Converts the records to sheets and deletes their object store.
pub async fn carry_over(database: &IdbDatabase, transaction: &Transaction) -> Result<()> {
    let files = transaction.store(FILES)?;
    let mut after = None;
    // Keys are sorted, so the records of a namespace are consecutive.
    let mut namespace = String::new();
    let mut rows: Vec<Entry> = Vec::new();
    let flush = |namespace: &str, rows: &mut Vec<Entry>| {
        let keys = Keys::stored(namespace);
        let sheet = Sheet::last(std::mem::take(rows));
        match sheet.rows().is_empty() {
            true => Ok(()),
            false => Sheets::of(transaction, &keys)?.keep(&sheet),
        }
    };
    loop {
        let range = match &after {
            None => IdbKeyRange::lower_bound(&"".into()),
            Some(key) => IdbKeyRange::lower_bound_with_open(key, true),
        };
        let range = range.map_err(failed)?;
        let asked = (
            files.get_all_keys(&range, PAGE)?,
            files.get_all(&range, PAGE)?,
        );
        let (keys, records) = (asked.0.await?, asked.1.await?);
        let keys: &js_sys::Array = keys.unchecked_ref();
        let records: &js_sys::Array = records.unchecked_ref();
        for (key, record) in keys.iter().zip(records.iter()) {
            let key = key.as_string().ok_or_else(damaged)?;
            let (of, _) = key.split_once(AFTER_NAMESPACE).ok_or_else(damaged)?;
            if of != namespace {
                flush(&namespace, &mut rows)?;
                namespace = of.to_owned();
            }
            let record = record.as_string().ok_or_else(damaged)?;
            rows.push(read(&record).ok_or_else(damaged)?);
        }
        if keys.length() < PAGE {
            break;
        }
        after = Some(keys.get(keys.length() - 1));
    }
    flush(&namespace, &mut rows)?;
    database.delete_object_store(FILES).map_err(failed)
}

fn read(record: &str) -> Option<Entry> {
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
        mode: None,
        version: Some(Version::Number(version)),
    };
    let path = VPath::from_stored(fields.next()?)?;
    Some(Entry { path, meta })
}
