//! Opens a directory that the host lends.

use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode as Wasi, OpenFlags};

use crate::exports::kitbag::files::types::{Error, ErrorCode};
use crate::place::{self, SCRATCH, STAY};
use crate::volume::Folder;
use crate::{refusal, store, walk};

/// Most bytes of a file if the caller does not say.
const USUAL_BYTES: u64 = 10 << 20;
/// Files are in memory as a whole, which has 4 GiB.
const MOST_BYTES: u64 = 1 << 30;

/// A name of a directory as its parts, and whether it begins with `/`.
fn parts(path: &str) -> (bool, Vec<&str>) {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    (path.starts_with('/'), names.collect())
}

/// The directory of the host that has the longest name of which `path` begins, and what is below it.
fn lent(directories: Vec<(Descriptor, String)>, path: &str) -> Option<(Descriptor, Vec<&str>)> {
    let (is_absolute, wanted) = parts(path);
    let fits = directories.into_iter().filter_map(|(directory, name)| {
        let (begins, names) = parts(&name);
        (begins == is_absolute && wanted.starts_with(&names)).then_some((names.len(), directory))
    });
    let (taken, directory) = fits.max_by_key(|(length, _)| *length)?;
    Some((directory, wanted.into_iter().skip(taken).collect()))
}

/// A volume over a directory.
pub fn open(path: &str, max_file_bytes: Option<u64>) -> Result<Folder, Error> {
    let most = max_file_bytes.unwrap_or(USUAL_BYTES);
    if most > MOST_BYTES {
        return Err(refusal::error(
            ErrorCode::InvalidArgument,
            format!("max-file-bytes must be at most {MOST_BYTES}"),
        ));
    }
    let Some((directory, names)) = lent(preopens::get_directories(), path) else {
        return Err(refusal::error(
            ErrorCode::NotFound,
            format!("The host has opened no directory with the name '{path}' or one above it"),
        ));
    };
    let is_right = |name: &&str| place::is_name(name) && !name.starts_with(SCRATCH);
    if !names.iter().all(is_right) {
        return Err(refusal::error(
            ErrorCode::InvalidPath,
            format!("'{path}' must consist of names between '/', without '..', '\\' and NUL"),
        ));
    }
    let mut root = place::itself(&directory, path)?;
    for name in names {
        root = place::made(&root, name, path)?;
    }
    let folds = folds_case(&root).map_err(|code| refusal::of(path, code))?;
    Ok(Folder { root, most, folds })
}

/// A name in the other case.
fn swapped(name: &str) -> String {
    let other = |letter: char| match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    name.chars().map(other).collect()
}

/// Whether a directory has names that differ in case alone for one: rules about paths must then not tell
/// them apart. A name that is there shows it; in an empty directory, one that is made for this.
fn folds_case(root: &Descriptor) -> Result<bool, Wasi> {
    let names = walk::names(root)?;
    for (name, _) in &names {
        let other = swapped(name);
        if other != *name {
            let is_other = names.iter().any(|(name, _)| *name == other);
            return Ok(!is_other && is_one(root, name, &other));
        }
    }
    let name = store::scratch_name();
    let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    // Where nothing can be created there is nothing to tell apart either.
    if root
        .open_at(STAY, &name, flags, DescriptorFlags::WRITE)
        .is_err()
    {
        return Ok(false);
    }
    let is_one = is_one(root, &name, &swapped(&name));
    let _ = root.unlink_file_at(&name);
    Ok(is_one)
}

fn is_one(root: &Descriptor, name: &str, other: &str) -> bool {
    let hash = |name| {
        root.metadata_hash_at(STAY, name)
            .map(|hash| (hash.upper, hash.lower))
    };
    place::status(root, other).is_ok_and(|found| found.is_some())
        && hash(name).ok() == hash(other).ok()
}
