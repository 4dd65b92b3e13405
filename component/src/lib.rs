//! kitbag as a WebAssembly component. `wit/kitbag.wit` is what a host sees; here it is translated to the
//! crate and back, and nothing is decided.
//!
//! - [`backends`]: the resource `backend` and how one is made; [`calls`]: its operations.
//! - [`tools`]: the resource `tool-set`; [`arguments`]: the JSON of a model.
//! - [`turns`]: the resource `turn`, and `undo`; [`history`]: the resource `history`, with pins;
//!   [`provenance`]: the resource `conversation`.
//! - [`volume`], [`shell`], [`callbacks`]: what the host lends, and is asked.
//! - [`given`], [`answers`]: values on their way in and out.
//! - [`run`]: runs a call to its end.

mod answers;
mod arguments;
mod backends;
mod callbacks;
mod calls;
mod given;
mod history;
mod provenance;
mod run;
mod shell;
mod tools;
mod turns;
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

impl bindings::exports::kitbag::files::turns::Guest for Component {
    type Turn = turns::HeldTurn;

    fn undo(
        base: bindings::exports::kitbag::files::backends::BackendBorrow<'_>,
        receipt: bindings::exports::kitbag::files::turns::Receipt,
        by: String,
    ) -> Result<
        bindings::exports::kitbag::files::turns::Outcome,
        bindings::kitbag::files::types::Error,
    > {
        turns::take_back(base, receipt, by)
    }
}

impl bindings::exports::kitbag::files::history::Guest for Component {
    type History = history::HeldHistory;
}

impl bindings::exports::kitbag::files::provenance::Guest for Component {
    type Conversation = provenance::HeldConversation;
}

bindings::export!(Component with_types_in bindings);
