//! Changes of files: what a tainted conversation writes is judged, recorded, and only then stored.

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::links::refusing;
use crate::core::lock::MutexGuard;
use crate::core::path::VPath;
use crate::layer::provenance::Provenance;
use crate::layer::provenance::book::{Book, Record, Version};
use crate::layer::provenance::gate::{Judgement, shortened};
use crate::layer::provenance::labels::Labels;
use crate::layer::provenance::returned::remember;
use crate::protocol::{
    BackendExt, Content, DeleteResult, Edit, EditResult, Operation, Seen, Transfer, WriteResult,
    too_few,
};

/// A file that is about to be changed.
pub(super) struct Change {
    path: VPath,
    /// Labels of what is put into it, apart from those of its path.
    adds: Labels,
    stores: Stores,
}

/// What a change makes of the content of a file.
#[derive(Clone)]
enum Stores {
    /// A part of it stays.
    Part,
    /// All of it is replaced by this.
    Body(Bytes),
    /// All of it is replaced by a content of this version, if it is known.
    Version(Option<Version>),
}

impl Stores {
    fn version(&self) -> Option<Version> {
        match self {
            Stores::Part => None,
            Stores::Body(body) => Some(Version::of(body)),
            Stores::Version(version) => *version,
        }
    }
}

/// A change whose labels are recorded.
struct Recorded<'a> {
    /// Absent if nothing depends on the order of changes.
    _held: Option<MutexGuard<'a, ()>>,
    changes: Vec<Noted>,
}

struct Noted {
    path: VPath,
    adds: Labels,
    /// The record before, and the number of the one that was made.
    before: Option<Record>,
    serial: Option<u32>,
    ends: Ends,
}

/// What an untainted change leaves.
enum Ends {
    /// Nothing is recorded.
    AsItIs,
    /// This version is clean.
    Clean(Version),
    /// What then stands there is clean if nobody else has written to it.
    CleanWhole,
}

/// What is known of a file after a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stored,
    AsBefore,
    Unknown,
}

impl Fate {
    /// A refused change has left the file as it was, unless the answer was lost.
    fn of<T>(answer: &Result<T>) -> Fate {
        match answer.as_ref().map_err(Error::kind) {
            Ok(_) => Fate::Stored,
            Err(Kind::Timeout | Kind::Unavailable | Kind::Internal) => Fate::Unknown,
            Err(_) => Fate::AsBefore,
        }
    }
}

impl Provenance {
    fn change(&self, path: &VPath, labels: &Labels, stores: Stores) -> Change {
        Change {
            path: path.clone(),
            adds: labels.without(&self.shared.fixed(path)),
            stores,
        }
    }

    /// What an untainted change leaves of a file that has a record.
    async fn end(&self, book: &Book, path: &VPath, stores: &Stores) -> Ends {
        if !book.knows(path) {
            return Ends::AsItIs;
        }
        if let Some(version) = stores.version() {
            return Ends::Clean(version);
        }
        // A command that is under way could write to it as well.
        let is_quiet = book.record(&VPath::root()).is_none();
        let is_part = matches!(stores, Stores::Part);
        match is_part && is_quiet && self.recorded(book, path).await.is_empty() {
            true => Ends::CleanWhole,
            false => Ends::AsItIs,
        }
    }

    /// Records the labels of files that are about to change.
    async fn record(&self, changes: Vec<Change>) -> Result<Recorded<'_>> {
        let is_plain = |book: &Book| {
            let mut changes = changes.iter();
            changes.all(|change| change.adds.is_empty() && !book.knows(&change.path))
        };
        if is_plain(&*self.load().await?) {
            return Ok(Recorded {
                _held: None,
                changes: Vec::new(),
            });
        }
        let held = self.shared.changes.lock().await;
        self.record_held(changes, Some(held)).await
    }

    async fn record_held<'a>(
        &self,
        changes: Vec<Change>,
        held: Option<MutexGuard<'a, ()>>,
    ) -> Result<Recorded<'a>> {
        let book = self.load().await?;
        let mut leaving = Vec::new();
        for change in &changes {
            leaving.extend(self.leaving(&book, &change.path).await);
        }
        leaving.retain(|(version, labels)| !labels.without(&book.content(*version)).is_empty());
        let taint = |book: &mut Book| {
            remember(book, &leaving);
            for change in changes.iter().filter(|change| !change.adds.is_empty()) {
                book.taint(&change.path, &change.adds);
                if let Some(version) = change.stores.version() {
                    book.remember(version, &change.adds);
                }
            }
        };
        let is_noted = leaving.is_empty() && changes.iter().all(|change| change.adds.is_empty());
        let (before, after) = match is_noted {
            true => (book.clone(), book),
            false => self.shared.ledger.update(&taint).await?,
        };
        let mut noted = Vec::with_capacity(changes.len());
        for change in changes {
            let Change { path, adds, stores } = change;
            let ends = match adds.is_empty() {
                true => self.end(&before, &path, &stores).await,
                false => Ends::AsItIs,
            };
            noted.push(Noted {
                before: before.record(&path).cloned(),
                serial: after.record(&path).map(|record| record.serial),
                path,
                adds,
                ends,
            });
        }
        Ok(Recorded {
            _held: held,
            changes: noted,
        })
    }

    /// Completes the records. If that fails, files keep labels that they need not have.
    async fn settle(&self, recorded: Recorded<'_>, fates: &[Fate]) {
        for (noted, fate) in recorded.changes.iter().zip(fates) {
            let Noted {
                path,
                adds,
                before,
                serial,
                ends,
            } = noted;
            let ledger = &self.shared.ledger;
            let same = recorded.changes.iter().zip(fates);
            let mut same = same.filter(|(other, _)| other.path == *path);
            let _ = match (adds.is_empty(), fate) {
                // A batch may have a file twice.
                (false, Fate::AsBefore) if same.any(|(_, fate)| *fate != Fate::AsBefore) => {
                    continue;
                }
                (false, Fate::AsBefore) => {
                    let Some(serial) = *serial else { continue };
                    let restore = |book: &mut Book| book.restore(path, serial, before.clone());
                    ledger.update(&restore).await
                }
                // Another process may have deleted the file, and its record, just before.
                (false, _) if ledger.is_shared() => {
                    ledger.update(&|book| book.ensure(path, adds)).await
                }
                (true, Fate::Stored) => {
                    let version = match ends {
                        Ends::AsItIs => None,
                        Ends::Clean(version) => Some(*version),
                        Ends::CleanWhole => self.version(path).await,
                    };
                    let Some(version) = version else { continue };
                    ledger
                        .update(&|book| book.clean(path, *serial, version))
                        .await
                }
                _ => continue,
            };
        }
    }

    /// Judges what the conversation would put into one file.
    async fn admit(
        &self,
        operation: Operation,
        path: &VPath,
        labels: &Labels,
        preview: impl FnOnce() -> String,
    ) -> Result<()> {
        let mut judged = Judgement::default();
        self.shared.gate.judge(labels, Some(path), &mut judged);
        let reads = self.taint.seen();
        self.shared
            .gate
            .pass(&judged, operation, path, reads, preview)
            .await
    }

    pub(super) async fn written(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let stored = match &content {
            Content::Text(text) => file::decode_content(path, text.clone()).ok(),
            Content::Raw(body, _) | Content::New(body, _) => Some(body.clone()),
        };
        let labels = self.incoming(stored.as_ref()).await?;
        let preview = || shortened(content.bytes());
        self.admit(Operation::Write, path, &labels, preview).await?;
        let stores = stored.map_or(Stores::Version(None), Stores::Body);
        let recorded = self
            .record(vec![self.change(path, &labels, stores)])
            .await?;
        let answer = refusing(self.inner.write(path, content)).await;
        self.settle(recorded, &[Fate::of(&answer)]).await;
        answer
    }

    pub(super) async fn edited(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        // Also of a part: a text that was a whole labelled file once.
        let labels = self.incoming(Some(&edit.new)).await?;
        let (operation, preview): (_, &dyn Fn() -> String) = match edit.appends {
            true => (Operation::Append, &|| shortened(&edit.new)),
            false => (Operation::Edit, &|| {
                format!("- {}\n+ {}", shortened(&edit.old), shortened(&edit.new))
            }),
        };
        self.admit(operation, path, &labels, preview).await?;
        let stores = match edit.whole {
            true => Stores::Body(edit.new.clone()),
            false => Stores::Part,
        };
        let change = self.change(path, &labels, stores);
        let recorded = self.record(vec![change]).await?;
        let answer = refusing(self.inner.edit(path, edit)).await;
        self.settle(recorded, &[Fate::of(&answer)]).await;
        answer
    }

    pub(super) async fn deleted(
        &self,
        path: &VPath,
        unchanged: Option<&Bytes>,
    ) -> Result<DeleteResult> {
        let is_known =
            |book: &Book| !book.below(path).is_empty() || book.record(&VPath::root()).is_some();
        if !is_known(&*self.load().await?) {
            return refusing(self.inner.delete(path, unchanged)).await;
        }
        let _held = self.shared.changes.lock().await;
        self.remember_below(path).await?;
        let answer = refusing(self.inner.delete(path, unchanged)).await?;
        self.forget(path).await;
        Ok(answer)
    }

    /// Records what labelled files at and below a path hold, before they are gone.
    async fn remember_below(&self, path: &VPath) -> Result<()> {
        let leaving = self.leaving_below(&*self.load().await?, path).await?;
        if !leaving.is_empty() && !has(Bug::DeletedForgotten) {
            let note = |book: &mut Book| remember(book, &leaving);
            self.shared.ledger.update(&note).await?;
        }
        Ok(())
    }

    /// Forgets files that are gone. If that fails, a new file there begins with their labels.
    async fn forget(&self, path: &VPath) {
        let _ = self.shared.ledger.update(&|book| book.forget(path)).await;
    }

    pub(super) async fn uploaded(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let (mut answers, mut changes, mut allowed) = (Vec::new(), Vec::new(), Vec::new());
        for (path, body) in files {
            let operation = Operation::UploadFiles;
            let preview = || shortened(&body);
            let admitted = match self.incoming(Some(&body)).await {
                Ok(labels) => {
                    let admitted = self.admit(operation, &path, &labels, preview).await;
                    admitted.map(|()| labels)
                }
                Err(error) => Err(error),
            };
            answers.push(admitted.map(|labels| {
                changes.push(self.change(&path, &labels, Stores::Body(body.clone())));
                allowed.push((path, body));
            }));
        }
        let count = allowed.len();
        let stored = match self.record(changes).await {
            Err(error) => vec![Err(error); count],
            Ok(recorded) => {
                let stored = refusing(self.inner.upload(allowed)).await;
                let fates: Vec<Fate> = stored.iter().map(Fate::of).collect();
                self.settle(recorded, &fates).await;
                stored
            }
        };
        let mut stored = stored.into_iter();
        let missing = || Err(too_few());
        for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
            *answer = stored.next().unwrap_or_else(missing);
        }
        answers
    }

    /// Each file of a move or copy takes its labels along, and those of the conversation.
    pub(super) async fn transferred(&self, asked: &Transfer) -> Result<WriteResult> {
        let plan = self.plan(asked).await?;
        let operation = asked.operation();
        let mut reads = plan.carried.clone();
        reads.extend(self.taint.seen());
        let preview = || {
            let mut lines = String::new();
            for (from, to, _) in &plan.files {
                lines.push_str(&format!("{} -> {}\n", from.as_str(), to.as_str()));
            }
            shortened(lines.as_bytes())
        };
        self.shared
            .gate
            .pass(&plan.judged, operation, &asked.to, reads, preview)
            .await?;
        let held = self.shared.changes.lock().await;
        // What was judged is what is moved: while a person was asked, files may have changed.
        let now = self.plan(asked).await?;
        if now.files != plan.files {
            return Err(Error::conflict(&asked.from));
        }
        if !asked.keeps {
            self.remember_below(&asked.from).await?;
        }
        let book = self.load().await?;
        let mut changes = Vec::with_capacity(now.files.len());
        for (from, to, labels) in &now.files {
            let is_clean = labels.is_empty() && book.knows(to);
            let stores = match is_clean {
                true => self.version(from).await,
                false => None,
            };
            changes.push(self.change(to, labels, Stores::Version(stores)));
        }
        let mut stood = Vec::with_capacity(now.files.len());
        for (_, to, labels) in &now.files {
            stood.push(match labels.is_empty() {
                true => None,
                false => self.version(to).await,
            });
        }
        let recorded = self.record_held(changes, Some(held)).await?;
        let answer = refusing(self.inner.transfer(asked)).await;
        let mut fates = vec![Fate::of(&answer); now.files.len()];
        for ((fate, stood), (_, to, _)) in fates.iter_mut().zip(stood).zip(&now.files) {
            // A part of the files may have been copied.
            if *fate == Fate::AsBefore && self.version(to).await != stood {
                *fate = Fate::Unknown;
            }
        }
        if answer.is_ok() && !asked.keeps {
            self.forget(&asked.from).await;
        }
        self.settle(recorded, &fates).await;
        answer
    }

    /// Which files a move or copy reaches, with their labels, and what the rules say of that.
    async fn plan(&self, asked: &Transfer) -> Result<Plan> {
        let book = self.load().await?;
        let taint = self.taint.labels();
        let (mut files, mut carried) = (Vec::new(), Vec::new());
        let mut judged = Judgement::default();
        let found = refusing(Box::pin(asked.files(&*self.inner))).await?;
        for info in found {
            let from = info.path;
            let to = asked.target(&from)?;
            let mut labels = self.shared.fixed(&from);
            labels.merge(&self.recorded(&book, &from).await);
            for label in labels.iter() {
                carried.push(Seen {
                    label: label.clone(),
                    path: from.clone(),
                    operation: asked.operation(),
                });
            }
            if has(Bug::MoveUnlabelled) {
                labels = Labels::default();
            }
            labels.merge(&taint);
            self.shared.gate.judge(&labels, Some(&to), &mut judged);
            files.push((from, to, labels));
        }
        Ok(Plan {
            files,
            carried,
            judged,
        })
    }
}

/// What a move or copy would do.
struct Plan {
    /// The path of each file, its new path, and the labels that it has there.
    files: Vec<(VPath, VPath, Labels)>,
    /// The labels of the files themselves.
    carried: Vec<Seen>,
    judged: Judgement,
}
