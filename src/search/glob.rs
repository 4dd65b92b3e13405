//! stub
use crate::{error::Result, path::VPath, protocol::GlobQuery, storage::Scope};
pub struct Pattern(Scope);
impl Pattern {
    pub fn parse(q: &GlobQuery) -> Result<Self> {
        Ok(Self(Scope::all(&q.path)))
    }
    pub fn scope(&self) -> &Scope {
        &self.0
    }
    pub fn accepts(&self, _: &VPath) -> bool {
        true
    }
}
pub struct NameFilter;
impl NameFilter {
    pub fn parse(_: &str, _: &VPath) -> Result<Self> {
        Ok(Self)
    }
    pub fn accepts(&self, _: &VPath) -> bool {
        true
    }
}
