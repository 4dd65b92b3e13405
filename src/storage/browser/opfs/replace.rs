//! Atomic replacement of a file. In the origin-private file system the new bytes are written to a
//! temporary file, which is then moved over the old file; the browser does this atomically. In a
//! dedicated worker a synchronous access handle writes them, which is fastest. In a directory that
//! the user picked, nothing can be moved. There `createWritable()` is the safest documented way,
//! since browsers write to a temporary file and swap the two on `close()`.

use std::cell::Cell;

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::lock::Mutex;
use crate::core::path::VPath;
use crate::env::locks::{self, Held, Wish};
use crate::env::{dom, host, random};
use crate::storage::browser::opfs::handle::{INSTEAD, Thrown, call, create, is};
use crate::storage::browser::opfs::tree::{self, ASIDE, Base};

/// The prefix of the lock that a backend holds while it lives. The name continues with the owner
/// part of its temporary files' names.
const OWNER_LOCK: &str = "kitbag:opfs-owner:";

/// The temporary files of one backend.
pub struct Aside {
    owner: String,
    count: Cell<u64>,
    ready: Mutex<Option<Ready>>,
}

struct Ready {
    directory: JsValue,
    /// Held as long as the backend lives, so that others do not delete its files.
    _owned: Option<Held>,
}

impl Aside {
    /// Creates an owner with a unique name.
    pub fn new() -> Aside {
        Aside {
            owner: random::id(),
            count: Cell::new(0),
            ready: Mutex::new(None),
        }
    }

    /// Writes the bytes under the last name of `path` in `parent`, atomically. The caller has
    /// checked under a lock whether the file exists.
    pub async fn put(
        &self,
        base: &Base,
        parent: &JsValue,
        path: &VPath,
        exists: bool,
        body: &[u8],
    ) -> Result<()> {
        let failed = |thrown| tree::failed(path, thrown);
        if !base.private {
            return in_place(parent, path, exists, body).await;
        }
        let directory = self.directory(base).await.map_err(failed)?;
        self.count.set(self.count.get().wrapping_add(1));
        let name = format!("{}-{}", self.owner, self.count.get());
        let temp = match call(&directory, "getFileHandle", &create(&name)).await {
            Ok(temp) => temp,
            Err(thrown) => {
                // The directory of temporary files was removed; the next call creates it again.
                *self.ready.lock().await = None;
                return Err(failed(thrown));
            }
        };
        // The temporary file is removed whatever happens from here on.
        let _leftover = Leftover {
            directory,
            name: JsValue::from_str(&name),
        };
        if host::method(&temp, "move").is_none() {
            return in_place(parent, path, exists, body).await;
        }
        write(&temp, body, path).await?;
        let target = [parent.clone(), JsValue::from_str(path.name())];
        call(&temp, "move", &target).await.map_err(failed)?;
        Ok(())
    }

    /// The directory of temporary files. On first use, files of dead tabs are removed from it.
    async fn directory(&self, base: &Base) -> std::result::Result<JsValue, Thrown> {
        let mut ready = self.ready.lock().await;
        if let Some(ready) = &*ready {
            return Ok(ready.directory.clone());
        }
        let directory = call(&base.handle, "getDirectoryHandle", &create(ASIDE)).await?;
        let lock = format!("{OWNER_LOCK}{}", self.owner);
        let owned = locks::take(&lock, Wish::Wait).await.ok().flatten();
        // A failed clean-up must not fail a write.
        let _ = self.sweep(&directory).await;
        *ready = Some(Ready {
            directory: directory.clone(),
            _owned: owned,
        });
        Ok(directory)
    }

    async fn sweep(&self, directory: &JsValue) -> std::result::Result<(), Thrown> {
        let keys = call(directory, "keys", &[]).await?;
        let mut names = Vec::new();
        while let Some(name) = host::text_property(&call(&keys, "next", &[]).await?, "value") {
            names.push(name);
        }
        for name in names {
            let owner = name.split('-').next().unwrap_or_default();
            if owner == self.owner {
                continue;
            }
            // A free lock means that the owner's tab is gone.
            let lock = format!("{OWNER_LOCK}{owner}");
            if let Ok(Some(_gone)) = locks::take(&lock, Wish::IfFree).await {
                let _ = call(directory, "removeEntry", &[JsValue::from_str(&name)]).await;
            }
        }
        Ok(())
    }
}

/// A temporary file; dropping this removes it if it still exists.
struct Leftover {
    directory: JsValue,
    name: JsValue,
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let Some(remove) = host::method(&self.directory, "removeEntry") else {
            return;
        };
        let removed = remove.call1(&self.directory, &self.name);
        let Some(removed) = removed.ok().and_then(|it| it.dyn_into::<Promise>().ok()) else {
            return;
        };
        // The removal usually fails, since the file was moved; the rejection is handled here.
        if let Ok(Some(anything)) = dom::global("Boolean") {
            let handled = host::method(&removed, "catch");
            let _ = handled.map(|catch| catch.call1(&removed, &anything));
        }
    }
}

/// Writes a file with the best method that the handle has.
async fn write(handle: &JsValue, body: &[u8], path: &VPath) -> Result<()> {
    let bytes: JsValue = host::array_of(body).into();
    let written = if host::method(handle, "createSyncAccessHandle").is_some() {
        write_now(handle, &bytes, body.len()).await
    } else if host::method(handle, "createWritable").is_some() {
        write_stream(handle, &bytes, body.len()).await
    } else {
        return Err(Error::new(
            Kind::Unavailable,
            format!(
                "This browser writes files only in a dedicated worker (there is no createWritable() here): use OpfsBackend there. {INSTEAD}."
            ),
        ));
    };
    written.map_err(|thrown| tree::failed(path, thrown))
}

async fn write_now(
    handle: &JsValue,
    bytes: &JsValue,
    len: usize,
) -> std::result::Result<(), Thrown> {
    let access = call(handle, "createSyncAccessHandle", &[]).await?;
    let written = async {
        let count = call(&access, "write", std::slice::from_ref(bytes)).await?;
        if count.as_f64() != Some(len as f64) {
            let error = js_sys::Error::new("there is no room for all of the file");
            error.set_name("QuotaExceededError");
            return Err(error.into());
        }
        call(&access, "flush", &[]).await
    }
    .await;
    let closed = call(&access, "close", &[]).await;
    written.and(closed).map(drop)
}

async fn write_stream(
    handle: &JsValue,
    bytes: &JsValue,
    len: usize,
) -> std::result::Result<(), Thrown> {
    let stream = call(handle, "createWritable", &[]).await?;
    let written = async {
        call(&stream, "write", std::slice::from_ref(bytes)).await?;
        call(&stream, "close", &[]).await
    };
    let Err(thrown) = written.await else {
        return Ok(());
    };
    let _ = call(&stream, "abort", &[]).await;
    Err(no_room(handle, len).await.unwrap_or(thrown))
}

/// The error of an attempt to extend the file to its full length. When the quota is full, Chromium
/// sometimes reports only a broken pipe to a writer, and its `estimate()` reports room that does
/// not exist. This attempt gets the real reason.
async fn no_room(handle: &JsValue, len: usize) -> Option<Thrown> {
    let tried = async {
        let stream = call(handle, "createWritable", &[]).await?;
        let longer = call(&stream, "truncate", &[JsValue::from_f64(len as f64)]).await;
        let _ = call(&stream, "abort", &[]).await;
        longer
    };
    let thrown = tried.await.err()?;
    is(&thrown, "QuotaExceededError").then_some(thrown)
}

/// Writes to the file itself. Only a stream is safe for this, since it writes to a temporary file
/// first.
async fn in_place(parent: &JsValue, path: &VPath, exists: bool, body: &[u8]) -> Result<()> {
    let failed = |thrown| tree::failed(path, thrown);
    let name = path.name();
    let handle = call(parent, "getFileHandle", &create(name))
        .await
        .map_err(failed)?;
    let written = if host::method(&handle, "createWritable").is_some() {
        write_stream(&handle, &host::array_of(body).into(), body.len())
            .await
            .map_err(failed)
    } else {
        Err(Error::new(
            Kind::Unavailable,
            format!(
                "This browser has no way to exchange a file whole (neither move() nor createWritable()). {INSTEAD}."
            ),
        ))
    };
    if written.is_err() && !exists {
        // Remove the empty file that had to be created first.
        let _ = call(parent, "removeEntry", &[JsValue::from_str(name)]).await;
    }
    written
}
