//! `SqlBackend`: files in a table of the host's database.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::{Error, Result};
use crate::files::Files;
use crate::storage::sql::dialect::{Dialect, Table, namespace_key};
use crate::storage::sql::host::HostDatabase;
use crate::storage::sql::statements::Place;
use crate::storage::sql::{Sql, SqlOptions};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;
use crate::wasm::task::{self, Begun};

type SqlFiles = Files<Sql<HostDatabase>>;
type Made = std::result::Result<u32, JsValue>;

struct Functions {
    new: fn(Function, &str, &str, Vec<String>, u8, f64) -> Made,
    migrate: fn(u32, bool, u8) -> Begun,
}

/// Bits of the options that are on or off: create the table first.
const MIGRATE: u8 = 1;
/// `write` replaces files.
const OVERWRITE: u8 = 2;
/// Use a search index of the database.
const SEARCH_INDEX: u8 = 4;

chunk!(
    "sql",
    Functions = Functions {
        new,
        migrate: migrated
    }
);

/// Creates the backend and returns its handle. A negative `max_file_bytes` means no limit. An
/// invalid option throws a message.
#[wasm_bindgen]
pub fn sql_new(
    query: Function,
    dialect: &str,
    table: &str,
    namespace: Vec<String>,
    flags: u8,
    max_file_bytes: f64,
) -> Made {
    (chunk().new)(query, dialect, table, namespace, flags, max_file_bytes)
}

fn new(
    query: Function,
    dialect: &str,
    table: &str,
    namespace: Vec<String>,
    flags: u8,
    max_file_bytes: f64,
) -> Made {
    let refused = |error: Error| JsValue::from_str(&error.to_string());
    let parts: Vec<&str> = namespace.iter().map(String::as_str).collect();
    let place = Place {
        dialect: Dialect::parse(dialect).map_err(refused)?,
        table: Table::parse(table).map_err(refused)?,
        namespace: namespace_key(&parts).map_err(refused)?,
    };
    let options = SqlOptions {
        migrate: flags & MIGRATE != 0,
        search_index: flags & SEARCH_INDEX != 0,
        // A float-to-integer cast saturates.
        max_file_bytes: (max_file_bytes >= 0.0).then_some(max_file_bytes as u64),
    };
    let files = files_options(flags & OVERWRITE != 0, false, -1.0);
    let storage = Sql::new(HostDatabase(query), place, options);
    Ok(handles::hold(Rc::new(Files::new(storage, files))))
}

/// The search index stays as it is, or as the options say.
const AS_IT_IS: u8 = 0;
/// The search index is made.
const MAKE: u8 = 1;

/// Creates or upgrades the table, or carries the rows of an outline over; then leaves the search index
/// as it is (0), makes it (1), or removes it (2). Returns a task.
#[wasm_bindgen]
pub fn sql_migrate(handle: u32, outline: bool, index: u8) -> Begun {
    (chunk().migrate)(handle, outline, index)
}

fn migrated(handle: u32, outline: bool, index: u8) -> Begun {
    let files = handles::itself::<SqlFiles>(handle);
    task::start(async move {
        let answer = match files {
            Ok(files) => changed(files.storage(), outline, index).await,
            Err(error) => Err(error),
        };
        answered(answer, |_, ()| {})
    })
}

async fn changed(storage: &Sql<HostDatabase>, outline: bool, index: u8) -> Result<()> {
    match outline {
        true => storage.migrate_outline().await?,
        false => storage.migrate().await?,
    }
    match index {
        AS_IT_IS => Ok(()),
        MAKE => storage.make_index().await,
        _ => storage.drop_index().await,
    }
}
