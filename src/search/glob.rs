//! Patterns over paths. [`Pattern`] is for `glob`, [`NameFilter`] for the `glob` argument of grep,
//! and [`PathGlob`] for rules over whole paths. All three use the same syntax: `*` and `?` within a
//! segment, `**` across segments, `{a,b}`, `(a|b)`, `[abc]`, `[!a]`, `[^a]`, `[[:alpha:]]`, `\` escapes.
//! Dot files match like any other. What is written in other dialects and means something else here is
//! refused, since it would find nothing. Patterns are parsed in `parse` and matched in `shape`, or in `general` if they
//! have no common shape.

mod general;
mod parse;
mod shape;

use crate::core::error::Result;
use crate::core::path::{Tail, VPath};
use crate::search::effort::Effort;
use crate::search::query::GlobQuery;
use crate::search::scope::Scope;

use parse::{Alternative, Segment, Token};
use shape::Set;

/// A pattern relative to a directory. Alternatives that begin with `/` are relative to the root.
pub struct Pattern {
    root: VPath,
    /// The prefix of every path below `root`.
    prefix: String,
    scope: Scope,
    relative: Option<Set>,
    anchored: Option<Set>,
    tails: Tails,
    /// The work of one search; rules have no limit.
    effort: Option<Effort>,
}

/// What the tails of paths alone say about a match.
enum Tails {
    /// Nothing.
    Open,
    /// Paths with none of these tails do not match.
    Needed(Vec<(Tail, u64)>),
    /// Paths match if and only if they have one of these tails.
    Enough(Vec<(Tail, u64)>),
}

impl Tails {
    /// For a pattern over paths relative to `root`.
    fn of(root: &VPath, sets: [Option<&Set>; 2]) -> Tails {
        let mut tails = Vec::new();
        let mut enough = root.is_root();
        for set in sets.into_iter().flatten() {
            match set.endings(false, &mut tails) {
                Some(only) => enough &= only,
                None => return Tails::Open,
            }
        }
        Tails::told(enough, tails)
    }

    /// For a pattern over names.
    fn of_names(set: &Set) -> Tails {
        let mut tails = Vec::new();
        match set.endings(true, &mut tails) {
            Some(enough) => Tails::told(enough, tails),
            None => Tails::Open,
        }
    }

    fn told(enough: bool, tails: Vec<(Tail, u64)>) -> Tails {
        match enough {
            true => Tails::Enough(tails),
            false => Tails::Needed(tails),
        }
    }

    /// Whether a path matches, if its tail alone decides that.
    fn tell(&self, path: &VPath) -> Option<bool> {
        let any = |tails: &[(Tail, u64)]| {
            let tail = path.tail();
            tails.iter().any(|(end, mask)| tail.agrees(*end, *mask))
        };
        match self {
            Tails::Open => None,
            Tails::Enough(tails) => Some(any(tails)),
            Tails::Needed(tails) => (!any(tails)).then_some(false),
        }
    }
}

impl Pattern {
    /// Parses the query's pattern.
    pub fn parse(query: &GlobQuery) -> Result<Pattern> {
        Pattern::under(&query.pattern, &query.path)
    }

    fn under(pattern: &str, root: &VPath) -> Result<Pattern> {
        let all = parse::alternatives(pattern)?;
        let (anchored, relative): (Vec<&Alternative>, Vec<&Alternative>) =
            all.iter().partition(|one| one.anchored);
        let scope = match (anchored.as_slice(), relative.as_slice()) {
            (anchored, []) => Scope {
                root: VPath::root(),
                prefix: common_prefix(anchored),
            },
            ([], relative) => Scope {
                root: root.clone(),
                prefix: common_prefix(relative),
            },
            _ => Scope::all(&VPath::root()),
        };
        let set = |some: &[&Alternative]| match some {
            [] => Ok(None),
            some => Set::new(pattern, some).map(Some),
        };
        let (relative, anchored) = (set(&relative)?, set(&anchored)?);
        Ok(Pattern {
            root: root.clone(),
            prefix: root.dir_prefix(),
            scope,
            tails: Tails::of(root, [relative.as_ref(), anchored.as_ref()]),
            relative,
            anchored,
            effort: Some(Effort::default()),
        })
    }

    /// The error if matching took too much work, so that not every file was judged.
    pub fn over(&self) -> Result<()> {
        over(self.effort.as_ref())
    }

    /// The work since the last question, for a [`Pace`](crate::core::pace::Pace).
    pub fn worked(&self) -> usize {
        self.effort.as_ref().map_or(1, Effort::resume)
    }

    /// Whether other paths should be matched after a pause.
    pub fn is_pause_due(&self) -> bool {
        self.effort.as_ref().is_some_and(Effort::is_pause_due)
    }

    /// A scope that contains every file that matches.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether a file at that path matches.
    pub fn accepts(&self, path: &VPath) -> bool {
        if let Some(told) = self.tails.tell(path) {
            return told;
        }
        let ask = |set: &Option<Set>, prefix: &str| {
            set.as_ref()
                .is_some_and(|set| match path.as_str().strip_prefix(prefix) {
                    Some("") | None => false,
                    Some(rest) => set.accepts(rest, self.effort.as_ref()),
                })
        };
        ask(&self.relative, &self.prefix) || ask(&self.anchored, "/")
    }
}

fn over(effort: Option<&Effort>) -> Result<()> {
    effort.map_or(Ok(()), |effort| effort.over("the glob pattern"))
}

/// The common prefix of the paths of all these alternatives.
fn common_prefix(alternatives: &[&Alternative]) -> String {
    let mut common: Option<String> = None;
    for one in alternatives {
        let prefix = literal_prefix(one);
        common = Some(match common {
            None => prefix,
            Some(so_far) => {
                let same = so_far
                    .chars()
                    .zip(prefix.chars())
                    .take_while(|(a, b)| a == b);
                same.map(|(a, _)| a).collect()
            }
        });
    }
    common.unwrap_or_default()
}

fn literal_prefix(alternative: &Alternative) -> String {
    let mut prefix = String::new();
    let mut segments = alternative.segments.iter().peekable();
    while let Some(Segment::Tokens(tokens)) = segments.next() {
        for token in tokens {
            match token {
                Token::Literal(c) => prefix.push(*c),
                _ => return prefix,
            }
        }
        if segments.peek().is_some() {
            prefix.push('/');
        }
    }
    prefix
}

/// Grep's `glob`: without `/` it matches the file name, with `/` the path below the search root. If
/// the search root is a file, its name stands for its path. A leading `!` excludes what the rest
/// matches.
pub struct NameFilter {
    by: By,
    excludes: bool,
}

enum By {
    Everything,
    Name(Set, Tails, Effort),
    Path(Pattern, Option<Set>),
}

impl NameFilter {
    /// Parses a filter for a search at `root`. An empty filter accepts every file.
    pub fn parse(glob: &str, root: &VPath) -> Result<NameFilter> {
        if glob.is_empty() {
            return Ok(NameFilter {
                by: By::Everything,
                excludes: false,
            });
        }
        let rest = glob.strip_prefix('!').filter(|rest| !rest.starts_with('('));
        let excludes = rest.is_some();
        let glob = rest.unwrap_or(glob);
        let all = parse::alternatives(glob)?;
        let by = if glob.contains('/') {
            let relative: Vec<&Alternative> = all.iter().filter(|one| !one.anchored).collect();
            // In a search of one file, its name stands for its path.
            let lone = match relative.as_slice() {
                [] => None,
                some => Some(Set::new(glob, some)?),
            };
            By::Path(Pattern::under(glob, root)?, lone)
        } else {
            let set = Set::new(glob, &all.iter().collect::<Vec<_>>())?;
            let tails = Tails::of_names(&set);
            By::Name(set, tails, Effort::default())
        };
        Ok(NameFilter { by, excludes })
    }

    /// The error if matching took too much work, so that not every file was judged.
    pub fn over(&self) -> Result<()> {
        over(self.effort())
    }

    fn effort(&self) -> Option<&Effort> {
        match &self.by {
            By::Everything => None,
            By::Name(_, _, effort) => Some(effort),
            By::Path(pattern, _) => pattern.effort.as_ref(),
        }
    }

    /// The work since the last question, for a [`Pace`](crate::core::pace::Pace).
    pub fn worked(&self) -> usize {
        self.effort().map_or(1, Effort::resume)
    }

    /// Whether other paths should be matched after a pause.
    pub fn is_pause_due(&self) -> bool {
        self.effort().is_some_and(Effort::is_pause_due)
    }

    /// Whether a file at that path should be searched.
    pub fn accepts(&self, path: &VPath) -> bool {
        let matches = match &self.by {
            By::Everything => true,
            By::Name(set, tails, effort) => {
                let told = tails.tell(path);
                told.unwrap_or_else(|| set.accepts(path.name(), Some(effort)))
            }
            By::Path(pattern, lone) => {
                let effort = pattern.effort.as_ref();
                let is_named = |set: &Set| set.accepts(path.name(), effort);
                pattern.accepts(path)
                    || (*path == pattern.root && lone.as_ref().is_some_and(is_named))
            }
        };
        matches != self.excludes
    }
}

/// A pattern over whole canonical paths, for rules: `/secrets/**`, `**/*.key`. It is relative to
/// the root, with or without a leading `/`.
pub struct PathGlob(Pattern);

impl PathGlob {
    /// Parses a pattern.
    pub fn parse(glob: &str) -> Result<PathGlob> {
        let mut pattern = Pattern::under(glob, &VPath::root())?;
        pattern.effort = None;
        Ok(PathGlob(pattern))
    }

    /// Whether the pattern matches this path.
    pub fn accepts(&self, path: &VPath) -> bool {
        self.0.accepts(path)
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod globset_tests;
