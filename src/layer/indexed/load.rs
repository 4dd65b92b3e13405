//! Reading the index: the manifest, the names of each segment once, and for a query the blocks that
//! it needs. All segments are read in parallel. Nothing here fails: what cannot be read is not
//! known.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::join_all;

use super::Indexed;
use super::grams::Need;
use super::hash::Key;
use super::manifest::Manifest;
use super::segment::{Name, Shape};
use crate::core::error::Kind;
use crate::core::path::VPath;
use crate::protocol::clipped;

/// A segment of at most this many bytes is read whole, in one request.
const WHOLE: u64 = 128 * 1024;

/// What is known of the index.
pub struct Known {
    /// The manifest as it was read.
    pub stored: Bytes,
    pub manifest: Manifest,
    /// The segments that could be read.
    pub segments: Vec<Rc<Loaded>>,
    /// Segment and place of each state.
    pub places: HashMap<Name, (usize, usize)>,
}

/// A segment with its names.
pub struct Loaded {
    pub shape: Shape,
    pub names: Vec<Name>,
}

/// The index, opened for a query.
#[derive(Default)]
pub struct Opened {
    pub known: Option<Rc<Known>>,
    /// For each segment and file, whether it may match.
    pub may: Vec<Vec<bool>>,
    /// Requests made.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// A segment as far as it could be read.
struct Part {
    names: Option<Rc<Loaded>>,
    blocks: HashMap<usize, Bytes>,
    requests: u64,
    bytes: u64,
    is_broken: bool,
}

impl Indexed {
    /// The path of a file of the index.
    pub(super) fn file(&self, name: &str) -> Option<VPath> {
        self.dir.join(name).ok()
    }

    /// The path of a segment.
    pub(super) fn segment(&self, id: u64) -> Option<VPath> {
        self.file(&format!("{id:016x}.bin"))
    }

    /// The manifest as it is stored; `None` if it cannot be read.
    pub(super) async fn manifest(&self) -> Option<Bytes> {
        let path = [self.file("manifest.bin")?];
        self.keep.download(&path).await.pop()?.ok()
    }

    /// The next search reads the manifest again.
    pub(super) fn reread(&self) {
        self.stale.set(true);
    }

    /// Opens the index for a query.
    pub(super) async fn open(&self, need: &Need) -> Opened {
        let mut opened = Opened::default();
        let known = self.known.borrow().clone();
        let mut stored = known.as_ref().map(|known| known.stored.clone());
        if stored.is_none() || self.stale.replace(false) {
            opened.requests = 1;
            let now = self.manifest().await;
            opened.bytes = now.as_ref().map_or(0, |now| now.len() as u64);
            // An old manifest is as good as none, or better.
            stored = now.or(stored);
        }
        match stored {
            Some(stored) => self.open_stored(stored, need, opened).await,
            None => opened,
        }
    }

    /// Opens the index with this manifest.
    async fn open_stored(&self, stored: Bytes, need: &Need, mut opened: Opened) -> Opened {
        let before = self.known.borrow().clone();
        let Some(manifest) = Manifest::decode(&stored) else {
            return opened;
        };
        let parts = manifest.segments.iter().map(|shape| {
            let loaded = before.as_ref().and_then(|known| {
                let mut segments = known.segments.iter();
                segments.find(|one| one.shape == *shape).cloned()
            });
            self.read_segment(manifest.key, shape, loaded, need)
        });
        let parts = join_all(parts).await;
        let mut segments = Vec::new();
        for (shape, part) in manifest.segments.iter().zip(parts) {
            opened.requests += part.requests;
            opened.bytes += part.bytes;
            if part.is_broken {
                self.broken.borrow_mut().insert(shape.id);
            }
            if let Some(loaded) = part.names {
                let block = |block: usize| part.blocks.get(&block).map(|bytes| &**bytes);
                opened.may.push(shape.candidates(need, &block));
                segments.push(loaded);
            }
        }
        opened.known = Some(match before {
            Some(known) if known.stored == stored && known.segments.len() == segments.len() => {
                known
            }
            _ => {
                let known = Rc::new(Known::new(stored, manifest, segments));
                self.known.replace(Some(known.clone()));
                known
            }
        });
        opened
    }

    async fn read_segment(
        &self,
        key: Key,
        shape: &Shape,
        loaded: Option<Rc<Loaded>>,
        need: &Need,
    ) -> Part {
        let grams = need.iter().flatten().flatten();
        let mut blocks: Vec<usize> = grams.map(|gram| shape.block_of(*gram)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        // The ranges to read; neighbours together.
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let wanted = blocks.iter().map(|block| shape.block(*block));
        let names = loaded.is_none().then(|| shape.names());
        for range in names.into_iter().chain(wanted) {
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        }
        if !ranges.is_empty() && shape.bytes() <= WHOLE {
            ranges = vec![0..shape.bytes()];
        }
        let path = self.segment(shape.id);
        let read = join_all(ranges.iter().map(|range| async {
            match &path {
                Some(path) => self.keep.part(path, range.clone()).await,
                None => Ok(Bytes::new()),
            }
        }));
        let read = read.await;
        // What failed for another reason may be there at the next try.
        let failed = read.iter().any(|answer| {
            let error = answer.as_ref().err();
            error.is_some_and(|error| error.kind() != Kind::NotFound)
        });
        let part = |wanted: &Range<u64>| {
            let mut all = ranges.iter().zip(&read);
            let (range, bytes) =
                all.find(|(range, _)| range.start <= wanted.start && wanted.end <= range.end)?;
            Some(clipped(bytes.as_ref().ok()?, range.start, wanted.clone()))
        };
        let mut is_broken = false;
        let names = loaded.or_else(|| {
            let names = part(&shape.names()).and_then(|data| shape.read_names(key, &data));
            is_broken |= names.is_none();
            let shape = shape.clone();
            names.map(|names| Rc::new(Loaded { shape, names }))
        });
        let mut intact = HashMap::new();
        for block in blocks {
            let data = part(&shape.block(block));
            let body = data.as_ref().and_then(|data| {
                let body = shape.read_block(key, block, data)?;
                Some(data.slice_ref(body))
            });
            is_broken |= body.is_none();
            intact.extend(body.map(|body| (block, body)));
        }
        Part {
            names,
            blocks: intact,
            requests: ranges.len() as u64,
            bytes: read.iter().flatten().map(|bytes| bytes.len() as u64).sum(),
            is_broken: is_broken && !failed,
        }
    }

    /// The manifest as it is stored now, which may be damaged, and the index with all names.
    pub(super) async fn fresh(&self) -> (Option<Bytes>, Option<Rc<Known>>) {
        let stored = self.manifest().await;
        let (nothing, none) = (Need::new(), Opened::default());
        let opened = match stored.clone() {
            Some(stored) => self.open_stored(stored, &nothing, none).await,
            None => none,
        };
        (stored, opened.known)
    }
}

impl Known {
    pub fn new(stored: Bytes, manifest: Manifest, segments: Vec<Rc<Loaded>>) -> Known {
        let mut places = HashMap::new();
        for (at, segment) in segments.iter().enumerate() {
            for (file, name) in segment.names.iter().enumerate() {
                places.insert(*name, (at, file));
            }
        }
        Known {
            stored,
            manifest,
            segments,
            places,
        }
    }
}
