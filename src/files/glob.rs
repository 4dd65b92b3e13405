//! One `glob` through the files that a storage finds.

use std::future::{Future, poll_fn};
use std::pin::pin;

use super::Operations;
use super::shown::info;
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::core::{order, running};
use crate::env::{clock, timer};
use crate::protocol::{FileInfo, GlobQuery, GlobResult};
use crate::search::glob::Pattern;
use crate::storage::{Find, Flow, Meta, provided};

impl Operations {
    pub(super) async fn glob_files(&self, query: &GlobQuery) -> Result<GlobResult> {
        let pattern = Pattern::parse(query)?;
        let mut files = Vec::new();
        let mut visit = |path: &VPath, meta: &Meta| {
            files.push(info(path.clone(), meta));
            Flow::Continue(())
        };
        // A storage asks in the midst of its own work. If the pattern has taken long since it last waited,
        // the paths that it still asks about are matched afterwards.
        let puts_off = running::may_wait();
        let undecided = RefCell::new(Vec::new());
        let want = |path: &VPath| {
            if puts_off && pattern.is_pause_due() && path.is_shown_at(&query.path) {
                undecided.borrow_mut().push(path.clone());
                return true;
            }
            pattern.accepts(path) && path.is_shown_at(&query.path)
        };
        let find = Find {
            scope: pattern.scope(),
            want: &want,
        };
        {
            let mut finding = pin!(provided::find(&*self.storage, find, &mut visit));
            let polled = poll_fn(|context| {
                pattern.worked();
                finding.as_mut().poll(context)
            });
            polled.await?;
        }
        let mut undecided = undecided.take();
        if !undecided.is_empty() {
            order::sort(&mut undecided);
            let pace = Pace::new(clock::now, timer::pause);
            let mut matching = Vec::with_capacity(files.len());
            for file in &files {
                let is_decided = undecided.binary_search(&file.path).is_err();
                matching.push(is_decided || pattern.accepts(&file.path));
                pace.worked(pattern.worked()).await;
            }
            let mut matching = matching.into_iter();
            files.retain(|_| matching.next() == Some(true));
        }
        pattern.over()?;
        // The walk returned files in path order. The sort is stable, so files with the same time
        // keep that order; it compares only integers, which makes it fast.
        if !query.in_any_order {
            order::sort_by_key(&mut files, |file: &FileInfo| {
                std::cmp::Reverse(file.modified())
            });
        }
        Ok(GlobResult {
            files,
            by_path: query.in_any_order,
            truncated: false,
            ignored: 0,
        })
    }
}
