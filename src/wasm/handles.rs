//! Numeric handles for backends. A backend lives as long as there is a reference to it: from its
//! handle, or from a composite, policy or tool set that uses it.

use std::any::Any;
use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Kind, Result};
use crate::core::sorted::Sorted;
use crate::protocol::SharedBackend;
use crate::wasm::audits;

thread_local! {
    static HANDLES: RefCell<Handles> = RefCell::new(Handles::default());
}

#[derive(Default)]
struct Handles {
    last: u32,
    held: Sorted<u32, Held>,
}

struct Held {
    backend: SharedBackend,
    /// Absent if no class has additional methods for it.
    itself: Option<Rc<dyn Any>>,
    /// Whether its calls refuse symbolic links.
    no_links: bool,
}

/// Stores a backend and returns its handle.
pub fn hold<B: crate::protocol::Backend + 'static>(backend: Rc<B>) -> u32 {
    put(Held {
        backend: backend.clone(),
        itself: Some(backend),
        no_links: false,
    })
}

/// Stores a backend that has only the methods of the protocol.
pub fn hold_shared(backend: SharedBackend) -> u32 {
    put(Held {
        backend,
        itself: None,
        no_links: false,
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

/// Whether calls of a handle refuse symbolic links.
pub fn refuses_links(id: u32) -> bool {
    HANDLES.with_borrow(|handles| handles.held.get(&id).is_some_and(|held| held.no_links))
}

/// From now on, calls of a handle refuse symbolic links. For an object whose methods are called by
/// rules about paths: what such a method calls is a call of its own.
#[wasm_bindgen]
pub fn handle_refuse_links(id: u32) {
    HANDLES.with_borrow_mut(|handles| {
        if let Some(held) = handles.held.get_mut(&id) {
            held.no_links = true;
        }
    });
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
    audits::forget(id);
    let gone = HANDLES.with_borrow_mut(|handles| handles.held.remove(&id));
    // Dropped outside the borrow, because it may own other handles.
    drop(gone);
}
