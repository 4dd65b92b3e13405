//! `SandboxBackend`: a machine that is accessed by running commands.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::disk::SandboxGiven;
use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::core::error::Result;
use crate::files::Files;
use crate::layer::with_shell::{HostShell, WithShell};
use crate::storage::sandbox::Sandbox;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::machine::HostMachine;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("sandbox", Functions = Functions { new });

/// Creates a backend over the files of a sandbox; replies with its handle.
#[wasm_bindgen]
pub fn sandbox_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: SandboxGiven = read(len)?;
    let machine = HostMachine::new(
        HostShell::new("", hosts.function(given.own_execute)),
        hosts.maybe(given.upload_files),
        hosts.maybe(given.download_files),
    );
    let storage = Sandbox::new(machine, &given.root_dir, given.max_file_bytes);
    let files = Files::new(storage, files_options(given.write_mode));
    let shell = HostShell::new(&given.id, hosts.function(given.execute));
    Ok(handles::hold(Rc::new(WithShell::new(files, shell))))
}
