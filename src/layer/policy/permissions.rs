//! `permissions`: hides what may not be read, and protects what may not be written.
//!
//! Some checks are stricter than a rule for the path alone:
//! - Changes also need read permission, because their results reveal whether the file exists and, for
//!   `edit`, its content; those of `uploadFiles` by its quota, or by what stands in its way.
//! - No change is made below a path that a rule hides, because it would reveal whether there is a file
//!   or a directory, unless an earlier rule allows it.
//! - A delete is refused while anything below is denied, visible or not.

use std::rc::Rc;

use super::rule::{Rule, checked, download_checked, shell_refused, upload_checked};
use super::rules::Beneath;
use super::skip_hidden::veiled;
use super::{Mode, Rules, Touch, denied, denied_beneath};
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::future::{Pending, done};
use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::layer::winnow;
use crate::protocol::{
    Answer, BackendExt, FileInfo, GlobQuery, GlobResult, GrepQuery, GrepResult, Only, Request,
    SharedBackend, Sieve, Sift, State, Transfer, answer, files_beneath,
};

pub(super) struct Permissions {
    pub(super) inner: SharedBackend,
    pub(super) raw: SharedBackend,
    /// `raw` without what is hidden, for when searching all of it fails.
    pub(super) visible: SharedBackend,
    pub(super) rules: Rules,
    pub(super) allow_execute: bool,
    /// Whether searches below leave out files, and count them.
    pub(super) leaves_out: bool,
}

impl Permissions {
    fn check(&self, touch: Touch, path: &VPath) -> Result<()> {
        self.check_as(touch, touch, path)
    }

    /// Checks one kind of access, for an operation of another kind.
    fn check_as(&self, shown: Touch, touch: Touch, path: &VPath) -> Result<()> {
        let decision = self.rules.decide(touch, path);
        match decision.mode {
            Mode::Deny => Err(denied(shown, path, self.rules.name_of(decision))),
            Mode::Allow | Mode::Ask => Ok(()),
        }
    }

    /// For changes whose result reveals something about the file.
    fn check_both(&self, path: &VPath) -> Result<()> {
        self.check(Touch::Write, path)?;
        self.check_above(path)?;
        // The message is that of the requested operation.
        self.check_as(Touch::Write, Touch::Read, path)
    }

    /// Whether nothing above a path is hidden, save by rules behind the one that shows it.
    fn check_above(&self, path: &VPath) -> Result<()> {
        let own = self.rules.decide(Touch::Read, path).rule;
        let mut above = path.parent();
        while !above.is_root() {
            let decision = self.rules.decide(Touch::Read, &above);
            let hides = |rule| own.is_none_or(|own| rule < own) && self.rules.names(rule, &above);
            if decision.mode == Mode::Deny && decision.rule.is_some_and(hides) {
                return Err(denied(Touch::Write, path, self.rules.name_of(decision)));
            }
            above = above.parent();
        }
        Ok(())
    }

    /// Whether a directory may be searched: not if a rule denies it. If only the default denies it,
    /// allowed files below may be found.
    fn check_search(&self, path: &VPath) -> Result<()> {
        let decision = self.rules.decide(Touch::Read, path);
        let closed = decision.mode == Mode::Deny
            && (decision.rule.is_some()
                || self.rules.beneath(Touch::Read, path) == Beneath::Closed);
        if closed {
            return Err(denied(Touch::Read, path, self.rules.name_of(decision)));
        }
        Ok(())
    }

    fn shows(&self, path: &VPath) -> bool {
        !self.rules.denies(Touch::Read, path)
    }

    /// Whether a directory is listed: `None` if that depends on its files.
    fn shows_directory(&self, path: &VPath) -> Option<bool> {
        let decision = self.rules.decide(Touch::Read, path);
        if decision.mode == Mode::Deny && decision.rule.is_some() {
            return Some(false);
        }
        match self.rules.beneath(Touch::Read, path) {
            Beneath::Open => Some(true),
            Beneath::Closed => Some(false),
            Beneath::Mixed => None,
        }
    }

    async fn listed(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        self.check_search(path)?;
        let infos = self.inner.ls(path).await?;
        if self.rules.beneath(Touch::Read, path) == Beneath::Open {
            return Ok(infos);
        }
        let unsure = infos
            .iter()
            .any(|info| info.is_dir() && self.shows_directory(&info.path).is_none());
        let below = if unsure {
            Some(Below::of(self, path).await?)
        } else {
            None
        };
        let mut kept = infos;
        kept.retain(|info| {
            if !info.is_dir() {
                return self.shows(&info.path);
            }
            self.shows_directory(&info.path).unwrap_or_else(|| {
                below
                    .as_ref()
                    .is_some_and(|below| below.shows(self, &info.path))
            })
        });
        Ok(kept)
    }

    async fn check_delete(&self, path: &VPath) -> Result<()> {
        self.check_both(path)?;
        let open = |touch| self.rules.beneath(touch, path) == Beneath::Open;
        if open(Touch::Read) && open(Touch::Write) {
            return Ok(());
        }
        let files = files_beneath(&*self.raw, path).await;
        for info in files.map_err(|error| veiled(&error, path))? {
            if self.check_both(&info.path).is_err() {
                return Err(denied_beneath("delete", path));
            }
        }
        Ok(())
    }
}

impl Permissions {
    /// A copy reads the source; a move deletes it as well. What is hidden goes nowhere, and a
    /// directory is refused while anything below is denied at its old or at its new path.
    async fn check_transfer(&self, asked: &Transfer) -> Result<()> {
        let judge = |from: &VPath, to: &VPath| {
            match asked.keeps {
                true => self.check(Touch::Read, from),
                false => self.check_both(from),
            }
            .and_then(|()| self.check_both(to))
        };
        judge(&asked.from, &asked.to)?;
        if has(Bug::MoveUnjudged) {
            return Ok(());
        }
        let open = |path| {
            let open = |touch| self.rules.beneath(touch, path) == Beneath::Open;
            open(Touch::Read) && open(Touch::Write)
        };
        if open(&asked.from) && open(&asked.to) {
            return Ok(());
        }
        let files = asked.files(&*self.raw).await;
        for info in files.map_err(|error| veiled(&error, &asked.from))? {
            if judge(&info.path, &asked.target(&info.path)?).is_err() {
                return Err(denied_beneath(asked.operation().name(), &asked.from));
            }
        }
        // A hidden file would show itself: the new path is then taken for a directory.
        let there = files_beneath(&*self.raw, &asked.to).await;
        let there = there.map_err(|error| veiled(&error, &asked.to))?;
        match there.iter().all(|info| self.shows(&info.path)) {
            true => Ok(()),
            false => Err(denied(Touch::Write, &asked.to, None)),
        }
    }
}

/// Which subdirectories of a directory contain files, and which contain a visible one.
struct Below {
    filled: Sorted<VPath, ()>,
    shown: Sorted<VPath, ()>,
    /// Whether `filled` is known; if not, a directory without a visible file is not shown.
    is_complete: bool,
}

impl Below {
    async fn of(permissions: &Permissions, dir: &VPath) -> Result<Below> {
        let query = GlobQuery::all(dir);
        let (found, is_complete) = match permissions.raw.glob(&query).await {
            Ok(found) => (found, true),
            Err(_) => (permissions.visible.glob(&query).await?, false),
        };
        let mut below = Below {
            filled: Sorted::new(),
            shown: Sorted::new(),
            is_complete,
        };
        for info in &found.files {
            let first = info
                .path
                .relative_to(dir)
                .and_then(|rest| rest.split_once('/'))
                .and_then(|(first, _)| dir.join(first).ok());
            let Some(child) = first else { continue };
            if permissions.shows(&info.path) {
                below.shown.insert(child.clone(), ());
            }
            below.filled.insert(child, ());
        }
        Ok(below)
    }

    fn shows(&self, permissions: &Permissions, dir: &VPath) -> bool {
        self.shown.get(dir).is_some()
            || (self.is_complete && self.filled.get(dir).is_none() && permissions.shows(dir))
    }
}

/// Leaves out what may not be read, so that it is neither searched nor counted.
struct Visible {
    rules: Rules,
    sieve: Option<Sieve>,
}

impl Sift for Visible {
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        !self.rules.denies(Touch::Read, path)
            && self
                .sieve
                .as_ref()
                .is_none_or(|sieve| sieve.admits(path, state))
    }

    fn read(&self, path: &VPath, state: &State<'_>, body: &[u8], is_text: bool) {
        if let Some(sieve) = &self.sieve {
            sieve.read(path, state, body, is_text);
        }
    }

    fn splits(&self) -> Vec<VPath> {
        let sieve = self.sieve.as_ref();
        sieve.map(|sieve| sieve.splits()).unwrap_or_default()
    }

    fn only(&self) -> Option<Rc<Only>> {
        self.sieve.as_ref()?.only()
    }

    fn skipped(&self, path: &VPath, state: &State<'_>) {
        if let Some(sieve) = &self.sieve
            && !self.rules.denies(Touch::Read, path)
        {
            sieve.skipped(path, state);
        }
    }

    fn hides(&self) -> bool {
        true
    }

    fn tells(&self, path: &VPath) -> bool {
        let sieve = self.sieve.as_ref();
        !self.rules.denies(Touch::Read, path) && sieve.is_none_or(|sieve| sieve.tells(path))
    }

    fn counts(&self) -> bool {
        self.sieve.as_ref().is_some_and(|sieve| sieve.counts())
    }
}

impl Permissions {
    async fn grep(&self, query: &GrepQuery) -> Result<GrepResult> {
        self.check_search(&query.path)?;
        if self.shows_all(&query.path) || has(Bug::SearchUnfiltered) {
            return self.inner.grep(query).await;
        }
        let judge = async |paths: &[VPath]| Ok(paths.iter().map(|path| self.shows(path)).collect());
        // Judging the matches costs less than judging every file, where no file is counted.
        if !query.stats && query.sieve.is_none() && !self.leaves_out {
            let mut found = winnow::grep(&*self.inner, query, judge).await?;
            found.ignored = 0;
            return Ok(found);
        }
        let mut query = query.clone();
        query.sieve = Some(Sieve(Rc::new(Visible {
            rules: self.rules.clone(),
            sieve: query.sieve,
        })));
        winnow::grep(&*self.inner, &query, judge).await
    }

    /// Whether nothing is hidden in a directory. Otherwise nobody is told how many files of a pattern were ignored:
    /// that would tell the names of hidden ones, letter by letter.
    fn shows_all(&self, dir: &VPath) -> bool {
        self.rules.beneath(Touch::Read, dir) == Beneath::Open && self.shows(dir)
    }

    /// The answer of a change without the files that may not be seen.
    fn shown(&self, mut answer: Answer) -> Answer {
        if let Some(Some(update)) = answer.update() {
            update.retain(|(path, _)| self.shows(path));
        }
        answer
    }

    async fn glob(&self, query: &GlobQuery) -> Result<GlobResult> {
        self.check_search(&query.path)?;
        let mut found = self.inner.glob(query).await?;
        found.files.retain(|info| self.shows(&info.path));
        if !self.shows_all(&query.path) {
            found.ignored = 0;
        }
        Ok(found)
    }
}

impl Rule for Permissions {
    fn inner(&self) -> &SharedBackend {
        &self.inner
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.listed(path), Answer::Ls),
            Request::Grep(query) => answer(self.grep(query), Answer::Grep),
            Request::Glob(query) => answer(self.glob(query), Answer::Glob),
            Request::Read(path, _) | Request::ReadRaw(path, _) => {
                checked(self.check(Touch::Read, path), &self.inner, request)
            }
            Request::Write(path, _) | Request::Edit(path, _) | Request::Stream(path, _) => {
                checked(self.check_both(path), &self.inner, request)
            }
            Request::Delete(path, _) => Box::pin(async move {
                self.check_delete(path).await?;
                self.inner.call(request).await.map(|done| self.shown(done))
            }),
            Request::Transfer(asked) => Box::pin(async move {
                self.check_transfer(asked).await?;
                self.inner.call(request).await.map(|done| self.shown(done))
            }),
            Request::Upload(files) => {
                upload_checked(&self.inner, files, |path| self.check_both(path))
            }
            Request::Download(paths) if !has(Bug::DownloadUnjudged) => {
                download_checked(&self.inner, paths, |path| self.check(Touch::Read, path))
            }
            Request::Execute(..) if !self.allow_execute => {
                done(Err(shell_refused("path rules (permissions)")))
            }
            Request::Download(_) | Request::Execute(..) => self.inner.call(request),
        }
    }
}
