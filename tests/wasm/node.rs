//! The cases for wasm, in Node (suite `wasm-node`).

#![cfg(target_arch = "wasm32")]

mod cases;
