//! Ignore files: git's rules for `.gitignore`. The last line that matches decides; a file in a deeper
//! directory decides before one above; what is in an ignored directory stays ignored, whatever a
//! line behind it says. Patterns are bytes, as they are in git.
//!
//! Names and endings, the most of all lines, are looked up in sorted lists; only the rest is matched
//! line by line. That work is counted, so no ignore file makes a search slow.

mod pattern;
mod table;
// git runs on the host only.
#[cfg(test)]
#[cfg(host = "native")]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use pattern::{Pattern, Patterns};
use table::Table;

use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::pace::Pace;
use crate::core::path::VPath;
use crate::search::effort::Effort;

/// One line of an ignore file.
struct Line {
    pattern: Pattern,
    /// Begins with `!`: what matches is not ignored.
    includes: bool,
    /// Ends with `/`: matches only directories.
    only_directories: bool,
    /// Has a `/` before its end: matched against the path below its directory, and not the name.
    is_anchored: bool,
}

impl Line {
    fn parse(line: &[u8], patterns: &mut Patterns) -> Option<Line> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut rest = trimmed(line);
        if rest.first() == Some(&b'#') {
            return None;
        }
        let includes = rest.first() == Some(&b'!');
        if includes {
            rest = rest.get(1..)?;
        }
        let only_directories = rest.last() == Some(&b'/');
        if only_directories {
            rest = rest.get(..rest.len() - 1)?;
        }
        let is_anchored = rest.contains(&b'/');
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        if rest.is_empty() {
            return None;
        }
        Some(Line {
            pattern: patterns.read(rest)?,
            includes,
            only_directories,
            is_anchored,
        })
    }
}

/// A line without the spaces at its end; one behind a backslash stays.
fn trimmed(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => {
                at += 2;
                end = at;
            }
            b' ' => at += 1,
            _ => {
                at += 1;
                end = at;
            }
        }
    }
    line.get(..end.min(line.len())).unwrap_or(line)
}

/// The rules of a tree.
#[derive(Default)]
pub struct Ignore {
    /// The lines that apply below each directory; of one directory, earlier files come first.
    levels: BTreeMap<Rc<str>, Vec<Table>>,
    effort: Effort,
    /// Whether the directory that was asked about last is ignored.
    last: RefCell<Option<(VPath, VPath, bool)>>,
}

impl Ignore {
    /// Adds the lines of a file in `dir`. Of files in one directory, the later one decides first.
    pub async fn add(&mut self, dir: &VPath, text: &[u8], pace: &Pace) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut table = Table::default();
        for line in text.split(|byte| *byte == b'\n') {
            table.add(line);
            pace.worked(1).await;
            pace.read(line.len()).await;
        }
        table.sort(pace).await;
        if table.is_empty() {
            return;
        }
        let dir = if dir.is_root() { "" } else { dir.as_str() };
        self.levels.entry(dir.into()).or_default().push(table);
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether a file is ignored. Only what is below `root` is judged: a directory that was asked for
    /// by name is searched. When the work was too much, every file is ignored; see [`Ignore::over`].
    pub fn ignores(&self, file: &VPath, root: &VPath) -> bool {
        if self.is_empty() {
            return false;
        }
        if !self.effort.begin() {
            return true;
        }
        let dir = file.parent();
        self.ignores_directory(&dir, root) || self.judges_out(file.as_str(), root, false)
    }

    /// The work since the last question, for a [`Pace`].
    pub fn worked(&self) -> usize {
        self.effort.resume()
    }

    /// Whether other files should be judged after a pause.
    pub fn is_pause_due(&self) -> bool {
        self.effort.is_pause_due()
    }

    /// The error if the rules took too much work.
    pub fn over(&self) -> Result<()> {
        self.effort.over("the rules of the ignore files")
    }

    fn ignores_directory(&self, dir: &VPath, root: &VPath) -> bool {
        if let Some((last, from, answer)) = &*self.last.borrow()
            && last == dir
            && from == root
        {
            return *answer;
        }
        let path = dir.as_str();
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
        let mut parts = ends.chain([path.len()]).filter_map(|end| path.get(..end));
        let answer = parts.any(|part| self.judges_out(part, root, true));
        *self.last.borrow_mut() = Some((dir.clone(), root.clone(), answer));
        answer
    }

    /// Whether a path is ignored by a line for itself.
    fn judges_out(&self, path: &str, root: &VPath, is_directory: bool) -> bool {
        // What is at or above the root was chosen.
        path.len() > root.as_str().len() && self.judges(path, is_directory) == Some(false)
    }

    /// The decision of the last line that matches: whether it includes.
    fn judges(&self, path: &str, is_directory: bool) -> Option<bool> {
        for (at, _) in path.rmatch_indices('/') {
            let (dir, below) = path.split_at_checked(at)?;
            if !self.effort.worked(1) {
                return Some(false);
            }
            let below = below.strip_prefix('/')?;
            for table in self.levels.get(dir).into_iter().flatten().rev() {
                if let Some(includes) = table.judges(below.as_bytes(), is_directory, &self.effort) {
                    return Some(includes);
                }
            }
        }
        None
    }
}
