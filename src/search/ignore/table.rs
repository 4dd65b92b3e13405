//! The lines of one ignore file, sorted by their shapes.

use super::Line;
use super::pattern::{Pattern, Patterns, Shape};
use crate::core::pace::Pace;
use crate::core::path::MAX_BYTES;
use crate::search::effort::Effort;
use crate::search::sorted::sorted;

/// Where the last lines are that have one text.
#[derive(Clone, Copy, Default)]
struct Last {
    /// For files and directories, as the number of the line and one more; 0 for none.
    any: usize,
    /// For directories only.
    directory: usize,
}

impl Last {
    fn of(self, is_directory: bool) -> usize {
        match is_directory {
            true => self.any.max(self.directory),
            false => self.any,
        }
    }

    fn with(self, other: Last) -> Last {
        Last {
            any: self.any.max(other.any),
            directory: self.directory.max(other.directory),
        }
    }
}

/// Texts, sorted, with the last lines that have them. Their bytes lie behind one another, as the parts of
/// [`Patterns`] do.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    /// Where each begins and ends.
    places: Vec<(usize, usize, Last)>,
}

impl Texts {
    fn add(&mut self, text: &[u8], last: Last) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.places.push((from, self.bytes.len(), last));
    }

    fn text(&self, &(from, to, _): &(usize, usize, Last)) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    async fn sort(&mut self, pace: &Pace) {
        let texts: Vec<&[u8]> = self.places.iter().map(|place| self.text(place)).collect();
        let mut out: Vec<(usize, usize, Last)> = Vec::new();
        for at in sorted(&texts, pace).await {
            pace.worked(1).await;
            let Some(place) = self.places.get(at) else {
                continue;
            };
            match out.last_mut() {
                Some(before) if self.text(before) == self.text(place) => {
                    before.2 = before.2.with(place.2);
                }
                _ => out.push(*place),
            }
        }
        self.places = out;
    }

    fn find(&self, text: &[u8], is_directory: bool) -> usize {
        let found = self.places.binary_search_by(|one| self.text(one).cmp(text));
        let last = found.ok().and_then(|at| self.places.get(at));
        last.map_or(0, |(_, _, last)| last.of(is_directory))
    }
}

/// The lines of one file.
#[derive(Default)]
pub struct Table {
    /// Whether each line includes what it matches.
    includes: Vec<bool>,
    names: Texts,
    paths: Texts,
    /// Endings of names, and their lengths.
    endings: Texts,
    lengths: Vec<usize>,
    /// Lines of other shapes, with their numbers.
    rest: Vec<(usize, Rest)>,
    patterns: Patterns,
}

struct Rest {
    pattern: Pattern,
    only_directories: bool,
    is_anchored: bool,
}

impl Table {
    /// Adds a line, if it is a rule. The table must be sorted then.
    pub fn add(&mut self, line: &[u8]) {
        let Some(line) = Line::parse(line, &mut self.patterns) else {
            return;
        };
        self.includes.push(line.includes);
        let number = self.includes.len();
        let last = match line.only_directories {
            true => Last {
                any: 0,
                directory: number,
            },
            false => Last {
                any: number,
                directory: 0,
            },
        };
        let (texts, text) = match (self.patterns.shape(&line.pattern), line.is_anchored) {
            (Some(Shape::Exact(text)), true) => (&mut self.paths, text),
            (Some(Shape::Exact(text)), false) => (&mut self.names, text),
            (Some(Shape::Ends(text)), false) => (&mut self.endings, text),
            _ => {
                let rest = Rest {
                    pattern: line.pattern,
                    only_directories: line.only_directories,
                    is_anchored: line.is_anchored,
                };
                return self.rest.push((number, rest));
            }
        };
        texts.add(&text, last);
        self.patterns.forget(&line.pattern);
    }

    /// Sorts the lines.
    pub async fn sort(&mut self, pace: &Pace) {
        for texts in [&mut self.names, &mut self.paths, &mut self.endings] {
            texts.sort(pace).await;
        }
        let mut has = vec![false; MAX_BYTES + 1];
        for (from, to, _) in &self.endings.places {
            if let Some(has) = has.get_mut(to - from) {
                *has = true;
            }
        }
        let lengths = has.iter().enumerate().filter(|(_, has)| **has);
        self.lengths = lengths.map(|(length, _)| length).collect();
    }

    /// Whether it has no line.
    pub fn is_empty(&self) -> bool {
        self.includes.is_empty()
    }

    /// The decision of the last line that matches a path below the directory of the file: whether it
    /// includes. If the work is too much, nothing is included.
    pub fn judges(&self, below: &[u8], is_directory: bool, effort: &Effort) -> Option<bool> {
        let slash = memchr::memrchr(b'/', below);
        let name = below
            .get(slash.map_or(0, |at| at + 1)..)
            .unwrap_or_default();
        let mut last = self.names.find(name, is_directory);
        last = last.max(self.paths.find(below, is_directory));
        for length in &self.lengths {
            let Some(from) = name.len().checked_sub(*length) else {
                break;
            };
            let end = name.get(from..).unwrap_or_default();
            last = last.max(self.endings.find(end, is_directory));
        }
        let mut steps = 64;
        for (number, rest) in self.rest.iter().rev() {
            if *number < last {
                break;
            }
            if rest.only_directories && !is_directory {
                steps += 1;
                continue;
            }
            let text = if rest.is_anchored { below } else { name };
            if self.patterns.matches(&rest.pattern, text, &mut steps) {
                last = *number;
                break;
            }
            if steps > 1 << 12 && !effort.worked(std::mem::take(&mut steps)) {
                return Some(false);
            }
        }
        effort.worked(steps);
        self.includes.get(last.checked_sub(1)?).copied()
    }
}
