//! `quota`: limits on bytes and files, and on the size of one file. Files that already exist count
//! too; they are counted once, before the first change. Changes that bypass this wrapper are not
//! noticed until the usage is counted again.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::rule::{Rule, shell_refused};
use super::skip_hidden::veiled;
use super::usage::{Ledger, Limits, Reservation};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::{Pending, done};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::{Queue, Turn};
use crate::env::timer;
use crate::layer::edited::work_out;
use crate::protocol::{
    Answer, BackendExt, Capability, Content, DeleteResult, Edit, EditResult, FileSet, FilesUpdate,
    Request, SharedBackend, Step, Streamed, Transfer, WriteResult, answer, carry, too_few, whole,
};

/// Serializes changes across all quotas that share a clone of it.
#[derive(Clone, Default)]
pub struct OneAtATime(Rc<Queue>);

impl OneAtATime {
    async fn turn(of: Option<&OneAtATime>) -> Result<Option<Turn>> {
        Ok(match of {
            Some(this) => Some(this.0.settled_turn(&VPath::root(), timer::sleep).await?),
            None => None,
        })
    }
}

pub(super) struct Quota {
    inner: SharedBackend,
    limits: Limits,
    /// Whether a rule hides files, so that the error of a count must not name any.
    hides: bool,
    ledger: Ledger,
    queue: Queue,
    one_at_a_time: Option<OneAtATime>,
    /// Differs from `seen` after changes that bypassed this wrapper.
    recount: Rc<Cell<u64>>,
    seen: Cell<u64>,
    /// For files that differ from caller to caller: the ledger holds the usage of one caller.
    by_caller: OneAtATime,
    /// The file set that the ledger holds.
    counted: Cell<FileSet>,
    allow_execute: bool,
}

impl Quota {
    pub(super) fn new(
        inner: SharedBackend,
        limits: Limits,
        hides: bool,
        one_at_a_time: Option<OneAtATime>,
        recount: Rc<Cell<u64>>,
        allow_execute: bool,
    ) -> Quota {
        Quota {
            inner,
            limits,
            hides,
            ledger: Ledger::default(),
            queue: Queue::default(),
            one_at_a_time,
            seen: Cell::new(recount.get()),
            recount,
            by_caller: OneAtATime::default(),
            counted: Cell::new(FileSet::Same),
            allow_execute,
        }
    }

    /// Takes the lock that a change needs, and resets the ledger if it holds the files of another
    /// caller.
    async fn turn(&self) -> Result<Option<Turn>> {
        let differ = self.inner.capability().files != FileSet::Same;
        let by_caller = differ.then_some(&self.by_caller);
        let turn = OneAtATime::turn(self.one_at_a_time.as_ref().or(by_caller)).await?;
        if self.seen.replace(self.recount.get()) != self.recount.get() {
            self.ledger.forget();
        }
        if differ {
            let now = self.inner.capability().files;
            if self.counted.replace(now) != now || now == FileSet::Unknown {
                self.ledger.forget();
            }
        }
        Ok(turn)
    }

    async fn room(&self, path: &VPath, size: usize) -> Result<Reservation<'_>> {
        let counted = self.ledger.count(&*self.inner).await;
        counted.map_err(|error| match self.hides {
            true => veiled(&error, &VPath::root()),
            false => error,
        })?;
        self.ledger.reserve(&self.limits, path, size as u64)
    }

    async fn written(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let size = match &content {
            Content::Text(text) => file::decode_content(path, text.clone())?.len(),
            Content::Raw(bytes, _) | Content::New(bytes, _) => bytes.len(),
        };
        let _alone = self.turn().await?;
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let room = self.room(path, size).await?;
        let answer = self.inner.write(path, content).await;
        room.settle(path, &answer);
        answer
    }

    async fn edited(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        let _alone = self.turn().await?;
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let size = match edit.whole {
            // Such as after an inspection, which has computed it.
            true => edit.new.len(),
            false => work_out(&*self.inner, path, edit).await?.after.len(),
        };
        let room = self.room(path, size).await?;
        let answer = self.inner.edit(path, edit).await;
        room.settle(path, &answer);
        answer
    }

    async fn deleted(&self, path: &VPath, unchanged: Option<&Bytes>) -> Result<DeleteResult> {
        let _alone = self.turn().await?;
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let watch = Unsure(Some(&self.ledger));
        let answer = self.inner.delete(path, unchanged).await;
        match &answer {
            Ok(_) => {
                watch.known();
                self.ledger.removed(path);
            }
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Conflict) => watch.known(),
            Err(_) => drop(watch),
        }
        answer
    }

    /// A move takes no room. A copy takes it file by file.
    async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let _alone = self.turn().await?;
        if !asked.keeps {
            let _turns = self
                .queue
                .settled_turns([&asked.from, &asked.to], timer::sleep);
            let _turns = _turns.await?;
            let _unsure = Unsure(Some(&self.ledger));
            return self.inner.transfer(asked).await;
        }
        let carrier = |step: Step| -> Pending<'_, Option<FilesUpdate>> {
            Box::pin(async move {
                let Step { from, to, size, .. } = step;
                let _turns = self.queue.settled_turns([&from, &to], timer::sleep).await?;
                let size = match size {
                    Some(size) => usize::try_from(size).unwrap_or(usize::MAX),
                    None => self.inner.read_raw(&from).await?.body.len(),
                };
                let room = self.room(&to, size).await?;
                let one = Transfer {
                    from,
                    to,
                    ..asked.clone()
                };
                let answer = self.inner.transfer(&one).await;
                room.settle(&one.to, &answer);
                answer.map(|done| done.files_update)
            })
        };
        carry(&*self.inner, asked, &carrier).await
    }

    async fn streamed(&self, path: &VPath, file: &dyn Streamed) -> Result<()> {
        let _alone = self.turn().await?;
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let size = usize::try_from(file.parts().size()).unwrap_or(usize::MAX);
        let room = self.room(path, size).await?;
        let answer = self.inner.stream(path, file).await;
        room.settle(path, &answer);
        answer
    }

    /// Uploads in rounds without duplicate paths, so that each upload has its own reservation.
    async fn uploaded(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let all = |error: Error| files.iter().map(|_| Err(error.clone())).collect();
        let _alone = match self.turn().await {
            Ok(alone) => alone,
            Err(error) => return all(error),
        };
        let mut answers: Vec<Result<()>> = all(too_few());
        let mut waiting: Vec<(usize, (VPath, Bytes))> = files.into_iter().enumerate().collect();
        while !waiting.is_empty() {
            let all: Vec<&VPath> = waiting.iter().map(|(_, (path, _))| path).collect();
            let mut firsts = order::firsts(&all).into_iter().enumerate();
            let (round, later): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|_| firsts.next().is_some_and(|(at, first)| at == first));
            waiting = later;
            let paths = round.iter().map(|(_, (path, _))| path);
            let _turns = match self.queue.settled_turns(paths, timer::sleep).await {
                Ok(turns) => turns,
                Err(error) => {
                    for (at, _) in round {
                        if let Some(slot) = answers.get_mut(at) {
                            *slot = Err(error.clone());
                        }
                    }
                    continue;
                }
            };
            let mut rooms = Vec::new();
            let mut batch = Vec::new();
            for (at, (path, body)) in round {
                match self.room(&path, body.len()).await {
                    Ok(room) => {
                        rooms.push((at, path.clone(), room));
                        batch.push((path, body));
                    }
                    Err(error) => {
                        if let Some(slot) = answers.get_mut(at) {
                            *slot = Err(error);
                        }
                    }
                }
            }
            let stored = self.inner.upload(batch).await;
            for ((at, path, room), answer) in rooms.into_iter().zip(stored) {
                room.settle(&path, &answer);
                if let Some(slot) = answers.get_mut(at) {
                    *slot = answer;
                }
            }
        }
        answers
    }
}

/// Resets the ledger on drop, unless the outcome is known.
struct Unsure<'a>(Option<&'a Ledger>);

impl Unsure<'_> {
    fn known(mut self) {
        self.0 = None;
    }
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        if let Some(ledger) = self.0 {
            ledger.forget();
        }
    }
}

impl Rule for Quota {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn capability(&self) -> Capability {
        let inner = self.inner.capability();
        let limits = [
            inner.max_file_bytes,
            self.limits.max_file_bytes,
            self.limits.max_bytes,
        ];
        Capability {
            max_file_bytes: limits.into_iter().flatten().min(),
            ..inner
        }
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Write(path, content) => answer(self.written(path, content), Answer::Write),
            Request::Edit(path, edit) => answer(self.edited(path, edit), Answer::Edit),
            Request::Delete(path, unchanged) => {
                answer(self.deleted(path, unchanged), Answer::Delete)
            }
            Request::Transfer(asked) => answer(self.transferred(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.uploaded(files), Answer::Upload),
            Request::Stream(path, parts) => answer(self.streamed(path, parts), |()| {
                Answer::Upload(vec![Ok(())])
            }),
            Request::Execute(..) if !self.allow_execute => done(Err(shell_refused("a quota"))),
            Request::Execute(..) => Box::pin(async move {
                // A command may write anything.
                let _unsure = Unsure(Some(&self.ledger));
                self.inner.call(request).await
            }),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Grep(_)
            | Request::Glob(_)
            | Request::Download(_) => self.inner.call(request),
        }
    }
}
