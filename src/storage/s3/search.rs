//! Passes many objects to a search: listing and bodies in parallel, with as many requests as
//! allowed at any time. The next page of the listing is requested while the bodies of the previous
//! one are fetched, so requests never pause between two pages.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::{self, FuturesOrdered, Stream};

use super::store::S3;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::storage::{Entry, File, Flow, Scan, Storage};

/// The next page is requested when fewer entries than this are left; one page has that many.
const LOW: usize = 1000;

/// An event in a search.
enum Event {
    Page(Option<Result<Vec<Entry>>>),
    Body(Result<Option<(VPath, File)>>),
    /// Nothing is pending any more.
    End,
}

impl S3 {
    /// Passes the wanted files with their bodies to the visitor, in byte order, until it stops.
    pub(super) async fn search(
        &self,
        scan: Scan<'_>,
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<()> {
        // More bodies are queued than may be in progress, so that one slow body does not block the
        // others.
        let ahead = self.concurrency.saturating_mul(4);
        let mut pages = match scan.splits.is_empty() {
            true => self.pages("search", scan.scope).boxed_local().fuse(),
            false => self.stretches(&scan).boxed_local().fuse(),
        };
        let mut ready: VecDeque<Entry> = VecDeque::new();
        let mut bodies = FuturesOrdered::new();
        let mut listed = false;
        let mut failed = None;
        loop {
            while bodies.len() < ahead
                && let Some(Entry { path, meta }) = ready.pop_front()
            {
                bodies.push_back(async move {
                    let file = self.listed_file(&path, &meta).await?;
                    Ok(file.map(|file| (path, file)))
                });
            }
            let event = poll_fn(|context| {
                if !listed
                    && ready.len() < LOW
                    && let Poll::Ready(page) = pages.poll_next_unpin(context)
                {
                    return Poll::Ready(Event::Page(page));
                }
                match bodies.poll_next_unpin(context) {
                    Poll::Ready(Some(body)) => Poll::Ready(Event::Body(body)),
                    Poll::Ready(None) if listed => Poll::Ready(Event::End),
                    _ => Poll::Pending,
                }
            });
            match event.await {
                Event::Page(Some(Ok(entries))) => {
                    let wanted = |entry: &Entry| (scan.want)(&entry.path, &entry.meta);
                    ready.extend(entries.into_iter().filter(wanted));
                }
                // Entries from earlier pages are processed first; they may be all that is wanted.
                Event::Page(Some(Err(error))) => {
                    failed = Some(error);
                    listed = true;
                }
                Event::Page(None) => listed = true,
                Event::Body(body) => {
                    if let Some((path, file)) = body?
                        && visit(&path, &file).is_break()
                    {
                        return Ok(());
                    }
                }
                Event::End => return failed.map_or(Ok(()), Err),
            }
        }
    }

    /// The files in scope, listed at several places at once: from one split to the next.
    fn stretches<'a>(
        &'a self,
        scan: &Scan<'a>,
    ) -> impl Stream<Item = Result<Vec<Entry>>> + use<'a> {
        let (scope, bucket) = (scan.scope, &self.client.bucket);
        let prefix = bucket.key_prefix(&scope.root, &scope.prefix);
        let keys = scan.splits.iter().filter_map(|path| bucket.key(path).ok());
        let mut keys: Vec<String> = keys.filter(|key| key.starts_with(&prefix)).collect();
        keys.sort_unstable();
        let ends: Vec<Option<String>> = keys.into_iter().map(Some).chain([None]).collect();
        let starts = std::iter::once(None).chain(ends.clone());
        let stretches: Vec<_> = starts.zip(ends).collect();
        let listed = move |(start, end): (Option<String>, Option<String>)| {
            let prefix = prefix.clone();
            async move {
                let mut entries = Vec::new();
                if start.is_none() && scope.prefix.is_empty() && !scope.root.is_root() {
                    let path = scope.root.clone();
                    let root = self.stat(&path).await?;
                    entries.extend(root.map(|meta| Entry { path, meta }));
                }
                let mut token: Option<String> = None;
                loop {
                    let (token_now, after) = (token.as_deref(), start.as_deref());
                    let page = self.page("search", &prefix, false, token_now, after);
                    let mut page = page.await?;
                    let is_last = |key: &str| end.as_deref().is_some_and(|end| key >= end);
                    let ends = page.objects.last().is_some_and(|one| is_last(&one.key));
                    page.objects.retain(|one| {
                        start
                            .as_deref()
                            .is_none_or(|start| one.key.as_str() > start)
                            && end.as_deref().is_none_or(|end| one.key.as_str() <= end)
                    });
                    entries.extend(self.entries(&page));
                    token = page.next.filter(|_| !ends);
                    if token.is_none() {
                        return Ok(entries);
                    }
                }
            }
        };
        stream::iter(stretches)
            .map(listed)
            .buffered(self.concurrency)
    }
}
