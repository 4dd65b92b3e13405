//! `StateBackend`: files in memory, with synchronous replies; uses the state of the running graph,
//! if there is one.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::boundary::operations::{StateFile, StatePath};
use crate::boundary::read;
use crate::boundary::state::StateGiven;
use crate::core::error::{Error, Result};
use crate::core::file::{self, Format, Mime};
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, host};
use crate::files::graph_state::{Change, Copy, GraphState, Graphs};
use crate::files::{Files, raw};
use crate::storage::memory::Memory;
use crate::storage::{NewFile, PutMode};
use crate::wasm::call::{answered, put_raw};
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

#[wasm_bindgen]
extern "C" {
    /// The host's implementation of [`Graphs`].
    pub type HostGraphs;

    #[wasm_bindgen(method, catch)]
    fn current(this: &HostGraphs) -> std::result::Result<u32, JsValue>;

    #[wasm_bindgen(method)]
    fn number(this: &HostGraphs) -> u32;

    #[wasm_bindgen(method, catch)]
    fn changed(
        this: &HostGraphs,
        copy: u32,
        deleted: bool,
        paths: Vec<String>,
    ) -> std::result::Result<(), JsValue>;
}

impl Graphs for HostGraphs {
    fn current(&self) -> Result<Option<Copy>> {
        let id = HostGraphs::current(self).map_err(|thrown| {
            host::thrown("The files of the running graph cannot be used", thrown)
        })?;
        match id {
            0 => Ok(None),
            id => Ok(Some(Copy {
                id,
                files: handles::itself(id)?,
            })),
        }
    }

    fn number(&self) -> u32 {
        HostGraphs::number(self)
    }

    fn changed(&self, copy: u32, change: Change, paths: &[VPath]) -> Result<()> {
        let paths = paths.iter().map(|path| path.as_str().to_owned()).collect();
        HostGraphs::changed(self, copy, change == Change::Deleted, paths).map_err(|thrown| {
            host::thrown(
                "The state of the running graph could not be changed",
                thrown,
            )
        })
    }
}

type InGraphs = GraphState<HostGraphs>;

/// Creates the backend; replies with its handle. With `graphs`, it uses the state of the running graph,
/// if there is one.
#[wasm_bindgen]
pub fn state_new(len: usize, hosts: Array) {
    made(new(len, &Hosts::new(hosts)));
}

fn new(len: usize, hosts: &Hosts) -> Result<u32> {
    let given: StateGiven = read(len)?;
    let files = given.files();
    Ok(match given.graphs {
        Some(graphs) => {
            let graphs: HostGraphs = hosts.value(graphs).unchecked_into();
            handles::hold(Rc::new(GraphState::new(files, graphs)))
        }
        None => handles::hold(Rc::new(files)),
    })
}

/// The backend's own files, outside of graphs.
fn memory(handle: u32) -> Result<Rc<Files<Memory>>> {
    handles::itself(handle)
        .or_else(|_| handles::itself::<InGraphs>(handle).map(|state| state.own().clone()))
}

/// Stores one file with the given times (`restore`, initial files, state that the caller owns). Only a
/// state may bring the library's own files, which layers have written to it.
#[wasm_bindgen]
pub fn state_set(handle: u32, len: usize) {
    let answer = read(len).and_then(|file| set(handle, file));
    answered(answer, |reply, path| reply.str(&path)).send();
}

fn set(handle: u32, given: StateFile) -> Result<String> {
    let path = match given.of_state {
        true => VPath::any(&given.path)?.of_file(&given.path)?,
        false => VPath::parse_file(&given.path)?,
    };
    let mime = given.mime_type.as_deref().map(Mime::given);
    let body = match given.stored {
        true => file::decode_stored(&path, mime.as_ref(), given.content),
        false => given.content,
    };
    let (mime, texture) = file::classify(&path, &body, mime.as_ref());
    let now = clock::now();
    let time = |text: Option<Rc<str>>| text.as_deref().and_then(Time::parse);
    let modified = time(given.modified).unwrap_or(now);
    let file = NewFile {
        body,
        created: time(given.created).unwrap_or(modified),
        modified,
        mime,
        format: match given.v1 && texture.is_text() {
            true => Format::V1,
            false => Format::V2,
        },
        texture,
        mode: None,
    };
    memory(handle)?
        .storage()
        .set(&path, file, PutMode::Overwrite)?;
    Ok(path.as_str().to_owned())
}

/// Removes one file of a state, if it exists.
#[wasm_bindgen]
pub fn state_remove(handle: u32, len: usize) {
    let answer = read(len).and_then(|given: StatePath| {
        let path = VPath::any(&given.path)?;
        let files = memory(handle)?;
        files.storage().whole()?;
        files.storage().remove(&path);
        Ok(())
    });
    answered(answer, |_, ()| {}).send();
}

/// One file of a state as it is stored.
#[wasm_bindgen]
pub fn state_raw(handle: u32, len: usize) {
    let answer = read(len).and_then(|given: StatePath| {
        let path = VPath::any(&given.path)?;
        let file = memory(handle)?.storage().get_now(&path);
        let file = file.ok_or_else(|| Error::not_found(&path))?;
        Ok(raw(&path, file))
    });
    answered(answer, put_raw).send();
}

/// Removes every file but the library's own.
#[wasm_bindgen]
pub fn state_clear(handle: u32) {
    let answer = memory(handle).and_then(|files| {
        files.storage().whole()?;
        files.storage().clear();
        Ok(())
    });
    answered(answer, |_, ()| {}).send();
}

/// Every file as it is stored, but the library's own.
#[wasm_bindgen]
pub fn state_snapshot(handle: u32) {
    let answer = memory(handle).and_then(|files| {
        files.storage().whole()?;
        let mut all = files.storage().all();
        all.retain(|(path, _)| !path.is_own());
        Ok(all)
    });
    answered(answer, |reply, files| {
        reply.len(files.len());
        for (path, file) in files {
            reply.str(path.as_str());
            put_raw(reply, raw(&path, file));
        }
    })
    .send();
}
