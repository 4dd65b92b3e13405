//! The audit callbacks of policies by handle, for calls that are refused before any rule runs: in
//! TypeScript because of an argument, or here because of a path.

use std::time::Duration;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::cell::{LocalCell, RefCell};
use crate::core::effort::Effort;
use crate::core::sorted::Sorted;
use crate::env::clock;
use crate::layer::policy::{OnAudit, Record};
use crate::protocol::Operation;

thread_local! {
    static AUDITS: RefCell<Sorted<u32, OnAudit>> = RefCell::new(Sorted::new());
}

/// Stores the audit callback of a policy.
pub fn keep(handle: u32, audit: OnAudit) {
    AUDITS.with_borrow_mut(|audits| audits.insert(handle, audit));
}

/// Removes the audit callback of a released policy.
pub fn forget(handle: u32) {
    let gone = AUDITS.with_borrow_mut(|audits| audits.remove(&handle));
    drop(gone);
}

/// Reports a refused call to the audit of its policy, if it has one.
pub fn refused(handle: u32, operation: Operation, code: &'static str) {
    let audit = AUDITS.with_borrow(|audits| audits.get(&handle).cloned());
    if let Some(audit) = audit {
        audit(&Record {
            time: clock::now(),
            operation: operation.name(),
            called: None,
            path: None,
            paths: Vec::new(),
            bytes: 0,
            code,
            rule: None,
            duration: Duration::ZERO,
            effort: Effort::default(),
        });
    }
}

/// Reports a call that TypeScript refused. `code` is one of the error codes.
#[wasm_bindgen]
pub fn call_refused(handle: u32, operation: u8, code: &str) {
    let kind = crate::core::error::Kind::from_code(code);
    if let (Some(operation), Some(kind)) = (Operation::numbered(operation), kind) {
        refused(handle, operation, kind.code());
    }
}
