//! `ignoring`: searches that leave out what ignore files name.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Result;
use crate::layer::ignoring::Ignoring;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;

struct Functions {
    new: fn(u32, &str, &str),
}

chunk!("ignore", Functions = Functions { new });

/// Wraps a backend. Names of ignore files and patterns are lines; replies with the handle.
#[wasm_bindgen]
pub fn ignoring_new(inner: u32, names: &str, patterns: &str) {
    (chunk().new)(inner, names, patterns);
}

fn new(inner: u32, names: &str, patterns: &str) {
    answered(made(inner, names, patterns), |reply, handle| {
        reply.u32(handle)
    })
    .send();
}

fn made(inner: u32, names: &str, patterns: &str) -> Result<u32> {
    let names = names.lines().map(str::to_owned).collect();
    let ignoring = Ignoring::new(handles::backend(inner)?, names, patterns.to_owned())?;
    Ok(handles::hold(Rc::new(ignoring)))
}
