//! What permission rules decide: for a path, and for everything beneath a directory. Pure; what
//! follows from a decision stands in `permissions` and `ask`.
//!
//! The first rule that names the operation and matches the path wins. `/a/**` matches `/a` as
//! well as what lies beneath, as in the package this protocol comes from. A pattern that this
//! language reads otherwise than that package would is refused when the rule is made: a rule that
//! silently matches nothing protects nothing.
//!
//! Where a pattern can be read more or less widely, a rule that restricts reads it widely and a
//! rule that allows reads it narrowly, as that package does: `/**/x` allows no `/x`, and `/[ab]/**`
//! allows what lies beneath `/a`, but not `/a` itself.

use std::rc::Rc;

use crate::error::{Error, Kind, Result};
use crate::path::VPath;
use crate::search::glob::PathGlob;

/// What an operation does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Shows its content or that it exists.
    Read,
    /// Changes, creates or removes it.
    Write,
}

/// What a rule says of the paths it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Go ahead.
    Allow,
    /// Refuse.
    Deny,
    /// Somebody is to be asked.
    Ask,
}

/// One rule.
#[derive(Clone)]
pub struct Rule {
    touches: Vec<Touch>,
    mode: Mode,
    patterns: Vec<RulePattern>,
}

/// One pattern of a rule.
#[derive(Clone)]
struct RulePattern {
    glob: Rc<PathGlob>,
    /// Where the pattern ends with `/**`: what stands before it, which it matches too.
    stem: Option<Stem>,
    /// The directory that everything it matches lies at or beneath.
    anchor: VPath,
    /// Whether everything beneath a path that the stem matches is matched.
    whole: bool,
}

#[derive(Clone)]
enum Stem {
    Root,
    Glob(Rc<PathGlob>),
}

impl Stem {
    fn accepts(&self, path: &VPath) -> bool {
        match self {
            Stem::Root => path.is_root(),
            Stem::Glob(glob) => glob.accepts(path),
        }
    }
}

impl RulePattern {
    fn parse(pattern: &str, mode: Mode) -> Result<RulePattern> {
        if let Some(why) = unsound(pattern) {
            return Err(Error::new(
                Kind::InvalidPattern,
                format!("Invalid permission pattern '{pattern}': {why}"),
            ));
        }
        let narrow = mode == Mode::Allow;
        let glob = Rc::new(match pattern.strip_prefix("/**/") {
            Some(rest) if narrow => PathGlob::parse(&format!("/*/**/{rest}"))?,
            _ => PathGlob::parse(pattern)?,
        });
        let rooted = pattern.strip_prefix('/').unwrap_or(pattern);
        let stem_of = |text: &str| -> Result<Stem> {
            if text.is_empty() || text == "/" {
                return Ok(Stem::Root);
            }
            Ok(Stem::Glob(Rc::new(PathGlob::parse(text)?)))
        };
        let mut stem = rooted;
        let mut ends_deep = false;
        while let Some(before) = strip_deep(stem) {
            stem = before;
            ends_deep = true;
        }
        let inner_deep = pattern.contains("/**,") || pattern.contains("/**}");
        let (stem, whole) = if ends_deep && narrow && stem.contains(WILD) {
            (None, false)
        } else if ends_deep {
            (Some(stem_of(stem)?), true)
        } else if inner_deep && !narrow {
            // A tail within braces; the stem takes in the other alternatives too, which is right:
            // the pattern matches them anyway.
            let cut = pattern.replace("/**,", ",").replace("/**}", "}");
            (Some(stem_of(&cut)?), false)
        } else {
            (None, false)
        };
        let literal: Vec<&str> = pattern
            .split('/')
            .filter(|segment| !segment.is_empty() && *segment != ".")
            .take_while(|segment| !segment.contains(WILD))
            .collect();
        // The last literal segment may be a file's name; being above it is right as well.
        let anchor = VPath::parse(&format!("/{}", literal.join("/")))?;
        Ok(RulePattern {
            glob,
            stem,
            anchor,
            whole,
        })
    }

    fn accepts(&self, path: &VPath) -> bool {
        path.is_under(&self.anchor)
            && (self.glob.accepts(path)
                || self.stem.as_ref().is_some_and(|stem| stem.accepts(path)))
    }

    /// Whether it may match something beneath `dir`; a maybe counts as yes.
    fn reaches_beneath(&self, dir: &VPath) -> bool {
        self.anchor.is_under(dir) || dir.is_under(&self.anchor)
    }

    /// Whether it is sure to match everything beneath `dir`.
    fn covers(&self, dir: &VPath) -> bool {
        let Some(stem) = self.stem.as_ref().filter(|_| self.whole) else {
            return false;
        };
        let mut at = dir.clone();
        loop {
            if stem.accepts(&at) {
                return true;
            }
            if at.is_root() {
                return false;
            }
            at = at.parent();
        }
    }
}

/// What makes a segment more than a name.
const WILD: [char; 5] = ['*', '?', '{', '[', '\\'];

/// The pattern without a last `/**`.
fn strip_deep(pattern: &str) -> Option<&str> {
    if pattern == "**" {
        return Some("");
    }
    pattern.strip_suffix("/**")
}

/// Why a pattern would not mean here what its writer means.
fn unsound(pattern: &str) -> Option<&'static str> {
    if pattern.starts_with('!') {
        return Some("a leading '!' does not turn a rule round; write a rule with another mode");
    }
    let mut before = None;
    let mut escaped = false;
    for c in pattern.chars() {
        if c == '(' && !escaped && matches!(before, Some('?' | '*' | '+' | '@' | '!')) {
            return Some("extended patterns such as '+(a|b)' are not known; write '{a,b}'");
        }
        escaped = c == '\\' && !escaped;
        before = Some(c);
    }
    if pattern.contains("[[:") {
        return Some("named classes such as '[[:alpha:]]' are not known; write '[a-zA-Z]'");
    }
    if pattern.split('{').skip(1).any(|rest| {
        rest.split('}')
            .next()
            .is_some_and(|body| body.contains("..") && !body.contains(','))
    }) {
        return Some("ranges such as '{1..3}' are not known; write '{1,2,3}'");
    }
    if pattern.len() > 1 && pattern.ends_with('/') {
        return Some("it ends with '/' and so matches no file; end it with '/**'");
    }
    let segments = || pattern.split('/');
    if segments().any(|segment| segment == "..") {
        return Some("'..' segments are not allowed");
    }
    if segments().any(|segment| segment == "~") {
        return Some("'~' is not expanded; write a path from the root '/'");
    }
    None
}

impl Rule {
    /// A rule for some operations on the paths of these patterns.
    pub fn new<'a>(
        touches: &[Touch],
        mode: Mode,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Rule> {
        let patterns = patterns
            .into_iter()
            .map(|pattern| RulePattern::parse(pattern, mode));
        Ok(Rule {
            touches: touches.to_vec(),
            mode,
            patterns: patterns.collect::<Result<_>>()?,
        })
    }

    fn accepts(&self, path: &VPath) -> bool {
        self.patterns.iter().any(|pattern| pattern.accepts(path))
    }
}

/// What the rules say of a path, and which rule it was; none where it is the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to do.
    pub mode: Mode,
    /// The place of the rule that said so.
    pub rule: Option<usize>,
}

/// What the rules say of all that lies beneath a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beneath {
    /// Nothing is denied.
    Open,
    /// Everything is denied.
    Closed,
    /// It depends on the file.
    Mixed,
}

/// An ordered list of rules.
#[derive(Clone)]
pub struct Rules {
    rules: Rc<[Rule]>,
    allow_by_default: bool,
}

impl Rules {
    /// These rules in this order; what none of them matches is allowed or denied.
    pub fn new(rules: Vec<Rule>, allow_by_default: bool) -> Rules {
        Rules {
            rules: rules.into(),
            allow_by_default,
        }
    }

    /// Whether any rule wants somebody to be asked.
    pub fn asks(&self) -> bool {
        self.rules.iter().any(|rule| rule.mode == Mode::Ask)
    }

    fn default_mode(&self) -> Mode {
        if self.allow_by_default {
            Mode::Allow
        } else {
            Mode::Deny
        }
    }

    /// What the first matching rule says.
    pub fn decide(&self, touch: Touch, path: &VPath) -> Decision {
        let found = self
            .rules
            .iter()
            .position(|rule| rule.touches.contains(&touch) && rule.accepts(path));
        Decision {
            mode: found
                .and_then(|at| self.rules.get(at))
                .map_or(self.default_mode(), |rule| rule.mode),
            rule: found,
        }
    }

    /// Whether a path is denied.
    pub(super) fn denies(&self, touch: Touch, path: &VPath) -> bool {
        self.decide(touch, path).mode == Mode::Deny
    }

    /// What is sure of everything strictly beneath a directory.
    pub(super) fn beneath(&self, touch: Touch, dir: &VPath) -> Beneath {
        let (mut some_denied, mut some_allowed) = (false, false);
        for rule in self.rules.iter() {
            if !rule.touches.contains(&touch) {
                continue;
            }
            let reaches = |pattern: &RulePattern| pattern.reaches_beneath(dir);
            if !rule.patterns.iter().any(reaches) {
                continue;
            }
            let denies = rule.mode == Mode::Deny;
            if rule.patterns.iter().any(|pattern| pattern.covers(dir)) {
                return match (denies, some_denied, some_allowed) {
                    (true, _, false) => Beneath::Closed,
                    (false, false, _) => Beneath::Open,
                    _ => Beneath::Mixed,
                };
            }
            some_denied |= denies;
            some_allowed |= !denies;
        }
        match (self.allow_by_default, some_denied, some_allowed) {
            (true, false, _) => Beneath::Open,
            (false, _, false) => Beneath::Closed,
            _ => Beneath::Mixed,
        }
    }
}
