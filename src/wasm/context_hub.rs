//! `ContextHubBackend`: files in a repo of LangSmith's Context Hub.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::backend::context_hub::ContextHub;
use crate::backend::context_hub::host::HostHub;
use crate::backend::files::{Files, FilesOptions, WriteMode};
use crate::wasm::handles;

/// A new one.
#[wasm_bindgen]
pub fn context_hub_new(client: JsValue, repo: String, overwrite: bool) -> u32 {
    let options = FilesOptions {
        write_mode: if overwrite {
            WriteMode::Overwrite
        } else {
            WriteMode::Create
        },
        ..FilesOptions::default()
    };
    let storage = ContextHub::new(HostHub { client, repo });
    handles::hold(Rc::new(Files::new(storage, options)))
}
