//! Questions about names, for what is decided or shown in JavaScript, so that both have one answer.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::names::is_room;
use crate::core::path::deception;
use crate::core::visible::with_marks;

/// Whether a path, in any spelling, is in the room of the library's own files.
#[wasm_bindgen]
pub fn names_own(path: &str) -> bool {
    path.split(['/', '\\']).any(is_room)
}

/// Why no file may be created under this path; nothing if its name is what it seems to be.
#[wasm_bindgen]
pub fn names_deception(path: &str) -> Option<String> {
    deception(path).map(String::from)
}

/// The same text with NUL in the place of each character that a person has to see by its code.
#[wasm_bindgen]
pub fn names_marked(text: &str) -> String {
    with_marks(text, false).into_owned()
}
