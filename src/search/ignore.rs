//! Ignore files: git's rules for `.gitignore`. The last line that matches decides; a file in a deeper
//! directory decides before one above; what is in an ignored directory stays ignored, whatever a
//! line behind it says. Patterns are bytes, as they are in git, and matching takes linear time.

mod pattern;
// git runs on the host only.
#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;

use pattern::Pattern;

use crate::core::path::VPath;

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
    fn parse(line: &[u8]) -> Option<Line> {
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
            pattern: Pattern::parse(rest),
            includes,
            only_directories,
            is_anchored,
        })
    }

    /// `below` is the path below the directory of the file that has the line.
    fn matches(&self, below: &str, is_directory: bool) -> bool {
        if self.only_directories && !is_directory {
            return false;
        }
        let text = match self.is_anchored {
            true => below,
            false => below.rsplit('/').next().unwrap_or(below),
        };
        self.pattern.matches(text.as_bytes())
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
    /// The lines that apply below a directory; directories above come first.
    levels: Vec<(VPath, Vec<Line>)>,
}

impl Ignore {
    /// Adds the lines of a file in `dir`. Of files in one directory, the later one decides first.
    pub fn add(&mut self, dir: &VPath, text: &[u8]) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').filter_map(Line::parse);
        let lines: Vec<Line> = lines.collect();
        if lines.is_empty() {
            return;
        }
        let depth = |dir: &VPath| dir.segments().count();
        let behind = self
            .levels
            .iter()
            .rposition(|(other, _)| depth(other) <= depth(dir))
            .map_or(0, |at| at + 1);
        self.levels.insert(behind, (dir.clone(), lines));
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether a file is ignored. Only what is below `root` is judged: a directory that was asked for
    /// by name is searched.
    pub fn ignores(&self, file: &VPath, root: &VPath) -> bool {
        let path = file.as_str();
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
        for end in ends.chain([path.len()]) {
            let Some(part) = path.get(..end) else {
                continue;
            };
            // What is at or above the root was chosen.
            if end <= root.as_str().len() {
                continue;
            }
            if self.judges(part, end < path.len()) == Some(false) {
                return true;
            }
        }
        false
    }

    /// The decision of the last line that matches: whether it includes.
    fn judges(&self, path: &str, is_directory: bool) -> Option<bool> {
        for (dir, lines) in self.levels.iter().rev() {
            let prefix = if dir.is_root() { "" } else { dir.as_str() };
            let below = path
                .strip_prefix(prefix)
                .and_then(|below| below.strip_prefix('/'));
            let Some(below) = below else { continue };
            let mut lines = lines.iter().rev();
            if let Some(line) = lines.find(|line| line.matches(below, is_directory)) {
                return Some(line.includes);
            }
        }
        None
    }
}
