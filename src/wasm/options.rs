//! What crosses from JavaScript beside a message: values of the host, in one array.

use js_sys::{Array, Function};
use wasm_bindgen::{JsCast, JsValue};

use crate::boundary::Host;
use crate::core::error::Result;
use crate::wasm::call::answered;

/// The values of the host, in the order of the fields of the message.
pub struct Hosts(Array);

impl Hosts {
    /// Those that JavaScript passes with a message.
    pub fn new(all: Array) -> Hosts {
        Hosts(all)
    }

    /// One of them.
    pub fn value(&self, host: Host) -> JsValue {
        self.0.get(host.0)
    }

    /// One that is a function; JavaScript has checked that.
    pub fn function(&self, host: Host) -> Function {
        self.value(host).unchecked_into()
    }

    /// The same, if there is one.
    pub fn maybe(&self, host: Option<Host>) -> Option<Function> {
        host.map(|host| self.function(host))
    }
}

/// Replies with the handle of what was made, or with why it was not.
pub fn made(handle: Result<u32>) {
    answered(handle, |reply, handle| reply.u32(handle)).send();
}
