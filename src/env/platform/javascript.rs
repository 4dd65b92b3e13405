//! A JavaScript engine: pages, Workers, Node, Deno, Bun.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use js_sys::{Function, JsString, Promise};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::of_halves;
use crate::core::cell::{LocalCell, RefCell};
use crate::core::slot::Slot;
use crate::core::time::Time;

/// The current time.
pub fn now() -> Time {
    Time::from_millis(js_sys::Date::now())
}

// The host's timers, by their names: to look them up in the global object takes longer than to set one.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = setTimeout)]
    fn set_timeout(run: &Function, millis: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
}

/// A timer of the host. Dropping it clears the timer, so that a cancelled wait neither keeps the process
/// alive nor leaves anything in memory, as a promise does that is never settled.
struct Timer {
    number: JsValue,
    _run: Closure<dyn FnMut()>,
}

impl Drop for Timer {
    fn drop(&mut self) {
        let _ = clear_timeout(&self.number);
    }
}

/// Of two ways to wait, the one for a host where time passes meanwhile.
pub fn waiting<A, B>(here: impl FnOnce() -> A, _: impl FnOnce() -> B) -> A {
    here()
}

/// Resolves after the given time.
pub fn sleep(wait: Duration) -> LocalBoxFuture<'static, ()> {
    // The host's limit is 2^31 - 1 milliseconds.
    let millis = wait.as_secs_f64().min(2_000_000.0) * 1000.0;
    Box::pin(async move {
        let over = Slot::default();
        let run = {
            let over = over.clone();
            Closure::<dyn FnMut()>::new(move || over.fill(()))
        };
        // A sandbox may refuse timers to code inside it: return at once instead of waiting forever.
        let Ok(number) = set_timeout(run.as_ref().unchecked_ref(), millis) else {
            return;
        };
        let _timer = Timer { number, _run: run };
        over.wait().await;
    })
}

thread_local! {
    static PAUSE: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the host's function that returns a promise of a pause.
pub fn set_pause(pause: Function) {
    PAUSE.with_borrow_mut(|held| *held = Some(pause));
}

/// Resolves after other work of the host that is due.
pub fn pause() -> LocalBoxFuture<'static, ()> {
    Box::pin(async {
        let pause = PAUSE.with_borrow(Option::<Function>::clone);
        let pausing = pause.and_then(|pause| pause.call0(&JsValue::NULL).ok());
        if let Some(pausing) = pausing {
            let _ = JsFuture::from(Promise::from(pausing)).await;
        }
    })
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn fill(bytes: &mut [u8]) -> Result<JsValue, JsValue>;
}

/// 64 random bits.
pub fn bits() -> u64 {
    let mut bytes = [0; 8];
    match fill(&mut bytes) {
        Ok(_) => u64::from_le_bytes(bytes),
        // A host without such a generator.
        Err(_) => of_halves(unit),
    }
}

/// A number from 0 (inclusive) to 1 (exclusive).
pub fn unit() -> f64 {
    js_sys::Math::random()
}

/// Lower case, by way of upper case. There is only one sigma, because its form at the end of a word
/// depends on its neighbours.
pub fn caseless(text: &str) -> String {
    let text = JsString::from(text)
        .to_lower_case()
        .to_upper_case()
        .to_lower_case();
    String::from(text).replace('ς', "σ")
}

/// Canonical decomposition.
pub fn decomposed(text: &str) -> String {
    JsString::from(text).normalize("NFD").into()
}
