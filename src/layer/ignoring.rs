//! Ignore files: `glob` and `grep` leave out what the rules of `.gitignore` and its like name, and count
//! it. Everything else passes: a file that is ignored can be read and changed by its path. The rules
//! are read before each search, since they are files that anybody may change.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::{order, running};
use crate::env::{clock, timer};
use crate::layer::winnow;
use crate::protocol::{
    Answer, Atomic, Backend, BackendExt, Capability, GlobQuery, GlobResult, GrepQuery, GrepResult,
    Only, Request, SharedBackend, Sieve, Sift, State, answer,
};
use crate::search::ignore::Ignore;

/// A backend whose searches leave out ignored files.
pub struct Ignoring {
    inner: SharedBackend,
    /// Names of ignore files; of two in one directory the later one decides first.
    names: Vec<String>,
    /// Lines that apply to the whole tree, before those of any file.
    patterns: String,
}

impl Ignoring {
    /// Leaves out what these files and patterns name. A name is one segment, a pattern one line.
    pub fn new(inner: SharedBackend, names: Vec<String>, patterns: &[String]) -> Result<Ignoring> {
        let plain = |name: &&String| {
            !name.is_empty() && !name.contains(['/', '\\', '*', '?', '[', '{', ',', '}'])
        };
        match names.iter().find(|name| !plain(name)) {
            None => Ok(Ignoring {
                inner,
                names,
                patterns: patterns.join("\n"),
            }),
            Some(name) => Err(Error::new(
                Kind::InvalidArgument,
                format!("An ignore file is a name such as \".gitignore\", and not \"{name}\""),
            )),
        }
    }

    /// The rules for a search below `root`: those of files above, at and below it.
    async fn rules(&self, root: &VPath, pace: &Pace) -> Result<Ignore> {
        let mut rules = self.rules_of_tree(pace).await;
        let pattern = match self.names.as_slice() {
            [] => return Ok(rules),
            [one] => format!("**/{one}"),
            all => format!("**/{{{}}}", all.join(",")),
        };
        let query = GlobQuery::new(pattern, root.clone());
        let found = self.inner.glob(&query).await?.files;
        let mut paths: Vec<VPath> = found.into_iter().map(|info| info.path).collect();
        let mut above = root.clone();
        while !above.is_root() {
            above = above.parent();
            for name in &self.names {
                paths.push(above.join(name)?);
            }
        }
        self.add_files(&mut rules, paths, pace).await?;
        Ok(rules)
    }

    /// The rules for the whole tree.
    async fn rules_of_tree(&self, pace: &Pace) -> Ignore {
        let mut rules = Ignore::default();
        let lines = self.patterns.as_bytes();
        rules.add(&VPath::root(), lines, pace).await;
        rules
    }

    /// Adds the rules of ignore files; those that do not exist have none.
    async fn add_files(
        &self,
        rules: &mut Ignore,
        mut paths: Vec<VPath>,
        pace: &Pace,
    ) -> Result<()> {
        let place = |path: &VPath| self.names.iter().position(|name| name == path.name());
        order::sort_by_key(&mut paths, |path| (path.segments().count(), place(path)));
        for (path, body) in paths.iter().zip(self.inner.download(&paths).await) {
            match body {
                Ok(body) => rules.add(&path.parent(), &body, pace).await,
                Err(error) if error.is_no_file() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Those of some files that a search of `root` does not leave out, whether they exist or not. Only
    /// the ignore files above them are read.
    pub async fn shown(&self, root: &VPath, files: Vec<VPath>) -> Result<Vec<VPath>> {
        let mut above = BTreeSet::new();
        for file in &files {
            let mut dir = file.clone();
            while !dir.is_root() {
                dir = dir.parent();
                // Where a directory is known, those above it are, too.
                if !above.insert(dir.clone()) {
                    break;
                }
            }
        }
        let mut paths = Vec::new();
        for dir in &above {
            for name in &self.names {
                paths.push(dir.join(name)?);
            }
        }
        let pace = Pace::new(clock::now, timer::pause);
        let mut rules = self.rules_of_tree(&pace).await;
        self.add_files(&mut rules, paths, &pace).await?;
        let mut shown = judged(&rules, root, files.iter(), &pace).await.into_iter();
        rules.over()?;
        let mut files = files;
        files.retain(|_| shown.next() == Some(true));
        Ok(files)
    }

    async fn found(&self, query: &GlobQuery) -> Result<GlobResult> {
        let pace = Pace::new(clock::now, timer::pause);
        let rules = self.rules(&query.path, &pace).await?;
        let mut found = self.inner.glob(query).await?;
        let all = found.files.len();
        let paths = found.files.iter().map(|info| &info.path);
        let mut shown = judged(&rules, &query.path, paths, &pace).await.into_iter();
        rules.over()?;
        found.files.retain(|_| shown.next() == Some(true));
        found.ignored = found.ignored.saturating_add(all - found.files.len());
        Ok(found)
    }

    async fn searched(&self, query: &GrepQuery) -> Result<GrepResult> {
        let pace = Pace::new(clock::now, timer::pause);
        let skip = Rc::new(Skip {
            rules: self.rules(&query.path, &pace).await?,
            root: query.path.clone(),
            sieve: query.sieve.clone(),
            count: Cell::new(0),
            puts_off: running::may_wait(),
            undecided: RefCell::default(),
        });
        let mut own = query.clone();
        own.sieve = Some(Sieve(skip.clone()));
        let ignored = Cell::new(0);
        // Called once for each search through the files.
        let judge = async |paths: &[VPath]| {
            let verdict = judged(&skip.rules, &skip.root, paths.iter(), &pace).await;
            let undecided = skip.undecided.take();
            let later = judged(&skip.rules, &skip.root, undecided.iter(), &pace).await;
            let hidden = |verdict: &[bool], paths: &[VPath]| {
                let all = verdict.iter().zip(paths);
                all.filter(|(shown, path)| !**shown && skip.tells(path))
                    .count()
            };
            let left_out = skip.count.take().saturating_add(hidden(&later, &undecided));
            // The backend may not have asked the sieve.
            ignored.set(left_out.max(hidden(&verdict, paths)));
            Ok(verdict)
        };
        let mut search = pin!(winnow::grep(&*self.inner, &own, judge));
        let found = poll_fn(|context| {
            skip.rules.worked();
            search.as_mut().poll(context)
        });
        let mut found = found.await?;
        skip.rules.over()?;
        found.ignored = found.ignored.saturating_add(ignored.get());
        Ok(found)
    }
}

/// Which of some files are not ignored.
async fn judged<'a>(
    rules: &Ignore,
    root: &VPath,
    paths: impl Iterator<Item = &'a VPath>,
    pace: &Pace,
) -> Vec<bool> {
    let mut shown = Vec::new();
    for path in paths {
        shown.push(!rules.ignores(path, root));
        pace.worked(rules.worked()).await;
    }
    shown
}

/// Leaves out ignored files before they are read, and counts them.
struct Skip {
    rules: Ignore,
    root: VPath,
    sieve: Option<Sieve>,
    count: Cell<usize>,
    /// Whether files may be judged after the search.
    puts_off: bool,
    /// Files that are.
    undecided: RefCell<Vec<VPath>>,
}

impl Sift for Skip {
    /// A storage asks in the midst of its own work. If the rules have taken long since it last waited, the
    /// files that it still asks about are searched, and judged afterwards.
    fn admits(&self, path: &VPath, state: &State<'_>) -> bool {
        if self.puts_off && self.rules.is_pause_due() {
            self.undecided.borrow_mut().push(path.clone());
        } else if self.rules.ignores(path, &self.root) {
            let more = usize::from(self.tells(path));
            self.count.set(self.count.get().saturating_add(more));
            return false;
        }
        let sieve = self.sieve.as_ref();
        sieve.is_none_or(|sieve| sieve.admits(path, state))
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

    /// None, so that all files are counted.
    fn only(&self) -> Option<Rc<Only>> {
        None
    }

    fn skipped(&self, path: &VPath, state: &State<'_>) {
        if let Some(sieve) = &self.sieve
            && !self.rules.ignores(path, &self.root)
        {
            sieve.skipped(path, state);
        }
    }

    fn hides(&self) -> bool {
        self.sieve.as_ref().is_some_and(|sieve| sieve.hides())
    }

    fn tells(&self, path: &VPath) -> bool {
        self.sieve.as_ref().is_none_or(|sieve| sieve.tells(path))
    }

    fn counts(&self) -> bool {
        true
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Ignoring {
    fn capability(&self) -> Capability {
        let mut capability = self.inner.capability();
        capability.leaves_out = true;
        capability
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Grep(query) => answer(self.searched(query), Answer::Grep),
            Request::Glob(query) => answer(self.found(query), Answer::Glob),
            Request::Ls(_)
            | Request::Read(..)
            | Request::ReadRaw(..)
            | Request::Write(..)
            | Request::Edit(..)
            | Request::Delete(..)
            | Request::Transfer(_)
            | Request::Upload(_)
            | Request::Stream(..)
            | Request::Download(_)
            | Request::Execute(..) => self.inner.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.inner.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.inner.atomic()
    }
}

#[cfg(test)]
mod tests {

    use bytes::Bytes;

    use super::*;
    use crate::core::testing::{now, path};
    use crate::files::{Files, FilesOptions};
    use crate::storage::memory::Memory;

    fn backend() -> Ignoring {
        let inner = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
        let files = [
            ("/.gitignore", "node_modules/\n*.log\n"),
            ("/.kitbagignore", "!kept.log\n"),
            ("/a.txt", "needle"),
            ("/b.log", "needle"),
            ("/kept.log", "needle"),
            ("/node_modules/c.txt", "needle"),
            ("/src/.gitignore", "gen\n"),
            ("/src/d.txt", "needle"),
            ("/src/gen/e.txt", "needle"),
            ("/tmp/f.txt", "needle"),
        ];
        let files = files.map(|(at, text)| (path(at), Bytes::from_static(text.as_bytes())));
        let stored = now(inner.upload(files.to_vec()));
        assert!(stored.iter().all(Result::is_ok));
        let names = [".gitignore", ".kitbagignore"].map(String::from);
        Ignoring::new(inner, names.to_vec(), &["/tmp/".into()]).expect("names of files")
    }

    fn grepped(at: &str, max_count: Option<usize>) -> (Vec<String>, usize) {
        let query = GrepQuery {
            pattern: "needle".into(),
            path: path(at),
            glob: None,
            max_count,
            max_per_file: None,
            regex: false,
            ignore_case: false,
            before: 0,
            after: 0,
            stats: false,
            sieve: None,
        };
        let found = now(backend().grep(&query));
        let found = found.expect("searched");
        let paths = found.matches.paths.iter().map(VPath::to_string);
        (paths.collect(), found.ignored)
    }

    #[test]
    fn searches_leave_out_and_count_what_is_ignored() {
        let (paths, ignored) = grepped("/", None);
        assert_eq!(paths, ["/a.txt", "/kept.log", "/src/d.txt"]);
        assert_eq!(ignored, 4);
        assert_eq!(grepped("/", Some(2)).0.len(), 2);
        let query = GlobQuery::new("**/*.txt", VPath::root());
        let found = now(backend().glob(&query));
        let found = found.expect("found");
        assert_eq!(found.ignored, 3);
        assert_eq!(found.files.len(), 2);
    }

    #[test]
    fn rules_above_a_directory_apply_in_it_and_an_ignored_directory_can_be_named() {
        assert_eq!(grepped("/src", None), (vec!["/src/d.txt".into()], 1));
        let (paths, ignored) = grepped("/node_modules", None);
        assert_eq!((paths.len(), ignored), (1, 0));
        assert_eq!(grepped("/b.log", None), (vec!["/b.log".into()], 0));
    }

    #[test]
    fn files_are_judged_by_the_rules_above_them_whether_they_exist_or_not() {
        let shown = |root: &str, files: &[&str]| -> Vec<String> {
            let files = files.iter().map(|at| path(at)).collect();
            let shown = backend();
            let shown = now(shown.shown(&path(root), files)).expect("judged");
            shown.iter().map(VPath::to_string).collect()
        };
        let files = [
            "/a.txt",
            "/none.log",
            "/kept.log",
            "/src/gen/x",
            "/src/x",
            "/tmp/x",
        ];
        assert_eq!(shown("/", &files), ["/a.txt", "/kept.log", "/src/x"]);
        assert_eq!(shown("/tmp", &["/tmp/x"]), ["/tmp/x"]);
    }

    #[test]
    fn an_ignored_file_can_be_read() {
        assert!(now(backend().read_raw(&path("/b.log"))).is_ok());
    }

    #[test]
    fn a_pattern_is_no_name_of_a_file() {
        let inner = || Rc::new(Files::new(Memory::default(), FilesOptions::default()));
        for name in ["", "a/b", "*.ignore", "{a,b}"] {
            assert!(Ignoring::new(inner(), vec![name.into()], &[]).is_err());
        }
    }
}
