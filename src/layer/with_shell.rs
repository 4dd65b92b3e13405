//! Files combined with a shell: file operations go to the files, and commands go to a callback of
//! the host. `execute.ts` has wrapped the callback: it enforces the timeout, truncates the output
//! and converts exceptions to results.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::env::host;
use crate::protocol::{
    Atomic, Backend, Capability, Content, DeleteResult, Edit, EditResult, ExecuteOptions,
    ExecuteResult, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Page, RawFile,
    ReadResult, Shell, Transfer, WriteResult,
};

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

impl Shell for HostShell {
    fn id(&self) -> Rc<str> {
        self.id.clone()
    }

    fn execute<'a>(
        &'a self,
        command: &'a str,
        options: ExecuteOptions,
    ) -> Pending<'a, ExecuteResult> {
        Box::pin(async move {
            self.run(command, options.timeout)
                .await
                .map_err(|error| error.during("execute"))
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

    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.files.ls(path)
    }

    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.files.read(path, page)
    }

    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.files.read_raw(path)
    }

    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.files.grep(query)
    }

    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        self.files.glob(query)
    }

    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.files.write(path, content)
    }

    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.files.edit(path, edit)
    }

    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        self.files.delete(path, unchanged)
    }

    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        self.files.transfer(asked)
    }

    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.files.upload(files)
    }

    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.files.download(paths)
    }

    fn part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Bytes> {
        self.files.part(path, range)
    }

    fn shell(&self) -> Option<&dyn Shell> {
        Some(&self.shell)
    }

    fn atomic(&self) -> Atomic<'_> {
        self.files.atomic()
    }
}
