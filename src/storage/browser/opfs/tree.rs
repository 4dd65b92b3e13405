//! Handles of a `FileSystemDirectoryHandle` tree: the base, the directories on a path, directory
//! entries, and the bytes of a file.

use std::ops::Range;

use bytes::Bytes;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{dom, host};
use crate::storage::browser::CrashProtection;
use crate::storage::browser::opfs::handle::{Thrown, call, create, is, origin};
use crate::storage::browser::opfs::torn_log;

/// The name of the directory of temporary files. No path of a caller may contain it.
pub const ASIDE: &str = ".kitbag-temp";

/// How often a read is retried because the file was replaced meanwhile.
const READS: u32 = 16;

/// Converts an exception to an error about a path.
pub fn failed(path: &VPath, thrown: Thrown) -> Error {
    if thrown.is_instance_of::<js_sys::TypeError>() {
        return Error::at(
            Kind::InvalidPath,
            "The file system does not take the name of '",
            path,
            format!("': {}", host::message_of(&thrown)),
        );
    }
    let what = format!("The file system failed at '{path}'");
    let instead = "The browser no longer gives access: ask the user again (requestPermission() of the directory's handle), or reload the page";
    dom::failure(&what, instead, thrown)
}

/// The root of the tree.
pub enum Root {
    /// In the origin-private file system, beneath these directories.
    Origin(Vec<String>),
    /// A directory that the caller passed in, beneath these directories.
    Given(JsValue, Vec<String>),
}

/// The base directory of the tree.
#[derive(Clone)]
pub struct Base {
    /// Its handle.
    pub handle: JsValue,
    /// Its name, the same in all tabs.
    pub name: String,
    /// Whether it is in the origin-private file system, where entries can be moved.
    pub private: bool,
}

/// A tree of handles.
pub struct Tree {
    root: Root,
    protection: CrashProtection,
    base: RefCell<Option<Base>>,
    /// The directory of the last write, since writes often go to the same directory.
    last_made: RefCell<Option<(VPath, JsValue)>>,
}

/// One entry of a directory.
#[derive(Clone)]
pub struct Entry {
    /// Its path.
    pub path: VPath,
    /// Its handle.
    pub handle: JsValue,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// What exists at a path.
pub enum Found {
    /// A file's handle.
    File(JsValue),
    /// A directory.
    Directory,
    /// Nothing, or the parent is a file.
    Nothing,
}

impl Tree {
    /// The tree at that root. The browser is not called yet.
    pub fn new(root: Root, protection: CrashProtection) -> Tree {
        Tree {
            root,
            protection,
            base: RefCell::renewable(|| None),
            last_made: RefCell::renewable(|| None),
        }
    }

    /// The base, from the cache or opened now.
    pub async fn base(&self) -> Result<Base> {
        if let Some(base) = &*self.base.borrow() {
            return Ok(base.clone());
        }
        let (mut handle, names, within) = match &self.root {
            Root::Origin(names) => (origin().await?, names, Some(Vec::new())),
            Root::Given(given, names) => (given.clone(), names, within_origin(given).await),
        };
        let private = within.is_some();
        if private && self.protection == CrashProtection::On {
            torn_log::step_over().await;
        }
        let mut name = match within {
            Some(above) => format!("/{}", above.join("/")),
            None => host::text_property(&handle, "name").unwrap_or_default() + ":",
        };
        for step in names {
            let made = call(&handle, "getDirectoryHandle", &create(step)).await;
            handle = made.map_err(|thrown| failed(&VPath::root(), thrown))?;
            name = format!("{}/{step}", name.trim_end_matches('/'));
        }
        let base = Base {
            handle,
            name,
            private,
        };
        *self.base.borrow_mut() = Some(base.clone());
        Ok(base)
    }

    /// Drops cached handles, which may have become invalid.
    pub fn forget(&self) {
        *self.last_made.borrow_mut() = None;
        *self.base.borrow_mut() = None;
    }

    /// A directory, if it exists.
    pub async fn directory(&self, path: &VPath) -> Result<Option<JsValue>> {
        let mut handle = self.base().await?.handle;
        for name in path.segments() {
            let step = call(&handle, "getDirectoryHandle", &[JsValue::from_str(name)]).await;
            handle = match step {
                Ok(next) => next,
                Err(thrown) if is(&thrown, "NotFoundError") => return Ok(None),
                Err(thrown) if is(&thrown, "TypeMismatchError") => return Ok(None),
                Err(thrown) => return Err(failed(path, thrown)),
            };
        }
        Ok(Some(handle))
    }

    /// A directory; it and its parents are created if they do not exist.
    pub async fn make_directory(&self, path: &VPath) -> Result<JsValue> {
        if let Some((made, handle)) = &*self.last_made.borrow()
            && made == path
        {
            return Ok(handle.clone());
        }
        let mut again = true;
        'anew: loop {
            let mut handle = self.base().await?.handle;
            for name in path.segments() {
                match call(&handle, "getDirectoryHandle", &create(name)).await {
                    Ok(next) => handle = next,
                    Err(thrown) if is(&thrown, "TypeMismatchError") => {
                        return Err(Error::at(
                            Kind::InvalidPath,
                            "'",
                            path,
                            "' cannot be a directory, since it, or what it would stand in, is a file",
                        ));
                    }
                    // The base, or a directory on the way, was removed meanwhile.
                    Err(thrown) if again && is(&thrown, "NotFoundError") => {
                        again = false;
                        self.forget();
                        continue 'anew;
                    }
                    Err(thrown) => return Err(failed(path, thrown)),
                }
            }
            *self.last_made.borrow_mut() = Some((path.clone(), handle.clone()));
            return Ok(handle);
        }
    }

    /// What exists at a path.
    pub async fn find(&self, path: &VPath) -> Result<Found> {
        match self.directory(&path.parent()).await? {
            Some(parent) => find_in(&parent, path).await,
            None => Ok(Found::Nothing),
        }
    }
}

/// What exists in a directory under the last name of a path.
pub async fn find_in(parent: &JsValue, path: &VPath) -> Result<Found> {
    let name = JsValue::from_str(path.name());
    match call(parent, "getFileHandle", &[name]).await {
        Ok(handle) => Ok(Found::File(handle)),
        Err(thrown) if is(&thrown, "NotFoundError") => Ok(Found::Nothing),
        Err(thrown) if is(&thrown, "TypeMismatchError") => Ok(Found::Directory),
        Err(thrown) => Err(failed(path, thrown)),
    }
}

/// The path of a given directory in the origin-private file system, if it is part of it.
async fn within_origin(given: &JsValue) -> Option<Vec<String>> {
    let origin = origin().await.ok()?;
    let names = call(&origin, "resolve", std::slice::from_ref(given))
        .await
        .ok()?;
    let names: js_sys::Array = names.dyn_into().ok()?;
    names.iter().map(|name| name.as_string()).collect()
}

/// A file at one moment: its size, the time of its last change, and access to its bytes.
pub struct Snapshot {
    /// The browser's `File`.
    pub file: JsValue,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change.
    pub modified: Time,
}

/// Reads the properties of a `File`.
pub fn seen(file: JsValue) -> Snapshot {
    let number = |name| host::number_property(&file, name).unwrap_or_default();
    Snapshot {
        // A float-to-integer cast saturates.
        size: number("size") as u64,
        modified: Time::from_millis(number("lastModified")),
        file,
    }
}

/// Gets a snapshot of a file.
pub async fn snapshot(handle: &JsValue) -> std::result::Result<Snapshot, Thrown> {
    call(handle, "getFile", &[]).await.map(seen)
}

/// The bytes of a file or of a part of it, with its snapshot. If the file is replaced meanwhile, it is read
/// again: browsers call that unreadable, or in Firefox also aborted.
pub async fn read(
    handle: &JsValue,
    range: Option<&Range<u64>>,
) -> std::result::Result<(Snapshot, Bytes), Thrown> {
    let mut tries = 0;
    loop {
        let read = async {
            let seen = snapshot(handle).await?;
            let bytes = match range {
                None => bytes(&seen.file).await?,
                Some(range) => {
                    // Numbers of JavaScript are exact for every size that a file can have.
                    let ends = [range.start, range.end].map(|at| at.min(seen.size) as f64);
                    let part = call(&seen.file, "slice", &ends.map(JsValue::from_f64)).await?;
                    bytes(&part).await?
                }
            };
            Ok((seen, bytes))
        };
        match read.await {
            Err(thrown) if tries < READS && is_replaced(&thrown) => tries += 1,
            answer => return answer,
        }
    }
}

fn is_replaced(thrown: &Thrown) -> bool {
    is(thrown, "NotReadableError") || is(thrown, "AbortError")
}

/// The bytes of a browser's `File`, or of a part of one.
pub async fn bytes(file: &JsValue) -> std::result::Result<Bytes, Thrown> {
    let buffer = call(file, "arrayBuffer", &[]).await?;
    host::bytes_of(&buffer).ok_or_else(|| JsValue::from_str("a file without bytes"))
}
