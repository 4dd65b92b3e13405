//! `CompositeBackend`.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Result;
use crate::layer::composite::Composite;
use crate::wasm::args::Args;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::{buffers, handles};

struct Functions {
    new: fn(usize),
}

chunk!("router", Functions = Functions { new });

/// Creates a composite from handles; replies with its handle.
#[wasm_bindgen]
pub fn composite_new(len: usize) {
    (chunk().new)(len);
}

fn new(len: usize) {
    let answer = buffers::with_scratch(len, |message| made(&mut Args::new(message)));
    answered(answer, |reply, handle| reply.u32(handle)).send();
}

fn made(args: &mut Args<'_>) -> Result<u32> {
    let default = handles::backend(args.u32()?)?;
    let count = args.u32()?;
    let mut mounts = Vec::new();
    for _ in 0..count {
        let backend = handles::backend(args.u32()?)?;
        mounts.push((args.path()?, backend));
    }
    Ok(handles::hold(Rc::new(Composite::new(default, mounts)?)))
}
