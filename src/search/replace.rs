//! stub
use crate::{error::Error, path::VPath};
pub struct Replaced {
    pub body: Vec<u8>,
    pub occurrences: usize,
    pub crlf: bool,
}
pub enum Refusal {
    NotFound,
}
pub fn replace(_: &[u8], _: &[u8], _: &[u8], _: bool) -> Result<Replaced, Refusal> {
    Err(Refusal::NotFound)
}
pub fn sentence(_: &Refusal, p: &VPath, _: &str) -> Error {
    Error::nothing_there(p)
}
