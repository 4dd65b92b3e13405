//! The resource `backend`: how backends are made.

use std::rc::Rc;

use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::path::VPath;
use kitbag::files::Files;
use kitbag::layer::composite::Composite;
use kitbag::layer::ignoring::Ignoring;
use kitbag::layer::policy::stack;
use kitbag::protocol::SharedBackend;
use kitbag::storage::memory::{DEFAULT_MAX_BYTES, Memory};

use crate::bindings::exports::kitbag::files::backends as wit;
use crate::bindings::kitbag::files::{storage, types};
use crate::run::run;
use crate::shell::WithShell;
use crate::{answers, calls, given, volume};

/// The most that memory holds.
const MOST_BYTES: u64 = 2 << 30;

/// A backend that the host holds.
pub struct Held(pub SharedBackend);

type Made = Result<wit::Backend, types::Error>;

/// Makes a backend, or says why not.
fn made(called: &'static str, make: impl FnOnce() -> Result<SharedBackend>) -> Made {
    let made = run(called, async { make() });
    made.map(|backend| wit::Backend::new(Held(backend)))
        .map_err(answers::error)
}

fn state(options: wit::StateOptions) -> Result<SharedBackend> {
    let limit = options.max_bytes.unwrap_or(DEFAULT_MAX_BYTES);
    if limit > MOST_BYTES {
        return Err(given::wrong(format!(
            "max-bytes must be at most {MOST_BYTES}, which is what memory holds"
        )));
    }
    let how = given::files(options.write_mode, options.file_format, None);
    Ok(Rc::new(Files::new(Memory::new(limit), how)))
}

fn composite(default: SharedBackend, mounts: Vec<wit::Mount<'_>>) -> Result<SharedBackend> {
    let mounts = mounts.into_iter().map(|mount| {
        let prefix = VPath::parse(&mount.prefix)?;
        Ok((prefix, mount.backend.get::<Held>().0.clone()))
    });
    let mounts: Vec<(VPath, SharedBackend)> = mounts.collect::<Result<_>>()?;
    Ok(Rc::new(Composite::new(default, mounts)?))
}

impl wit::GuestBackend for Held {
    fn state(options: wit::StateOptions) -> Made {
        made("state", || state(options))
    }

    fn lent(volume: storage::Volume, options: wit::VolumeOptions) -> Made {
        made("lent", || {
            let how = given::files(
                options.write_mode,
                options.file_format,
                options.max_file_bytes,
            );
            Ok(Rc::new(Files::new(volume::lent(volume)?, how)))
        })
    }

    fn composite(default: wit::BackendBorrow<'_>, mounts: Vec<wit::Mount<'_>>) -> Made {
        made("composite", || {
            composite(default.get::<Held>().0.clone(), mounts)
        })
    }

    fn with_policy(&self, policy: wit::Policy) -> Made {
        made("with-policy", || {
            stack(self.0.clone(), given::policy(policy)?)
        })
    }

    fn with_ignore(&self, files: Vec<String>, patterns: Vec<String>) -> Made {
        made("with-ignore", || {
            let mut lines = files.iter().chain(&patterns);
            if lines.any(|line| line.contains(['\n', '\r'])) {
                return Err(given::wrong(
                    "Names of ignore files and patterns must have no line breaks",
                ));
            }
            Ok(Rc::new(Ignoring::new(self.0.clone(), files, &patterns)?))
        })
    }

    fn with_shell(&self, id: String) -> Made {
        made("with-shell", || match id.is_empty() {
            true => Err(Error::new(
                Kind::InvalidArgument,
                "The id of a machine must not be empty",
            )),
            false => Ok(Rc::new(WithShell::new(self.0.clone(), &id))),
        })
    }

    fn capability(&self) -> types::Capability {
        answers::capability(self.0.capability())
    }

    fn shell_id(&self) -> Option<String> {
        self.0.shell().map(|id| id.to_string())
    }

    fn ls(&self, path: String) -> Result<Vec<wit::FileInfo>, types::Error> {
        calls::ls(&*self.0, &path)
    }

    fn read(
        &self,
        path: String,
        offset: Option<u32>,
        limit: Option<u32>,
    ) -> Result<wit::Page, types::Error> {
        calls::read(&*self.0, &path, offset, limit)
    }

    fn read_raw(&self, path: String) -> Result<wit::RawFile, types::Error> {
        calls::read_raw(&*self.0, &path)
    }

    fn grep(&self, query: wit::GrepQuery) -> Result<wit::GrepResult, types::Error> {
        calls::grep(&*self.0, query)
    }

    fn glob(&self, pattern: String, path: Option<String>) -> Result<wit::GlobResult, types::Error> {
        calls::glob(&*self.0, pattern, path)
    }

    fn write(&self, path: String, content: types::Content) -> Result<String, types::Error> {
        calls::write(&*self.0, &path, content)
    }

    fn edit(
        &self,
        path: String,
        old: String,
        new: String,
        replace_all: bool,
    ) -> Result<wit::Edited, types::Error> {
        calls::edit(&*self.0, &path, old, new, replace_all)
    }

    fn append(&self, path: String, text: String) -> Result<String, types::Error> {
        calls::append(&*self.0, &path, text)
    }

    fn delete(&self, path: String) -> Result<String, types::Error> {
        calls::delete(&*self.0, &path)
    }

    fn move_(&self, from: String, to: String, overwrite: bool) -> Result<String, types::Error> {
        calls::transfer(&*self.0, &from, &to, false, overwrite)
    }

    fn copy(&self, from: String, to: String, overwrite: bool) -> Result<String, types::Error> {
        calls::transfer(&*self.0, &from, &to, true, overwrite)
    }

    fn upload(&self, files: Vec<(String, Vec<u8>)>) -> Vec<wit::Uploaded> {
        calls::upload(&*self.0, files)
    }

    fn download(&self, paths: Vec<String>) -> Vec<wit::Downloaded> {
        calls::download(&*self.0, paths)
    }

    fn execute(
        &self,
        command: String,
        timeout_ms: Option<u64>,
    ) -> Result<types::Execution, types::Error> {
        calls::execute(&*self.0, &command, timeout_ms)
    }
}
