//! Uploads and downloads over several backends: one batch per backend, all in parallel, with the
//! results in the order of the arguments.

use bytes::Bytes;

use super::{Composite, Mount};
use crate::core::error::{Error, Result};
use crate::core::future::together;
use crate::core::path::VPath;
use crate::protocol::{BackendExt, too_few};

/// The items for one backend, and the indices of their results.
struct Batch<'a, T> {
    mount: &'a Mount,
    places: Vec<usize>,
    items: Vec<T>,
}

impl Composite {
    /// Groups items by backend. Items without a target already have an error.
    fn batches<T, A>(
        &self,
        items: impl ExactSizeIterator<Item = (Result<(usize, VPath)>, T)>,
        make: impl Fn(VPath, T) -> A,
    ) -> (Vec<Option<Error>>, Vec<Batch<'_, A>>) {
        let mut refused: Vec<Option<Error>> = Vec::with_capacity(items.len());
        let mut by_owner: Vec<Option<Batch<'_, A>>> = self.all().map(|_| None).collect();
        for (at, (place, item)) in items.enumerate() {
            match place {
                Err(error) => refused.push(Some(error)),
                Ok((owner, inner)) => {
                    refused.push(None);
                    let (Some(slot), Some(mount)) =
                        (by_owner.get_mut(owner), self.all().nth(owner))
                    else {
                        continue;
                    };
                    let batch = slot.get_or_insert_with(|| Batch {
                        mount,
                        places: Vec::new(),
                        items: Vec::new(),
                    });
                    batch.places.push(at);
                    batch.items.push(make(inner, item));
                }
            }
        }
        (refused, by_owner.into_iter().flatten().collect())
    }

    /// The backend that a file's path belongs to, by its index in `all()`, and the path within it.
    fn numbered(&self, path: &VPath) -> Result<(usize, VPath)> {
        let place = self.file_place(path)?;
        let owner = self
            .all()
            .position(|mount| std::ptr::eq(mount, place.mount))
            .ok_or_else(|| Error::internal("A mount got lost"))?;
        Ok((owner, place.inner))
    }

    pub(super) async fn upload_all(&self, files: Vec<(VPath, Bytes)>) -> Vec<Result<()>> {
        let items = files.into_iter().map(|(path, body)| {
            let place = self.numbered(&path);
            (place, body)
        });
        let (refused, batches) = self.batches(items, |path, body| (path, body));
        let (mounts, calls): (Vec<_>, Vec<_>) = batches
            .into_iter()
            .map(|batch| {
                let upload = batch.mount.backend.upload(batch.items);
                ((batch.mount, batch.places), upload)
            })
            .unzip();
        in_order(refused, mounts, together(calls).await)
    }

    pub(super) async fn download_all(&self, paths: &[VPath]) -> Vec<Result<Bytes>> {
        let items = paths.iter().map(|path| {
            let place = self.numbered(path);
            (place, ())
        });
        let (refused, batches) = self.batches(items, |path, ()| path);
        let calls = batches
            .iter()
            .map(|batch| batch.mount.backend.download(&batch.items));
        let answers = together(calls.collect()).await;
        let mounts = batches
            .iter()
            .map(|batch| (batch.mount, batch.places.clone()));
        in_order(refused, mounts.collect(), answers)
    }
}

/// The results of the whole batch, from those of each backend and their indices in it.
fn in_order<T>(
    refused: Vec<Option<Error>>,
    mounts: Vec<(&Mount, Vec<usize>)>,
    answers: Vec<Vec<Result<T>>>,
) -> Vec<Result<T>> {
    let mut out: Vec<Result<T>> = refused
        .into_iter()
        .map(|refused| Err(refused.unwrap_or_else(too_few)))
        .collect();
    for ((mount, places), answers) in mounts.into_iter().zip(answers) {
        for (at, answer) in places.into_iter().zip(answers) {
            if let Some(slot) = out.get_mut(at) {
                *slot = answer.map_err(|error| mount.error(error));
            }
        }
    }
    out
}
