//! Numbers that stand for backends. A backend lives as long as anyone holds it: its handle, or a
//! router, policy or tool set that it was given to.

use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::cell::{LocalCell, RefCell};
use crate::error::{Error, Kind, Result};
use crate::protocol::SharedBackend;

thread_local! {
    static HANDLES: RefCell<Handles> = RefCell::new(Handles::default());
}

#[derive(Default)]
struct Handles {
    last: u32,
    held: HashMap<u32, Held>,
}

struct Held {
    backend: SharedBackend,
    /// Absent where no class has methods of its own for it.
    itself: Option<Rc<dyn Any>>,
}

/// Holds a backend and gives its number.
pub fn hold<B: crate::protocol::Backend + 'static>(backend: Rc<B>) -> u32 {
    put(Held {
        backend: backend.clone(),
        itself: Some(backend),
    })
}

/// Holds a backend of which nothing but the protocol is known.
pub fn hold_shared(backend: SharedBackend) -> u32 {
    put(Held {
        backend,
        itself: None,
    })
}

fn put(held: Held) -> u32 {
    HANDLES.with_borrow_mut(|handles| {
        handles.last = handles.last.wrapping_add(1).max(1);
        let id = handles.last;
        handles.held.insert(id, held);
        id
    })
}

/// The backend behind a number.
pub fn backend(id: u32) -> Result<SharedBackend> {
    HANDLES
        .with_borrow(|handles| handles.held.get(&id).map(|held| held.backend.clone()))
        .ok_or_else(closed)
}

/// The backend behind a number, as the very type that a class has methods of its own for.
pub fn itself<B: 'static>(id: u32) -> Result<Rc<B>> {
    HANDLES
        .with_borrow(|handles| handles.held.get(&id).map(|held| held.itself.clone()))
        .flatten()
        .and_then(|any| any.downcast::<B>().ok())
        .ok_or_else(closed)
}

fn closed() -> Error {
    Error::new(Kind::Unavailable, "This backend was closed")
}

/// Lets go of a backend.
#[wasm_bindgen]
pub fn handle_drop(id: u32) {
    crate::wasm::policy::forget(id);
    let gone = HANDLES.with_borrow_mut(|handles| handles.held.remove(&id));
    // Dropped outside the borrow: it may hold others.
    drop(gone);
}
