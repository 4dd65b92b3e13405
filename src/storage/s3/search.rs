//! Passes many objects to a search: listing and bodies in parallel, with as many requests as
//! allowed at any time. The next page of the listing is requested while the bodies of the previous
//! one are fetched, so requests never pause between two pages.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;

use super::store::S3;
use super::width::FIRST;
use crate::core::error::Result;
use crate::core::pace::{CALL, ITEMS, Pace};
use crate::core::path::VPath;
use crate::env::{clock, timer};
use crate::storage::{Entry, File, Flow, Scan};

/// The next page is requested when fewer entries than this are left; one page has that many.
const LOW: usize = 1000;
/// So many times as many bodies are queued as there are requests at once.
const AHEAD: usize = 4;
/// So many requests begin at once; then other work has its turn if it is time.
const BEGUN: usize = 8;
/// With this many bytes in the queue, it has no more bodies than it has with few requests.
const HELD: u64 = 32 << 20;

/// An event in a search.
enum Event {
    Page(Option<Result<Vec<Entry>>>),
    /// A body, and the size that was listed for it.
    Body(Result<Option<(VPath, File)>>, u64),
    /// More requests may begin.
    More,
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
        let pace = Pace::new(clock::now, timer::pause);
        let pages = self.pages("search", scan.scope, scan.hints.splits, &pace);
        let mut pages = Box::pin(pages.fuse());
        let mut ready: VecDeque<Entry> = VecDeque::new();
        let mut bodies = FuturesOrdered::new();
        // The bytes of the bodies that are queued.
        let mut bytes = 0u64;
        let mut listed = false;
        let mut failed = None;
        loop {
            // More bodies are queued than may be in progress, so that one slow body does not block the
            // others.
            let ahead = self.client.width.now().saturating_mul(AHEAD);
            let mut begun = 0;
            while begun < BEGUN
                && bodies.len() < ahead
                && (bytes < HELD || bodies.len() < FIRST * AHEAD)
                && let Some(Entry { path, meta }) = ready.pop_front()
            {
                begun += 1;
                bytes = bytes.saturating_add(meta.size);
                bodies.push_back(async move {
                    let file = self.listed_file(&path, &meta).await;
                    (file.map(|file| Some((path, file?))), meta.size)
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
                    Poll::Ready(Some((body, size))) => Poll::Ready(Event::Body(body, size)),
                    Poll::Ready(None) if listed => Poll::Ready(Event::End),
                    Poll::Pending if begun == BEGUN => Poll::Ready(Event::More),
                    _ => Poll::Pending,
                }
            });
            match event.await {
                Event::Page(Some(Ok(entries))) => {
                    let wanted = |entry: &Entry| (scan.want)(&entry.path, &entry.meta);
                    ready.extend(entries.into_iter().filter(wanted));
                    pace.worked(ITEMS).await;
                }
                // Entries from earlier pages are processed first; they may be all that is wanted.
                Event::Page(Some(Err(error))) => {
                    failed = Some(error);
                    listed = true;
                }
                Event::Page(None) => listed = true,
                Event::Body(body, size) => {
                    bytes = bytes.saturating_sub(size);
                    if let Some((path, file)) = body?
                        && visit(&path, &file).is_break()
                    {
                        return Ok(());
                    }
                    pace.called().await;
                }
                Event::More => pace.worked(BEGUN * CALL).await,
                Event::End => return failed.map_or(Ok(()), Err),
            }
        }
    }
}
