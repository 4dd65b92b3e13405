//! Changes of files through an overlay. A file of the base that is changed is read first: what it held
//! is part of the change.

use bytes::Bytes;

use super::{Before, Overlay};
use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::order;
use crate::core::path::VPath;
use crate::layer::kit::{Held, if_there};
use crate::protocol::{
    BackendExt, Content, DeleteResult, Edit, EditResult, GlobQuery, Replacement, WriteResult,
};

impl Overlay {
    /// A turn changes nothing of what the library keeps for itself: the journal of its commit is there.
    fn may_change(&self, path: &VPath) -> Result<()> {
        match path.is_own() {
            true => Err(Error::at(
                Kind::PermissionDenied,
                "Error: permission denied for '",
                path,
                "': kitbag keeps its own files there, and a turn does not change them",
            )),
            false => Ok(()),
        }
    }

    pub(super) async fn write_file(&self, path: &VPath, content: Content) -> Result<WriteResult> {
        self.may_change(path)?;
        let overwrite = self.options.overwrite && !matches!(content, Content::New(..));
        let mode = content.mode();
        let body = match content {
            Content::Text(text) => file::decode_content(path, text)?,
            Content::Raw(bytes, _) | Content::New(bytes, _) => bytes,
        };
        let (exists, before) = match self.own(path) {
            Some(exists) => (exists, None),
            None => {
                let before = self.base_file(path).await?;
                (before.is_some(), before)
            }
        };
        if exists && !overwrite {
            if self.own(path).is_none() {
                self.note_existence(path, true);
            }
            return Err(Error::already_exists(path));
        }
        match self.own(path) {
            // A write keeps the time of creation.
            Some(true) => {
                self.touch(path);
                self.upper.write(path, Content::Raw(body, None)).await?;
            }
            _ => self.put(path, body).await?,
        }
        self.change(path, before, true);
        self.permit(path, mode);
        Ok(WriteResult::default())
    }

    pub(super) async fn edit_file(&self, path: &VPath, edit: &Edit) -> Result<EditResult> {
        self.may_change(path)?;
        if self.own(path).is_some() {
            self.touch(path);
            return self.upper.edit(path, edit).await;
        }
        let Some(before) = self.base_file(path).await? else {
            self.note_existence(path, false);
            return Err(Error::nothing_there(path));
        };
        self.put(path, before.body.clone()).await?;
        let edited = self.upper.edit(path, edit).await;
        match edited {
            Ok(edited) => {
                self.change(path, Some(before), true);
                Ok(edited)
            }
            Err(error) => {
                self.note_body(path, Some(&before.body));
                self.upper.delete(path, Some(&before.body)).await?;
                Err(error)
            }
        }
    }

    pub(super) async fn delete_path(
        &self,
        path: &VPath,
        unchanged: Option<&Bytes>,
    ) -> Result<DeleteResult> {
        self.may_change(path)?;
        match unchanged {
            Some(body) => self.delete_unchanged(path, body).await?,
            None => self.delete_tree(path).await?,
        }
        Ok(DeleteResult::default())
    }

    async fn delete_unchanged(&self, path: &VPath, body: &Bytes) -> Result<()> {
        if self.own(path).is_some() {
            self.touch(path);
            self.upper.delete(path, Some(body)).await?;
            self.change(path, None, false);
            return Ok(());
        }
        let Some(before) = self.base_file(path).await? else {
            self.note_existence(path, false);
            return Err(Error::nothing_there(path));
        };
        if before.body != *body {
            self.note_body(path, Some(&before.body));
            return Err(Error::conflict(path));
        }
        self.change(path, Some(before), false);
        Ok(())
    }

    async fn delete_tree(&self, root: &VPath) -> Result<()> {
        let found = self.find(&GlobQuery::all(root)).await?;
        let mut paths: Vec<VPath> = found
            .complete(root)?
            .into_iter()
            .map(|info| info.path)
            .collect();
        if !root.is_root() {
            paths.push(root.clone());
        }
        let of_base: Vec<VPath> = paths
            .iter()
            .filter(|path| self.own(path).is_none())
            .cloned()
            .collect();
        let bodies = self.base_held(&of_base).await.into_iter();
        let bodies: Vec<Option<Held>> = bodies.map(if_there).collect::<Result<_>>()?;
        let mut any = false;
        for path in &paths {
            if self.own(path) == Some(true) {
                self.delete_upper(path).await?;
                self.change(path, None, false);
                any = true;
            }
        }
        for (path, body) in of_base.iter().zip(bodies) {
            if let Some(body) = body {
                self.change(path, Some(Before::of_body(body)), false);
                any = true;
            } else if path == root {
                self.note_existence(path, false);
            }
        }
        match any {
            true => Ok(()),
            false => Err(Error::nothing_there(root)),
        }
    }

    pub(super) async fn upload_files(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let paths = files.iter().map(|(path, _)| path);
        let of_base = paths.filter(|path| self.own(path).is_none());
        let mut of_base: Vec<VPath> = of_base.cloned().collect();
        order::sort(&mut of_base);
        of_base.dedup();
        let bodies = self.base_held(&of_base).await.into_iter();
        let bodies: Vec<Result<Option<Held>>> = bodies.map(if_there).collect();
        let mut answers = Vec::with_capacity(files.len());
        for (path, body) in files {
            let before = of_base.binary_search(&path).ok();
            let before = before.and_then(|at| bodies.get(at));
            answers.push(self.upload_file(&path, body, before).await);
        }
        answers
    }

    async fn upload_file(
        &self,
        path: &VPath,
        body: Bytes,
        before: Option<&Result<Option<Held>>>,
    ) -> Result<()> {
        self.may_change(path)?;
        let before = match before {
            Some(before) => before.clone()?,
            None => None,
        };
        self.put(path, body).await?;
        let before = before.map(Before::of_body);
        self.change(path, before, true);
        Ok(())
    }

    /// Replaces several files, for a turn in this turn.
    pub(in crate::layer::turn) async fn replace_files(
        &self,
        files: &[Replacement],
    ) -> Result<Vec<VPath>> {
        let mut differ = Vec::new();
        let mut befores = Vec::with_capacity(files.len());
        for file in files {
            self.may_change(&file.path)?;
            let (now, before) = match self.own(&file.path) {
                Some(exists) => (self.upper_body(&file.path, exists).await?, None),
                None => {
                    let before = self.base_file(&file.path).await?;
                    (before.as_ref().map(|file| file.body.clone()), before)
                }
            };
            befores.push(before);
            if now != file.before {
                differ.push(file.path.clone());
            }
        }
        if !differ.is_empty() {
            return Ok(differ);
        }
        for (file, before) in files.iter().zip(befores) {
            match &file.after {
                Some(after) => self.put(&file.path, after.clone()).await?,
                None if self.own(&file.path) == Some(true) => self.delete_upper(&file.path).await?,
                None => {}
            }
            self.change(&file.path, before, file.after.is_some());
            self.permit(&file.path, file.mode.filter(|_| file.after.is_some()));
        }
        Ok(Vec::new())
    }
}
