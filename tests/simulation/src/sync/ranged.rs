//! A tree that reads files in ranges and stores them in parts, as a bucket does: parts of an upload stay when a
//! process ends, and the file is there when the upload is completed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::error::{Error, Result};
use kitbag::core::future::Pending;
use kitbag::core::parts::{Begun, Expected, Notes, Parts};
use kitbag::core::path::VPath;
use kitbag::files::stepping::pause;
use kitbag::pins::Digest;
use kitbag::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, Content, Edit, RawFile, Request, Section,
    SharedBackend,
};

/// The uploads of a tree, which outlive processes.
#[derive(Default)]
pub struct Uploads {
    last: Cell<usize>,
    /// The parts of each, by their tags.
    open: RefCell<BTreeMap<String, BTreeMap<String, Bytes>>>,
}

impl Uploads {
    fn name(&self) -> String {
        self.last.set(self.last.get() + 1);
        self.last.get().to_string()
    }
}

/// A tree with them.
pub struct Ranged {
    pub tree: SharedBackend,
    pub uploads: Rc<Uploads>,
}

fn version(body: &[u8]) -> String {
    Digest::of(body).hex()
}

impl Ranged {
    async fn part(&self, path: &VPath, range: std::ops::Range<u64>) -> Result<RawFile> {
        let mut file = self.tree.read_raw(path).await?;
        file.section = Some(Box::new(Section {
            start: 0,
            size: file.body.len() as u64,
            version: Some(version(&file.body).into()),
        }));
        Ok(file.within(range))
    }

    fn forget(&self, id: &str) {
        self.uploads.open.borrow_mut().remove(id);
    }

    async fn streamed(&self, path: &VPath, parts: &dyn Parts) -> Result<()> {
        let notes = parts.notes().expect("sync keeps notes");
        let noted = notes.begun().await?;
        let mut id = noted.as_ref().map(|begun| begun.id.clone());
        if let Some(begun) = noted.filter(|begun| !begun.goes_on) {
            pause().await;
            self.forget(&begun.id);
            notes.end().await?;
            id = None;
        }
        let sent = self.sent(path, parts, notes, &mut id).await;
        let id = id.unwrap_or_default();
        let done = match sent {
            Ok(body) => self.completed(path, notes.expected(), &id, body).await,
            Err(error) => Err(error),
        };
        if !done.as_ref().is_err_and(|error| error.is_no_answer()) {
            self.forget(&id);
            notes.end().await?;
        }
        done
    }

    /// Sends all parts, or finds them; the whole file.
    async fn sent(
        &self,
        path: &VPath,
        parts: &dyn Parts,
        notes: &dyn Notes,
        id: &mut Option<String>,
    ) -> Result<Bytes> {
        let mut tags = Vec::new();
        let mut end = 0;
        while let Some(part) = parts.next().await? {
            if id.is_none() {
                let name = self.uploads.name();
                let uploads = &self.uploads.open;
                uploads.borrow_mut().insert(name.clone(), BTreeMap::new());
                *id = Some(name.clone());
                pause().await;
                let begun = Begun {
                    id: name,
                    write: String::new(),
                    goes_on: true,
                };
                notes.begin(begun).await?;
            }
            end += part.len() as u64;
            if let Some(tag) = notes.tag(end) {
                tags.push(tag);
                continue;
            }
            pause().await;
            let tag = self.uploads.name();
            {
                let mut open = self.uploads.open.borrow_mut();
                let upload = id.as_ref().and_then(|id| open.get_mut(id));
                let upload = upload.ok_or_else(|| Error::not_found(path))?;
                upload.insert(tag.clone(), part);
            }
            notes.sent(end, &tag).await?;
            tags.push(tag);
        }
        let open = self.uploads.open.borrow();
        let upload = id.as_ref().and_then(|id| open.get(id));
        let upload = upload.ok_or_else(|| Error::not_found(path))?;
        let bodies: Option<Vec<&[u8]>> = tags
            .iter()
            .map(|tag| upload.get(tag).map(|part| &part[..]))
            .collect();
        let bodies = bodies.ok_or_else(|| Error::not_found(path))?;
        Ok(Bytes::from(bodies.concat()))
    }

    async fn completed(
        &self,
        path: &VPath,
        expected: Expected<'_>,
        id: &str,
        body: Bytes,
    ) -> Result<()> {
        pause().await;
        if !self.uploads.open.borrow().contains_key(id) {
            return Err(Error::not_found(path));
        }
        match expected {
            Expected::Anything => self.tree.store(path, body).await,
            Expected::Nothing => {
                let written = self.tree.write(path, Content::New(body, None)).await;
                written.map(drop)
            }
            Expected::Version(wanted) => {
                let old = self.tree.fetch(path).await?;
                if version(&old) != wanted {
                    return Err(Error::conflict(path));
                }
                let edit = Edit {
                    old,
                    new: body,
                    replace_all: false,
                    whole: true,
                    appends: false,
                };
                self.tree.edit(path, &edit).await.map(drop)
            }
        }
    }
}

impl Backend for Ranged {
    fn capability(&self) -> Capability {
        self.tree.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::ReadRaw(path, Some(range)) => {
                Box::pin(async move { self.part(path, range).await.map(Answer::ReadRaw) })
            }
            Request::Stream(path, file) => Box::pin(async move {
                self.streamed(path, file.parts()).await?;
                Ok(Answer::Upload(vec![Ok(())]))
            }),
            other => self.tree.call(other),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.tree.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.tree.atomic()
    }
}
