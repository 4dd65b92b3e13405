//! Operations on one file: reading it completely, in parts if necessary, and conditional changes.

use bytes::Bytes;

use super::answers::{denied, meta, odd, refusal, told, too_large};
use super::script::{self, Finish, RESERVED};
use super::{Machine, Sandbox, backoff, wire};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::{random, timer};
use crate::storage::{File, Meta, NewFile, PutMode, Version};

/// Maximum bytes of a body in one command; a shell accepts 128 KiB for one argument.
pub(super) const PUT_CHUNK: usize = 60 * 1024;
/// Maximum attempts of a read or write that conflicts with another writer.
const TRIES: u32 = 64;

impl<M: Machine> Sandbox<M> {
    pub(super) async fn fetch(&self, path: &VPath) -> Result<Option<File>> {
        let real = self.looked(path)?;
        let mut before = None;
        for _ in 0..TRIES {
            let (answer, asked) = self.run_sized(|count| script::head(&real, count)).await?;
            let (line, encoded) = answer.split_once('\n').unwrap_or((&answer, ""));
            if line.trim() == "D" {
                return Err(Error::is_directory(path));
            }
            let found = told(line).map_err(|letter| refusal(path, letter, &answer))?;
            let Some(known) = found else { return Ok(None) };
            if known.size > self.max_file_bytes {
                return Err(too_large(path, known.size, self.max_file_bytes));
            }
            let mut body = wire::bytes(encoded).ok_or_else(|| odd(&answer))?;
            // Fewer bytes than announced: the file was removed or truncated meanwhile, and a second
            // attempt decides. Some system files never have as many bytes as announced.
            let short = (body.len() as u64) < known.size.min(asked as u64);
            if short && before.as_ref() != Some(&answer) {
                before = Some(answer);
                continue;
            }
            let whole = body.len() as u64 >= known.size || body.len() < asked;
            if !whole && !self.rest(&real, &mut body, known.size).await? {
                // The file changed while its parts were fetched.
                continue;
            }
            let version = wire::checksum(&body);
            return Ok(Some(File {
                meta: Meta {
                    mode: known.mode,
                    ..meta(body.len() as u64, known.modified, Some(version))
                },
                body: Bytes::from(body),
            }));
        }
        Err(Error::conflict(path))
    }

    /// Fetches the rest of a file; `false` if the file has changed.
    async fn rest(&self, real: &str, body: &mut Vec<u8>, size: u64) -> Result<bool> {
        if let Some(all) = self.machine.download(real).await? {
            *body = all.to_vec();
        } else {
            while (body.len() as u64) < size {
                let offset = body.len();
                let ask = |count| script::part(real, offset, count);
                let (answer, _) = self.run_sized(ask).await?;
                let more = wire::bytes(&answer).ok_or_else(|| odd(&answer))?;
                if more.is_empty() {
                    return Ok(false);
                }
                body.extend_from_slice(&more);
            }
        }
        let now = self.run(&script::version(real)).await?;
        Ok(now.trim() == wire::checksum(body))
    }

    pub(super) async fn store(&self, path: &VPath, file: NewFile, mode: PutMode) -> Result<Meta> {
        let real = self.looked(path)?;
        let dir = real.rsplit_once('/').map_or("", |(dir, _)| dir);
        let finish = match &mode {
            PutMode::Create => Finish::Create,
            PutMode::Overwrite => Finish::Overwrite,
            PutMode::Update(Version::Tag(version)) => Finish::Update(version),
            PutMode::Update(_) => return Err(Error::conflict(path)),
        };
        for attempt in 0..TRIES {
            let aside = format!("{dir}/{RESERVED}t-{}", random::id());
            let small = file.body.len() <= PUT_CHUNK;
            if !small && let Err(error) = self.aside(path, &aside, &file.body).await {
                // The temporary file is useless now; the first error is the one to return.
                let _ = self.run(&script::discard(&aside)).await;
                return Err(error);
            }
            let content = small.then_some(&*file.body);
            let script = script::finish(&real, &aside, content, &finish, file.mode);
            let answer = self.run(&script).await?;
            return Err(match answer.chars().next() {
                Some('K') => {
                    let version = wire::checksum(&file.body);
                    let size = file.body.len() as u64;
                    return Ok(meta(size, file.modified, Some(version)));
                }
                Some('A') => Error::already_exists(path),
                Some('C') if matches!(mode, PutMode::Update(_)) => Error::conflict(path),
                Some('B' | 'C') => {
                    timer::sleep(backoff(attempt)).await;
                    continue;
                }
                Some('L') => refusal(path, 'L', &answer),
                Some('D') => Error::is_directory(path),
                Some('O') => denied(path, "' is a device, a pipe or a socket, not a file"),
                Some('P') => Error::at(
                    Kind::InvalidPath,
                    "'",
                    path,
                    "' has no place: its directory cannot be made",
                ),
                Some('E') => denied(path, "' could not be written by the sandbox's user"),
                _ => odd(&answer),
            });
        }
        Err(Error::conflict(path))
    }

    /// Writes a large body to a temporary file, by upload or in parts.
    async fn aside(&self, path: &VPath, aside: &str, body: &Bytes) -> Result<()> {
        let admitted = self.run(&script::admit(aside)).await?;
        if !admitted.starts_with('K') {
            return Err(refusal(path, 'L', &admitted));
        }
        if self.machine.upload(aside, body).await? {
            return Ok(());
        }
        for chunk in body.chunks(PUT_CHUNK) {
            let answer = self.run(&script::append(aside, chunk)).await?;
            if !answer.starts_with('K') {
                return Err(denied(path, "' could not be written by the sandbox's user"));
            }
        }
        Ok(())
    }

    pub(super) async fn remove(&self, path: &VPath, version: Option<Version>) -> Result<bool> {
        let real = self.looked(path)?;
        let version = match &version {
            Some(Version::Tag(tag)) => Some(&**tag),
            Some(_) => return Err(Error::conflict(path)),
            None => None,
        };
        for attempt in 0..TRIES {
            let answer = self.run(&script::remove(&real, version)).await?;
            match answer.chars().next() {
                Some('K') => return Ok(true),
                Some('N') => return Ok(false),
                Some('L') => return Err(refusal(path, 'L', &answer)),
                Some('C') => return Err(Error::conflict(path)),
                Some('B') => timer::sleep(backoff(attempt)).await,
                Some('E') => {
                    return Err(denied(path, "' could not be removed by the sandbox's user"));
                }
                _ => return Err(odd(&answer)),
            }
        }
        Err(Error::conflict(path))
    }
}
