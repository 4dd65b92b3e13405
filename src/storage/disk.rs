//! A folder on the host's disk. Operations on single files go through [`Custom`], like any storage
//! written in JavaScript. Searches do not, because one boundary crossing for each of twenty
//! thousand files would cost more than the search itself. Names arrive in one text. Bodies arrive
//! in blocks that contain only files with the literal. Filtering and matching happen here.

mod fed;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use std::ops::Range;
use std::time::Duration;

use js_sys::{Float64Array, Uint8Array, Uint32Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::file;
use crate::core::future::Pending;
use crate::core::links;
use crate::core::order;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::env::{clock, host, random, timer};
use crate::protocol::{COPIED, Capability, Transfer, one_by_one, stands};
use crate::storage::custom::Custom;
use crate::storage::custom_values::{entry_of, file_of, meta_of, names_of, refusal, unknown_meta};
use crate::storage::{
    Cursor, Depth, Entry, Extras, File, Find, Flow, Listing, Meta, NewFile, PARALLEL, Part,
    PutMode, Ranged, Removed, Scan, Scope, Search, Storage, Trees, Version, Within, provided,
};

/// Number of files whose size and time are requested in one call.
const STATS: usize = 4096;

/// A folder on the host's disk, as `disk/disk.ts` exposes it.
pub struct HostDisk {
    disk: Custom,
    /// The same folder, in which links are refused.
    without_links: Custom,
}

/// Closes a reader of bodies, even if the search is cancelled.
struct Bodies(JsValue);

impl Drop for Bodies {
    fn drop(&mut self) {
        if let Some(close) = host::method(&self.0, "close") {
            let _ = close.call0(&self.0);
        }
    }
}

/// The parts of a block: paths, one per line; lengths of the bodies; the bodies.
fn parts_of(block: &JsValue) -> Option<(String, Vec<u32>, Bytes)> {
    let lengths: Uint32Array = host::property(block, "lengths")?.dyn_into().ok()?;
    let bytes: Uint8Array = host::property(block, "bytes")?.dyn_into().ok()?;
    let paths = host::text_property(block, "paths")?;
    Some((paths, lengths.to_vec(), Bytes::from(bytes.to_vec())))
}

fn odd() -> Error {
    Error::new(
        Kind::Unavailable,
        "The disk behind this backend answered something odd",
    )
}

fn joined(paths: &[VPath]) -> JsValue {
    let mut text = String::new();
    for path in paths {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(path.as_str());
    }
    JsValue::from_str(&text)
}

impl HostDisk {
    /// The folder behind `object`, which promises `capability`.
    pub fn new(object: JsValue, capability: Capability) -> HostDisk {
        let without_links = host::property(&object, "withoutLinks").unwrap_or(JsValue::UNDEFINED);
        HostDisk {
            without_links: Custom::new(without_links, capability.clone()),
            disk: Custom::new(object, capability),
        }
    }

    /// The folder for what the current call may do.
    fn inner(&self) -> &Custom {
        match links::refused() {
            true => &self.without_links,
            false => &self.disk,
        }
    }

    fn has(&self, method: &str) -> bool {
        host::method(self.inner().object(), method).is_some()
    }

    async fn call(&self, method: &str, arguments: &[JsValue]) -> Result<JsValue> {
        host::call_method(self.inner().object(), method, arguments)
            .await
            .map_err(|error| refusal(error, None))
    }

    /// The paths of the files in scope that are wanted, sorted.
    async fn names(
        &self,
        scope: &Scope,
        literal: Option<&[u8]>,
        wants: impl Fn(&VPath) -> bool,
    ) -> Result<Vec<VPath>> {
        let dir = scope.literal_dir();
        let mut answer = JsValue::UNDEFINED;
        if let Some(literal) = literal {
            let literal = host::array_of(literal).into();
            answer = self.inner().ask("candidates", &dir, &[literal]).await?;
        }
        if answer.is_undefined() {
            answer = self.inner().ask("names", &dir, &[]).await?;
        }
        let text = answer.as_string().ok_or_else(odd)?;
        let prefix = dir.dir_prefix();
        let pace = Pace::new(clock::now, timer::pause);
        let mut paths = Vec::new();
        for name in text.split('\n').filter(|name| !name.is_empty()) {
            // What is done with a name takes longer than to search it.
            pace.worked(name.len()).await;
            if let Some(path) = VPath::from_stored(&format!("{prefix}{name}"))
                && scope.admits(&path)
                && wants(&path)
            {
                paths.push(path);
            }
        }
        // The root of the scope may be a file instead of a directory.
        if text.is_empty()
            && scope.prefix.is_empty()
            && !scope.root.is_root()
            && wants(&scope.root)
            && self.inner().stat(&scope.root).await?.is_some()
        {
            paths.push(scope.root.clone());
        }
        order::sort(&mut paths);
        Ok(paths)
    }

    async fn with_stats(
        &self,
        paths: Vec<VPath>,
        visit: &mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Result<()> {
        for batch in paths.chunks(STATS) {
            let answer = self.call("stats", &[joined(batch)]).await?;
            let numbers = answer
                .dyn_into::<Float64Array>()
                .map_err(|_| odd())?
                .to_vec();
            for (path, told) in batch.iter().zip(numbers.chunks_exact(2)) {
                let &[size, micros] = told else { continue };
                // The file was deleted after its name was read.
                if size.is_nan() {
                    continue;
                }
                let meta = Meta {
                    // Float-to-integer casts saturate.
                    size: size as u64,
                    modified: Time::from_micros(micros as i64),
                    ..unknown_meta()
                };
                if visit(path, &meta).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads the wanted files in blocks, with synchronous calls of the host.
    async fn read_blocks(
        &self,
        bodies: Bodies,
        scan: &Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let nothing = unknown_meta();
        loop {
            let block = host::call_method(&bodies.0, "next", &[]).await?;
            let (paths, lengths, bytes) = parts_of(&block).ok_or_else(odd)?;
            let mut at = 0usize;
            for (path, length) in paths.split('\n').zip(lengths) {
                let end = at.saturating_add(length as usize).min(bytes.len());
                let body = bytes.slice(at..end);
                at = end;
                let Some(path) = VPath::from_stored(path).filter(|path| {
                    scan.scope.admits(path)
                        && !file::is_binary_name(path)
                        && (scan.want)(path, &nothing)
                }) else {
                    continue;
                };
                let meta = Meta {
                    size: u64::from(length),
                    ..unknown_meta()
                };
                if visit(&path, &File { meta, body }).is_break() {
                    return Ok(());
                }
            }
            if !host::property(&block, "more").is_some_and(|more| more.is_truthy()) {
                return Ok(());
            }
        }
    }

    /// Reads bodies one by one; unreadable files are skipped, as in every search, but not a host that
    /// does not answer.
    async fn read_each(
        &self,
        paths: &[VPath],
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        let mut files = stream::iter(paths)
            .map(|path| async move { (path, self.inner().get(path).await) })
            .buffered(PARALLEL);
        while let Some((path, file)) = files.next().await {
            match file {
                Ok(Some(file)) if visit(path, &file).is_break() => return Ok(()),
                Err(error) if error.is_no_answer() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    async fn level(&self, dir: &VPath) -> Result<Listing> {
        let answer = self.inner().ask("level", dir, &[]).await?;
        let rows = |name: &str| {
            host::property(&answer, name)
                .and_then(|rows| rows.dyn_into::<js_sys::Array>().ok())
                .ok_or_else(odd)
        };
        let mut listing = Listing::default();
        for row in rows("files")?.iter() {
            listing.files.extend(entry_of(&row)?);
        }
        for row in rows("dirs")?.iter() {
            let name = row.as_string().unwrap_or_default();
            listing.dirs.extend(VPath::from_stored(&name));
        }
        order::sort_by(&mut listing.files, |a, b| a.path.cmp(&b.path));
        order::sort(&mut listing.dirs);
        Ok(listing)
    }
}

impl Within for HostDisk {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let arguments = [
                JsValue::from_str(to.as_str()),
                asked.keeps.into(),
                asked.overwrite.into(),
            ];
            let answer = self.inner().ask("transfer", from, &arguments).await?;
            match answer.as_string().as_deref() {
                Some("done") => Ok(()),
                Some("missing") => Err(Error::not_found(from)),
                Some("exists") => Err(Error::already_exists(to)),
                Some("both") => Err(stands(from, COPIED, None)),
                // Links, devices, and folders on other disks.
                Some("apart") => Err(one_by_one()),
                _ => Err(odd()),
            }
        })
    }

    fn retypes(&self) -> bool {
        true
    }

    fn move_tree<'a>(&'a self, from: &'a VPath, to: &'a VPath) -> Pending<'a, ()> {
        Box::pin(async move {
            let to = JsValue::from_str(to.as_str());
            let moved = self.inner().ask("moveTree", from, &[to]).await?;
            moved.is_truthy().then_some(()).ok_or_else(one_by_one)
        })
    }
}

impl Storage for HostDisk {
    fn capability(&self) -> Capability {
        Capability {
            // Which names a folder folds is found out when somebody asks.
            names: names_of(self.disk.object(), "foldedNames"),
            ..self.disk.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.inner().stat(path)
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.inner().get(path)
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        self.inner().put(path, file, mode)
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.inner().delete(path, version)
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        _from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            if depth == Depth::One {
                return self.level(dir).await;
            }
            let mut listing = Listing::default();
            let mut collect = |path: &VPath, meta: &Meta| {
                if path != dir {
                    listing.files.push(Entry {
                        path: path.clone(),
                        meta: meta.clone(),
                    });
                }
                Flow::Continue(())
            };
            provided::walk(self, &Scope::all(dir), &mut collect).await?;
            Ok(listing)
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            search: Some(self),
            ranged: Some(self),
            streams: Some(self),
            trees: Some(self),
            pause: Some(backoff),
            ..Extras::NONE
        }
    }
}

impl Ranged for HostDisk {
    fn get_part<'a>(&'a self, path: &'a VPath, range: Range<u64>) -> Pending<'a, Option<Part>> {
        Box::pin(async move {
            // Numbers of JavaScript are exact for every size that a file can have.
            let ends = [range.start, range.end].map(|at| JsValue::from_f64(at as f64));
            let answer = self.inner().ask("getPart", path, &ends).await?;
            if answer.is_null() {
                return Ok(None);
            }
            let body = file_of(&answer)?.body;
            let meta = meta_of(&answer, None)?;
            Ok(Some(Part {
                start: range.start.min(meta.size),
                file: File { meta, body },
                lines: None,
            }))
        })
    }
}

impl Search for HostDisk {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let paths = self.names(find.scope, None, find.want).await?;
            self.with_stats(paths, visit).await
        })
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let literal = scan.hints.literal.filter(|literal| !literal.is_empty());
            let fast = self.has("bodies");
            if let Some(literal) = literal
                && fast
                && !scan.hints.by_name
            {
                let dir = scan.scope.literal_dir();
                let literal = host::array_of(literal).into();
                let holding = self.inner().ask("holding", &dir, &[literal]).await?;
                if !holding.is_undefined() {
                    return self.read_blocks(Bodies(holding), &scan, visit).await;
                }
            }
            let nothing = unknown_meta();
            let wants = |path: &VPath| !file::is_binary_name(path) && (scan.want)(path, &nothing);
            let paths = self.names(scan.scope, literal, wants).await?;
            if paths.is_empty() {
                Ok(())
            } else if fast {
                let literal =
                    literal.map_or(JsValue::UNDEFINED, |literal| host::array_of(literal).into());
                let bodies = self.call("bodies", &[joined(&paths), literal]).await?;
                self.read_blocks(Bodies(bodies), &scan, visit).await
            } else {
                self.read_each(&paths, visit).await
            }
        })
    }
}

impl Trees for HostDisk {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        Box::pin(async move {
            let answer = match self.inner().ask("removeTree", root, &[]).await {
                Ok(answer) => answer,
                Err(error) => return Removed::failed(error),
            };
            let rows = host::property(&answer, "paths")
                .map(|paths| js_sys::Array::from(&paths))
                .unwrap_or_default();
            Removed {
                paths: rows
                    .iter()
                    .filter_map(|path| VPath::from_stored(&path.as_string()?))
                    .collect(),
                directories: host::property(&answer, "directories")
                    .is_some_and(|directories| directories.is_truthy()),
                error: host::property(&answer, "error").map(|thrown| {
                    let error = host::thrown("Something could not be deleted", thrown);
                    refusal(error, Some(root))
                }),
            }
        })
    }

    fn prune<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, ()> {
        Box::pin(async move {
            // Directories that stay behind are empty.
            let _ = self.inner().ask("prune", root, &[]).await;
        })
    }
}

/// A random time, so that calls that collided do not collide again.
fn backoff(attempt: u32) -> Duration {
    random::wait(2.0 + f64::from(attempt.min(24)) * 2.0)
}
