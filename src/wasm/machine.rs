//! The machine behind a sandbox, as passed in by the host: a function that runs commands, and
//! optional functions that transfer files.

use bytes::Bytes;
use js_sys::{Array, Function};
use wasm_bindgen::JsValue;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::env::host;
use crate::layer::with_shell::HostShell;
use crate::protocol::ExecuteResult;
use crate::storage::sandbox::Machine;

/// A machine that the host passes in.
pub struct HostMachine {
    shell: HostShell,
    upload: Option<Function>,
    download: Option<Function>,
}

impl HostMachine {
    /// Runs commands with `shell`, and transfers files with the other two functions if they are
    /// given.
    pub fn new(
        shell: HostShell,
        upload: Option<Function>,
        download: Option<Function>,
    ) -> HostMachine {
        HostMachine {
            shell,
            upload,
            download,
        }
    }
}

/// The only result of a batch of one.
fn only(answer: JsValue, method: &str) -> Result<JsValue> {
    let answers = Array::from(&answer);
    let answer = answers.get(0);
    match host::property(&answer, "error") {
        None if answer.is_object() => Ok(answer),
        error => Err(Error::new(
            Kind::Unavailable,
            format!(
                "The sandbox's {method}() failed: {}",
                error
                    .and_then(|error| error.as_string())
                    .unwrap_or_else(|| String::from("it gave no answer"))
            ),
        )),
    }
}

impl Machine for HostMachine {
    fn run<'a>(&'a self, command: &'a str) -> Pending<'a, ExecuteResult> {
        Box::pin(self.shell.run(command, None))
    }

    fn upload<'a>(&'a self, path: &'a str, body: &'a Bytes) -> Pending<'a, bool> {
        Box::pin(async move {
            let Some(upload) = &self.upload else {
                return Ok(false);
            };
            let pair = Array::of2(&JsValue::from_str(path), &host::array_of(body).into());
            let what = "The sandbox's uploadFiles() failed";
            let batch = [Array::of1(&pair).into()];
            let answer = host::call(what, upload, &JsValue::UNDEFINED, &batch).await?;
            only(answer, "uploadFiles")?;
            Ok(true)
        })
    }

    fn download<'a>(&'a self, path: &'a str) -> Pending<'a, Option<Bytes>> {
        Box::pin(async move {
            let Some(download) = &self.download else {
                return Ok(None);
            };
            let what = "The sandbox's downloadFiles() failed";
            let batch = [Array::of1(&JsValue::from_str(path)).into()];
            let answer = host::call(what, download, &JsValue::UNDEFINED, &batch).await?;
            let answer = only(answer, "downloadFiles")?;
            let content = host::property(&answer, "content");
            content
                .and_then(|content| host::bytes_of(&content))
                .map(Some)
                .ok_or_else(|| {
                    Error::new(
                        Kind::Unavailable,
                        "The sandbox's downloadFiles() gave no content",
                    )
                })
        })
    }
}
