//! Timers. In native builds, which only run tests, no time passes: a timer completes at once, after
//! all other ready tasks have run.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

#[cfg(target_arch = "wasm32")]
use crate::core::cell::{LocalCell, RefCell};

/// Resolves after the given time.
#[cfg(target_arch = "wasm32")]
pub fn sleep(wait: Duration) -> LocalBoxFuture<'static, ()> {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.sleep(wait);
    }
    use js_sys::{Function, Promise, Reflect};
    use wasm_bindgen::{JsCast, JsValue};

    /// Clears the host's timer, so that a cancelled wait does not keep the process alive.
    struct Timer(JsValue);
    impl Drop for Timer {
        fn drop(&mut self) {
            let global: JsValue = js_sys::global().into();
            if let Ok(clear) = Reflect::get(&global, &JsValue::from_str("clearTimeout"))
                .and_then(|clear| clear.dyn_into::<Function>())
            {
                let _ = clear.call1(&global, &self.0);
            }
        }
    }

    // The host's limit is 2^31 - 1 milliseconds.
    let millis = wait.as_secs_f64().min(2_000_000.0) * 1000.0;
    Box::pin(async move {
        let global: JsValue = js_sys::global().into();
        let Ok(set) = Reflect::get(&global, &JsValue::from_str("setTimeout"))
            .and_then(|set| set.dyn_into::<Function>())
        else {
            return;
        };
        let mut timer = None;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set
                .call2(&global, &resolve, &JsValue::from_f64(millis))
                .ok()
                .map(Timer);
        });
        // A sandbox may refuse timers to code inside it: return at once instead of waiting forever.
        if timer.is_none() {
            return;
        }
        let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
    })
}

/// Lets the host do other work that is due: it draws a frame, fires timers and delivers messages.
/// Shorter than the shortest timer, which takes four milliseconds in a page.
#[cfg(target_arch = "wasm32")]
pub fn pause() -> LocalBoxFuture<'static, ()> {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.sleep(Duration::ZERO);
    }
    Box::pin(async {
        let pause = PAUSE.with_borrow(Option::<js_sys::Function>::clone);
        let pausing = pause.and_then(|pause| pause.call0(&wasm_bindgen::JsValue::NULL).ok());
        if let Some(pausing) = pausing {
            let _ = wasm_bindgen_futures::JsFuture::from(js_sys::Promise::from(pausing)).await;
        }
    })
}

/// As above.
#[cfg(not(target_arch = "wasm32"))]
pub fn pause() -> LocalBoxFuture<'static, ()> {
    sleep(Duration::ZERO)
}

#[cfg(target_arch = "wasm32")]
thread_local! {
    static PAUSE: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

/// Sets the host's function that returns a promise of a pause.
#[cfg(target_arch = "wasm32")]
pub fn set_pause(pause: js_sys::Function) {
    PAUSE.with_borrow_mut(|held| *held = Some(pause));
}

/// Resolves after the given time.
#[cfg(not(target_arch = "wasm32"))]
pub fn sleep(wait: Duration) -> LocalBoxFuture<'static, ()> {
    #[cfg(feature = "simulation")]
    if let Some(host) = super::simulated::host() {
        return host.sleep(wait);
    }
    #[cfg(not(feature = "simulation"))]
    let _ = wait;
    Box::pin(async {
        let mut waited = false;
        std::future::poll_fn(|context| {
            if waited {
                return std::task::Poll::Ready(());
            }
            waited = true;
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    })
}
