//! What happens when this library is wrong. A panic aborts, which in WebAssembly is a trap: the
//! JavaScript side catches it, puts the stack pointer back, and throws or rejects an ordinary
//! `Error`. It can only name the cause because the hook here tells it first.

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cell::{LocalCell, RefCell};
use crate::wasm::heap;
use crate::{lock, running};

thread_local! {
    static LISTENER: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Says who is told of a panic.
pub fn set_listener(listener: Function) {
    LISTENER.with_borrow_mut(|held| *held = Some(listener));
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // The listener may be gone or borrowed if the panic happened here of all places.
        let listener = LISTENER.try_with(|held| held.try_borrow().and_then(|l| l.clone()));
        if let Ok(Some(listener)) = listener {
            let _ = listener.call1(&JsValue::NULL, &JsValue::from_str(&message));
        }
    }));
}

/// A trap has ended the calls whose frames are below that address of the stack. Where `all` is
/// true no call into this module is under way any more. Answers 2 where the memory itself may be
/// damaged, so that nothing here can be used again, 1 where there was no memory left, else 0.
#[wasm_bindgen]
pub fn trapped(below: usize, all: bool) -> u8 {
    if heap::was_interrupted() {
        return 2;
    }
    let exhausted = heap::is_exhausted();
    running::trapped(below, all);
    lock::wake_all();
    u8::from(exhausted)
}

/// Panics, so that a test can see what a caller sees.
#[cfg(feature = "testing")]
pub mod testing {
    use wasm_bindgen::prelude::wasm_bindgen;

    use crate::wasm::{
        call, composite, context_hub, custom, disk, foreign, indexed_db, opfs, policy, s3, sandbox,
        sql, store, task, tools,
    };

    /// Panics in a synchronous call.
    #[wasm_bindgen]
    #[expect(clippy::panic, reason = "that is what it is for")]
    pub fn panic_now() {
        panic!("a deliberate panic");
    }

    /// Panics in the code of a chunk, which must be loaded.
    #[wasm_bindgen]
    pub fn panic_in_chunk(name: &str) {
        match name {
            "custom" => custom::panic_in_chunk(),
            "disk" => disk::panic_in_chunk(),
            "foreign" => foreign::panic_in_chunk(),
            "hub" => context_hub::panic_in_chunk(),
            "idb" => indexed_db::panic_in_chunk(),
            "opfs" => opfs::panic_in_chunk(),
            "policy" => policy::panic_in_chunk(),
            "router" => composite::panic_in_chunk(),
            "s3" => s3::panic_in_chunk(),
            "sandbox" => sandbox::panic_in_chunk(),
            "sql" => sql::panic_in_chunk(),
            "store" => store::panic_in_chunk(),
            "tools" => tools::panic_in_chunk(),
            // Not a panic: the test that names it fails.
            _ => {}
        }
    }

    /// Panics in a task, after it has waited once.
    #[wasm_bindgen]
    #[expect(clippy::panic, reason = "that is what it is for")]
    pub fn panic_later() -> task::Begun {
        task::start(async {
            let wait = js_sys::Promise::resolve(&wasm_bindgen::JsValue::NULL);
            let _ = wasm_bindgen_futures::JsFuture::from(wait).await;
            panic!("a deliberate panic in a task");
            #[expect(unreachable_code, reason = "gives the block its type")]
            call::answered(Ok(()), |_, ()| {})
        })
    }
}
