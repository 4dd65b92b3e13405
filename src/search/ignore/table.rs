//! The lines of one ignore file, sorted by their shapes.

use super::Line;
use super::pattern::{Pattern, Shape};
use crate::core::order;
use crate::search::patience::Effort;

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

/// Texts, sorted, with the last lines that have them.
#[derive(Default)]
struct Texts(Vec<(Vec<u8>, Last)>);

impl Texts {
    fn add(&mut self, text: Vec<u8>, last: Last) {
        self.0.push((text, last));
    }

    fn sort(&mut self) {
        order::sort_by(&mut self.0, |a, b| a.0.cmp(&b.0));
        self.0.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.with(next.1);
            }
            is_same
        });
    }

    fn find(&self, text: &[u8], is_directory: bool) -> usize {
        let found = self.0.binary_search_by(|(one, _)| one.as_slice().cmp(text));
        let last = found.ok().and_then(|at| self.0.get(at));
        last.map_or(0, |(_, last)| last.of(is_directory))
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
}

struct Rest {
    pattern: Pattern,
    only_directories: bool,
    is_anchored: bool,
}

impl Table {
    /// Sorts the lines of a file.
    pub fn new(lines: impl Iterator<Item = Line>) -> Table {
        let mut table = Table::default();
        for line in lines {
            table.includes.push(line.includes);
            let number = table.includes.len();
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
            match (line.pattern.shape(), line.is_anchored) {
                (Some(Shape::Exact(text)), true) => table.paths.add(text, last),
                (Some(Shape::Exact(text)), false) => table.names.add(text, last),
                (Some(Shape::Ends(text)), false) => {
                    table.lengths.push(text.len());
                    table.endings.add(text, last);
                }
                _ => table.rest.push((
                    number,
                    Rest {
                        pattern: line.pattern,
                        only_directories: line.only_directories,
                        is_anchored: line.is_anchored,
                    },
                )),
            }
        }
        for texts in [&mut table.names, &mut table.paths, &mut table.endings] {
            texts.sort();
        }
        order::sort(&mut table.lengths);
        table.lengths.dedup();
        table
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
            if rest.pattern.matches(text, &mut steps) {
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
