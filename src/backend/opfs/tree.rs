//! Handles of a `FileSystemDirectoryHandle` tree: the base, directories on the way to a path,
//! what a directory holds, and the bytes of a file. Exceptions come back as thrown, since the
//! callers know best what a missing or mistyped entry means.

use bytes::Bytes;
use js_sys::Function;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::backend::opfs::torn_log;
use crate::cell::RefCell;
use crate::env::{dom, host};
use crate::error::{Error, Kind, Result};
use crate::path::VPath;
use crate::time::Time;

/// What a host function threw.
pub type Thrown = JsValue;

/// The name under which temporary files stand aside. No path of a caller's may hold it.
pub const ASIDE: &str = ".kitbag-temp";

/// Times a read begins anew because the file was replaced under it.
const READS: u32 = 16;

/// What to use where there is no OPFS.
pub const INSTEAD: &str = "Use IndexedDbBackend where the browser gives no origin-private file system (private windows, blocked site data, insecure origins)";

/// Calls a method and awaits what it answers.
pub async fn call(
    object: &JsValue,
    name: &str,
    arguments: &[JsValue],
) -> std::result::Result<JsValue, Thrown> {
    let method: Function = js_sys::Reflect::get(object, &JsValue::from_str(name))?
        .dyn_into()
        .map_err(|_| js_sys::Error::new(&format!("there is no {name}()")))?;
    let list: js_sys::Array = arguments.iter().collect();
    let answer = method.apply(object, &list)?;
    match answer.dyn_into::<js_sys::Promise>() {
        Ok(promise) => JsFuture::from(promise).await,
        Err(answer) => Ok(answer),
    }
}

/// Whether this is the exception of that name.
pub fn is(thrown: &Thrown, name: &str) -> bool {
    host::name_of(thrown) == name
}

/// An exception as an error about a path.
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

/// The refusal of a directory where a file was meant.
pub fn is_directory(path: &VPath) -> Error {
    Error::at(Kind::IsDirectory, "'", path, "' is a directory, not a file")
}

/// Where the tree begins.
pub enum Root {
    /// In the origin-private file system, beneath these directories.
    Origin(Vec<String>),
    /// In a directory that the caller was given, beneath these directories.
    Given(JsValue, Vec<String>),
}

/// The tree's base, once it was found.
#[derive(Clone)]
pub struct Base {
    /// Its handle.
    pub handle: JsValue,
    /// What all tabs call it.
    pub name: String,
    /// Whether it is in the origin-private file system, where entries can be moved.
    pub private: bool,
}

/// A tree of handles.
pub struct Tree {
    root: Root,
    base: RefCell<Option<Base>>,
    /// The directory that was written to last: writes come in flocks.
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

/// What stands at a path.
pub enum Found {
    /// A file's handle.
    File(JsValue),
    /// A directory.
    Directory,
    /// Nothing, or something beneath what is a file.
    Nothing,
}

fn unavailable(api: &str) -> Error {
    Error::new(
        Kind::Unavailable,
        format!("There is no {api} here. {INSTEAD}."),
    )
}

/// The top of the origin-private file system.
pub async fn origin() -> Result<JsValue> {
    let navigator = dom::global("navigator").ok().flatten();
    let storage = navigator.and_then(|navigator| host::property(&navigator, "storage"));
    let storage = storage.ok_or_else(|| unavailable("navigator.storage"))?;
    if host::method(&storage, "getDirectory").is_none() {
        return Err(unavailable(
            "origin-private file system (navigator.storage.getDirectory)",
        ));
    }
    call(&storage, "getDirectory", &[]).await.map_err(|thrown| {
        dom::failure(
            "The origin-private file system could not be opened",
            INSTEAD,
            thrown,
        )
    })
}

impl Tree {
    /// The tree at that root. Nothing is asked of the browser yet.
    pub fn new(root: Root) -> Tree {
        Tree {
            root,
            base: RefCell::renewable(|| None),
            last_made: RefCell::renewable(|| None),
        }
    }

    /// The base, found now or before.
    pub async fn base(&self) -> Result<Base> {
        if let Some(base) = &*self.base.borrow() {
            return Ok(base.clone());
        }
        let (mut handle, names, within) = match &self.root {
            Root::Origin(names) => (origin().await?, names, Some(Vec::new())),
            Root::Given(given, names) => (given.clone(), names, within_origin(given).await),
        };
        let private = within.is_some();
        if private {
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

    /// Forgets handles of what may have been taken away.
    pub fn forget(&self) {
        *self.last_made.borrow_mut() = None;
        *self.base.borrow_mut() = None;
    }

    /// A directory, where it is there.
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

    /// A directory, made with all above it where it is not there.
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

    /// What stands at a path.
    pub async fn find(&self, path: &VPath) -> Result<Found> {
        match self.directory(&path.parent()).await? {
            Some(parent) => find_in(&parent, path).await,
            None => Ok(Found::Nothing),
        }
    }
}

/// What a directory holds under the last name of a path.
pub async fn find_in(parent: &JsValue, path: &VPath) -> Result<Found> {
    let name = JsValue::from_str(path.name());
    match call(parent, "getFileHandle", &[name]).await {
        Ok(handle) => Ok(Found::File(handle)),
        Err(thrown) if is(&thrown, "NotFoundError") => Ok(Found::Nothing),
        Err(thrown) if is(&thrown, "TypeMismatchError") => Ok(Found::Directory),
        Err(thrown) => Err(failed(path, thrown)),
    }
}

/// Where a given directory stands in the origin-private file system, if it is part of it.
async fn within_origin(given: &JsValue) -> Option<Vec<String>> {
    let origin = origin().await.ok()?;
    let names = call(&origin, "resolve", std::slice::from_ref(given))
        .await
        .ok()?;
    let names: js_sys::Array = names.dyn_into().ok()?;
    names.iter().map(|name| name.as_string()).collect()
}

/// The arguments that get an entry of that name, made where it is not there.
pub fn create(name: &str) -> [JsValue; 2] {
    [
        JsValue::from_str(name),
        host::object(&[("create", JsValue::TRUE)]),
    ]
}

/// A file as it stands now: its size, the time of its last change, and the way to its bytes.
pub struct Snapshot {
    /// The browser's own picture of it.
    pub file: JsValue,
    /// Bytes.
    pub size: u64,
    /// Last change.
    pub modified: Time,
}

/// What a `File` tells.
pub fn seen(file: JsValue) -> Snapshot {
    let number = |name| host::number_property(&file, name).unwrap_or_default();
    Snapshot {
        // A float-to-integer cast saturates.
        size: number("size") as u64,
        modified: Time::from_millis(number("lastModified")),
        file,
    }
}

/// Looks at a file.
pub async fn snapshot(handle: &JsValue) -> std::result::Result<Snapshot, Thrown> {
    call(handle, "getFile", &[]).await.map(seen)
}

/// The bytes of a file, with what is known of it. A file that is replaced meanwhile is read anew.
pub async fn read(handle: &JsValue) -> std::result::Result<(Snapshot, Bytes), Thrown> {
    let mut tries = 0;
    loop {
        let seen = snapshot(handle).await?;
        match bytes(&seen).await {
            Ok(bytes) => return Ok((seen, bytes)),
            Err(thrown) if tries < READS && is(&thrown, "NotReadableError") => tries += 1,
            Err(thrown) => return Err(thrown),
        }
    }
}

/// The bytes of a file that was looked at.
pub async fn bytes(seen: &Snapshot) -> std::result::Result<Bytes, Thrown> {
    let buffer = call(&seen.file, "arrayBuffer", &[]).await?;
    host::bytes_of(&buffer).ok_or_else(|| JsValue::from_str("a file without bytes"))
}
