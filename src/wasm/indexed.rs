//! `withIndex`: a search index beside any backend.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::wrappers::IndexGiven;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::indexed::{Freshness, Indexed};
use crate::side::{Key, Room};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::made;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(usize) -> Result<u32>,
    update: fn(u32, f64) -> Begun,
}

chunk!("index", Functions = Functions { new, update });

/// Creates an index of a backend; replies with its handle.
#[wasm_bindgen]
pub fn indexed_new(len: usize) {
    made((chunk().new)(len));
}

fn new(len: usize) -> Result<u32> {
    let given: IndexGiven = read(len)?;
    let key = given.key.map(|key| Key::of(&key)).transpose()?;
    let inner = handles::backend(given.inner.0)?;
    let keep = match given.keep {
        None => inner.clone(),
        Some(keep) => handles::backend(keep.0)?,
    };
    let room = Room::new(keep, VPath::own(&given.path)?, key);
    let index = Indexed::new(inner, room);
    Ok(handles::hold(Rc::new(match given.freshness {
        Freshness::Listing => index,
        Freshness::Writers => index.with_notes(),
    })))
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
