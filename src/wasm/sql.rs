//! `SqlBackend`: files in a table of the host's database.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Error;
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
    new: fn(Function, &str, &str, Vec<String>, bool, bool, f64) -> Made,
    migrate: fn(u32, bool) -> Begun,
}

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
    migrate: bool,
    overwrite: bool,
    max_file_bytes: f64,
) -> Made {
    (chunk().new)(
        query,
        dialect,
        table,
        namespace,
        migrate,
        overwrite,
        max_file_bytes,
    )
}

fn new(
    query: Function,
    dialect: &str,
    table: &str,
    namespace: Vec<String>,
    migrate: bool,
    overwrite: bool,
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
        migrate,
        // A float-to-integer cast saturates.
        max_file_bytes: (max_file_bytes >= 0.0).then_some(max_file_bytes as u64),
    };
    let files = files_options(overwrite, false, -1.0);
    let storage = Sql::new(HostDatabase(query), place, options);
    Ok(handles::hold(Rc::new(Files::new(storage, files))))
}

/// Creates or upgrades the table, or carries the rows of an outline over; returns a task.
#[wasm_bindgen]
pub fn sql_migrate(handle: u32, outline: bool) -> Begun {
    (chunk().migrate)(handle, outline)
}

fn migrated(handle: u32, outline: bool) -> Begun {
    let files = handles::itself::<SqlFiles>(handle);
    task::start(async move {
        let answer = match files {
            Ok(files) if outline => files.storage().migrate_outline().await,
            Ok(files) => files.storage().migrate().await,
            Err(error) => Err(error),
        };
        answered(answer, |_, ()| {})
    })
}
