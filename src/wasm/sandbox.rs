//! `SandboxBackend`: a machine that is accessed by running commands.

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::files::Files;
use crate::layer::with_shell::{HostShell, WithShell};
use crate::storage::sandbox::Sandbox;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::machine::HostMachine;
use crate::wasm::options::files_options;

struct Functions {
    new: fn(Machine, &str, f64, bool, &str, Function) -> u32,
}

/// The callbacks that run kitbag's own commands and transfer files.
struct Machine {
    execute: Function,
    upload: Option<Function>,
    download: Option<Function>,
}

chunk!("sandbox", Functions = Functions { new });

/// Creates a backend over the files of a sandbox. `execute` runs the caller's commands,
/// `own_execute` those of kitbag.
#[wasm_bindgen]
#[expect(
    clippy::too_many_arguments,
    reason = "each is a value that crosses the boundary by itself"
)]
pub fn sandbox_new(
    own_execute: Function,
    upload: Option<Function>,
    download: Option<Function>,
    root: &str,
    max_file_bytes: f64,
    overwrite: bool,
    id: &str,
    execute: Function,
) -> u32 {
    let machine = Machine {
        execute: own_execute,
        upload,
        download,
    };
    (chunk().new)(machine, root, max_file_bytes, overwrite, id, execute)
}

fn new(
    machine: Machine,
    root: &str,
    max_file_bytes: f64,
    overwrite: bool,
    id: &str,
    execute: Function,
) -> u32 {
    let own = HostShell::new("", machine.execute);
    let machine = HostMachine::new(own, machine.upload, machine.download);
    // A float-to-integer cast saturates.
    let storage = Sandbox::new(machine, root, max_file_bytes as u64);
    let files = Files::new(storage, files_options(overwrite, false, -1.0));
    let shell = HostShell::new(id, execute);
    handles::hold(Rc::new(WithShell::new(files, shell)))
}
