//! The JavaScript boundary: parse, call, convert. No logic lives here.
