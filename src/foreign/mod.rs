//! A JavaScript object seen as a [`Backend`]: anything with the methods of the protocol's second
//! version. It may answer at once or with a promise, and it may throw; each of its answers is
//! looked at before it is believed. Objects of the first version are adapted in TypeScript before
//! they come here, which also decides whether an object's own method gets the options (`adapt.ts`).
//! How its answers are read stands in `answers`.

mod answers;
mod operations;

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use self::answers as read;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::links;
use crate::core::names;
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::env::abort::AbortOnDrop;
use crate::env::host;
use crate::env::pass;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Directories, FileSet, Listings, Names, Origins, Page,
    Reach, ReadResult, Request, answer, whole,
};

/// What no object of this library reads without a pass.
const OWN: &str = "/.kitbag";

/// A backend implemented in JavaScript.
pub struct Foreign {
    object: JsValue,
    /// Its `id`, if it can run commands.
    id: Option<Rc<str>>,
    /// Whether it accepts kitbag's additional options, as a subclass of a kitbag backend does.
    knows_options: bool,
    /// Whether its methods call a backend of this library, which refuses paths of the library's own files
    /// without a pass; `None` until it is asked for such a file.
    wants_pass: Cell<Option<bool>>,
    appends: Queue,
}

fn text(text: &str) -> JsValue {
    JsValue::from_str(text)
}

fn number(value: usize) -> JsValue {
    // Integers that a double cannot hold exactly are larger than any file.
    JsValue::from_f64(value as f64)
}

fn lossy(bytes: &[u8]) -> JsValue {
    text(&String::from_utf8_lossy(bytes))
}

impl Foreign {
    /// An object with the methods of the protocol.
    pub fn new(object: JsValue) -> Foreign {
        let id = host::method(&object, "execute")
            .and_then(|_| host::text_property(&object, "id"))
            .filter(|id| !id.is_empty())
            .map(Rc::from);
        let knows_options = host::property(&object, "capability").is_some();
        // A subclass, or an object with replaced methods.
        let is_ours = host::method(&object, "refuseLinks").is_some();
        Foreign {
            object,
            id,
            knows_options,
            wants_pass: Cell::new(is_ours.then_some(true)),
            appends: Queue::default(),
        }
    }

    /// A path as an argument.
    async fn path(&self, path: &VPath) -> JsValue {
        // A name that nobody sees whole comes here only if that is allowed.
        match (path.is_own() || path.is_deceptive()) && self.wants_pass().await {
            true => text(&pass::with_pass(path)),
            false => text(path.as_str()),
        }
    }

    /// Whether the object leads to one of this library, which refuses its own files without a pass.
    async fn wants_pass(&self) -> bool {
        if let Some(known) = self.wants_pass.get() {
            return known;
        }
        let arguments = [text(OWN), number(0), number(1)];
        let Ok(answer) = self.invoke("read", &arguments, &[]).await else {
            return false;
        };
        let refusal = read::refusal(&answer, None);
        let wants = refusal.is_some_and(|error| error.to_string().contains(names::CLOSED));
        self.wants_pass.set(Some(wants));
        wants
    }

    /// Calls a method with these arguments and, behind them, these options. The `signal` among
    /// the options aborts when the call is given up before its answer is there.
    async fn invoke(
        &self,
        name: &str,
        arguments: &[JsValue],
        options: &[(&str, JsValue)],
    ) -> Result<JsValue> {
        // A subclass of a kitbag backend calls that backend in calls of its own.
        if links::refused()
            && let Some(refuse) = host::method(&self.object, "refuseLinks")
        {
            let _ = refuse.call0(&self.object);
        }
        let (abort, signal) = AbortOnDrop::new();
        let options = host::object(&[options, &[("signal", signal)]].concat());
        let arguments = [arguments, &[options]].concat();
        let answer = host::call_method(&self.object, name, &arguments).await;
        abort.finished();
        answer
    }

    /// Calls a method, and turns an `error` in the answer into one of ours.
    async fn result(&self, name: &str, path: &VPath, arguments: &[JsValue]) -> Result<JsValue> {
        self.result_with(name, path, arguments, &[]).await
    }

    async fn result_with(
        &self,
        name: &str,
        path: &VPath,
        arguments: &[JsValue],
        options: &[(&str, JsValue)],
    ) -> Result<JsValue> {
        let answer = self.invoke(name, arguments, options).await?;
        match read::refusal(&answer, Some(path)) {
            Some(error) => Err(error),
            None if answer.is_object() => Ok(answer),
            None => Err(Error::new(
                Kind::Unavailable,
                format!("{name}() of a foreign backend answered with something that is no result"),
            )),
        }
    }

    async fn page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let arguments = [
            self.path(path).await,
            number(page.offset),
            number(page.limit),
        ];
        read::page(path, &self.result("read", path, &arguments).await?)
    }
}

impl Backend for Foreign {
    fn capability(&self) -> Capability {
        let unknown = Capability {
            create: Reach::Instance,
            update: Reach::Instance,
            directories: Directories::Implied,
            listings: Listings::Ruled,
            names: Names::default(),
            keeps_created: false,
            keeps_mime: false,
            keeps_modes: false,
            keeps_format: false,
            keeps_binary: host::method(&self.object, "uploadFiles").is_some()
                && host::method(&self.object, "downloadFiles").is_some(),
            writable: true,
            // That of deepagents replaces a file since version 1.13, and refused before.
            overwrites: true,
            lists_versions: false,
            indexed: false,
            leaves_out: false,
            max_file_bytes: None,
            files: FileSet::Same,
            notes: vec![Rc::from(
                "A JavaScript object; what it promises is not known to kitbag.",
            )],
            origins: Origins::default(),
        };
        match host::property(&self.object, "capability") {
            Some(own) => read::capability(&own, unknown),
            None => unknown,
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.listed(path), Answer::Ls),
            Request::Read(path, page) => answer(self.paged(path, page), Answer::Read),
            Request::ReadRaw(path, _) => answer(self.stored(path), Answer::ReadRaw),
            Request::Grep(query) => answer(self.found(query), Answer::Grep),
            Request::Glob(query) => answer(self.globbed(query), Answer::Glob),
            Request::Write(path, content) => answer(self.written(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edited(path, edit), Answer::Edit),
            Request::Delete(path, unchanged) => {
                answer(self.deleted(path, unchanged), Answer::Delete)
            }
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.uploaded(files), Answer::Upload),
            Request::Stream(path, file) => file.whole(self, path),
            Request::Download(paths) => whole(self.downloaded(paths), Answer::Download),
            Request::Execute(command, options) => {
                answer(self.ran(command, options), Answer::Execute)
            }
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.id.clone()
    }

    fn atomic(&self) -> Atomic<'_> {
        match self.knows_options {
            true => Atomic::Conditional,
            false => Atomic::Never,
        }
    }
}
