//! Memory as a storage: what it can do beyond the required methods, and how.

use super::*;

impl Within for Memory {
    fn transfer<'a>(
        &'a self,
        from: &'a VPath,
        to: &'a VPath,
        asked: &'a Transfer,
    ) -> Pending<'a, ()> {
        done(
            self.whole()
                .and_then(|()| self.transfer_now(from, to, asked)),
        )
    }
}

impl Storage for Memory {
    fn capability(&self) -> Capability {
        Capability {
            // The limit applies to all files together, so exceeding it is a quota error.
            max_file_bytes: None,
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        let meta = |()| {
            let files = self.files.borrow();
            files.get(path).map(|file| file.meta.clone())
        };
        done(self.whole().map(meta))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        if let Err(error) = self.whole() {
            return done(Err(error));
        }
        done(Ok(self.get_now(path)))
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        done(self.set(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, version: Option<Version>) -> Pending<'a, bool> {
        if let Err(error) = self.whole() {
            return done(Err(error));
        }
        let now = self
            .files
            .borrow()
            .get(path)
            .and_then(|file| file.meta.version.clone());
        if version.is_some() && now.is_some() && version != now {
            return done(Err(Error::conflict(path)));
        }
        done(Ok(self.remove(path).is_some()))
    }

    fn list<'a>(
        &'a self,
        dir: &'a VPath,
        depth: Depth,
        _from: Option<Cursor>,
    ) -> Pending<'a, Listing> {
        if let Err(error) = self.whole() {
            return done(Err(error));
        }
        if depth == Depth::One {
            return done(Ok(self.level(dir)));
        }
        let mut listing = Listing::default();
        let scope = Scope::all(dir);
        self.visit(&scope, &mut |path, file| {
            if path != dir {
                listing.files.push(Entry {
                    path: path.clone(),
                    meta: file.meta.clone(),
                });
            }
            Flow::Continue(())
        });
        done(Ok(listing))
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            within: Some(self),
            search: Some(self),
            batch: Some(self),
            update: Some(self),
            trees: Some(self),
            is_immediate: true,
            ..Extras::NONE
        }
    }
}

impl Search for Memory {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        let walked = self.whole();
        if walked.is_ok() {
            self.visit(find.scope, &mut |path, file| visit(path, &file.meta));
        }
        done(walked)
    }

    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        let mut last: Option<VPath> = None;
        let from = scan.scope.key_prefix();
        Box::pin(poll_fn(move |_| {
            if let Err(error) = self.whole() {
                return Poll::Ready(Err(error));
            }
            let before = last.take();
            let mut searched = 0;
            let passed = self.visit_behind(
                before.as_ref(),
                scan.scope,
                scan.hints.texts,
                &mut |path, file| {
                    if !(scan.want)(path, &file.meta) {
                        return Flow::Continue(());
                    }
                    searched += file.body.len();
                    visit(path, file)?;
                    if (scan.hints.is_behind)() {
                        last = Some(path.clone());
                        return Flow::Break(());
                    }
                    Flow::Continue(())
                },
            );
            let files = self.files.borrow();
            self.blocks
                .learn(&files, self.used(), &from, searched + passed);
            match last {
                Some(_) => Poll::Pending,
                None => Poll::Ready(Ok(())),
            }
        }))
    }
}

impl Batch for Memory {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        let all = |()| paths.iter().map(|path| self.get_now(path)).collect();
        done(self.whole().map(all))
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        let answers = files
            .into_iter()
            .map(|(path, file)| self.set(&path, file, PutMode::Overwrite))
            .collect();
        Box::pin(ready(answers))
    }
}

impl Update for Memory {
    fn update<'a>(
        &'a self,
        path: &'a VPath,
        change: &'a mut Change<'_>,
    ) -> Pending<'a, Option<Meta>> {
        done(self.change(path, change))
    }
}

impl Trees for Memory {
    fn delete_tree<'a>(&'a self, root: &'a VPath) -> LocalBoxFuture<'a, Removed> {
        if let Err(error) = self.whole() {
            return Box::pin(ready(Removed::failed(error)));
        }
        let mut paths = Vec::new();
        self.visit(&Scope::all(root), &mut |path, _| {
            paths.push(path.clone());
            Flow::Continue(())
        });
        // One change: if it is interrupted, the whole map counts as torn.
        let mut files = self.files.borrow_mut();
        for path in &paths {
            self.take_out(&mut files, path);
        }
        drop(files);
        Box::pin(ready(Removed {
            paths,
            ..Removed::default()
        }))
    }
}
