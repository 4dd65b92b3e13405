//! How searches traverse a tree: directories are read in parallel, files are first filtered by
//! name, and the remaining ones are read many at a time.

use futures_util::stream;
use futures_util::{Stream, StreamExt};

use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::storage::browser::opfs::handle::is;
use crate::storage::browser::opfs::tree::{self, Found, Snapshot, failed};
use crate::storage::browser::opfs::{Opfs, is_reserved, known, many};
use crate::storage::{File, Flow, Meta, Scan, Scope};

/// Number of files that are read as one blob.
const READS: usize = 50;
/// Maximum bytes of files that are read as one blob; larger files are read one by one.
const READ_BYTES: u64 = 4 * 1024 * 1024;
/// Number of batches in progress.
const AHEAD: usize = 6;
/// Number of directories that are read in parallel.
const DIRECTORIES: usize = 64;

impl Opfs {
    /// The files in scope with their handles, in byte order. Directories are read in parallel.
    pub(super) async fn files_in(&self, scope: &Scope) -> Result<Vec<tree::Entry>> {
        let mut files = Vec::new();
        if scope.prefix.is_empty()
            && !scope.root.is_root()
            && let Found::File(handle) = self.tree.find(&scope.root).await?
        {
            files.push(tree::Entry {
                path: scope.root.clone(),
                handle,
                is_dir: false,
            });
        }
        let start = scope.literal_dir();
        let prefix = scope.key_prefix();
        let mut level = Vec::new();
        if let Some(handle) = self.tree.directory(&start).await?
            && !is_reserved(&start)
        {
            level.push((start, handle));
        }
        while !level.is_empty() {
            let read: Vec<_> = stream::iter(std::mem::take(&mut level))
                .map(|(path, handle)| async move {
                    let entries = many::entries(&path, &handle).await;
                    (path, entries)
                })
                .buffer_unordered(DIRECTORIES)
                .collect()
                .await;
            for (path, entries) in read {
                let entries = match entries {
                    Ok(entries) => entries,
                    // The directory was removed meanwhile.
                    Err(thrown) if is(&thrown, "NotFoundError") => continue,
                    Err(thrown) => return Err(failed(&path, thrown)),
                };
                for entry in entries {
                    if !entry.is_dir {
                        if scope.admits(&entry.path) {
                            files.push(entry);
                        }
                    } else if entry.path.dir_prefix().starts_with(&prefix)
                        || prefix.starts_with(&entry.path.dir_prefix())
                    {
                        level.push((entry.path, entry.handle));
                    }
                }
            }
        }
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    pub(super) async fn scan_files(
        &self,
        scan: Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let mut files = self.files_in(scan.scope).await?;
        files.retain(|entry| (scan.names)(&entry.path));
        let mut batches = stream::iter(files.chunks(READS))
            .map(|batch| loaded(batch, scan.want))
            .buffered(AHEAD);
        show_all(&mut batches, visit).await
    }

    /// Passes the metadata of the wanted files to the visitor.
    pub(super) async fn look_at(
        &self,
        scope: &Scope,
        want: &dyn Fn(&VPath) -> bool,
        visit: &mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Result<()> {
        let mut files = self.files_in(scope).await?;
        files.retain(|entry| want(&entry.path));
        for batch in files.chunks(many::LOOKS) {
            for (entry, seen) in batch.iter().zip(many::snapshots(batch).await?) {
                if let Some(seen) = seen
                    && visit(&entry.path, &known(&seen)).is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// A wanted file.
enum Wanted {
    /// With its bytes.
    Here(VPath, File),
    /// To be read later, when the visitor gets to it, since it may be large.
    Alone(tree::Entry),
}

/// The wanted files of a batch, in the same order.
async fn loaded(
    batch: &[tree::Entry],
    want: &dyn Fn(&VPath, &Meta) -> bool,
) -> Result<Vec<Wanted>> {
    let seen = many::snapshots(batch).await?;
    let wanted: Vec<(&tree::Entry, Snapshot)> = batch
        .iter()
        .zip(seen)
        .filter_map(|(entry, seen)| Some((entry, seen?)))
        .filter(|(entry, seen)| want(&entry.path, &known(seen)))
        .collect();
    let weight = wanted.iter().map(|(_, seen)| seen.size).sum::<u64>();
    let bodies = if weight <= READ_BYTES {
        let seen: Vec<&Snapshot> = wanted.iter().map(|(_, seen)| seen).collect();
        // If one of them changed meanwhile, this fails, and they are read one by one.
        many::bodies(&seen).await.ok()
    } else {
        None
    };
    let mut bodies = bodies.map(Vec::into_iter);
    let with_body = |(entry, seen): (&tree::Entry, Snapshot)| {
        let meta = known(&seen);
        match bodies.as_mut().and_then(Iterator::next) {
            Some(body) => Wanted::Here(entry.path.clone(), File { meta, body }),
            None => Wanted::Alone(entry.clone()),
        }
    };
    Ok(wanted.into_iter().map(with_body).collect())
}

/// Passes the files of these batches to the visitor until it stops.
async fn show_all(
    batches: &mut (impl Stream<Item = Result<Vec<Wanted>>> + Unpin),
    visit: &mut dyn FnMut(&VPath, &File) -> Flow,
) -> Result<()> {
    while let Some(batch) = batches.next().await {
        for file in batch? {
            if show(file, visit).await?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Passes a wanted file to the visitor, unless the file no longer exists.
async fn show(wanted: Wanted, visit: &mut dyn FnMut(&VPath, &File) -> Flow) -> Result<Flow> {
    let entry = match wanted {
        Wanted::Here(path, file) => return Ok(visit(&path, &file)),
        Wanted::Alone(entry) => entry,
    };
    match tree::read(&entry.handle, None).await {
        Ok((seen, body)) => {
            let meta = known(&seen);
            Ok(visit(&entry.path, &File { meta, body }))
        }
        Err(thrown) if is(&thrown, "NotFoundError") => Ok(Flow::Continue(())),
        Err(thrown) => Err(failed(&entry.path, thrown)),
    }
}
