//! Where the files of a seed are: memory that may take its time, so that a process can end at any step
//! of a call, and that may take all spellings of a name for one, as a folder on Windows does.

use std::rc::Rc;

use bytes::Bytes;
use kitbag::core::future::Pending;
use kitbag::core::path::VPath;
use kitbag::files::stepping::pause;
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::protocol::{Capability, Names, SharedBackend};
use kitbag::storage::memory::Memory;
use kitbag::storage::{
    Cursor, Depth, Extras, File, Listing, Meta, NewFile, PutMode, Storage, Version,
};

/// What kind of disk it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kind {
    /// Whether its calls take their time, and change one file each.
    pub steps: bool,
    /// Whether it folds case.
    pub folds: bool,
}

#[derive(Clone, Default)]
pub struct Disk {
    memory: Rc<Memory>,
    kind: Kind,
    /// Whether all its files seem to hold nothing.
    is_blank: bool,
}

pub fn options() -> FilesOptions {
    FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    }
}

impl Disk {
    pub fn new(kind: Kind) -> Disk {
        Disk {
            kind,
            ..Disk::default()
        }
    }

    /// The same disk, as somebody sees it who is lied to about every content.
    pub fn blank(&self) -> Disk {
        Disk {
            is_blank: true,
            ..self.clone()
        }
    }

    /// A backend over it, as a process that has just begun has it.
    pub fn files(&self) -> SharedBackend {
        Rc::new(Files::new(self.clone(), options()))
    }

    fn is_plain(&self) -> bool {
        !self.kind.steps && !self.kind.folds && !self.is_blank
    }

    async fn wait(&self) {
        if self.kind.steps {
            pause().await;
        }
    }

    fn named(&self, path: &VPath) -> VPath {
        match self.kind.folds {
            true => VPath::any(&path.as_str().to_lowercase()).expect("a path"),
            false => path.clone(),
        }
    }
}

impl Storage for Disk {
    fn capability(&self) -> Capability {
        Capability {
            names: Names {
                case: self.kind.folds,
                ..Names::default()
            },
            lists_versions: !self.is_plain(),
            ..self.memory.capability()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move { self.memory.stat(&self.named(path)).await })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            self.wait().await;
            let mut found = self.memory.get(&self.named(path)).await?;
            if self.is_blank
                && let Some(file) = &mut found
            {
                file.body = Bytes::new();
            }
            Ok(found)
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            self.wait().await;
            let answer = self.memory.put(&self.named(path), file, mode).await;
            self.wait().await;
            answer
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            self.wait().await;
            let answer = self.memory.delete(&self.named(path), version).await;
            self.wait().await;
            answer
        })
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        Box::pin(async move { self.memory.list(&self.named(dir), depth, from).await })
    }

    fn extras(&self) -> Extras<'_> {
        match self.is_plain() {
            true => self.memory.extras(),
            false => Extras::NONE,
        }
    }
}
