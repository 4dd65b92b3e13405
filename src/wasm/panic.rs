//! Handling of bugs in this library. A panic aborts, which is a trap in WebAssembly: the JavaScript
//! side catches it, restores the stack pointer, and throws or rejects with an ordinary `Error`. It
//! knows the cause only because the hook here reports the panic message first.

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::{lock, running};
use crate::wasm::heap;

thread_local! {
    static LISTENER: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the function that receives panic messages.
pub fn set_listener(listener: Function) {
    LISTENER.with_borrow_mut(|held| *held = Some(listener));
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        // The listener may be gone or borrowed if the panic happened in this module.
        let listener = LISTENER.try_with(|held| held.try_borrow().and_then(|l| l.clone()));
        if let Ok(Some(listener)) = listener {
            let _ = listener.call1(&JsValue::NULL, &JsValue::from_str(&message));
        }
    }));
}

/// Reports a trap that ended the calls with frames below that stack address. Returns 2 if memory may be
/// corrupted, so that the module must not be used again, 1 if memory was exhausted, else 0.
#[wasm_bindgen]
pub fn trapped(below: usize) -> u8 {
    after_trap(below, false)
}

/// The same of a trap after which no call into this module is in progress any more.
#[wasm_bindgen]
pub fn all_trapped() -> u8 {
    after_trap(usize::MAX, true)
}

fn after_trap(below: usize, all: bool) -> u8 {
    if heap::was_interrupted() {
        return 2;
    }
    let exhausted = heap::is_exhausted();
    running::trapped(below, all);
    lock::wake_all();
    u8::from(exhausted)
}

/// Deliberate panics, to test what a caller sees.
#[cfg(feature = "testing")]
pub mod testing {
    use wasm_bindgen::prelude::wasm_bindgen;

    use crate::boundary::buffers;
    use crate::core::{lock, running};
    use crate::wasm::{call, handles, task};

    /// Panics in a synchronous call.
    #[wasm_bindgen]
    #[expect(clippy::panic, reason = "that is what it is for")]
    pub fn panic_now() {
        panic!("a deliberate panic");
    }

    /// The numbers of backends, buffers and tasks that are held, of permits that running calls
    /// hold, and of calls that wait for one.
    #[wasm_bindgen]
    pub fn held() -> Vec<u32> {
        vec![
            handles::count(),
            buffers::count(),
            task::count(),
            running::held(),
            lock::waiting(),
        ]
    }

    /// Panics in a task, after its first wait.
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
