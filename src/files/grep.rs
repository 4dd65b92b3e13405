//! One search through the files that a storage visits. A storage calls the visitor in the midst of its
//! own work and cannot wait there. So when a pause is due, the current file and those that the
//! storage still visits before it waits by itself are set aside; their bodies are shared, not
//! copied. They are searched after the pause, in order. So it is with paths, if the pattern that they are
//! matched against has taken long: they are let through, and matched after the pause.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::core::running;
use crate::env::timer;
use crate::protocol::GrepResult;
use crate::search::glob::NameFilter;
use crate::search::grep::{Matcher, Progress};
use crate::storage::{File, Flow};

use super::shown::kind_of;

pub(super) struct Grep<'a> {
    matcher: &'a Matcher,
    cap: usize,
    filter: Option<&'a NameFilter>,
    /// Whether the search may wait.
    waits: bool,
    /// Whether a path was let through.
    let_through: Cell<bool>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    found: GrepResult,
    count: usize,
    /// Files that are not searched yet, or not to their ends.
    aside: VecDeque<(VPath, File, Option<Progress>)>,
}

impl<'a> Grep<'a> {
    pub(super) fn new(
        matcher: &'a Matcher,
        cap: Option<usize>,
        filter: Option<&'a NameFilter>,
    ) -> Grep<'a> {
        Grep {
            matcher,
            cap: cap.unwrap_or(usize::MAX),
            filter,
            waits: running::may_wait(),
            let_through: Cell::new(false),
            state: RefCell::new(State::default()),
        }
    }

    /// Whether the filter accepts a path, as far as is known.
    pub(super) fn wants(&self, path: &VPath) -> bool {
        let Some(filter) = self.filter else {
            return true;
        };
        if self.waits && filter.is_pause_due() {
            self.let_through.set(true);
            return true;
        }
        filter.accepts(path)
    }

    /// The storage goes on after it has waited.
    pub(super) fn resume(&self) {
        if let Some(filter) = self.filter {
            filter.worked();
        }
    }

    /// Searches a file, or sets it aside.
    pub(super) fn visit(&self, path: &VPath, file: &File) -> Flow {
        let mut state = self.state.borrow_mut();
        if self.let_through.get()
            || !state.aside.is_empty()
            || self.matcher.patience().is_pause_due()
        {
            state.aside.push_back((path.clone(), file.clone(), None));
            return Flow::Continue(());
        }
        if let Some(progress) = self.search(&mut state, path, file, None) {
            let file = (path.clone(), file.clone(), Some(progress));
            state.aside.push_back(file);
            return Flow::Continue(());
        }
        match self.is_enough(&state) {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        }
    }

    /// Searches a file from where it was left. Returns how far it came if a pause is due.
    fn search(
        &self,
        state: &mut State,
        path: &VPath,
        file: &File,
        from: Option<Progress>,
    ) -> Option<Progress> {
        let texture = kind_of(path, file).1;
        // Search for one match more than allowed, to find out whether there are more.
        let budget = self.cap.saturating_sub(state.count).saturating_add(1);
        let mut progress = from.unwrap_or_else(|| self.matcher.begin(budget));
        let before = progress.left();
        let out = &mut state.found.matches;
        let done = (self.matcher).search(path, &file.body, texture, &mut progress, out);
        state.count += before - progress.left();
        (!done).then_some(progress)
    }

    fn is_enough(&self, state: &State) -> bool {
        state.count > self.cap || self.matcher.over().is_some() || state.found.matches.is_full()
    }

    /// Whether files are set aside.
    pub(super) fn is_behind(&self) -> bool {
        !self.state.borrow().aside.is_empty()
    }

    /// Whether no further file needs to be visited.
    pub(super) fn is_over(&self) -> bool {
        self.is_enough(&self.state.borrow())
    }

    /// Searches the files that were set aside, with pauses.
    pub(super) async fn catch_up(&self) {
        loop {
            timer::pause().await;
            self.matcher.patience().resume();
            self.resume();
            loop {
                let is_slow = self.filter.is_some_and(NameFilter::is_pause_due);
                if is_slow || self.matcher.patience().is_pause_due() {
                    break;
                }
                let mut state = self.state.borrow_mut();
                let Some((path, file, from)) = state.aside.pop_front() else {
                    return;
                };
                let is_new = from.is_none() && self.let_through.get();
                if is_new && self.filter.is_some_and(|filter| !filter.accepts(&path)) {
                    continue;
                }
                if let Some(progress) = self.search(&mut state, &path, &file, from) {
                    state.aside.push_front((path, file, Some(progress)));
                    break;
                }
                if self.is_enough(&state) {
                    state.aside.clear();
                    return;
                }
            }
        }
    }

    pub(super) fn finish(self) -> Result<GrepResult> {
        if let Some(error) = self.matcher.over() {
            return Err(error);
        }
        let mut state = self.state.take();
        state.found.truncated = state.count > self.cap || state.found.matches.is_full();
        state.found.matches.keep_first(self.cap);
        Ok(state.found)
    }
}
