//! Numeric handles for backends. A backend lives as long as there is a reference to it: from its
//! handle, or from a composite, policy or tool set that uses it.

use std::any::Any;
use std::collections::HashMap;
use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
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
    /// Absent if no class has additional methods for it.
    itself: Option<Rc<dyn Any>>,
}

/// Stores a backend and returns its handle.
pub fn hold<B: crate::protocol::Backend + 'static>(backend: Rc<B>) -> u32 {
    put(Held {
        backend: backend.clone(),
        itself: Some(backend),
    })
}

/// Stores a backend that has only the methods of the protocol.
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

/// The backend of a handle.
pub fn backend(id: u32) -> Result<SharedBackend> {
    HANDLES
        .with_borrow(|handles| handles.held.get(&id).map(|held| held.backend.clone()))
        .ok_or_else(closed)
}

/// The backend of a handle as a concrete type, for classes with additional methods.
pub fn itself<B: 'static>(id: u32) -> Result<Rc<B>> {
    HANDLES
        .with_borrow(|handles| handles.held.get(&id).map(|held| held.itself.clone()))
        .flatten()
        .and_then(|any| any.downcast::<B>().ok())
        .ok_or_else(closed)
}

/// How many backends are held.
#[cfg(feature = "testing")]
pub fn count() -> u32 {
    HANDLES.with_borrow(|handles| u32::try_from(handles.held.len()).unwrap_or(u32::MAX))
}

fn closed() -> Error {
    Error::new(Kind::Unavailable, "This backend was closed")
}

/// Releases a handle.
#[wasm_bindgen]
pub fn handle_drop(id: u32) {
    crate::wasm::policy::forget(id);
    let gone = HANDLES.with_borrow_mut(|handles| handles.held.remove(&id));
    // Dropped outside the borrow, because it may own other handles.
    drop(gone);
}
