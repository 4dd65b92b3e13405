//! The provided methods of the storage trait, implemented in terms of the required ones.

use futures_util::future::LocalBoxFuture;

use super::{
    Change, Depth, File, Flow, Meta, NewFile, PARALLEL, Pending, PutMode, REPLAYS, Removed, Scan,
    Scope, Storage,
};
use crate::core::error::{Kind, Result};
use crate::core::future::bounded;
use crate::core::path::VPath;

pub(super) fn walk<'a>(
    storage: &'a dyn Storage,
    scope: &'a Scope,
    visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
) -> Pending<'a, ()> {
    Box::pin(async move {
        // The root of the scope may be a file as well as a directory.
        if scope.prefix.is_empty()
            && !scope.root.is_root()
            && let Some(meta) = storage.stat(&scope.root).await?
            && visit(&scope.root, &meta).is_break()
        {
            return Ok(());
        }
        let dir = scope.literal_dir();
        let mut from = None;
        loop {
            let page = storage.list(&dir, Depth::All, from).await?;
            for entry in &page.files {
                if scope.admits(&entry.path) && visit(&entry.path, &entry.meta).is_break() {
                    return Ok(());
                }
            }
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(()),
            }
        }
    })
}

pub(super) fn get_many<'a>(
    storage: &'a dyn Storage,
    paths: &'a [VPath],
) -> Pending<'a, Vec<Option<File>>> {
    Box::pin(async move {
        let gets = paths.iter().map(|path| storage.get(path));
        bounded(PARALLEL, gets).await.into_iter().collect()
    })
}

pub(super) fn scan<'a>(
    storage: &'a dyn Storage,
    scan: Scan<'a>,
    visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
) -> Pending<'a, ()> {
    Box::pin(async move {
        let mut wanted = Vec::new();
        let mut collect = |path: &VPath, meta: &Meta| {
            if (scan.want)(path, meta) {
                wanted.push(path.clone());
            }
            Flow::Continue(())
        };
        storage.walk(scan.scope, &mut collect).await?;
        for batch in wanted.chunks(PARALLEL * 4) {
            let files = storage.get_many(batch).await?;
            for (path, file) in batch.iter().zip(files) {
                if let Some(file) = file
                    && visit(path, &file).is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

pub(super) fn put_many<'a>(
    storage: &'a dyn Storage,
    files: Vec<(VPath, NewFile)>,
) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
    Box::pin(async move {
        let puts = files
            .iter()
            .map(|(path, file)| storage.put(path, file.clone(), PutMode::Overwrite));
        bounded(PARALLEL, puts).await
    })
}

pub(super) fn update<'a>(
    storage: &'a dyn Storage,
    path: &'a VPath,
    change: &'a mut Change<'_>,
) -> Pending<'a, Option<Meta>> {
    Box::pin(async move {
        let mut attempt = 0;
        loop {
            let Some(mut file) = storage.get(path).await? else {
                return Ok(None);
            };
            let new = change(&mut file)?;
            let mode = match file.meta.version {
                Some(version) => PutMode::Update(version),
                None => PutMode::Overwrite,
            };
            match storage.put(path, new, mode).await {
                Err(error) if error.kind() == Kind::Conflict && attempt < REPLAYS => {
                    storage.pause(attempt).await;
                    attempt += 1;
                }
                answer => return answer.map(Some),
            }
        }
    })
}

pub(super) fn delete_tree<'a>(
    storage: &'a dyn Storage,
    root: &'a VPath,
) -> LocalBoxFuture<'a, Removed> {
    Box::pin(async move {
        let mut paths = Vec::new();
        let mut collect = |path: &VPath, _: &Meta| {
            paths.push(path.clone());
            Flow::Continue(())
        };
        if let Err(error) = storage.walk(&Scope::all(root), &mut collect).await {
            return Removed {
                error: Some(error),
                ..Removed::default()
            };
        }
        delete_each(storage, paths).await
    })
}

pub(super) fn delete_found(
    storage: &dyn Storage,
    found: Vec<VPath>,
) -> LocalBoxFuture<'_, Removed> {
    Box::pin(delete_each(storage, found))
}

async fn delete_each(storage: &dyn Storage, paths: Vec<VPath>) -> Removed {
    let deletes = paths.iter().map(|path| storage.delete(path, None));
    let answers = bounded(PARALLEL, deletes).await;
    let mut removed = Removed::default();
    for (path, answer) in paths.into_iter().zip(answers) {
        match answer {
            Ok(true) => removed.paths.push(path),
            Ok(false) => {}
            Err(error) => {
                removed.error.get_or_insert(error);
            }
        }
    }
    removed
}
