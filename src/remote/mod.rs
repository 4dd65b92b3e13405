//! The files of a server that runs `serveFiles` of `kitbag/server`, as a backend. It has no files and no
//! storage of its own: a request is sent as it is, and the server's backend decides what it means and
//! whether it is allowed. Before the first call the server is asked once what it guarantees.
//!
//! ```text
//! Request ─► asking ─► client ─► server ─► answers ─► Answer
//!                        └─ no answer ─► unknown: look at the files
//! ```

mod answers;
mod asking;
mod client;
mod json;
mod message;
#[cfg(test)]
mod tests;
mod unknown;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use self::asking::Sending;
use self::client::{Client, Lost};
use self::message::{Message, Writer};
use self::unknown::Found;
use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::lock::Mutex;
use crate::core::parts::{Expected, Parts, expected};
use crate::core::path::VPath;
use crate::core::queue::Queue;
use crate::env::http::Http;
use crate::env::timer;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, DeleteResult, FileInfo, Replacement, Request, Transaction,
    WriteResult, unsupported,
};

/// How often a change is begun again after its condition was found to hold still.
const ROUNDS: u32 = 4;
/// Files of so many bytes are sent as a whole.
const WHOLE: u64 = 1 << 20;

/// The files of a server.
pub struct Remote {
    client: Client,
    capability: RefCell<Capability>,
    is_known: Cell<bool>,
    commits: Cell<Commits>,
    asking: Mutex<()>,
    queue: Queue,
}

/// How the server changes several files together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commits {
    Transaction,
    Journal,
    Never,
}

impl Remote {
    /// The files below this address, which has no `/` at its end.
    pub fn new(http: Rc<dyn Http>, url: String, limit: Duration) -> Remote {
        Remote {
            client: Client::new(http, url, limit),
            capability: RefCell::new(answers::unasked()),
            is_known: Cell::new(false),
            commits: Cell::new(Commits::Never),
            asking: Mutex::default(),
            queue: Queue::default(),
        }
    }

    /// Asks the server what it guarantees, once.
    async fn ready(&self) -> Result<()> {
        if self.is_known.get() {
            return Ok(());
        }
        let _one = self.asking.lock().await;
        if self.is_known.get() {
            return Ok(());
        }
        let message = self
            .message(&Sending::reads(Writer::new("capability")), None)
            .await?;
        let own = message.value.field("capability").ok_or_else(answers::odd)?;
        *self.capability.borrow_mut() = answers::capability(own);
        self.commits.set(match message.value.text_of("commit") {
            Some("transaction") => Commits::Transaction,
            Some("journal") => Commits::Journal,
            _ => Commits::Never,
        });
        self.is_known.set(true);
        Ok(())
    }

    /// The answer to a request that reads.
    async fn message(&self, sending: &Sending<'_>, path: Option<&VPath>) -> Result<Message> {
        let body = self.body(sending, path).await?;
        Message::read(&body).ok_or_else(answers::odd)
    }

    async fn body(&self, sending: &Sending<'_>, path: Option<&VPath>) -> Result<Bytes> {
        match self.client.send(sending).await {
            Ok(response) if (200..300).contains(&response.status) => Ok(response.body),
            Ok(response) => Err(refused(&response.body, path)),
            Err(Lost::Failed(error)) => Err(error),
            Err(Lost::Unknown { .. }) => Err(answers::odd()),
        }
    }

    async fn asked(&self, request: Request<'_>) -> Result<Answer> {
        if let Request::Stream(path, file) = request
            && (file.parts().size() <= WHOLE || replaces(file.parts()))
        {
            return file.whole(self, path).await;
        }
        let Some(sending) = asking::sending(&request) else {
            return Err(unsupported("execute"));
        };
        self.ready().await?;
        if sending.changes {
            return self.changed(&request, &sending).await;
        }
        let paths = request.paths();
        let path = paths.first();
        match &request {
            Request::Ls(path) => self.listed(path).await.map(Answer::Ls),
            Request::Grep(query) => {
                let body = self.body(&sending, path).await?;
                let found = answers::grepped(&body, &query.path);
                found.map(Answer::Grep).ok_or_else(answers::odd)
            }
            Request::Glob(query) => {
                let body = self.body(&sending, path).await?;
                let found = answers::globbed(&body, &query.path);
                found.map(Answer::Glob).ok_or_else(answers::odd)
            }
            Request::Read(path, _) => {
                let message = self.message(&sending, Some(path)).await?;
                answers::page(path, &message).map(Answer::Read)
            }
            Request::ReadRaw(path, _) => {
                let message = self.message(&sending, Some(path)).await?;
                answers::raw(path, &message).map(Answer::ReadRaw)
            }
            Request::Download(paths) => {
                let message = self.message(&sending, path).await?;
                let body = |one: &json::Value| {
                    let content = one.field("content").and_then(|at| message.bytes(at));
                    content.ok_or_else(answers::odd)
                };
                answers::batch(&message, paths, body).map(Answer::Download)
            }
            Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            // A change is not sent as a read.
            | Request::Execute(..) => Err(answers::odd()),
        }
    }

    async fn listed(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let mut infos = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = asking::listing(path, after.as_deref());
            let message = self.message(&page, Some(path)).await?;
            let (more, next) = answers::listed(&message, path)?;
            infos.extend(more);
            // A page that does not go on would never end.
            if next.is_none() || next <= after {
                return Ok(answers::sorted(infos));
            }
            after = next;
        }
    }

    /// Makes a change. Changes of one path by this instance wait for each other, also for those that were
    /// given up and may still arrive.
    async fn changed(&self, request: &Request<'_>, sending: &Sending<'_>) -> Result<Answer> {
        let paths = request.paths();
        let _turns = self.queue.settled_turns(&paths, timer::sleep).await?;
        for _ in 0..ROUNDS {
            let never = match self.client.send(sending).await {
                Ok(response) if (200..300).contains(&response.status) => {
                    if sending.file.is_some() {
                        return Ok(Answer::Upload(vec![Ok(())]));
                    }
                    let message = Message::read(&response.body).ok_or_else(answers::odd)?;
                    return made(request, &message, &paths);
                }
                Ok(response) => return Err(refused(&response.body, paths.last())),
                Err(Lost::Failed(error)) => return Err(error),
                Err(Lost::Unknown { never }) => never,
            };
            match unknown::look(self, request, never).await {
                Found::Made(answer) => return Ok(answer),
                Found::Unknown(error) => return Err(error),
                Found::Open => {}
            }
        }
        Err(unknown::unknown(&paths))
    }
}

/// Whether a file takes the place of a certain version, which the server knows by another name.
fn replaces(parts: &dyn Parts) -> bool {
    matches!(expected(parts), Expected::Version(_))
}

/// The error in an answer.
fn refused(body: &Bytes, path: Option<&VPath>) -> Error {
    Message::read(body)
        .and_then(|message| answers::refusal(&message.value, path))
        .unwrap_or_else(answers::odd)
}

/// The answer of a change that was made.
fn made(request: &Request<'_>, message: &Message, paths: &[VPath]) -> Result<Answer> {
    Ok(match request {
        Request::Write(..) => Answer::Write(WriteResult::default()),
        Request::Edit(..) => Answer::Edit(answers::edited(&message.value)),
        Request::Delete(..) => Answer::Delete(DeleteResult::default()),
        Request::Transfer(_) => Answer::Transfer(WriteResult::default()),
        Request::Upload(_) => Answer::Upload(answers::batch(message, paths, |_| Ok(()))?),
        Request::Ls(_)
        | Request::Read(..)
        | Request::ReadRaw(..)
        | Request::Grep(_)
        | Request::Glob(_)
        | Request::Download(_)
        | Request::Stream(..)
        // A read is not sent as a change.
        | Request::Execute(..) => return Err(answers::odd()),
    })
}

impl Backend for Remote {
    fn capability(&self) -> Capability {
        self.capability.borrow().clone()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        Box::pin(self.asked(request))
    }

    fn atomic(&self) -> Atomic<'_> {
        match self.commits.get() {
            Commits::Transaction | Commits::Journal => Atomic::Transaction(self),
            Commits::Never => Atomic::Never,
        }
    }
}

impl Transaction for Remote {
    fn replace<'a>(&'a self, files: &'a [Replacement]) -> Pending<'a, Vec<VPath>> {
        Box::pin(async move {
            self.ready().await?;
            let paths: Vec<VPath> = files.iter().map(|file| file.path.clone()).collect();
            let _turns = self.queue.settled_turns(&paths, timer::sleep).await?;
            let sending = asking::commit(files);
            for _ in 0..ROUNDS {
                let never = match self.client.send(&sending).await {
                    Ok(response) if (200..300).contains(&response.status) => return Ok(Vec::new()),
                    Ok(response) => return others(&response.body, &paths),
                    Err(Lost::Failed(error)) => return Err(error),
                    Err(Lost::Unknown { never }) => never,
                };
                if unknown::look_at_all(self, files, never).await? {
                    return Ok(Vec::new());
                }
            }
            Err(unknown::unknown(&paths))
        })
    }

    fn is_journaled(&self) -> bool {
        self.commits.get() == Commits::Journal
    }
}

/// The files that hold something else, in the refusal of a commit.
fn others(body: &Bytes, paths: &[VPath]) -> Result<Vec<VPath>> {
    let message = Message::read(body).ok_or_else(answers::odd)?;
    let error = answers::refusal(&message.value, None).unwrap_or_else(answers::odd);
    let named = message.value.list_of("conflicts").unwrap_or_default();
    let is_named = |path: &&VPath| named.iter().any(|one| one.text() == Some(path.as_str()));
    let found: Vec<VPath> = paths.iter().filter(is_named).cloned().collect();
    match error.kind() == Kind::Conflict && !found.is_empty() {
        true => Ok(found),
        false => Err(error),
    }
}
