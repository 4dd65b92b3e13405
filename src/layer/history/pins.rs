//! Pins: names of the state of all files. A pin keeps every content that it names.
//!
//! While a pin is made, a file `pins/TIME-making-…` says so, and nothing is deleted from the history. It
//! is written before anything else, and removed after the file of the pin is there. Pruning looks for
//! such files after it has deleted something, and puts that back if it finds a new one.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::History;
use super::note::{Note, millis};
use super::store::Record;
use super::walk::walk;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, bounded};
use crate::core::order;
use crate::core::path::VPath;
use crate::core::time::Time;
use crate::pins::{Digest, Digests, Leaf, Objects, build};
use crate::protocol::{BackendExt, EntryInfo, FileInfo, Replacement, files_beneath};

/// How often files that change while they are pinned are read again.
const ROUNDS: u32 = 16;

/// How many files are read at once, and of how many bytes together.
const FILES_AT_ONCE: usize = 64;
const BYTES_AT_ONCE: u64 = 16 * 1024 * 1024;

/// How many nodes and contents are written at once.
const WRITES_AT_ONCE: usize = 16;

/// A file that was written so shortly before it was read may be written again with the same time: in
/// microseconds, for one clock and for two.
const SAME_CLOCK: i64 = 2_000_000;
const OTHER_CLOCK: i64 = 60_000_000;

/// A pin that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its name: the digest of its tree, in hexadecimal.
    pub name: Rc<str>,
    /// When it was made last.
    pub at: Time,
}

/// What a listing says of a file.
type Stamp = (Option<u64>, Option<Time>);

/// A file as it was pinned last.
struct Known {
    digest: Digest,
    size: u64,
    /// What the listing said then; `None` in a pin that another object made.
    stamp: Option<Stamp>,
}

/// The last pin.
pub(super) struct Base {
    root: Digest,
    /// When it was begun, in microseconds.
    began: i64,
    /// In order of the paths.
    files: Vec<(VPath, Known)>,
    nodes: Digests,
    /// The notes that it includes; `None` in a pin that another object made.
    notes: Option<Vec<Rc<str>>>,
}

fn stamp(info: &FileInfo) -> Option<Stamp> {
    match info.entry {
        EntryInfo::File { size, modified } => Some((size, modified)),
        EntryInfo::Directory => None,
    }
}

impl Base {
    /// Whether a listed file is as it was pinned, as far as the listing tells.
    fn known(&self, path: &VPath, now: Stamp) -> Option<&Known> {
        let at = self.files.binary_search_by(|(known, _)| known.cmp(path));
        let (_, known) = self.files.get(at.ok()?)?;
        let (size, modified) = now;
        let margin = match known.stamp {
            Some(then) if then == now => SAME_CLOCK,
            None if size == Some(known.size) => OTHER_CLOCK,
            _ => return None,
        };
        (modified?.micros().saturating_add(margin) < self.began).then_some(known)
    }

    /// Whether a note may be about a change after it.
    fn is_after(&self, id: &Rc<str>) -> bool {
        match &self.notes {
            Some(notes) => notes.binary_search(id).is_err(),
            None => millis(id).is_some_and(|at| at >= (self.began - OTHER_CLOCK) / 1000),
        }
    }
}

/// What a pin reads.
struct Reading {
    /// What was read, one after the other; `None` for a file that is gone.
    files: Vec<(VPath, Option<Known>)>,
    /// Contents that were held at the beginning, if that is known.
    held: Digests,
}

impl Reading {
    /// What was read last of each file that is there, in order of the paths.
    fn last(self) -> Vec<(VPath, Known)> {
        let mut files = self.files;
        // The sort is stable; of equal paths the last one is taken first.
        files.reverse();
        order::sort_by(&mut files, |a, b| a.0.cmp(&b.0));
        files.dedup_by(|later, first| later.0 == first.0);
        let there = files.into_iter();
        there
            .filter_map(|(path, known)| Some((path, known?)))
            .collect()
    }
}

/// Parses the name of a pin.
pub(super) fn root_of(pin: &str) -> Result<Digest> {
    Digest::from_hex(pin).ok_or_else(|| {
        Error::new(
            Kind::InvalidArgument,
            format!("'{pin}' is no pin: give what pin() returned, 48 hexadecimal digits"),
        )
    })
}

impl History {
    /// Names the state of all files, and keeps what it names.
    pub fn pin(&self) -> Pending<'_, Pin> {
        Box::pin(async move {
            let began = super::now();
            let making = Record::name(began, None);
            self.store.put_pin(&making).await?;
            let made = self.made_pin(began).await;
            // One that stays is taken for that of a process that ended.
            let _ = self.store.drop_pin(&making).await;
            made
        })
    }

    async fn made_pin(&self, began: i64) -> Result<Pin> {
        let notes = self.store.ids().await?;
        let base = self.base_of(&self.store.pins().await?).await?;
        let mut reading = Reading {
            files: Vec::new(),
            held: Digests::default(),
        };
        let mut touched: Vec<VPath> = Vec::new();
        match &base {
            Some(base) => {
                let fresh = notes.iter().filter(|id| base.is_after(id)).cloned();
                let fresh: Vec<Rc<str>> = fresh.collect();
                touched = paths_of(&self.store.notes(&fresh).await?);
            }
            None => {
                let bodies = self.store.bodies().await?;
                let names = bodies.iter().map(|info| info.path.name());
                reading.held.add(names.filter_map(Digest::from_hex));
            }
        }
        let mut open: Vec<(VPath, Stamp)> = Vec::new();
        for info in self.live().await? {
            let Some(now) = stamp(&info) else { continue };
            let known = base.as_ref().and_then(|base| base.known(&info.path, now));
            match known.filter(|_| touched.binary_search(&info.path).is_err()) {
                Some(Known { digest, size, .. }) => {
                    let known = Known {
                        digest: *digest,
                        size: *size,
                        stamp: Some(now),
                    };
                    reading.files.push((info.path, Some(known)));
                }
                None => open.push((info.path, now)),
            }
        }
        self.read_files(open, &mut reading).await?;
        let notes = self.settled(notes, &mut reading).await?;
        let files = reading.last();
        let leaves: Vec<Leaf> = files
            .iter()
            .map(|(path, known)| Leaf {
                path: path.clone(),
                digest: known.digest,
                size: known.size,
            })
            .collect();
        let built = build(leaves.iter());
        let kept = base.map(|base| base.nodes).unwrap_or_default();
        let new = built.nodes.iter();
        let new = new.filter(|(digest, _)| !kept.has(digest));
        let writes = new.map(|(digest, node)| -> LocalBoxFuture<'_, Result<()>> {
            Box::pin(self.store.hold_node(digest, node))
        });
        let written = bounded(WRITES_AT_ONCE, writes).await;
        written.into_iter().collect::<Result<()>>()?;
        let root = built.root;
        // Written also if there is one: somebody may be letting that one go.
        let own = Record::name(began, Some(&root));
        self.store.put_pin(&own).await?;
        let pins = self.store.pins().await?;
        if pins.iter().any(|record| *record.name == *own) {
            for record in &pins {
                if record.root == Some(root) && *record.name < *own {
                    self.store.drop_pin(&record.name).await?;
                }
            }
        }
        let mut nodes = Digests::default();
        nodes.add(built.nodes.iter().map(|(digest, _)| *digest));
        self.base.replace(Some(Base {
            root,
            began,
            files,
            nodes,
            notes: Some(notes),
        }));
        Ok(Pin {
            name: root.hex().into(),
            at: Time::from_micros(began),
        })
    }

    /// All files of the backend, without what a commit leaves for a moment.
    pub(super) async fn live(&self) -> Result<Vec<FileInfo>> {
        let mut files = files_beneath(&*self.inner, &VPath::root()).await?;
        files.retain(|info| !History::passes(&info.path));
        Ok(files)
    }

    /// The last pin, if it is still kept, or the newest one; `None` if there is none or it lost a part.
    async fn base_of(&self, pins: &[Record]) -> Result<Option<Base>> {
        let is_kept = |base: &Base| pins.iter().any(|record| record.root == Some(base.root));
        if let Some(base) = self.base.take().filter(is_kept) {
            return Ok(Some(base));
        }
        let newest = pins.iter().rev().find_map(|record| {
            let root = record.root?;
            Some((root, record.micros))
        });
        let Some((root, began)) = newest else {
            return Ok(None);
        };
        let mut files: Vec<(VPath, Known)> = Vec::new();
        let mut visit = |leaf: &Leaf| {
            let known = Known {
                digest: leaf.digest,
                size: leaf.size,
                stamp: None,
            };
            files.push((leaf.path.clone(), known));
        };
        let mut nodes = Digests::default();
        let whole = walk(&self.store.objects(), root, &mut nodes, &mut visit).await?;
        Ok(whole.is_empty().then_some(Base {
            root,
            began,
            files,
            nodes,
            notes: None,
        }))
    }

    /// Reads files, and keeps their contents. Those that are gone are left out.
    async fn read_files(&self, open: Vec<(VPath, Stamp)>, reading: &mut Reading) -> Result<()> {
        let mut rest = open.as_slice();
        while !rest.is_empty() {
            let mut size = 0u64;
            let fits = rest.iter().take(FILES_AT_ONCE).take_while(|(_, stamp)| {
                let first = size == 0;
                size = size.saturating_add(stamp.0.unwrap_or(0).max(1));
                first || size <= BYTES_AT_ONCE
            });
            let count = fits.count();
            let (batch, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            self.read_batch(batch, reading).await?;
            rest = later;
        }
        Ok(())
    }

    async fn read_batch(&self, batch: &[(VPath, Stamp)], reading: &mut Reading) -> Result<()> {
        let paths: Vec<VPath> = batch.iter().map(|(path, _)| path.clone()).collect();
        let answers = self.inner.download(&paths).await;
        let mut holding: Vec<(String, Bytes)> = Vec::new();
        for ((path, stamp), answer) in batch.iter().zip(answers) {
            let body = match answer {
                Ok(body) => body,
                Err(error) if error.is_no_file() => {
                    reading.files.push((path.clone(), None));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let digest = Digest::of(&body);
            let known = Known {
                digest,
                size: body.len() as u64,
                stamp: Some(*stamp),
            };
            reading.files.push((path.clone(), Some(known)));
            if !reading.held.has(&digest) {
                holding.push((digest.hex(), body));
            }
        }
        let writes = holding.iter().map(|(digest, body)| {
            Box::pin(self.store.hold(digest, body)) as LocalBoxFuture<'_, Result<()>>
        });
        let written = bounded(WRITES_AT_ONCE, writes).await;
        written.into_iter().collect()
    }

    /// Reads again what was changed through a history meanwhile, until nothing was: so what was read
    /// stood there at one moment. Returns the notes that were there at that moment.
    async fn settled(&self, seen: Vec<Rc<str>>, reading: &mut Reading) -> Result<Vec<Rc<str>>> {
        let mut seen = seen;
        for _ in 0..ROUNDS {
            let now = self.store.ids().await?;
            let fresh = now.iter().filter(|id| seen.binary_search(id).is_err());
            let fresh: Vec<Rc<str>> = fresh.cloned().collect();
            if fresh.is_empty() {
                return Ok(now);
            }
            let paths = paths_of(&self.store.notes(&fresh).await?);
            // Without a time they are read again for the next pin.
            let open = paths.into_iter().map(|path| (path, (None, None)));
            self.read_files(open.collect(), reading).await?;
            seen = now;
        }
        Err(Error::new(
            Kind::Conflict,
            "Files were changed all the time while they were pinned; pin again when fewer are",
        ))
    }

    /// All pins, the oldest first.
    pub fn pins(&self) -> Pending<'_, Vec<Pin>> {
        Box::pin(async move {
            let mut pins: Vec<Pin> = Vec::new();
            for Record { root, micros, .. } in self.store.pins().await? {
                let Some(root) = root else { continue };
                let name: Rc<str> = root.hex().into();
                if pins.iter().all(|pin| pin.name != name) {
                    let at = Time::from_micros(micros);
                    pins.push(Pin { name, at });
                }
            }
            Ok(pins)
        })
    }

    /// Lets a pin go. What only it names is deleted when the history is pruned. `not_found` if there is
    /// no such pin.
    pub fn unpin<'a>(&'a self, pin: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            let root = root_of(pin)?;
            let mut any = false;
            for record in self.store.pins().await? {
                if record.root == Some(root) {
                    self.store.drop_pin(&record.name).await?;
                    any = true;
                }
            }
            match any {
                true => Ok(()),
                false => Err(Error::new(
                    Kind::NotFound,
                    format!("There is no pin '{pin}'; pins() lists those that are kept"),
                )),
            }
        })
    }

    /// What gives all files under a path what they hold in a pin. What they hold now is pinned, too, for
    /// as long as this takes: so it is known without reading all of them.
    pub(super) async fn since_pin(&self, path: &VPath, root: Digest) -> Result<Vec<Replacement>> {
        let before = self.pins().await?;
        let then = self.tree_of(root).await?;
        let now = self.pin().await?;
        let live = self.tree_of(root_of(&now.name)?).await?;
        // Those of then come last, and both are in order.
        let mut open: Vec<(VPath, Option<Digest>, Option<Digest>)> = Vec::new();
        let old = then
            .into_iter()
            .map(|(path, digest)| (path, None, Some(digest)));
        let new = live
            .into_iter()
            .map(|(path, digest)| (path, Some(digest), None));
        open.extend(new.chain(old));
        order::sort_by(&mut open, |a, b| a.0.cmp(&b.0));
        open.dedup_by(|then, now| {
            let is_same = then.0 == now.0;
            if is_same {
                now.2 = then.2;
            }
            is_same
        });
        open.retain(|(file, now, then)| now != then && file.is_under(path));
        let content = async |digest: Option<Digest>| match digest {
            Some(digest) => self.store.content(Some(&digest.hex().into())).await,
            None => Ok(None),
        };
        let mut files = Vec::new();
        for (path, before, after) in open {
            files.push(Replacement {
                path,
                before: content(before).await?,
                after: content(after).await?,
                mode: None,
            });
        }
        if before.iter().all(|pin| pin.name != now.name) {
            self.unpin(&now.name).await?;
        }
        Ok(files)
    }

    /// The files of a tree with their digests, in order.
    async fn tree_of(&self, root: Digest) -> Result<Vec<(VPath, Digest)>> {
        let mut files: Vec<(VPath, Digest)> = Vec::new();
        let mut visit = |leaf: &Leaf| files.push((leaf.path.clone(), leaf.digest));
        let objects = self.store.objects();
        let lost = walk(&objects, root, &mut Digests::default(), &mut visit).await?;
        if lost.is_empty() {
            return Ok(files);
        }
        Err(Error::new(
            Kind::Unavailable,
            "The history no longer holds the list of files of this pin; verify() lists what is lost",
        ))
    }

    /// Gives a pin a name, in place of the one that had it.
    pub fn label<'a>(&'a self, label: &'a str, pin: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            root_of(pin)?;
            self.store.put_label(label, pin).await
        })
    }

    /// The pin that has a name.
    pub fn labelled<'a>(&'a self, label: &'a str) -> Pending<'a, Rc<str>> {
        Box::pin(async move {
            self.store.label(label).await?.ok_or_else(|| {
                let message = format!("No pin has the label '{label}'; label() gives one");
                Error::new(Kind::NotFound, message)
            })
        })
    }

    /// Where the nodes and contents of a pin are, and its root.
    pub fn objects(&self, pin: &str) -> Result<(Objects, Digest)> {
        Ok((self.store.objects(), root_of(pin)?))
    }
}

/// The files that notes are about.
fn paths_of(notes: &[Note]) -> Vec<VPath> {
    let files = notes.iter().flat_map(|note| &note.files);
    let mut paths: Vec<VPath> = files.map(|file| file.path.clone()).collect();
    order::sort(&mut paths);
    paths.dedup();
    paths
}
