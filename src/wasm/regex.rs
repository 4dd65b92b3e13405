//! The full parser of regular expressions, with the tables of Unicode. It is loaded when the first
//! expression is parsed, if this runtime can load it by itself or the program imports
//! `kitbag/regex`.

use std::cell::Cell;

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::core::cell::{LocalCell, RefCell};
use crate::search::regex::{self, Parse, full};
use crate::wasm::chunk::chunk;

struct Functions {
    parse: Parse,
}

chunk!("regex", Functions = Functions { parse: full::parse });

thread_local! {
    static LOADER: RefCell<Option<Function>> = const { RefCell::new(None) };
    static IS_LOADED: Cell<bool> = const { Cell::new(false) };
}

/// Sets the function that loads the chunk; it returns whether the chunk is loaded now.
pub fn set_loader(loader: Function) {
    LOADER.with_borrow_mut(|held| *held = Some(loader));
    regex::set_full(parser);
}

fn parser() -> Option<Parse> {
    if !IS_LOADED.get() {
        let loader = LOADER.with_borrow(Option::clone)?;
        let loaded = loader.call0(&JsValue::NULL).ok()?;
        IS_LOADED.set(loaded.is_truthy());
    }
    IS_LOADED.get().then(|| chunk().parse)
}
