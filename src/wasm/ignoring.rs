//! `ignoring`: searches that leave out what ignore files name.

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::ignoring::Ignoring;
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::task::{self, Begun};

struct Functions {
    ask: fn(bool, u32, &str, &str) -> Begun,
}

chunk!("ignore", Functions = Functions { ask });

/// Wraps a backend, with names of ignore files and patterns as lines; replies with the handle. Or, if
/// `judges`, starts a call that replies with those of some files, in lines, that a search of the
/// directory `first` does not leave out.
#[wasm_bindgen]
pub fn ignoring_ask(judges: bool, backend: u32, first: &str, lines: &str) -> Begun {
    (chunk().ask)(judges, backend, first, lines)
}

fn ask(judges: bool, backend: u32, first: &str, lines: &str) -> Begun {
    if judges {
        let ignoring = handles::itself::<Ignoring>(backend);
        let (first, lines) = (first.to_owned(), lines.to_owned());
        return task::start(async move {
            answered(shown(ignoring, &first, &lines).await, |reply, files| {
                reply.len(files.len());
                for file in files {
                    reply.str(file.as_str());
                }
            })
        });
    }
    answered(made(backend, first, lines), |reply, handle| {
        reply.u32(handle)
    })
    .send();
    0.0
}

async fn shown(ignoring: Result<Rc<Ignoring>>, root: &str, lines: &str) -> Result<Vec<VPath>> {
    let files = lines.lines().map(|line| Ok(VPath::parse_file(line)?));
    let files = files.collect::<Result<Vec<VPath>>>()?;
    ignoring?.shown(&VPath::parse(root)?, files).await
}

fn made(inner: u32, names: &str, patterns: &str) -> Result<u32> {
    let names = names.lines().map(str::to_owned).collect();
    let ignoring = Ignoring::new(handles::backend(inner)?, names, patterns.to_owned())?;
    Ok(handles::hold(Rc::new(ignoring)))
}
