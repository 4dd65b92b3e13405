//! `indexed`: a search index beside any backend.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::indexed::Indexed;
use crate::side::{Key, Room};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(u32, u32, &str, Option<Vec<u8>>),
    update: fn(u32, f64) -> Begun,
}

chunk!("index", Functions = Functions { new, update });

/// Creates an index of a backend, kept in a directory of the backend `keep`, or, if that is 0, of
/// the backend itself; replies with its handle. `key` is that of the room.
#[wasm_bindgen]
pub fn indexed_new(inner: u32, keep: u32, dir: &str, key: Option<Vec<u8>>) {
    (chunk().new)(inner, keep, dir, key);
}

fn new(inner: u32, keep: u32, dir: &str, key: Option<Vec<u8>>) {
    answered(made(inner, keep, dir, key), |reply, indexed| {
        reply.u32(handles::hold(Rc::new(indexed)));
    })
    .send();
}

fn made(inner: u32, keep: u32, dir: &str, key: Option<Vec<u8>>) -> Result<Indexed> {
    let key = key.map(|key| Key::of(&key)).transpose()?;
    let inner = handles::backend(inner)?;
    let keep = match keep {
        0 => inner.clone(),
        keep => handles::backend(keep)?,
    };
    Ok(Indexed::new(inner, Room::new(keep, VPath::own(dir)?, key)))
}

/// Starts an update of the index; `limit` is in milliseconds, a negative value means no limit.
#[wasm_bindgen]
pub fn indexed_update(handle: u32, limit: f64) -> Begun {
    (chunk().update)(handle, limit)
}

fn update(handle: u32, limit: f64) -> Begun {
    let indexed = handles::itself::<Indexed>(handle);
    task::start_within(limit, async move {
        let answer = match indexed {
            Ok(indexed) => indexed.update().await,
            Err(error) => Err(error),
        };
        answered(answer, |reply, updated| {
            for number in [
                updated.added,
                updated.merged,
                updated.files,
                updated.segments,
                updated.bytes,
            ] {
                reply.f64(number as f64);
            }
        })
    })
}
