//! Changes of files: the storage's conditions, the locks of paths, and what a new version of a file
//! keeps of the old one.

use std::rc::Rc;

use bytes::Bytes;

use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::{self, Mime};
use crate::core::future::Pending;
use crate::core::order;
use crate::core::path::VPath;
use crate::core::queue::Turn;
use crate::env::{clock, timer};
use crate::files::shown::{half_deleted, kind_of};
use crate::files::{Operations, WriteMode};
use crate::protocol::{
    Capability, Content, DeleteResult, Directories, Edit, EditResult, FilesUpdate, Reach,
    Replacement, Step, Transfer, WriteResult, by_bytes, carry, too_few,
};
use crate::search::replace::{self, Plan};
use crate::storage::{Alteration, Depth, File, NewFile, PutMode, Removed, provided};

impl Operations {
    pub(super) fn writable(&self) -> Result<Capability> {
        let capability = self.storage.capability();
        if capability.writable {
            return Ok(capability);
        }
        Err(Error::new(
            Kind::PermissionDenied,
            "This storage is read-only: it has no way to put or delete files",
        ))
    }

    /// Applies an edit to a file and returns the new file and the result.
    fn edited(
        &self,
        path: &VPath,
        edit: &Edit,
        file: &mut File,
        capability: &Capability,
    ) -> Result<(NewFile, EditResult)> {
        if edit.whole && file.body != edit.old {
            return Err(Error::conflict(path));
        }
        if edit.appends {
            let size = file.body.len().saturating_add(edit.new.len());
            self.sized(path, size, capability)?;
            let body = Plan::appending(file.body.len(), &edit.new)
                .make(&mut file.body)
                .map_err(|refusal| replace::sentence(&refusal, path, ""))?;
            let new = self.edited_file(path, body, &file.meta, &edit.new);
            return Ok((new, EditResult::default()));
        }
        if !edit.whole && !kind_of(path, file).1.is_text() {
            return Err(Error::at(
                Kind::InvalidArgument,
                "Error: File '",
                path,
                "' is binary and cannot be edited as text; upload new bytes instead",
            ));
        }
        let refused =
            |refusal| replace::sentence(&refusal, path, &String::from_utf8_lossy(&edit.old));
        if edit.whole {
            self.sized(path, edit.new.len(), capability)?;
            let new = self.new_file(path, edit.new.clone(), Some(&file.meta));
            let result = EditResult {
                occurrences: 1,
                ..EditResult::default()
            };
            return Ok((new, result));
        }
        let plan = Plan::of(&file.body, &edit.old, &edit.new, edit.replace_all).map_err(refused)?;
        self.sized(path, plan.length(), capability)?;
        let outcome = plan.outcome();
        let body = plan.make(&mut file.body).map_err(refused)?;
        let new = self.edited_file(path, body, &file.meta, &edit.new);
        let result = EditResult {
            occurrences: outcome.occurrences,
            crlf: outcome.crlf,
            files_update: None,
        };
        Ok((new, result))
    }

    pub(super) async fn edit_file(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        let capability = self.writable()?;
        if has(Bug::ReadThenWrite) {
            return self.edit_unguarded(path, edit, &capability).await;
        }
        // Edits of one instance wait for each other on every storage, which avoids conflicts and
        // retries between them.
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let mut result = EditResult::default();
        let mut change = |file: &mut File| {
            let (new, made) = self.edited(path, edit, file, &capability)?;
            result = made;
            Ok(new)
        };
        let answer = provided::update(&*self.storage, path, &mut change).await;
        self.indexes.forget(path);
        match answer? {
            Some(_) => Ok(result),
            None => Err(Error::nothing_there(path)),
        }
    }

    /// The bug [`Bug::ReadThenWrite`].
    async fn edit_unguarded(
        &self,
        path: &VPath,
        edit: &Edit,
        capability: &Capability,
    ) -> Result<EditResult> {
        let Some(mut file) = self.storage.get(path).await? else {
            return Err(Error::nothing_there(path));
        };
        let (new, made) = self.edited(path, edit, &mut file, capability)?;
        self.storage.put(path, new, PutMode::Overwrite).await?;
        self.indexes.forget(path);
        Ok(made)
    }

    pub(super) async fn write_file(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        let capability = self.writable()?;
        let write_mode = match content {
            Content::New(..) => WriteMode::Create,
            Content::Text(_) | Content::Raw(..) => self.options.write_mode,
        };
        let permissions = content.mode();
        let named = file::mime_of_name(path);
        let body = match content {
            Content::Text(text) if named.as_ref().is_none_or(Mime::is_text) => text,
            Content::Text(text) => file::decode_content(path, text)?,
            Content::Raw(bytes, _) | Content::New(bytes, _) => bytes,
        };
        self.sized(path, body.len(), &capability)?;
        let _turn = match capability.create {
            Reach::Storage if write_mode == WriteMode::Create => {
                self.queue.watch(path, timer::sleep).await?
            }
            _ => self.queue.settled_turn(path, timer::sleep).await?,
        };
        let (previous, mode) = match write_mode {
            WriteMode::Create => (None, PutMode::Create),
            WriteMode::Overwrite => (self.storage.stat(path).await?, PutMode::Overwrite),
        };
        let mut new = self.named_file(path, named, body, None, clock::now());
        new.mode = permissions;
        if let Some(created) = previous.and_then(|meta| meta.created) {
            new.created = created;
        }
        self.storage.put(path, new, mode).await?;
        self.indexes.forget(path);
        Ok(WriteResult::default())
    }

    /// Moves or copies in the storage, where it has a way for that.
    pub(super) async fn transfer_files(&self, asked: &Transfer) -> Result<WriteResult> {
        let capability = self.writable()?;
        let carrier = |step: Step| -> Pending<'_, Option<FilesUpdate>> {
            Box::pin(async move {
                // A stored type may come from the name, so a file of another type is stored anew.
                let alike = file::mime_of_name(&step.from) == file::mime_of_name(&step.to);
                let within = self.storage.extras().within;
                if let Some(within) = within.filter(|within| alike || within.retypes()) {
                    let paths = [&step.from, &step.to];
                    let _turns = self.queue.settled_turns(paths, timer::sleep).await?;
                    let answer = match step.whole {
                        true => within.move_tree(&step.from, &step.to).await,
                        false => within.transfer(&step.from, &step.to, asked).await,
                    };
                    self.indexes.forget(&step.from);
                    self.indexes.forget(&step.to);
                    match answer {
                        Err(error) if error.kind() == Kind::Unsupported => {}
                        answer => return answer.map(|()| None),
                    }
                }
                by_bytes(self, asked, step, None).await
            })
        };
        let done = carry(self, asked, &carrier).await?;
        if capability.directories == Directories::Real
            && !asked.keeps
            && let Some(trees) = self.storage.extras().trees
        {
            trees.prune(&asked.from).await;
        }
        Ok(done)
    }

    async fn watches(&self, paths: impl Iterator<Item = &VPath>) -> Result<Vec<Turn>> {
        let mut turns = Vec::new();
        for path in paths {
            turns.push(self.queue.watch(path, timer::sleep).await?);
        }
        Ok(turns)
    }

    pub(super) async fn upload_files(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let capability = match self.writable() {
            Ok(capability) => capability,
            Err(error) => return files.iter().map(|_| Err(error.clone())).collect(),
        };
        let paths = || files.iter().map(|(path, _)| path);
        let turns = match capability.update {
            Reach::Storage => self.watches(paths()).await,
            _ => self.queue.settled_turns(paths(), timer::sleep).await,
        };
        let _turns = match turns {
            Ok(turns) => turns,
            Err(error) => return files.iter().map(|_| Err(error.clone())).collect(),
        };
        let now = clock::now();
        let firsts = order::firsts(&paths().collect::<Vec<_>>());
        let mut slots: Vec<Result<usize>> = Vec::with_capacity(files.len());
        let mut accepted: Vec<(VPath, NewFile)> = Vec::with_capacity(files.len());
        let mut places: Vec<Option<usize>> = vec![None; files.len()];
        for ((path, body), first) in files.into_iter().zip(firsts) {
            if let Err(error) = self.sized(&path, body.len(), &capability) {
                slots.push(Err(error));
                continue;
            }
            self.indexes.forget(&path);
            let new = self.named_file(&path, file::mime_of_name(&path), body, None, now);
            // Storages may put in any order, so for entries with the same path only the last one is
            // put.
            let known = places.get(first).copied().flatten();
            match known.and_then(|place| accepted.get_mut(place)) {
                Some(earlier) => earlier.1 = new,
                None => {
                    if let Some(place) = places.get_mut(first) {
                        *place = Some(accepted.len());
                    }
                    accepted.push((path, new));
                }
            }
            slots.push(Ok(known.unwrap_or(accepted.len().saturating_sub(1))));
        }
        let stored = provided::put_many(&*self.storage, accepted).await;
        slots
            .into_iter()
            .map(|slot| match stored.get(slot?) {
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(error.clone()),
                None => Err(too_few()),
            })
            .collect()
    }

    /// Replaces several files in one step of the storage, under the versions that the compared bodies
    /// had.
    pub(super) async fn replace_files(
        &self,
        files: &[Replacement],
        moment: Option<Rc<str>>,
    ) -> Result<bool> {
        let paths: Vec<VPath> = files.iter().map(|file| file.path.clone()).collect();
        let now = provided::get_many(&*self.storage, &paths).await?;
        let Some(changes) = self.alterations(files, now)? else {
            return Ok(false);
        };
        let made = match self.storage.extras().together {
            Some(together) => together.change(changes, moment).await,
            None => Ok(false),
        };
        for path in &paths {
            self.indexes.forget(path);
        }
        made
    }

    /// `None` if a file does not hold what is expected.
    fn alterations(
        &self,
        files: &[Replacement],
        now: Vec<Option<File>>,
    ) -> Result<Option<Vec<Alteration>>> {
        let capability = self.storage.capability();
        let mut changes = Vec::with_capacity(files.len());
        for (file, now) in files.iter().zip(now) {
            let (body, meta) = now.map(|now| (now.body, now.meta)).unzip();
            if body != file.before {
                return Ok(None);
            }
            let new = match &file.after {
                Some(body) => {
                    self.sized(&file.path, body.len(), &capability)?;
                    Some(self.new_file(&file.path, body.clone(), meta.as_ref()))
                }
                None => None,
            };
            changes.push(Alteration {
                path: file.path.clone(),
                was: meta.and_then(|meta| meta.version),
                file: new,
            });
        }
        Ok(Some(changes))
    }

    /// Removes a file if its content is still `body`. The storage compares versions, or calls of
    /// this instance wait for each other.
    pub(super) async fn delete_unchanged(
        &self,
        path: &VPath,
        body: &Bytes,
    ) -> Result<DeleteResult> {
        self.writable()?;
        let _turn = self.queue.settled_turn(path, timer::sleep).await?;
        let file = match self.storage.get(path).await {
            Err(error) if error.kind() == Kind::IsDirectory && body.is_empty() => {
                return self.delete_empty(path, error).await;
            }
            found => found?.ok_or_else(|| Error::nothing_there(path))?,
        };
        if file.body != *body {
            return Err(Error::conflict(path));
        }
        let deleted = self.storage.delete(path, file.meta.version).await;
        self.indexes.forget(path);
        match deleted? {
            true => Ok(DeleteResult::default()),
            false => Err(Error::nothing_there(path)),
        }
    }

    /// Removes a directory in which nothing is, where directories exist by themselves. `refusal` is the
    /// error elsewhere.
    async fn delete_empty(&self, path: &VPath, refusal: Error) -> Result<DeleteResult> {
        let Some(trees) = self.storage.extras().trees else {
            return Err(refusal);
        };
        if self.storage.capability().directories != Directories::Real {
            return Err(refusal);
        }
        // Unlike the deletion of a tree, this takes nothing that was put there meanwhile.
        trees.prune(path).await;
        match self.storage.get(path).await {
            Err(error) if error.kind() == Kind::IsDirectory => Err(Error::conflict(path)),
            found => found.map(|_| DeleteResult::default()),
        }
    }

    /// Removes what is at and below a path.
    async fn removed(&self, path: &VPath) -> Result<Removed> {
        let capability = self.storage.capability();
        if capability.update == Reach::Storage {
            let _turn = self.queue.watch(path, timer::sleep).await?;
            return Ok(provided::delete_tree(&*self.storage, path).await);
        }
        let mut found = provided::beneath(&*self.storage, path).await?;
        let mut paths = found.clone();
        if !found.contains(path) {
            paths.push(path.clone());
        }
        let _turns = self.queue.settled_turns(&paths, timer::sleep).await?;
        // A write of the path itself can have ended while this call waited for it.
        if found.is_empty() && self.storage.stat(path).await?.is_some() {
            found.push(path.clone());
        }
        Ok(match capability.directories {
            Directories::Real => provided::delete_tree(&*self.storage, path).await,
            // A file that was made meanwhile stays: nothing keeps edits of it away.
            _ => provided::delete_found(&*self.storage, path, found).await,
        })
    }

    /// What is directly inside of the root beside the library's own files; `None` if it has none of these.
    async fn beside_own(&self) -> Result<Option<Vec<VPath>>> {
        let mut others = Vec::new();
        let (mut own, mut from) = (false, None);
        loop {
            let page = self.storage.list(&VPath::root(), Depth::One, from).await?;
            let files = page.files.into_iter().map(|entry| entry.path);
            for path in files.chain(page.dirs) {
                match path.is_own() {
                    true => own = true,
                    false => others.push(path),
                }
            }
            from = page.next;
            if from.is_none() {
                return Ok(own.then_some(others));
            }
        }
    }

    /// The root is deleted where it is a mount. The library's own files in it stay: no call reaches them.
    async fn removed_all(&self) -> Result<Removed> {
        let Some(others) = self.beside_own().await? else {
            return self.removed(&VPath::root()).await;
        };
        let mut all = Removed::default();
        for path in others {
            let Removed {
                paths,
                directories,
                error,
            } = self.removed(&path).await?;
            all.paths.extend(paths);
            all.directories |= directories;
            all.error = error;
            if all.error.is_some() {
                break;
            }
        }
        Ok(all)
    }

    pub(super) async fn delete_path(&self, path: &VPath) -> Result<DeleteResult> {
        self.writable()?;
        let removed = match path.is_root() {
            true => self.removed_all().await?,
            false => self.removed(path).await?,
        };
        let Removed {
            paths,
            directories,
            error,
        } = removed;
        for gone in &paths {
            self.indexes.forget(gone);
        }
        match error {
            Some(error) if paths.is_empty() => Err(error),
            Some(error) => Err(half_deleted(path, &paths, &error)),
            None if paths.is_empty() && !directories => Err(Error::nothing_there(path)),
            None => Ok(DeleteResult::default()),
        }
    }
}
