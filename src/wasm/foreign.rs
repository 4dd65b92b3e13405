//! JavaScript objects as backends.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::foreign::Foreign;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;

struct Functions {
    new: fn(JsValue) -> u32,
}

chunk!("foreign", Functions = Functions { new });

/// Creates a handle for a JavaScript object with the methods of the protocol.
#[wasm_bindgen]
pub fn foreign_new(object: JsValue) -> u32 {
    (chunk().new)(object)
}

fn new(object: JsValue) -> u32 {
    handles::hold(Rc::new(Foreign::new(object)))
}
