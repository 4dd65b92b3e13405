//! `mergeIndex`: merging the segments of a search index. It is a chunk of its own, so that a page
//! which only searches does without it.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::layer::indexed::Indexed;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::task::{self, Begun};

struct Functions {
    merge: fn(u32, f64) -> Begun,
}

chunk!("merge", Functions = Functions { merge });

/// Starts a merge of the segments; `limit` is in milliseconds, a negative value means no limit.
#[wasm_bindgen]
pub fn indexed_merge(handle: u32, limit: f64) -> Begun {
    (chunk().merge)(handle, limit)
}

fn merge(handle: u32, limit: f64) -> Begun {
    let indexed = handles::itself::<Indexed>(handle);
    task::start_within(limit, async move {
        let answer = match indexed {
            Ok(indexed) => indexed.merge().await,
            Err(error) => Err(error),
        };
        answered(answer, |reply, done| {
            for number in [done.merged, done.dropped, done.segments, done.bytes] {
                reply.f64(number as f64);
            }
        })
    })
}
