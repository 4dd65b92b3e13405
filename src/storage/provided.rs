//! What files need of any storage: with its [`Extras`] where it has them, else in terms of the
//! methods that every storage has. Each function is compiled once for all storages, which is a large
//! part of the size in wasm.

use futures_util::future::LocalBoxFuture;

use super::{
    Change, Depth, File, Find, Flow, Meta, NewFile, PARALLEL, Pending, PutMode, REPLAYS, Removed,
    Scan, Scope, Storage,
};
use crate::core::error::{Kind, Result};
use crate::core::future::bounded;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::search::sieve::Only;

/// Visits every file in scope, in byte order of the paths, until the visitor stops.
pub fn walk<'a>(
    storage: &'a dyn Storage,
    scope: &'a Scope,
    visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
) -> Pending<'a, ()> {
    let want = &|_: &VPath| true;
    match storage.extras().search {
        Some(search) => search.walk(Find { scope, want }, visit),
        None => Box::pin(walk_pages(storage, scope, visit)),
    }
}

/// Visits the wanted files, in byte order, until the visitor stops.
pub async fn find(
    storage: &dyn Storage,
    find: Find<'_>,
    visit: &mut dyn FnMut(&VPath, &Meta) -> Flow,
) -> Result<()> {
    let Find { scope, want } = find;
    let mut wanted = |path: &VPath, meta: &Meta| match want(path) {
        true => visit(path, meta),
        false => Flow::Continue(()),
    };
    match storage.extras().search {
        Some(search) => search.walk(Find { scope, want }, &mut wanted).await,
        None => walk_pages(storage, scope, &mut wanted).await,
    }
}

async fn walk_pages(
    storage: &dyn Storage,
    scope: &Scope,
    visit: &mut dyn FnMut(&VPath, &Meta) -> Flow,
) -> Result<()> {
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
}

/// Fetches many files, in the order of `paths`.
pub fn get_many<'a>(
    storage: &'a dyn Storage,
    paths: &'a [VPath],
) -> Pending<'a, Vec<Option<File>>> {
    match storage.extras().batch {
        Some(batch) => batch.get_many(paths),
        None => get_each(storage, paths),
    }
}

/// Fetches many files one by one.
pub fn get_each<'a>(
    storage: &'a dyn Storage,
    paths: &'a [VPath],
) -> Pending<'a, Vec<Option<File>>> {
    Box::pin(async move {
        let gets = paths.iter().map(|path| storage.get(path));
        bounded(PARALLEL, gets).await.into_iter().collect()
    })
}

/// Visits the wanted files with their bodies, in byte order, until the visitor stops: all of them, or `only`
/// some files that are known before, and all files of some trees. Then only the trees are listed.
pub fn scan<'a>(
    storage: &'a dyn Storage,
    only: Option<&'a Only>,
    scan: Scan<'a>,
    visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
) -> Pending<'a, ()> {
    if let Some(search) = storage.extras().search
        && only.is_none()
    {
        return search.scan(scan, visit);
    }
    Box::pin(async move {
        let root = &scan.scope.root;
        let mut scopes = vec![scan.scope.clone()];
        if let Some(only) = only {
            let inside = |tree: &VPath| match (tree.is_under(root), root.is_under(tree)) {
                (true, _) => Some(Scope::all(tree)),
                (_, true) => Some(scan.scope.clone()),
                _ => None,
            };
            scopes = only.trees.iter().filter_map(inside).collect();
        }
        let mut wanted = Vec::new();
        for scope in &scopes {
            let mut collect = |path: &VPath, meta: &Meta| {
                // What a sieve knows of the files that it names, their listing need not tell.
                let is_wanted = match only {
                    Some(_) => (scan.names)(path),
                    None => (scan.want)(path, meta),
                };
                if is_wanted {
                    wanted.push(path.clone());
                }
                Flow::Continue(())
            };
            walk(storage, scope, &mut collect).await?;
        }
        let pace = Pace::new(clock::now, timer::pause);
        for path in only.map_or(&[][..], |only| &only.files) {
            pace.worked(1).await;
            if path.is_under(root) && (scan.names)(path) {
                wanted.push(path.clone());
            }
        }
        order::sort(&mut wanted);
        wanted.dedup();
        for batch in wanted.chunks(PARALLEL * 4) {
            for _ in batch {
                pace.called().await;
            }
            let files = get_many(storage, batch).await?;
            for (path, file) in batch.iter().zip(files) {
                if let Some(file) = file
                    && (only.is_none() || (scan.want)(path, &file.meta))
                    && visit(path, &file).is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

/// Stores many files unconditionally, with one result each, in order. No path occurs twice.
pub fn put_many<'a>(
    storage: &'a dyn Storage,
    files: Vec<(VPath, NewFile)>,
) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
    if let Some(batch) = storage.extras().batch {
        return batch.put_many(files);
    }
    Box::pin(async move {
        let puts = files
            .iter()
            .map(|(path, file)| storage.put(path, file.clone(), PutMode::Overwrite));
        bounded(PARALLEL, puts).await
    })
}

/// Replaces a file with what `change` returns for it; `None` if there is no file. The put happens
/// only if the file is still in the state that `change` received, so no other writer's change is
/// lost. Where a storage cannot lock the file, that is retried a bounded number of times.
pub fn update<'a>(
    storage: &'a dyn Storage,
    path: &'a VPath,
    change: &'a mut Change<'_>,
) -> Pending<'a, Option<Meta>> {
    let extras = storage.extras();
    if let Some(update) = extras.update {
        return update.update(path, change);
    }
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
                    if let Some(pause) = extras.pause {
                        timer::sleep(pause(attempt)).await;
                    }
                    attempt += 1;
                }
                answer => return answer.map(Some),
            }
        }
    })
}

/// Removes the file at `root` and every file below it; returns which were removed and the error, if
/// there was one.
pub fn delete_tree<'a>(storage: &'a dyn Storage, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
    if let Some(trees) = storage.extras().trees {
        return trees.delete_tree(root);
    }
    Box::pin(async move {
        match beneath(storage, root).await {
            Ok(paths) => delete_each(storage, paths).await,
            Err(error) => Removed::failed(error),
        }
    })
}

/// Deletes the files at and below `root` that were found before, for callers that keep changes of
/// these away meanwhile. A file that was made since stays, unless the storage spares it by itself.
pub async fn delete_found(storage: &dyn Storage, root: &VPath, found: Vec<VPath>) -> Removed {
    match storage.extras().trees {
        Some(trees) if trees.spares_new_files() => trees.delete_tree(root).await,
        _ => delete_each(storage, found).await,
    }
}

/// The paths of the file at `root` and of all files below it.
pub async fn beneath(storage: &dyn Storage, root: &VPath) -> Result<Vec<VPath>> {
    let mut paths = Vec::new();
    let mut collect = |path: &VPath, _: &Meta| {
        paths.push(path.clone());
        Flow::Continue(())
    };
    walk(storage, &Scope::all(root), &mut collect).await?;
    Ok(paths)
}

async fn delete_each(storage: &dyn Storage, paths: Vec<VPath>) -> Removed {
    let deletes = paths.iter().map(|path| storage.delete(path, None));
    let answers = bounded(PARALLEL, deletes).await;
    Removed::of(paths.into_iter().zip(answers))
}
