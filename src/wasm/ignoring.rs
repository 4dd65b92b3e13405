//! `withIgnore`: searches that leave out what ignore files name.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::reader::FilePath;
use crate::boundary::wrappers::{IgnoreCall, IgnoreGiven};
use crate::core::error::Result;
use crate::layer::ignoring::Ignoring;
use crate::wasm::call::{answered, put_paths};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::made;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(usize) -> Result<u32>,
    ask: fn(u32, usize) -> Begun,
}

chunk!("ignore", Functions = Functions { new, ask });

/// Wraps a backend; replies with the handle.
#[wasm_bindgen]
pub fn ignoring_new(len: usize) {
    made((chunk().new)(len));
}

fn new(len: usize) -> Result<u32> {
    let given: IgnoreGiven = read(len)?;
    let inner = handles::backend(given.inner.0)?;
    let ignoring = Ignoring::new(inner, given.files, &given.patterns)?;
    Ok(handles::hold(Rc::new(ignoring)))
}

/// Starts a call.
#[wasm_bindgen]
pub fn ignoring_ask(handle: u32, len: usize) -> Begun {
    (chunk().ask)(handle, len)
}

fn ask(handle: u32, len: usize) -> Begun {
    let call = read(len).and_then(|call| Ok((handles::itself::<Ignoring>(handle)?, call)));
    task::start(async move {
        let shown = match call {
            Ok((ignoring, IgnoreCall::Shown { below, paths })) => {
                let paths = paths.into_iter().map(|FilePath(path)| path);
                ignoring.shown(&below, paths.collect()).await
            }
            Err(error) => Err(error),
        };
        answered(shown, |reply, paths| put_paths(reply, &paths))
    })
}
