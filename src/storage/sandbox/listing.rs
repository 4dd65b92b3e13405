//! Operations on many files: one level, a tree, and the bodies for a search.

use bytes::Bytes;

use super::answers::{meta, odd, refusal, seconds, told};
use super::bodies::PUT_CHUNK;
use super::{Machine, Sandbox, script, wire};
use crate::core::error::{Error, Kind, Result};
use crate::core::order;
use crate::core::path::VPath;
use crate::storage::{Entry, File, Flow, Listing, Scope};

/// Maximum bytes of names in one result.
const NAMES: usize = 8 << 20;

impl<M: Machine> Sandbox<M> {
    pub(super) async fn level(&self, dir: &VPath) -> Result<Listing> {
        let answer = self.run(&script::level(&self.looked(dir)?, NAMES)).await?;
        self.full(dir, &answer)?;
        admitted(dir, &answer)?;
        let mut listing = Listing::default();
        for row in answer.lines() {
            let mut columns = row.trim_end_matches('\r').splitn(4, '|');
            let (Some(kind), Some(size), Some(time), Some(name)) = (
                columns.next(),
                columns.next().and_then(|size| size.parse().ok()),
                columns.next().and_then(seconds),
                columns.next(),
            ) else {
                continue;
            };
            let Some(name) = name.rsplit('/').next() else {
                continue;
            };
            let Ok(path) = dir.join(name) else { continue };
            if kind == "directory" {
                listing.dirs.push(path);
            } else if kind.starts_with("regular") {
                listing.files.push(Entry {
                    path,
                    meta: meta(size, time, None),
                });
            }
        }
        order::sort_by(&mut listing.files, |a, b| a.path.cmp(&b.path));
        order::sort(&mut listing.dirs);
        Ok(listing)
    }

    fn full(&self, dir: &VPath, answer: &str) -> Result<()> {
        if answer.len() < NAMES.saturating_sub(2) {
            return Ok(());
        }
        Err(Error::at(
            Kind::TooLarge,
            "There are too many files beneath '",
            dir,
            "' to list them all; look into a directory further down",
        ))
    }

    /// The files in scope, in order; with a literal, only those that contain it.
    pub(super) async fn files(&self, scope: &Scope, literal: Option<&[u8]>) -> Result<Vec<Entry>> {
        let dir = scope.literal_dir();
        // A shell variable cannot contain NUL, and a grep line cannot contain a line break.
        let literal = literal.filter(|text| {
            !text.is_empty() && text.len() < PUT_CHUNK && memchr::memchr2(0, b'\n', text).is_none()
        });
        let real = self.looked(&dir)?;
        let answer = self.run(&script::files(&real, literal, NAMES)).await?;
        self.full(&dir, &answer)?;
        admitted(&dir, &answer)?;
        let mut files = Vec::new();
        for row in answer.lines() {
            let mut columns = row.trim_end_matches('\r').splitn(3, '|');
            let size = columns.next().and_then(|size| size.parse().ok());
            let time = columns.next().and_then(seconds);
            let path = columns.next().and_then(|real| self.path_of(real));
            if let (Some(size), Some(time), Some(path)) = (size, time, path)
                && scope.admits(&path)
            {
                files.push(Entry {
                    path,
                    meta: meta(size, time, None),
                });
            }
        }
        // The root of the scope may be a file instead of a directory.
        if files.is_empty() && scope.prefix.is_empty() && !scope.root.is_root() {
            let found = self.look(&scope.root).await?;
            files.extend(found.map(|meta| Entry {
                path: scope.root.clone(),
                meta,
            }));
        }
        order::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Reads several bodies with one command; unreadable files are skipped.
    pub(super) async fn bodies(
        &self,
        batch: &[Entry],
        visit: &mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Result<Flow> {
        let reals: Vec<String> = batch.iter().map(|entry| self.real(&entry.path)).collect();
        let largest = batch.iter().map(|entry| entry.meta.size).max().unwrap_or(0);
        // One more byte shows that a file has grown meanwhile.
        let count = usize::try_from(largest)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let answer = match batch.len() {
            1 => None,
            _ => self.try_run(&script::heads(&reals, count)).await?,
        };
        let Some(answer) = answer else {
            // One file, or a truncated result: read file by file.
            for entry in batch {
                match self.fetch(&entry.path).await {
                    Ok(Some(file)) if visit(&entry.path, &file).is_break() => {
                        return Ok(Flow::Break(()));
                    }
                    Err(error) if error.is_no_answer() => return Err(error),
                    // Files that cannot be read are skipped, as in every search.
                    _ => {}
                }
            }
            return Ok(Flow::Continue(()));
        };
        let mut lines = answer.lines();
        for entry in batch {
            let line = lines.next().ok_or_else(|| odd(&answer))?;
            let encoded = lines.next().unwrap_or_default();
            let Ok(Some(known)) = told(line) else {
                continue;
            };
            let body = wire::bytes(encoded).ok_or_else(|| odd(&answer))?;
            let file = if (body.len() as u64) < known.size {
                // The file was removed or truncated between `stat` and `head`.
                match self.fetch(&entry.path).await {
                    Ok(Some(file)) => file,
                    Err(error) if error.is_no_answer() => return Err(error),
                    _ => continue,
                }
            } else {
                File {
                    meta: meta(body.len() as u64, known.modified, None),
                    body: Bytes::from(body),
                }
            };
            if visit(&entry.path, &file).is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }
}

/// Refuses if the answer says that a directory is behind a link.
fn admitted(dir: &VPath, answer: &str) -> Result<()> {
    match answer {
        "L" => Err(refusal(dir, 'L', answer)),
        _ => Ok(()),
    }
}

/// The end of the batch that begins at `from`, limited in bytes and number of files.
pub(super) fn batch_end(files: &[Entry], from: usize, bytes: usize) -> usize {
    const FILES: usize = 200;
    let mut sum = 0u64;
    let mut end = from;
    for entry in files.iter().skip(from).take(FILES) {
        sum = sum.saturating_add(entry.meta.size);
        if end > from && sum > bytes as u64 {
            break;
        }
        end += 1;
    }
    end
}
