//! `ContextHubBackend`: files in a repository of LangSmith's Context Hub.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::files::Files;
use crate::storage::context_hub::ContextHub;
use crate::storage::context_hub::host::HostHub;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(JsValue, String, bool) -> u32,
}

chunk!("hub", Functions = Functions { new });

/// Creates the backend and returns its handle.
#[wasm_bindgen]
pub fn context_hub_new(client: JsValue, repo: String, overwrite: bool) -> u32 {
    (chunk().new)(client, repo, overwrite)
}

fn new(client: JsValue, repo: String, overwrite: bool) -> u32 {
    let options = files_options(overwrite, false, -1.0);
    let storage = ContextHub::new(HostHub { client, repo });
    handles::hold(Rc::new(Files::new(storage, options)))
}
