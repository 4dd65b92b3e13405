//! The cases for wasm, in a browser (suite `wasm-chrome`).

#![cfg(target_arch = "wasm32")]

mod cases;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
