//! Commands. A command may read and write every file, so it counts as reading all labelled files, and
//! as writing wherever a flow points. What it has really changed is found by comparing all files
//! before and after it.

use std::rc::Rc;

use crate::core::error::{Error, Result};
use crate::core::links::refusing;
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::layer::provenance::Provenance;
use crate::layer::provenance::book::{Book, Version};
use crate::layer::provenance::gate::{Judgement, shortened};
use crate::layer::provenance::labels::Labels;
use crate::layer::provenance::returned::remember;
use crate::protocol::{
    BackendExt, ExecuteOptions, ExecuteResult, Operation, Seen, files_beneath, unsupported,
};

/// How many files are read at a time.
const AT_A_TIME: usize = 32;

impl Provenance {
    pub(super) async fn ran(
        &self,
        command: &str,
        options: ExecuteOptions,
    ) -> Result<ExecuteResult> {
        if self.inner.shell().is_none() {
            return Err(unsupported("execute"));
        }
        let (readable, may_read) = self.readable().await?;
        let mut labels = may_read.clone();
        labels.merge(&self.taint.labels());
        if labels.is_empty() {
            return self.inner.execute(command, options).await;
        }
        let root = VPath::root();
        let mut judged = Judgement::default();
        self.shared.gate.judge(&labels, None, &mut judged);
        let mut reads = self.taint.seen();
        reads.extend(readable.iter().cloned());
        let preview = || shortened(command.as_bytes());
        self.shared
            .gate
            .pass(&judged, Operation::Execute, &root, reads, preview)
            .await?;
        let _held = self.shared.commands.lock().await;
        // What was judged is what it may read: meanwhile, there may be files with other labels.
        if self.readable().await?.1 != may_read {
            return Err(Error::conflict(&root));
        }
        for seen in readable {
            let mut labels = Labels::default();
            labels.add(&seen.label);
            self.taint.add(seen.operation, &seen.path, &labels);
        }
        let before = self.versions().await?;
        // While it runs, and if its end is not seen, every file may be one that it has written.
        let recorded = self
            .shared
            .ledger
            .update(&|book| book.taint(&root, &labels))
            .await?;
        let answer = self.inner.execute(command, options).await;
        // If this fails, every file keeps the labels.
        let _ = self.compare(&before, &labels, recorded).await;
        answer
    }

    /// Records the files that a command has changed.
    async fn compare(
        &self,
        before: &Sorted<VPath, Version>,
        labels: &Labels,
        (earlier, later): (Rc<Book>, Rc<Book>),
    ) -> Result<()> {
        let _held = self.shared.changes.lock().await;
        let root = VPath::root();
        let after = self.versions().await?;
        let changed: Vec<VPath> = after
            .iter()
            .filter(|(path, version)| before.get(*path) != Some(*version))
            .map(|(path, _)| path.clone())
            .collect();
        let mut replaced = Vec::new();
        for (path, version) in before.iter() {
            let labels = earlier.labels(path, Some(*version));
            if !labels.is_empty() && after.get(path) != Some(version) {
                replaced.push((*version, labels));
            }
        }
        let serial = later.record(&root).map_or(0, |record| record.serial);
        let settle = |book: &mut Book| {
            remember(book, &replaced);
            for path in &changed {
                book.taint(path, labels);
            }
            book.restore(&root, serial, earlier.record(&root).cloned());
        };
        self.shared.ledger.update(&settle).await.map(|_| ())
    }

    /// The first file with each label, and these labels.
    async fn readable(&self) -> Result<(Vec<Seen>, Labels)> {
        let book = self.load().await?;
        let (mut seen, mut all) = (Vec::new(), Labels::default());
        for path in self.every_file().await? {
            let mut labels = self.shared.fixed(&path);
            labels.merge(&self.recorded(&book, &path).await);
            for label in labels.without(&all).iter() {
                seen.push(Seen {
                    label: label.clone(),
                    path: path.clone(),
                    operation: Operation::Execute,
                });
            }
            all.merge(&labels);
        }
        Ok((seen, all))
    }

    async fn every_file(&self) -> Result<Vec<VPath>> {
        let root = VPath::root();
        let files = files_beneath(&*self.inner, &root);
        let files = refusing(Box::pin(files)).await?;
        Ok(files.into_iter().map(|info| info.path).collect())
    }

    /// The versions of all files. One that cannot be read now has none, and counts as changed.
    async fn versions(&self) -> Result<Sorted<VPath, Version>> {
        let paths = self.every_file().await?;
        let mut versions = Sorted::new();
        for paths in paths.chunks(AT_A_TIME) {
            let bodies = refusing(self.inner.download(paths)).await;
            for (path, body) in paths.iter().zip(bodies) {
                if let Ok(body) = body {
                    versions.insert(path.clone(), Version::of(&body));
                }
            }
        }
        Ok(versions)
    }
}
