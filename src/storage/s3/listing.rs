//! Listing a bucket: a page, and all files in a scope, with several requests at once.

use std::future::poll_fn;
use std::task::Poll;

use futures_util::future::{LocalBoxFuture, join};
use futures_util::{FutureExt, Stream, stream};

use super::answer::Page;
use super::objects::Query;
use super::store::S3;
use super::xml::Broken;
use crate::core::bugs::{Bug, has};
use crate::core::error::Result;
use crate::core::order;
use crate::core::pace::{ITEMS, Pace};
use crate::core::path::VPath;
use crate::storage::{Entry, Scope, Storage};

impl S3 {
    /// A page of the keys that start with `prefix`.
    pub(super) async fn page(
        &self,
        operation: &'static str,
        prefix: &str,
        one_level: bool,
        token: Option<&str>,
        after: Option<&str>,
    ) -> Result<Page> {
        let about = self.client.about(operation, None);
        let query = Query {
            prefix,
            one_level,
            token,
            after,
        };
        let mut list = || self.objects.list(query);
        self.client
            .send(about, &mut list, async |page: Page| {
                let keys = page.objects.iter().map(|object| &object.key);
                if keys
                    .chain(&page.prefixes)
                    .any(|key| !key.starts_with(prefix))
                {
                    return Err(Broken("the listing has keys that were not asked for"));
                }
                Ok(page)
            })
            .await
            .map_err(|failure| failure.error)
    }

    pub(super) fn entries(&self, page: &Page) -> Vec<Entry> {
        let bucket = &self.client.bucket;
        let objects = page.objects.iter();
        objects
            .filter_map(|object| {
                Some(Entry {
                    path: bucket.file_path(&object.key)?,
                    meta: object.meta(),
                })
            })
            .collect()
    }

    /// Every file in scope, a page at a time. The first page and the file that may exist at the root
    /// of the scope are requested in parallel; with `splits`, so are the first pages of the parts
    /// between them.
    pub(super) fn pages<'a>(
        &'a self,
        operation: &'static str,
        scope: &'a Scope,
        splits: &'a [VPath],
        pace: &'a Pace,
    ) -> impl Stream<Item = Result<Vec<Entry>>> + 'a {
        let prefix = self.client.bucket.key_prefix(&scope.root, &scope.prefix);
        let keys = splits.iter().filter_map(|path| self.key(path).ok());
        let mut keys: Vec<String> = keys.filter(|key| key.starts_with(&prefix)).collect();
        order::sort(&mut keys);
        let listing = Walk {
            waiting: Vec::new(),
            ends: keys.into_iter().map(Some).chain([None]).collect(),
            start: None,
            root: scope.prefix.is_empty() && !scope.root.is_root(),
        };
        stream::unfold(listing, move |mut walk| {
            let prefix = prefix.clone();
            async move {
                let root = async {
                    match std::mem::take(&mut walk.root) {
                        true => self.stat(&scope.root).await,
                        false => Ok(None),
                    }
                };
                let pages = async {
                    if !walk.waiting.is_empty() {
                        return;
                    }
                    // Some wait, so that it is seen whether more at once are faster.
                    let count = (self.client.width.now() * 2).min(walk.ends.len());
                    let mut asked: Vec<LocalBoxFuture<'_, Stretch>> = Vec::new();
                    for end in walk.ends.drain(..count) {
                        let start = std::mem::replace(&mut walk.start, end.clone());
                        let prefix = &prefix;
                        asked.push(Box::pin(async move {
                            let after = start.as_deref();
                            let page = self.page(operation, prefix, false, None, after).await;
                            Stretch {
                                page: Some(page),
                                token: None,
                                start,
                                end,
                            }
                        }));
                    }
                    walk.waiting = answered(asked, pace).await;
                    // The next one is taken from the end.
                    walk.waiting.reverse();
                };
                let (root, ()) = join(root, pages).await;
                let mut here = walk.waiting.pop()?;
                let page = match here.page.take() {
                    Some(page) => page,
                    None => {
                        let token = here.token.as_deref();
                        let page = self.page(operation, &prefix, false, token, None).await;
                        pace.worked(ITEMS).await;
                        page
                    }
                };
                let (root, mut page) = match root.and_then(|root| Ok((root, page?))) {
                    Ok(answer) => answer,
                    Err(error) => {
                        walk.waiting.clear();
                        walk.ends.clear();
                        return Some((Err(error), walk));
                    }
                };
                let last = page.objects.last();
                let is_over = last.is_some_and(|one| here.end.as_ref() <= Some(&one.key));
                let is_over = is_over && here.end.is_some();
                page.objects.retain(|one| {
                    let is_before = here.start.as_ref().is_some_and(|start| one.key <= *start);
                    !is_before && here.end.as_ref().is_none_or(|end| one.key <= *end)
                });
                here.token = page
                    .next
                    .take()
                    .filter(|_| !is_over && !has(Bug::PageSkipped));
                if here.token.is_some() {
                    walk.waiting.push(here);
                }
                let mut entries = Vec::with_capacity(page.objects.len().saturating_add(1));
                entries.extend(root.map(|meta| Entry {
                    path: scope.root.clone(),
                    meta,
                }));
                entries.extend(self.entries(&page));
                Some((Ok(entries), walk))
            }
        })
    }
}

/// The answers to several requests for a page. A page is some milliseconds of work, and a host may have all
/// of them ready at once, so only one is read at a time, and other work can come in between.
async fn answered<T>(mut asked: Vec<LocalBoxFuture<'_, T>>, pace: &Pace) -> Vec<T> {
    let mut answers: Vec<Option<T>> = asked.iter().map(|_| None).collect();
    while answers.iter().any(Option::is_none) {
        // A request is sent when it is first polled: all are, before the first has an answer.
        poll_fn(|context| {
            let pages = asked.iter_mut().zip(&mut answers);
            for (page, answer) in pages.filter(|(_, answer)| answer.is_none()) {
                if let Poll::Ready(value) = page.poll_unpin(context) {
                    *answer = Some(value);
                    return Poll::Ready(());
                }
            }
            Poll::Pending
        })
        .await;
        pace.worked(ITEMS).await;
    }
    answers.into_iter().flatten().collect()
}

/// A listing in progress.
struct Walk {
    /// Parts whose first page was requested, the next one last.
    waiting: Vec<Stretch>,
    /// Where the other parts end; the last one has no end.
    ends: Vec<Option<String>>,
    /// Where the next part begins.
    start: Option<String>,
    /// Whether there may be a file at the root of the scope.
    root: bool,
}

/// A part of a listing: after `start`, up to and with `end`.
struct Stretch {
    start: Option<String>,
    end: Option<String>,
    /// The next page, if it was requested.
    page: Option<Result<Page>>,
    /// Where the next page begins otherwise.
    token: Option<String>,
}
