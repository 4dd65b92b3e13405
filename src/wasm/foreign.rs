//! JavaScript objects as backends.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::path::VPath;
use crate::env::pass;
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

/// The path behind a pass; nothing if it is no pass.
#[wasm_bindgen]
pub fn foreign_opened(text: &str) -> Option<String> {
    let path = pass::parse(text).ok().filter(VPath::is_vouched)?;
    Some(path.as_str().to_owned())
}

fn new(object: JsValue) -> u32 {
    handles::hold(Rc::new(Foreign::new(object)))
}
