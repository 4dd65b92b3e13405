//! Tool sets: each has a number, and each tool call names the backend to use. Results are blocks
//! for the model; media are encoded as base64, the format that models accept.

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::boundary::read;
use crate::boundary::tools::{DescribeGiven, OffloadGiven, ToolCallGiven, ToolsGiven};
use crate::core::cell::{LocalCell, RefCell};
use crate::core::error::{Error, Result};
use crate::core::sorted::Sorted;
use crate::protocol::FilesUpdate;
use crate::tool::schema::Tool;
use crate::tool::{Answer, Block, ToolSet};
use crate::wasm::call::{answered, put_update};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::reply::Reply;
use crate::wasm::task::{self, Begun};

struct Functions {
    new: fn(usize),
    drop: fn(u32),
    describe: fn(u32, usize),
    call: fn(u32, u32, usize) -> Begun,
    offload: fn(u32, u32, usize) -> Begun,
}

chunk!(
    "tools",
    Functions = Functions {
        new,
        drop: drop_set,
        describe,
        call,
        offload,
    }
);

thread_local! {
    static SETS: RefCell<Sets> = RefCell::new(Sets::default());
}

#[derive(Default)]
struct Sets {
    last: u32,
    held: Sorted<u32, Rc<ToolSet>>,
}

fn tool_set(id: u32) -> Result<Rc<ToolSet>> {
    SETS.with_borrow(|sets| sets.held.get(&id).cloned())
        .ok_or_else(|| Error::internal("There is no such tool set"))
}

/// Creates a tool set; replies with its number, or with the error for its options.
#[wasm_bindgen]
pub fn tools_new(len: usize) {
    (chunk().new)(len);
}

fn new(len: usize) {
    let made = read(len).map(|given: ToolsGiven| {
        let set = Rc::new(ToolSet::new(given.options()));
        SETS.with_borrow_mut(|sets| {
            sets.last = sets.last.wrapping_add(1).max(1);
            let id = sets.last;
            sets.held.insert(id, set);
            id
        })
    });
    answered(made, |reply, id| reply.u32(id)).send();
}

/// Releases a tool set.
#[wasm_bindgen]
pub fn tools_drop(id: u32) {
    (chunk().drop)(id);
}

fn drop_set(id: u32) {
    let gone = SETS.with_borrow_mut(|sets| sets.held.remove(&id));
    drop(gone);
}

/// The system prompt and the tool definitions, with or without command execution.
#[wasm_bindgen]
pub fn tools_describe(id: u32, len: usize) {
    (chunk().describe)(id, len);
}

fn describe(id: u32, len: usize) {
    let set = read(len).and_then(|given: DescribeGiven| Ok((tool_set(id)?, given.shell)));
    answered(set, |reply, (set, shell)| {
        reply.str(&set.system_prompt(shell));
        let definitions = set.definitions(shell);
        reply.len(definitions.len());
        for definition in definitions {
            reply.str(definition.name);
            reply.str(&definition.description);
            reply.str(&definition.schema);
        }
    })
    .send();
}

/// Whether a backend supports commands.
#[wasm_bindgen]
pub fn tools_shell(backend: u32) -> bool {
    handles::backend(backend).is_ok_and(|backend| backend.shell().is_some())
}

/// Calls a tool over a backend; 0 if it has completed already, else its task.
#[wasm_bindgen]
pub fn tools_call(id: u32, backend: u32, len: usize) -> Begun {
    (chunk().call)(id, backend, len)
}

fn call(id: u32, backend: u32, len: usize) -> Begun {
    let asked = read(len).and_then(|given: ToolCallGiven| {
        let ToolCallGiven { input, name, call } = given;
        let backend = handles::backend(backend)?;
        Ok((tool_set(id)?, backend, input.input(), name, call))
    });
    let called = asked
        .as_ref()
        .ok()
        .and_then(|(_, _, _, name, _)| Tool::named(name))
        .map(Tool::name);
    task::start_as(called, -1.0, async move {
        let answer = match asked {
            Ok((set, backend, input, name, call)) => {
                Ok(set.call(&*backend, &name, input, &call).await)
            }
            Err(error) => Err(error),
        };
        answered(answer, put_answer)
    })
}

fn put_answer(reply: &mut Reply, answer: Answer) {
    reply.bool(answer.is_error);
    reply.len(answer.blocks.len());
    for block in answer.blocks {
        match block {
            Block::Text(text) => {
                reply.str("text");
                reply.body(Bytes::from(text));
            }
            Block::Media { kind, mime, body } => {
                reply.str(kind);
                reply.str(&mime);
                reply.body(Bytes::from(STANDARD.encode(&body)));
            }
        }
    }
    put_changes(reply, answer.update);
}

fn put_changes(reply: &mut Reply, update: FilesUpdate) {
    put_update(reply, (!update.is_empty()).then_some(update));
}

/// Moves a text that is too large into a file; 0 if it has completed already, else its task.
#[wasm_bindgen]
pub fn tools_offload(id: u32, backend: u32, len: usize) -> Begun {
    (chunk().offload)(id, backend, len)
}

fn offload(id: u32, backend: u32, len: usize) -> Begun {
    let asked = read(len)
        .and_then(|given: OffloadGiven| Ok((tool_set(id)?, handles::backend(backend)?, given)));
    task::start(async move {
        let moved = match asked {
            Ok((set, backend, given)) => {
                let OffloadGiven {
                    text,
                    what,
                    call,
                    tool,
                } = given;
                Ok(set.offload(&*backend, &text, &call, &tool, what).await)
            }
            Err(error) => Err(error),
        };
        answered(moved, |reply, moved| {
            reply.bool(moved.is_some());
            if let Some(moved) = moved {
                reply.body(Bytes::from(moved.text));
                put_changes(reply, moved.update);
            }
        })
    })
}
