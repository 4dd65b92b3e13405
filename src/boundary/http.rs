//! `HttpBackend`.

use std::time::Duration;

use crate::boundary::Host;
use crate::boundary::macros::options;
#[cfg(test)]
use crate::boundary::printed::Table;

options! {
    /// Options of files behind a server.
    pub struct HttpGiven {
        send: Host [own],
        url: String [own],
        timeout_ms: Option<Duration> [least 1],
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![HttpGiven::printed()]
}
