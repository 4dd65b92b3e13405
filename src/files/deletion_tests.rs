//! A directory is deleted on a storage without conditional changes, beside other calls of its instance.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::{Files, FilesOptions};
use crate::core::file::{self, Format, Texture};
use crate::core::future::Pending;
use crate::core::path::VPath;
use crate::core::testing::{now, path};
use crate::env::clock;
use crate::protocol::{BackendExt, Capability, Reach};
use crate::storage::memory::Memory;
use crate::storage::{Cursor, Depth, File, Listing, Meta, NewFile, PutMode, Storage, Version};

/// Memory without conditions, in which another call stores a file when a directory was listed.
struct Busy {
    memory: Memory,
    late: Rc<Cell<bool>>,
}

impl Storage for Busy {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Instance,
            update: Reach::Instance,
            ..self.memory.capability()
        }
    }
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        self.memory.stat(path)
    }
    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        self.memory.get(path)
    }
    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        self.memory.put(path, file, mode)
    }
    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        self.memory.delete(path, version)
    }
    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move {
            let listing = self.memory.list(dir, depth, from).await?;
            if self.late.take() {
                let late = path("/d/late.txt");
                let file = NewFile {
                    body: Bytes::from_static(b"late"),
                    created: clock::now(),
                    modified: clock::now(),
                    mime: file::mime_of_name(&late).expect("a text"),
                    format: Format::default(),
                    texture: Texture::Ascii,
                    mode: None,
                };
                self.memory.put(&late, file, PutMode::Create).await?;
            }
            Ok(listing)
        })
    }
}

/// Nothing keeps an edit of such a file away, so its change could be lost.
#[test]
fn a_file_that_is_made_while_its_directory_is_deleted_stays() {
    let late = Rc::new(Cell::new(false));
    let busy = Busy {
        memory: Memory::default(),
        late: late.clone(),
    };
    let files = Files::new(busy, FilesOptions::default());
    let one = ["/d/a.txt", "/d/e/b.txt"].map(|at| (path(at), Bytes::from_static(b"x")));
    let stored = now(files.upload(one.to_vec()));
    assert!(stored.iter().all(Result::is_ok));
    late.set(true);
    assert!(now(files.delete(&path("/d"), None)).is_ok());
    let asked = ["/d/a.txt", "/d/e/b.txt", "/d/late.txt"].map(path);
    let there = now(files.download(&asked));
    let there: Vec<bool> = there.iter().map(Result::is_ok).collect();
    assert_eq!(there, [false, false, true]);
}
