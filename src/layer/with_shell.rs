//! Files combined with a shell: file operations go to the files, and commands go to a callback of
//! the host. `execute.ts` has wrapped the callback: it enforces the timeout, truncates the output
//! and converts exceptions to results.

use std::rc::Rc;
use std::time::Duration;

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::env::host;
use crate::protocol::{Answer, Atomic, Backend, Capability, ExecuteResult, Request, answer};

/// Cancels a command when its caller is dropped; this has no effect on a finished command.
struct UnderWay(JsValue);

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(cancel) = host::method(&self.0, "cancel") {
            let _ = cancel.call0(&self.0);
        }
    }
}

/// A shell that the host passes in: `(command, timeoutMs | undefined) → { result, cancel }`, where
/// `result` is a promise of `{ output, exitCode, truncated }`.
pub struct HostShell {
    id: Rc<str>,
    execute: Function,
}

impl HostShell {
    /// A shell with this `id` that runs commands with `execute`.
    pub fn new(id: &str, execute: Function) -> HostShell {
        HostShell {
            id: Rc::from(id),
            execute,
        }
    }

    /// Runs a command.
    pub async fn run(&self, command: &str, timeout: Option<Duration>) -> Result<ExecuteResult> {
        let timeout = timeout.map_or(JsValue::UNDEFINED, |timeout| {
            JsValue::from_f64(timeout.as_secs_f64() * 1000.0)
        });
        let arguments = [JsValue::from_str(command), timeout];
        let what = "The command could not be run";
        let begun = host::call(what, &self.execute, &JsValue::UNDEFINED, &arguments).await?;
        let under_way = UnderWay(begun);
        let result = host::property(&under_way.0, "result").unwrap_or(JsValue::UNDEFINED);
        let answer = host::settled(what, result).await?;
        let Some(output) = host::text_property(&answer, "output") else {
            return Err(Error::new(
                Kind::Unavailable,
                "execute() must answer { output, exitCode }",
            ));
        };
        Ok(ExecuteResult {
            output,
            // A float-to-integer cast saturates.
            exit_code: host::number_property(&answer, "exitCode").map(|code| code as i32),
            truncated: host::property(&answer, "truncated")
                .is_some_and(|truncated| truncated.is_truthy()),
        })
    }
}

/// A backend combined with a shell.
pub struct WithShell<B> {
    files: B,
    shell: HostShell,
}

impl<B: Backend> WithShell<B> {
    /// `files` for files, `shell` for commands.
    pub fn new(files: B, shell: HostShell) -> WithShell<B> {
        WithShell { files, shell }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<B: Backend> Backend for WithShell<B> {
    fn capability(&self) -> Capability {
        self.files.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Execute(command, options) => {
                answer(self.shell.run(command, options.timeout), Answer::Execute)
            }
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            | Request::Download(_) => self.files.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        Some(self.shell.id.clone())
    }

    fn atomic(&self) -> Atomic<'_> {
        self.files.atomic()
    }
}
