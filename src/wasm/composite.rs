//! `CompositeBackend`.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::composite::Composite;
use crate::wasm::args::Args;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::{buffers, handles};

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
    let answer = buffers::with_scratch(len, |message| made(&mut Args::new(message)));
    answered(answer, |reply, (handle, prefixes)| {
        reply.u32(handle);
        for prefix in prefixes {
            reply.str(&prefix.dir_prefix());
        }
    })
    .send();
}

fn made(args: &mut Args<'_>) -> Result<(u32, Vec<VPath>)> {
    let default = handles::backend(args.u32()?)?;
    let count = args.u32()?;
    let mut mounts = Vec::new();
    for _ in 0..count {
        let backend = handles::backend(args.u32()?)?;
        mounts.push((args.path()?, backend));
    }
    let prefixes = mounts.iter().map(|(prefix, _)| prefix.clone()).collect();
    let composite = Composite::new(default, mounts)?;
    Ok((handles::hold(Rc::new(composite)), prefixes))
}
