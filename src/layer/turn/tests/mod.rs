//! Tests of turns: the overlay against one flat tree, and what reads are noted.

mod committing;
mod forged;
mod keeping;
mod overlay;
mod replayed;
mod store;

use std::cell::Cell;

use futures_util::future::LocalBoxFuture;

use super::*;
use crate::core::future::Pending;
use crate::core::testing::{block_on, bytes};
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions};
use crate::protocol::{
    Backend, BackendExt, Capability, Content, Edit, FileInfo, GlobQuery, GrepQuery,
};
use crate::storage::memory::Memory;

fn memory() -> SharedBackend {
    Rc::new(Files::new(Memory::default(), FilesOptions::default()))
}

/// What keeps the files of turns.
fn overlays() -> Overlays {
    Rc::new(|| Rc::new(Files::aside()))
}

fn begin(base: &SharedBackend) -> Turn {
    let options = TurnOptions::default();
    Turn::new(base.clone(), overlays(), "tests".into(), options)
}

/// Any path, also one of the library's own files.
fn path(text: &str) -> VPath {
    VPath::any(text).expect("a path")
}

fn now<T>(future: impl Future<Output = T>) -> T {
    ended(future).expect("it ends")
}

fn put(backend: &dyn Backend, at: &str, text: &str) {
    for answer in now(backend.upload(vec![(path(at), bytes(text))])) {
        answer.expect("uploaded");
    }
}

/// The content of a file, if there is one.
fn body(backend: &dyn Backend, at: &str) -> Option<String> {
    let answers = ended(backend.download(&[path(at)])).expect("it ends");
    let answer = answers.into_iter().next()?;
    answer
        .ok()
        .map(|body| String::from_utf8_lossy(&body).into_owned())
}

fn names(backend: &dyn Backend, dir: &str) -> Vec<String> {
    let infos = now(backend.ls(&path(dir))).expect("listed");
    infos.iter().map(FileInfo::shown_path).collect()
}

fn edit(old: &str, new: &str) -> Edit {
    Edit {
        old: bytes(old),
        new: bytes(new),
        replace_all: false,
        whole: false,
        appends: false,
    }
}
