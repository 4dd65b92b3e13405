//! `SqlBackend`: files in a table of the host's database.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::boundary::sql::{From, MigrateGiven, SqlGiven};
use crate::core::error::Result;
use crate::files::Files;
use crate::storage::sql::Sql;
use crate::storage::sql::host::HostDatabase;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};
use crate::wasm::task::{self, Begun};

type SqlFiles = Files<Sql<HostDatabase>>;

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
    migrate: fn(u32, usize) -> Begun,
}

chunk!(
    "sql",
    Functions = Functions {
        new,
        migrate: migrated
    }
);

/// Creates the backend; replies with its handle.
#[wasm_bindgen]
pub fn sql_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: SqlGiven = read(len)?;
    let database = HostDatabase(hosts.function(given.query));
    let storage = Sql::new(database, given.place()?, given.options());
    let files = Files::new(storage, files_options(given.write_mode));
    Ok(handles::hold(Rc::new(files)))
}

/// Creates or upgrades the table, or carries the rows of another one over; then makes or removes the
/// search index, if the message says so. Returns a task.
#[wasm_bindgen]
pub fn sql_migrate(handle: u32, len: usize) -> Begun {
    (chunk().migrate)(handle, len)
}

fn migrated(handle: u32, len: usize) -> Begun {
    let given = read(len).and_then(|given| Ok((handles::itself::<SqlFiles>(handle)?, given)));
    task::start(async move {
        let answer = match given {
            Ok((files, given)) => changed(files.storage(), given).await,
            Err(error) => Err(error),
        };
        answered(answer, |_, ()| {})
    })
}

async fn changed(storage: &Sql<HostDatabase>, given: MigrateGiven) -> Result<()> {
    match given.from {
        Some(From::Outline) => storage.migrate_outline().await?,
        None => storage.migrate().await?,
    }
    match given.search_index {
        None => Ok(()),
        Some(true) => storage.make_index().await,
        Some(false) => storage.drop_index().await,
    }
}
