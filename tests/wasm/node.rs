//! The cases for wasm, in Node: `wasm-pack test --node`.

#![cfg(target_arch = "wasm32")]

mod cases;
