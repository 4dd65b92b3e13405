//! What a kitbag component wants of its host, answered with WASI 0.2, so that both together run where WASI
//! does: `wit/kitbag-wasi.wit` has the types. Commands and questions are refused, as WASI knows neither.
//!
//! - [`folders`]: opens a directory that the host lends; [`volume`]: the resource over it.
//! - [`place`]: paths, and the way to a file, which follows no link.
//! - [`store`]: reads and writes files as a whole; [`walk`]: lists them.
//! - [`refusal`]: errors of WASI in kitbag's words.

mod folders;
mod place;
mod refusal;
mod store;
mod volume;
mod walk;

use exports::kitbag::files::{clock, random, rules, shell, storage, types};
use exports::kitbag::wasi::folders as wit_folders;
use types::{Error, ErrorCode, Execution};
use wasip2::clocks::wall_clock;
use wasip2::random::random as numbers;

#[allow(clippy::all, reason = "generated")]
mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit", "wit"],
        world: "kitbag:wasi/host",
    });
}
use bindings::exports;

/// What the component exports.
struct Host;

/// A time of WASI in microseconds since 1970.
fn micros(time: wall_clock::Datetime) -> i64 {
    let whole = i64::try_from(time.seconds).unwrap_or(i64::MAX);
    let part = i64::from(time.nanoseconds / 1_000);
    whole.saturating_mul(1_000_000).saturating_add(part)
}

impl clock::Guest for Host {
    fn now() -> types::Timestamp {
        micros(wall_clock::now())
    }
}

impl random::Guest for Host {
    fn bits() -> u64 {
        numbers::get_random_u64()
    }
}

fn none_here(what: &str) -> Error {
    refusal::error(
        ErrorCode::Unsupported,
        format!("{what}; compose with a component that answers instead of kitbag-wasi"),
    )
}

impl shell::Guest for Host {
    fn execute(_: String, _: String, _: Option<u64>) -> Result<Execution, Error> {
        Err(none_here("WASI runs no commands"))
    }
}

impl rules::Guest for Host {
    fn decide(_: String, _: rules::Question) -> Result<bool, Error> {
        Ok(false)
    }

    fn inspect(_: String, _: rules::Inspected) -> Result<rules::Verdict, Error> {
        Err(none_here("Nobody inspects here what is stored"))
    }

    fn audit(_: String, _: rules::AuditRecord) -> Result<(), Error> {
        Err(none_here("Nobody keeps records here"))
    }
}

impl storage::Guest for Host {
    type Volume = volume::Folder;
}

impl wit_folders::Guest for Host {
    fn open(path: String, max_file_bytes: Option<u64>) -> Result<storage::Volume, Error> {
        folders::open(&path, max_file_bytes).map(storage::Volume::new)
    }
}

bindings::export!(Host with_types_in bindings);
