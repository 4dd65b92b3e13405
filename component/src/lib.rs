//! kitbag as a WebAssembly component. `wit/kitbag.wit` is what a host sees; here it is translated to the
//! crate and back, and nothing is decided.
//!
//! - [`backends`]: the resource `backend` and how one is made; [`calls`]: its operations.
//! - [`tools`]: the resource `tool-set`; [`arguments`]: the JSON of a model.
//! - [`volume`], [`shell`]: what the host lends.
//! - [`given`], [`answers`]: values on their way in and out.
//! - [`run`]: runs a call to its end.

mod answers;
mod arguments;
mod backends;
mod calls;
mod given;
mod run;
mod shell;
mod tools;
mod volume;

#[allow(clippy::all, reason = "generated")]
mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "kitbag",
    });
}

/// What the component exports.
struct Component;

impl bindings::exports::kitbag::files::backends::Guest for Component {
    type Backend = backends::Held;
}

impl bindings::exports::kitbag::files::tools::Guest for Component {
    type ToolSet = tools::Tools;
}

bindings::export!(Component with_types_in bindings);
