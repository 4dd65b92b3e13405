//! Transactions and requests as futures. A transaction stays alive while one of its requests is
//! pending or its callback runs. Tasks are polled in the microtask after the callback, which still
//! counts as part of it. So between two requests of a transaction, nothing may be awaited except
//! its own requests. Dropping an uncommitted transaction aborts it, so a cancelled call leaves no
//! partial change.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbKeyRange, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::core::error::{Error, Result};
use crate::core::slot::Slot;
use crate::env::dom;
use crate::env::host;

/// The suggestion in errors if IndexedDB is not available.
pub(super) const INSTEAD: &str = "Use StateBackend with snapshot(), or an S3Backend, where the browser gives no IndexedDB (private windows, blocked site data, some workers)";

/// The prefix of error messages from here.
const WHAT: &str = "IndexedDB failed";

pub(super) fn failed(exception: JsValue) -> Error {
    dom::failure(WHAT, INSTEAD, exception)
}

/// A transaction.
pub struct Transaction {
    inner: IdbTransaction,
    ended: Slot<bool>,
    committing: Cell<bool>,
    _complete: Closure<dyn FnMut()>,
    _abort: Closure<dyn FnMut()>,
}

impl Transaction {
    /// Wraps a transaction that was just begun.
    pub fn new(inner: IdbTransaction) -> Transaction {
        let ended = Slot::default();
        let listener = |whole: bool| {
            let ended = ended.clone();
            Closure::<dyn FnMut()>::new(move || ended.fill(whole))
        };
        let (complete, abort) = (listener(true), listener(false));
        inner.set_oncomplete(Some(complete.as_ref().unchecked_ref()));
        inner.set_onabort(Some(abort.as_ref().unchecked_ref()));
        Transaction {
            inner,
            ended,
            committing: Cell::new(false),
            _complete: complete,
            _abort: abort,
        }
    }

    /// One of its object stores.
    pub fn store(&self, name: &str) -> Result<Store> {
        self.inner.object_store(name).map(Store).map_err(failed)
    }

    /// Waits until all changes are committed.
    pub async fn commit(self) -> Result<()> {
        self.committing.set(true);
        // The transaction commits by itself when it has no more requests. An explicit `commit()`
        // would be slightly faster, but in Firefox a request that fails after it does not undo the
        // others.
        if self.ended.wait().await {
            return Ok(());
        }
        Err(failed(self.inner.error().map_or_else(
            || JsValue::from_str("the transaction was aborted"),
            JsValue::from,
        )))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.inner.set_oncomplete(None);
        self.inner.set_onabort(None);
        if !self.committing.get() {
            // It throws if the transaction has already ended, which is fine.
            let _ = self.inner.abort();
        }
    }
}

/// An object store inside a transaction.
pub struct Store(IdbObjectStore);

impl Store {
    /// The value of a key; `undefined` if there is none.
    pub fn get(&self, key: &JsValue) -> Result<Ask> {
        self.0.get(key).map(Ask::new).map_err(failed)
    }

    /// The values of a range of keys, at most `limit`.
    pub fn get_all(&self, range: &IdbKeyRange, limit: u32) -> Result<Ask> {
        self.0
            .get_all_with_key_and_limit(range, limit)
            .map(Ask::new)
            .map_err(failed)
    }

    /// The keys of a range, at most `limit`.
    pub fn get_all_keys(&self, range: &IdbKeyRange, limit: u32) -> Result<Ask> {
        self.0
            .get_all_keys_with_key_and_limit(range, limit)
            .map(Ask::new)
            .map_err(failed)
    }

    /// Stores a value. Failures are reported when the transaction ends.
    pub fn put(&self, key: &JsValue, value: &JsValue) -> Result<()> {
        self.0.put_with_key(value, key).map(drop).map_err(failed)
    }

    /// Removes the value of a key, or the values of a range of keys.
    pub fn delete(&self, key: &JsValue) -> Result<()> {
        self.0.delete(key).map(drop).map_err(failed)
    }
}

/// A pending request.
pub struct Ask {
    request: IdbRequest,
    settled: Pin<Box<dyn Future<Output = ()>>>,
    _listener: Closure<dyn FnMut()>,
}

impl Ask {
    fn new(request: IdbRequest) -> Ask {
        let slot = Slot::default();
        let filled = slot.clone();
        let listener = Closure::<dyn FnMut()>::new(move || filled.fill(()));
        let function = listener.as_ref().unchecked_ref();
        request.set_onsuccess(Some(function));
        request.set_onerror(Some(function));
        Ask {
            request,
            settled: Box::pin(slot.wait()),
            _listener: listener,
        }
    }
}

impl Future for Ask {
    type Output = Result<JsValue>;

    fn poll(mut self: Pin<&mut Ask>, context: &mut Context<'_>) -> Poll<Result<JsValue>> {
        if self.settled.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(match self.request.error() {
            Ok(Some(error)) => Err(failed(error.into())),
            Ok(None) => self.request.result().map_err(failed),
            Err(error) => Err(failed(error)),
        })
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        self.request.set_onsuccess(None);
        self.request.set_onerror(None);
    }
}

/// The bytes of a stored body.
pub fn body_of(value: &JsValue) -> Result<bytes::Bytes> {
    host::bytes_of(value)
        .ok_or_else(|| Error::internal("The database holds a body that is no bytes"))
}
