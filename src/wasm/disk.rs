//! `FilesystemBackend` and `LocalShellBackend`: a folder of the host, with or without a shell.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::disk::DiskGiven;
use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::core::error::Result;
use crate::core::file;
use crate::core::path::VPath;
use crate::files::Files;
use crate::layer::with_shell::{HostShell, WithShell};
use crate::storage::disk::HostDisk;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
}

chunk!("disk", Functions = Functions { new });

/// Creates a backend over a folder of the host's disk; replies with its handle.
#[wasm_bindgen]
pub fn disk_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: DiskGiven = read(len)?;
    let storage = HostDisk::new(hosts.value(given.disk), given.promises.capability(true));
    let files = Files::new(storage, files_options(given.write_mode));
    Ok(match (given.id, given.execute) {
        (Some(id), Some(execute)) => {
            let shell = HostShell::new(&id, hosts.function(execute));
            handles::hold(Rc::new(WithShell::new(files, shell)))
        }
        _ => handles::hold(Rc::new(files)),
    })
}

/// Whether a file's name alone shows that it is not text.
#[wasm_bindgen]
pub fn is_binary_name(name: &str) -> bool {
    VPath::parse(name).is_ok_and(|path| file::is_binary_name(&path))
}
