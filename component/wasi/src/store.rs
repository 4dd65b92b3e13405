//! Files as a whole. A file is written under a random name and then gets its own in one step, so that nobody
//! reads half of one.

use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode as Wasi,
    MetadataHashValue, OpenFlags,
};
use wasip2::random::random;

use crate::exports::kitbag::files::storage::{File, Metadata};
use crate::exports::kitbag::files::types::{Error, ErrorCode};
use crate::place::{SCRATCH, STAY};
use crate::{micros, refusal};

/// Bytes that are asked for at once.
const PART: u64 = 1 << 20;
/// How often a file is read again that is written in place meanwhile.
const READS: u32 = 8;

pub fn is_file(found: &DescriptorStat) -> bool {
    found.type_ == DescriptorType::RegularFile
}

/// What tells a state of a file from all others, as far as WASI has it. A host without hashes of files
/// still has sizes and times.
pub fn version(found: &DescriptorStat, hash: Result<MetadataHashValue, Wasi>) -> String {
    let hash = hash.map_or((0, 0), |hash| (hash.upper, hash.lower));
    let mut text = format!("{:x}.{:x}-{}", hash.0, hash.1, found.size);
    for time in [
        found.data_modification_timestamp,
        found.status_change_timestamp,
    ] {
        let time = time.map_or((0, 0), |time| (time.seconds, time.nanoseconds));
        text.push_str(&format!("-{}.{}", time.0, time.1));
    }
    text
}

/// The version of what is at a name.
pub fn version_at(home: &Descriptor, name: &str, found: &DescriptorStat) -> String {
    version(found, home.metadata_hash_at(STAY, name))
}

pub fn metadata(found: &DescriptorStat, version: String) -> Metadata {
    Metadata {
        size: Some(found.size),
        created: None,
        modified: found.data_modification_timestamp.map(micros),
        mime_type: None,
        format: None,
        mode: None,
        version: Some(version),
    }
}

/// A file, if there is one.
pub fn read(home: &Descriptor, name: &str, path: &str, most: u64) -> Result<Option<File>, Error> {
    let refused = |code| refusal::of(path, code);
    let file = match home.open_at(STAY, name, OpenFlags::empty(), DescriptorFlags::READ) {
        Ok(file) => file,
        Err(Wasi::NoEntry) => return Ok(None),
        Err(code) => return Err(refused(code)),
    };
    for _ in 0..READS {
        let before = file.stat().map_err(refused)?;
        if !is_file(&before) {
            return Ok(None);
        }
        if before.size > most {
            return Err(refusal::too_large(path, before.size, most));
        }
        let body = body(&file, most).map_err(refused)?;
        let after = file.stat().map_err(refused)?;
        let hash = file.metadata_hash();
        let told = version(&after, hash);
        // One that is written in place meanwhile would be half old, half new.
        if body.len() as u64 == after.size && told == version(&before, hash) {
            let metadata = metadata(&after, told);
            return Ok(Some(File { metadata, body }));
        }
    }
    Err(refusal::of(path, Wasi::Busy))
}

/// All bytes of a file, and one more than `most` at most.
fn body(file: &Descriptor, most: u64) -> Result<Vec<u8>, Wasi> {
    let mut body = Vec::new();
    loop {
        let has = body.len() as u64;
        if has > most {
            return Ok(body);
        }
        let (part, is_end) = file.read(PART.min(most - has + 1), has)?;
        body.extend_from_slice(&part);
        if is_end || part.is_empty() {
            return Ok(body);
        }
    }
}

/// A name that no other file has.
pub fn scratch_name() -> String {
    format!("{SCRATCH}{:016x}", random::get_random_u64())
}

/// Creates a file, which must not exist.
fn created(home: &Descriptor, name: &str) -> Result<Descriptor, Wasi> {
    let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    home.open_at(STAY, name, flags, DescriptorFlags::WRITE)
}

fn write_all(file: &Descriptor, body: &[u8]) -> Result<(), Wasi> {
    let mut rest = body;
    let mut offset = 0;
    while !rest.is_empty() {
        let written = file.write(rest, offset)?;
        let count = usize::try_from(written).unwrap_or(usize::MAX);
        rest = match rest.get(count..) {
            Some(more) if count > 0 => more,
            _ => return Err(Wasi::Io),
        };
        offset += written;
    }
    Ok(())
}

/// Whether a file replaces one that is there.
#[derive(Clone, Copy, PartialEq)]
pub enum How {
    New,
    Replaces,
}

/// Stores a file, and returns its version.
pub fn write(
    home: &Descriptor,
    name: &str,
    path: &str,
    body: &[u8],
    how: How,
) -> Result<String, Error> {
    let scratch = scratch_name();
    let refused = |code| refusal::of(path, code);
    let file = created(home, &scratch).map_err(refused)?;
    let stored = write_all(&file, body).and_then(|()| match how {
        How::Replaces => home.rename_at(&scratch, home, name).map(|()| None),
        How::New => named(home, &scratch, name, body),
    });
    if how == How::New || stored.is_err() {
        // If it stays, a listing removes it later.
        let _ = home.unlink_file_at(&scratch);
    }
    // The state of this very file, also if another one has its name by now.
    let file = stored.map_err(refused)?.unwrap_or(file);
    let found = file.stat().map_err(refused)?;
    Ok(version(&found, file.metadata_hash()))
}

/// Gives a file its name. Unlike a rename, a link never replaces another file. Where there are none, the file
/// is written once more, and that one is returned.
fn named(
    home: &Descriptor,
    scratch: &str,
    name: &str,
    body: &[u8],
) -> Result<Option<Descriptor>, Wasi> {
    match home.link_at(STAY, scratch, home, name) {
        Ok(()) => Ok(None),
        Err(Wasi::NotPermitted | Wasi::Unsupported | Wasi::TooManyLinks | Wasi::CrossDevice) => {
            let file = created(home, name)?;
            // Half a file must not stay.
            if let Err(code) = write_all(&file, body) {
                let _ = home.unlink_file_at(name);
                return Err(code);
            }
            Ok(Some(file))
        }
        Err(code) => Err(code),
    }
}

/// A file of another kind than `path` needs.
pub fn is_directory(path: &str) -> Error {
    refusal::error(ErrorCode::IsDirectory, format!("'{path}' is a directory"))
}
