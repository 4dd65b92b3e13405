//! The composite: several backends as one tree. This file selects the backend for a path and
//! rewrites paths on the way in and out. Searches over several backends are in `search`, deletes
//! over several in `remove`, batches in `batch`. The composite knows nothing of storages or of
//! policies.

mod batch;
mod remove;
mod search;
#[cfg(test)]
pub(crate) mod tests;
mod transfer;

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, done};
use crate::core::order;
use crate::core::path::VPath;
use crate::protocol::{
    Answer, Atomic, Backend, Capability, Directories, FilesUpdate, Listings, Reach, Request,
    SharedBackend, answer, whole,
};

/// A backend and the prefix under which its files appear.
struct Mount {
    /// The mounted directory; the root for the default backend.
    prefix: VPath,
    backend: SharedBackend,
}

/// Several backends as one tree. Invariants:
///
/// - no two mounts have the same prefix, and none is the root;
/// - `mounts` is sorted with the longest prefix first, so the first match is the right one;
/// - files of a backend below the prefix of a deeper mount are never returned or changed, except by
///   the delete of a directory above that mount.
pub struct Composite {
    default: Mount,
    mounts: Vec<Mount>,
}

/// The target of a path: a backend, and the path within it.
struct Place<'a> {
    mount: &'a Mount,
    inner: VPath,
}

impl Mount {
    fn is_default(&self) -> bool {
        self.prefix.is_root()
    }

    /// The path within the backend.
    fn inward(&self, path: &VPath) -> Result<VPath> {
        if self.is_default() {
            return Ok(path.clone());
        }
        path.rebase(&self.prefix, &VPath::root()).ok_or_else(|| {
            Error::at(
                Kind::InvalidPath,
                "Invalid path '",
                path,
                format!(
                    "': behind the mount '{}' it would begin with '~' or a drive",
                    self.prefix.dir_prefix()
                ),
            )
        })
    }

    /// A path of the backend as callers see it; `None` if it would be too long.
    fn outward(&self, path: &VPath) -> Option<VPath> {
        if self.is_default() {
            return Some(path.clone());
        }
        path.rebase(&VPath::root(), &self.prefix)
    }

    /// An error of the backend with the path as callers see it.
    fn error(&self, error: Error) -> Error {
        error.map_path(|path| self.outward(path).unwrap_or_else(|| self.prefix.clone()))
    }

    fn update(&self, update: Option<FilesUpdate>) -> Option<FilesUpdate> {
        let update = update?;
        let outer = update
            .into_iter()
            .filter_map(|(path, file)| Some((self.outward(&path)?, file)));
        Some(outer.collect())
    }
}

impl Composite {
    /// Mounts backends over a default one. Duplicate prefixes and the root are refused.
    pub fn new(
        default: SharedBackend,
        mounts: impl IntoIterator<Item = (VPath, SharedBackend)>,
    ) -> Result<Composite> {
        let mut all: Vec<Mount> = Vec::new();
        for (prefix, backend) in mounts {
            if prefix.is_root() {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    "A backend cannot be mounted at '/': that is the default backend's place",
                ));
            }
            if all.iter().any(|mount| mount.prefix == prefix) {
                return Err(Error::new(
                    Kind::InvalidArgument,
                    format!("Two backends are mounted at '{}'", prefix.dir_prefix()),
                ));
            }
            all.push(Mount { prefix, backend });
        }
        order::sort_by_key(&mut all, |mount| {
            std::cmp::Reverse(mount.prefix.as_str().len())
        });
        Ok(Composite {
            default: Mount {
                prefix: VPath::root(),
                backend: default,
            },
            mounts: all,
        })
    }

    fn owner(&self, path: &VPath) -> &Mount {
        self.mounts
            .iter()
            .find(|mount| path.is_under(&mount.prefix))
            .unwrap_or(&self.default)
    }

    fn place(&self, path: &VPath) -> Result<Place<'_>> {
        let mount = self.owner(path);
        let inner = mount.inward(path)?;
        Ok(Place { mount, inner })
    }

    /// The target of a file path; a mounted prefix itself is a directory.
    fn file_place(&self, path: &VPath) -> Result<Place<'_>> {
        let place = self.place(path)?;
        if place.inner.is_root() && !path.is_root() {
            return Err(Error::at(
                Kind::IsDirectory,
                "'",
                path,
                "' is a directory: a backend is mounted there. Name a file beneath it.",
            ));
        }
        Ok(place)
    }

    /// Passes a request about one file to the backend that it belongs to. Where there is none and
    /// `holds_mounts`, the path is a directory.
    fn passed<'a>(
        &'a self,
        path: &'a VPath,
        request: Request<'a>,
        holds_mounts: bool,
    ) -> Pending<'a, Answer> {
        let Place { mount, inner } = match self.file_place(path) {
            Ok(place) => place,
            Err(error) => return done(Err(error)),
        };
        if mount.is_default() && !holds_mounts {
            return mount.backend.call(request);
        }
        Box::pin(async move {
            let answer = mount.backend.call(request.at(&inner)).await;
            let mut answer = answer.map_err(|error| match mount.error(error) {
                error if holds_mounts && error.kind() == Kind::NotFound => Error::not_a_file(path),
                error => error,
            })?;
            if let Some(update) = answer.update() {
                *update = mount.update(update.take());
            }
            if let Answer::Upload(stored) = answer {
                let stored = stored.into_iter();
                let outward = stored.map(|one| one.map_err(|error| mount.error(error)));
                return Ok(Answer::Upload(outward.collect()));
            }
            Ok(answer)
        })
    }

    /// The mounts strictly below a directory.
    fn beneath<'a>(&'a self, path: &'a VPath) -> impl Iterator<Item = &'a Mount> {
        self.mounts
            .iter()
            .filter(move |mount| mount.prefix != *path && mount.prefix.is_under(path))
    }

    fn all(&self) -> impl Iterator<Item = &Mount> {
        std::iter::once(&self.default).chain(&self.mounts)
    }

    fn common_capability(&self) -> Capability {
        fn weaker(a: Reach, b: Reach) -> Reach {
            match (a, b) {
                (Reach::Never, _) | (_, Reach::Never) => Reach::Never,
                (Reach::Instance, _) | (_, Reach::Instance) => Reach::Instance,
                (Reach::Storage, Reach::Storage) => Reach::Storage,
            }
        }
        let mut common = self.default.backend.capability();
        for mount in &self.mounts {
            // Destructured, so that a new field cannot be forgotten here.
            let Capability {
                create,
                update,
                directories,
                listings,
                names,
                keeps_created,
                keeps_mime,
                keeps_format,
                keeps_modes,
                keeps_binary,
                writable,
                overwrites,
                lists_versions,
                indexed,
                leaves_out,
                max_file_bytes,
                files,
                notes,
                origins,
            } = mount.backend.capability();
            common.create = weaker(common.create, create);
            common.update = weaker(common.update, update);
            if directories == Directories::Real {
                common.directories = Directories::Real;
            }
            common.listings = common.listings.max(listings).max(Listings::Mounts);
            common.names = common.names.and(names);
            common.keeps_created &= keeps_created;
            common.keeps_mime &= keeps_mime;
            common.keeps_format &= keeps_format;
            common.keeps_modes |= keeps_modes;
            common.keeps_binary &= keeps_binary;
            common.writable |= writable;
            common.overwrites |= overwrites;
            common.lists_versions &= lists_versions;
            common.indexed |= indexed;
            common.leaves_out |= leaves_out;
            common.max_file_bytes = match (common.max_file_bytes, max_file_bytes) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            common.files = common.files.and(files);
            common.origins.extend(origins);
            let prefix = mount.prefix.dir_prefix();
            common.notes.extend(
                notes
                    .iter()
                    .map(|note| Rc::from(format!("{prefix}: {note}"))),
            );
        }
        common
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Composite {
    fn capability(&self) -> Capability {
        self.common_capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.list_level(path), Answer::Ls),
            Request::Grep(query) => answer(self.grep_all(query), Answer::Grep),
            Request::Glob(query) => answer(self.glob_all(query), Answer::Glob),
            Request::Delete(path, None) => answer(self.delete_all(path), Answer::Delete),
            Request::Delete(path, Some(body)) => {
                answer(self.delete_unchanged(path, body), Answer::Delete)
            }
            Request::Transfer(asked) => answer(self.transfer_all(asked), Answer::Transfer),
            Request::Upload(files) => whole(self.upload_all(files), Answer::Upload),
            Request::Download(paths) => whole(self.download_all(paths), Answer::Download),
            Request::Read(path, _) => {
                self.passed(path, request, self.beneath(path).next().is_some())
            }
            Request::ReadRaw(path, _)
            | Request::Write(path, _)
            | Request::Edit(path, _)
            | Request::Stream(path, _) => self.passed(path, request, false),
            Request::Execute(..) => self.default.backend.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.default.backend.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        let is_never = |mount: &Mount| {
            let backend = &mount.backend;
            backend.capability().writable && matches!(backend.atomic(), Atomic::Never)
        };
        match self.all().any(is_never) {
            true => Atomic::Never,
            false => Atomic::Conditional,
        }
    }
}
