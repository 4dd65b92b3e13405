//! `CompositeBackend`.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::wrappers::{CompositeGiven, MountGiven};
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::env::pass;
use crate::layer::composite::Composite;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;

struct Functions {
    new: fn(usize),
}

chunk!("router", Functions = Functions { new });

/// Creates a composite from handles; replies with its handle and the prefixes in canonical form.
#[wasm_bindgen]
pub fn composite_new(len: usize) {
    (chunk().new)(len);
}

fn new(len: usize) {
    answered(made(len), |reply, (handle, prefixes)| {
        reply.u32(handle);
        for prefix in prefixes {
            reply.str(&prefix.dir_prefix());
        }
    })
    .send();
}

fn made(len: usize) -> Result<(u32, Vec<VPath>)> {
    let given: CompositeGiven = read(len)?;
    let mut mounts = Vec::new();
    for MountGiven { prefix, backend } in given.mounts {
        mounts.push((pass::parse(&prefix)?, handles::backend(backend.0)?));
    }
    let prefixes = mounts.iter().map(|(prefix, _)| prefix.clone()).collect();
    let composite = Composite::new(handles::backend(given.fallback.0)?, mounts)?;
    Ok((handles::hold(Rc::new(composite)), prefixes))
}
