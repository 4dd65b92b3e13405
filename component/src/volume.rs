//! A storage that the host lends. Nothing that it answers is believed where it can be checked: paths that
//! are none are skipped, listings are sorted here, and an endless one is refused.

use bytes::Bytes;
use kitbag::core::error::{Error, Kind, Result};
use kitbag::core::file::{Format, Mime, Mode};
use kitbag::core::future::{Pending, done};
use kitbag::core::order;
use kitbag::core::path::VPath;
use kitbag::core::sorted::Sorted;
use kitbag::core::time::Time;
use kitbag::storage::hosted::{Hosted, Methods, Stored};
use kitbag::storage::{Entry, File, Meta, NewFile, PutMode, Version};

use crate::bindings::kitbag::files::{storage, types};
use crate::run::ask;
use crate::{answers, given};

/// A listing with more pages than this is treated as endless.
const MAX_PAGES: usize = 100_000;

/// The volume of a host.
pub struct Lent(storage::Volume);

/// A storage on a volume.
pub fn lent(volume: storage::Volume) -> Result<Hosted<Lent>> {
    let capability = ask(|| Ok(given::capability(volume.capability())))?;
    Ok(Hosted::of(Lent(volume), capability))
}

/// An error of the host about a file.
fn refused(path: &VPath, error: types::Error) -> Error {
    match error.code {
        types::ErrorCode::AlreadyExists => Error::already_exists(path),
        types::ErrorCode::Conflict => Error::conflict(path),
        _ => given::error(error),
    }
}

fn version(given: Option<String>) -> Option<Version> {
    given.map(|text| Version::Tag(text.into()))
}

/// Volumes know versions as texts alone.
fn tag(version: &Version) -> String {
    match version {
        Version::Tag(tag) => tag.to_string(),
        Version::Number(number) => number.to_string(),
    }
}

fn meta(given: storage::Metadata, size: Option<usize>) -> Meta {
    let created = given.created.map(given::time);
    let size = size.map(|size| size as u64).or(given.size);
    let mime = given.mime_type.filter(|text| !text.is_empty());
    Meta {
        size: size.unwrap_or(Meta::UNKNOWN_SIZE),
        created,
        modified: given
            .modified
            .map(given::time)
            .or(created)
            .unwrap_or_else(|| Time::from_micros(0)),
        mime: mime.map(|text| Mime::given(&text)),
        format: given.format.map_or(Format::V2, given::format),
        texture: None,
        mode: given.mode.map(Mode::of),
        version: version(given.version),
    }
}

impl Lent {
    fn listed(&self, dir: &VPath) -> Result<Vec<Entry>> {
        let prefix = dir.dir_prefix();
        let mut found = Vec::new();
        let mut from: Option<String> = None;
        let mut seen = Sorted::new();
        for _ in 0..MAX_PAGES {
            let page = ask(|| {
                let page = self.0.list(&prefix, from.as_deref());
                page.map_err(given::error)
            })?;
            for entry in page.entries {
                // Keys that are not valid paths are skipped, and so are keys outside of `prefix`.
                let path = VPath::from_stored(&entry.path);
                let path = path.filter(|path| {
                    let path = path.as_str();
                    path.len() > prefix.len() && path.starts_with(&prefix)
                });
                let meta = meta(entry.metadata, None);
                found.extend(path.map(|path| Entry { path, meta }));
            }
            let Some(next) = page.next else {
                order::sort_by(&mut found, |a: &Entry, b: &Entry| a.path.cmp(&b.path));
                found.dedup_by(|a, b| a.path == b.path);
                return Ok(found);
            };
            if seen.insert(next.clone(), ()).is_some() {
                break;
            }
            from = Some(next);
        }
        Err(Error::new(
            Kind::Unavailable,
            "The volume's list goes round in circles: it gave the same place twice",
        ))
    }

    fn store(&self, path: &VPath, file: &NewFile, mode: &PutMode) -> Result<Stored> {
        let file = storage::NewFile {
            body: file.body.to_vec(),
            created: file.created.micros(),
            modified: file.modified.micros(),
            mime_type: file.mime.as_str().to_owned(),
            format: answers::format(file.format),
            mode: file.mode.map(Mode::bits),
        };
        let condition = match mode {
            PutMode::Create => storage::Condition::Create,
            PutMode::Overwrite => storage::Condition::Overwrite,
            PutMode::Update(version) => storage::Condition::Update(tag(version)),
        };
        let tag = ask(|| {
            let stored = self.0.put(path.as_str(), &file, &condition);
            stored.map_err(|error| refused(path, error))
        })?;
        Ok(Stored::As(version(tag)))
    }
}

impl Methods for Lent {
    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        let answer = ask(|| {
            let answer = self.0.stat(path.as_str());
            answer.map_err(|error| refused(path, error))
        });
        done(answer.map(|found| found.map(|given| meta(given, None))))
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        let file = |given: storage::File| File {
            meta: meta(given.metadata, Some(given.body.len())),
            body: Bytes::from(given.body),
        };
        let answer = ask(|| {
            let answer = self.0.get(path.as_str());
            answer.map_err(|error| refused(path, error))
        });
        done(answer.map(|found| found.map(file)))
    }

    fn put<'a>(
        &'a self,
        path: &'a VPath,
        file: &'a NewFile,
        mode: &'a PutMode,
    ) -> Pending<'a, Stored> {
        done(self.store(path, file, mode))
    }

    fn delete<'a>(&'a self, path: &'a VPath, mode: &'a PutMode) -> Pending<'a, Option<bool>> {
        let version = match mode {
            PutMode::Update(version) => Some(tag(version)),
            PutMode::Create | PutMode::Overwrite => None,
        };
        let answer = ask(|| {
            let answer = self.0.delete(path.as_str(), version.as_deref());
            answer.map_err(|error| refused(path, error))
        });
        done(answer.map(Some))
    }

    fn entries<'a>(&'a self, dir: &'a VPath) -> Pending<'a, Vec<Entry>> {
        done(self.listed(dir))
    }
}
