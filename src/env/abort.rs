//! A host's work that is given up when nobody waits for it any longer. Dropping the future of a
//! call cancels the call; a guard that the future holds carries that on to the host.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The host's `AbortController`.
    pub type AbortController;

    #[wasm_bindgen(constructor)]
    fn new() -> AbortController;

    #[wasm_bindgen(method, getter)]
    fn signal(this: &AbortController) -> JsValue;

    #[wasm_bindgen(method)]
    fn abort(this: &AbortController);
}

/// Aborts its controller when it is dropped before [`finished`](AbortOnDrop::finished).
pub struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    /// A guard with a controller of its own, and the signal of that.
    pub fn new() -> (AbortOnDrop, JsValue) {
        let controller = AbortController::new();
        let signal = controller.signal();
        (AbortOnDrop(Some(controller)), signal)
    }

    /// A guard for a controller that the host made.
    pub fn of(controller: AbortController) -> AbortOnDrop {
        AbortOnDrop(Some(controller))
    }

    /// The work is done, and nothing is left to abort.
    pub fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}
