//! The shared suite, run by JavaScript on backends of its own making. Only tests call it.

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::conformance;
use crate::env::host;
use crate::error::Error;
use crate::wasm::call::answered;
use crate::wasm::{handles, task};

/// Starts the suite; `make` gives the handle of an empty backend, for each case a new one.
#[wasm_bindgen]
pub fn conformance_start(make: Function) -> u32 {
    task::start(async move {
        let report = conformance::run(async || {
            let handle = host::call("make", &make, &JsValue::UNDEFINED, &[]).await?;
            match handle.as_f64() {
                Some(handle) => handles::backend(handle as u32),
                None => Err(Error::internal("The suite was given no handle")),
            }
        })
        .await;
        answered(Ok(report), |reply, report| {
            reply.len(report.passed);
            reply.len(report.failures.len());
            for failure in &report.failures {
                reply.str(failure);
            }
            reply.len(report.left_out.len());
            for name in &report.left_out {
                reply.str(name);
            }
        })
    })
}
