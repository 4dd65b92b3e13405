//! Backends over what the host lends: a storage of the caller's own, a disk, a shell.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::backend::custom::Custom;
use crate::backend::custom_values::capability_of;
use crate::backend::files::{Files, FilesOptions, WriteMode};
use crate::backend::host_disk::HostDisk;
use crate::backend::sandbox::Sandbox;
use crate::backend::sandbox::host::HostMachine;
use crate::backend::with_shell::{HostShell, WithShell};
use crate::file::{self, Format};
use crate::path::VPath;
use crate::wasm::handles;

fn options(overwrite: bool, v1: bool, max_file_bytes: f64) -> FilesOptions {
    FilesOptions {
        write_mode: if overwrite {
            WriteMode::Overwrite
        } else {
            WriteMode::Create
        },
        format: if v1 { Format::V1 } else { Format::V2 },
        // A float-to-integer cast saturates.
        max_file_bytes: (max_file_bytes >= 0.0).then_some(max_file_bytes as u64),
    }
}

/// Every operation over a storage written in JavaScript. A limit below zero is none.
#[wasm_bindgen]
pub fn custom_new(
    object: JsValue,
    promises: &JsValue,
    writable: bool,
    overwrite: bool,
    v1: bool,
    max_file_bytes: f64,
) -> u32 {
    let storage = Custom::new(object, capability_of(promises, writable));
    let options = options(overwrite, v1, max_file_bytes);
    handles::hold(Rc::new(Files::new(storage, options)))
}

/// A folder of the host's disk; with an id and a callback, commands beside it.
#[wasm_bindgen]
pub fn disk_new(
    object: JsValue,
    promises: &JsValue,
    overwrite: bool,
    id: Option<String>,
    execute: Option<Function>,
) -> u32 {
    let storage = HostDisk::new(Custom::new(object, capability_of(promises, true)));
    let files = Files::new(storage, options(overwrite, false, -1.0));
    match (id, execute) {
        (Some(id), Some(execute)) => {
            let shell = HostShell::new(&id, execute);
            handles::hold(Rc::new(WithShell::new(files, shell)))
        }
        _ => handles::hold(Rc::new(files)),
    }
}

/// Whether a file's name alone says that it is no text.
#[wasm_bindgen]
pub fn is_binary_name(name: &str) -> bool {
    VPath::parse(name).is_ok_and(|path| file::is_binary_name(&path))
}

/// The machine behind a sandbox: how kitbag's own commands are run, and how files move.
#[wasm_bindgen]
pub struct Lent(HostMachine);

/// A machine that runs commands by `execute`.
#[wasm_bindgen]
pub fn sandbox_machine(
    execute: Function,
    upload: Option<Function>,
    download: Option<Function>,
) -> Lent {
    Lent(HostMachine::new(
        HostShell::new("", execute),
        upload,
        download,
    ))
}

/// Files of a sandbox, and its commands by `execute`.
#[wasm_bindgen]
pub fn sandbox_new(
    machine: Lent,
    root: &str,
    max_file_bytes: f64,
    overwrite: bool,
    id: &str,
    execute: Function,
) -> u32 {
    // A float-to-integer cast saturates.
    let storage = Sandbox::new(machine.0, root, max_file_bytes as u64);
    let files = Files::new(storage, options(overwrite, false, -1.0));
    let shell = HostShell::new(id, execute);
    handles::hold(Rc::new(WithShell::new(files, shell)))
}
