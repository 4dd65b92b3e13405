//! Operations on many files at once. A browser handles each request about a file in another
//! process, so speed depends on the number of parallel requests. A directory is read with one call,
//! a batch of files is queried in parallel and awaited once, and their bytes arrive as one blob
//! that is composed of all of them, which is several times faster than one read for each.

use bytes::Bytes;
use js_sys::{Array, Function, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::env::{dom, host};
use crate::storage::browser::opfs::handle::{Thrown, call, is};
use crate::storage::browser::opfs::tree::{self, ASIDE, Entry, Snapshot, failed};

/// Number of files to query at once, with [`snapshots`].
pub const LOOKS: usize = 1024;

/// The entries of a directory, in byte order of their paths. Names that are not valid in a path and
/// reserved names are skipped.
pub async fn entries(path: &VPath, directory: &JsValue) -> std::result::Result<Vec<Entry>, Thrown> {
    let values = call(directory, "values", &[]).await?;
    let prefix = path.dir_prefix();
    let mut entries = Vec::new();
    for handle in collected(&values).await?.iter() {
        let name = host::text_property(&handle, "name").unwrap_or_default();
        let Some(path) = VPath::from_stored(&format!("{prefix}{name}")) else {
            continue;
        };
        if name == ASIDE || name.contains('/') {
            continue;
        }
        let is_dir = host::text_property(&handle, "kind").as_deref() == Some("directory");
        entries.push(Entry {
            path,
            handle,
            is_dir,
        });
    }
    order::sort_by(&mut entries, |a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// All values of an asynchronous iterator.
async fn collected(values: &JsValue) -> std::result::Result<Array, Thrown> {
    let array = dom::global("Array").ok().flatten();
    if let Some(array) = array
        && host::method(&array, "fromAsync").is_some()
    {
        let all = call(&array, "fromAsync", std::slice::from_ref(values)).await?;
        return Ok(all.unchecked_into());
    }
    let next: Function = js_sys::Reflect::get(values, &JsValue::from_str("next"))?.dyn_into()?;
    let all = Array::new();
    loop {
        let step = next.call0(values)?;
        let step = JsFuture::from(step.unchecked_into::<Promise>()).await?;
        match host::property(&step, "value") {
            Some(value) => all.push(&value),
            None => return Ok(all),
        };
    }
}

/// Queries many files at once; `None` for files that no longer exist.
pub async fn snapshots(entries: &[Entry]) -> Result<Vec<Option<Snapshot>>> {
    let asked = Array::new();
    for Entry { path, handle, .. } in entries {
        let get = host::method(handle, "getFile");
        let file = get.map_or_else(|| Ok(JsValue::UNDEFINED), |get| get.call0(handle));
        asked.push(&file.map_err(|thrown| failed(path, thrown))?);
    }
    let settled = JsFuture::from(Promise::all_settled(&asked)).await;
    let settled: Array = settled
        .map_err(|thrown| failed(&VPath::root(), thrown))?
        .unchecked_into();
    let mut seen = Vec::with_capacity(entries.len());
    for (Entry { path, .. }, outcome) in entries.iter().zip(settled.iter()) {
        seen.push(match host::property(&outcome, "value") {
            Some(file) => Some(tree::seen(file)),
            None => {
                let thrown = host::property(&outcome, "reason").unwrap_or_default();
                if !is(&thrown, "NotFoundError") {
                    return Err(failed(path, thrown));
                }
                None
            }
        });
    }
    Ok(seen)
}

/// The bytes of files that were queried before. Fails as a whole if one of them was changed or
/// removed meanwhile.
pub async fn bodies(seen: &[&Snapshot]) -> std::result::Result<Vec<Bytes>, Thrown> {
    let parts: Array = seen.iter().map(|seen| seen.file.clone()).collect();
    let blob = Blob::new_with_blob_sequence(&parts)?;
    let buffer = call(&blob, "arrayBuffer", &[]).await?;
    let mut rest =
        host::bytes_of(&buffer).ok_or_else(|| JsValue::from_str("a blob without bytes"))?;
    let mut bodies = Vec::with_capacity(seen.len());
    for Snapshot { size, .. } in seen {
        match usize::try_from(*size) {
            Ok(size) if size <= rest.len() => bodies.push(rest.split_to(size)),
            _ => return Err(JsValue::from_str("a blob that is too short")),
        }
    }
    match rest.is_empty() {
        true => Ok(bodies),
        false => Err(JsValue::from_str("a blob that is too long")),
    }
}
