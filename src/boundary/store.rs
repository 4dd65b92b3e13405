//! `StoreBackend`, `ContextHubBackend`.

use crate::boundary::Host;
use crate::boundary::macros::{options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::file::Format;
use crate::files::WriteMode;

/// How bytes are in the items of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// As text.
    Base64,
    /// As they are.
    Raw,
}

words! { Binary { Base64 = "base64", Raw = "raw" } }

options! {
    /// Options of files in a LangGraph store.
    pub struct StoreGiven {
        store: Host [own],
        namespace: Vec<String> [own],
        file_format: Format = "v2",
        write_mode: WriteMode = "create",
        binary: Binary = "base64",
    }
}

options! {
    /// Options of files in LangSmith's Context Hub.
    pub struct HubGiven {
        client: Host [own],
        repo: String [own],
        write_mode: WriteMode = "create",
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![StoreGiven::printed(), HubGiven::printed()]
}
