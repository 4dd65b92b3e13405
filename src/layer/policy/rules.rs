//! Evaluates permission rules: for a path, and for everything below a directory. Pure;
//! `permissions` and `ask` apply the decisions.
//!
//! The first rule that names the operation and matches the path wins. `/a/**` matches `/a` as well
//! as everything below, as in `deepagents`. A pattern that `deepagents` would interpret differently
//! is refused when the rule is created, because a rule that silently matches nothing protects
//! nothing.
//!
//! If a pattern is ambiguous, a restricting rule matches more and an allowing rule matches less, as
//! in `deepagents`: `/**/x` does not allow `/x`, and `/[ab]/**` allows files below `/a`, but not
//! `/a` itself. A restricting rule for `/src`, `/{src,lib}` or `/` restricts everything below it too:
//! there is nothing below a file, and whoever means a directory expects that. Where a storage folds names, a
//! restricting rule matches every spelling ([`folding`](super::folding)).

use std::cell::OnceCell;
use std::rc::Rc;

use super::unsound::unsound;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::env::folding::folded;
use crate::layer::folding::{Folding, folded_pattern};
use crate::protocol::Names;
use crate::search::glob::PathGlob;

/// How an operation uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Reveals its content or existence.
    Read,
    /// Changes, creates or removes it.
    Write,
}

/// The effect of a rule on the paths it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Allow the operation.
    Allow,
    /// Refuse the operation.
    Deny,
    /// Ask the approval callback.
    Ask,
}

/// One rule.
#[derive(Clone)]
pub struct Rule {
    name: Option<Rc<str>>,
    touches: Vec<Touch>,
    mode: Mode,
    patterns: Vec<RulePattern>,
}

/// One pattern of a rule.
#[derive(Clone)]
struct RulePattern {
    text: Rc<str>,
    glob: Rc<PathGlob>,
    /// For a pattern that ends with `/**`: the part before it, which also matches.
    stem: Option<Stem>,
    /// A directory that contains every match, or is the match.
    anchor: VPath,
    /// Whether a match of the stem implies that everything below it matches.
    whole: bool,
    /// The name that the pattern ends with, between slashes; a slash if there are several in braces. It
    /// may be that of a directory: then everything below it is restricted, too.
    named: Option<Rc<str>>,
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
        // The root is a directory, too.
        let pattern = match pattern {
            "/" if !narrow => "/**",
            other => other,
        };
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
        let (stem, whole) = if ends_deep && narrow && literal(stem).is_none() {
            (None, false)
        } else if ends_deep {
            (Some(stem_of(stem)?), true)
        } else if inner_deep && !narrow {
            // A suffix within braces. The stem includes the other alternatives too, which is
            // correct, because the pattern matches them anyway.
            let cut = pattern.replace("/**,", ",").replace("/**}", "}");
            (Some(stem_of(&cut)?), false)
        } else {
            (None, false)
        };
        let literal_parts: Vec<String> = pattern
            .split('/')
            .filter(|segment| !segment.is_empty() && *segment != ".")
            .map_while(literal)
            .collect();
        // The last literal segment may be a file name; a higher anchor is correct as well.
        let anchor = VPath::parse(&format!("/{}", literal_parts.join("/")))?;
        let last = pattern.rsplit('/').next().unwrap_or_default();
        // Alternatives may be names of directories as well; none of them is looked for first.
        let name = match literal(last) {
            Some(name) if !name.contains('}') => Some(format!("/{name}/")),
            Some(_) => Some("/".to_owned()),
            None => literal(&last.replace(['{', '}'], "")).map(|_| "/".to_owned()),
        };
        let (stem, whole, named) = match (stem, name) {
            (None, Some(name)) if !narrow && !inner_deep && !rooted.is_empty() => {
                (Some(stem_of(rooted)?), true, Some(Rc::from(name)))
            }
            (stem, _) => (stem, whole, None),
        };
        Ok(RulePattern {
            text: pattern.into(),
            glob,
            stem,
            anchor,
            whole,
            named,
        })
    }

    fn accepts(&self, path: &VPath) -> bool {
        path.is_under(&self.anchor)
            && (self.glob.accepts(path)
                || self.stem.as_ref().is_some_and(|stem| stem.accepts(path))
                || self.is_below_name(path))
    }

    fn is_below_name(&self, path: &VPath) -> bool {
        let named = self.named.as_deref();
        named.is_some_and(|name| path.as_str().contains(name)) && self.covers(path)
    }

    /// Whether it may match something below `dir`; in doubt, true.
    fn reaches_beneath(&self, dir: &VPath) -> bool {
        self.anchor.is_under(dir) || dir.is_under(&self.anchor)
    }

    /// Whether it certainly matches everything below `dir`.
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

/// The text that a pattern stands for, if it matches one text only.
fn literal(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '{' | '[' => return None,
            '\\' => text.push(chars.next()?),
            c => text.push(c),
        }
    }
    Some(text)
}

/// The pattern without a trailing `/**`.
fn strip_deep(pattern: &str) -> Option<&str> {
    if pattern == "**" {
        return Some("");
    }
    pattern.strip_suffix("/**")
}

impl Rule {
    /// A rule for some operations on the paths that match these patterns.
    pub fn new<'a>(
        touches: &[Touch],
        mode: Mode,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Rule> {
        let patterns = patterns
            .into_iter()
            .map(|pattern| RulePattern::parse(pattern, mode));
        Ok(Rule {
            name: None,
            touches: touches.to_vec(),
            mode,
            patterns: patterns.collect::<Result<_>>()?,
        })
    }

    /// The same rule with a name, which refusals, questions and audits show.
    #[must_use]
    pub fn named(self, name: &str) -> Rule {
        Rule {
            name: Some(name.into()),
            ..self
        }
    }

    /// Whether some pattern has a property, or the folded form of one.
    fn any(
        &self,
        path: &VPath,
        spelled: &Spelled<'_>,
        has: fn(&RulePattern, &VPath) -> bool,
    ) -> bool {
        self.patterns.iter().any(|pattern| has(pattern, path))
            || (self.mode != Mode::Allow && spelled.any(self, has))
    }

    /// Whether some pattern certainly matches everything below a directory.
    fn covers(&self, dir: &VPath, spelled: &Spelled<'_>) -> bool {
        let spelled = match spelled {
            Spelled::Somehow => &Spelled::Exactly,
            Spelled::Exactly | Spelled::Folded(..) => spelled,
        };
        self.any(dir, spelled, RulePattern::covers)
    }

    /// The patterns for folded paths. If one of them means nothing, all that is folded matches.
    fn folded(&self, names: Names, loose: bool) -> Vec<RulePattern> {
        let fold = |pattern: &RulePattern| {
            let text = folded_pattern(&pattern.text, names, loose);
            RulePattern::parse(&text, self.mode)
                .or_else(|_| RulePattern::parse("/**", self.mode))
                .ok()
        };
        self.patterns.iter().filter_map(fold).collect()
    }
}

/// The patterns of all rules for folded paths, made when they are first needed.
struct FoldedRules {
    folding: Rc<Folding>,
    /// For paths of ASCII.
    close: OnceCell<Vec<Vec<RulePattern>>>,
    /// For other paths.
    loose: OnceCell<Vec<Vec<RulePattern>>>,
}

/// A path as the storage may know it.
enum Spelled<'a> {
    /// As it is.
    Exactly,
    /// Folded, with the folded patterns of each rule.
    Folded(VPath, &'a [Vec<RulePattern>], &'a [Rule]),
    /// In a way that no path can say.
    Somehow,
}

impl Spelled<'_> {
    fn any(&self, rule: &Rule, has: fn(&RulePattern, &VPath) -> bool) -> bool {
        match self {
            Spelled::Exactly => false,
            Spelled::Somehow => true,
            Spelled::Folded(path, patterns, rules) => rules
                .iter()
                .position(|one| std::ptr::eq(one, rule))
                .and_then(|at| patterns.get(at))
                .is_some_and(|patterns| patterns.iter().any(|pattern| has(pattern, path))),
        }
    }
}

/// The decision for a path, and the rule it comes from; `None` for the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The effect.
    pub mode: Mode,
    /// The index of the rule.
    pub rule: Option<usize>,
}

/// The decision for everything below a directory.
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
    folded: Option<Rc<FoldedRules>>,
}

impl Rules {
    /// These rules in this order; paths without a match are allowed or denied.
    pub fn new(rules: Vec<Rule>, allow_by_default: bool) -> Rules {
        Rules {
            rules: rules.into(),
            allow_by_default,
            folded: None,
        }
    }

    /// These rules over a backend that may fold names.
    pub(super) fn over(self, folding: Rc<Folding>) -> Rules {
        let folded = FoldedRules {
            folding,
            close: OnceCell::new(),
            loose: OnceCell::new(),
        };
        Rules {
            folded: Some(Rc::new(folded)),
            ..self
        }
    }

    fn spelled(&self, path: &VPath) -> Spelled<'_> {
        let Some(all) = &self.folded else {
            return Spelled::Exactly;
        };
        let names = all.folding.names();
        if !names.folds() {
            return Spelled::Exactly;
        }
        let text = folded(path.as_str(), names.case, names.composition);
        let loose = !text.is_ascii();
        let Some(path) = VPath::from_stored(&text) else {
            return Spelled::Somehow;
        };
        let made = if loose { &all.loose } else { &all.close };
        let patterns = made.get_or_init(|| {
            let rules = self.rules.iter();
            rules.map(|rule| rule.folded(names, loose)).collect()
        });
        Spelled::Folded(path, patterns, &self.rules)
    }

    /// Whether any rule has mode `ask`.
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

    /// The decision of the first matching rule.
    pub fn decide(&self, touch: Touch, path: &VPath) -> Decision {
        let spelled = self.spelled(path);
        let found = self.rules.iter().position(|rule| {
            rule.touches.contains(&touch) && rule.any(path, &spelled, RulePattern::accepts)
        });
        Decision {
            mode: found
                .and_then(|at| self.rules.get(at))
                .map_or(self.default_mode(), |rule| rule.mode),
            rule: found,
        }
    }

    /// The name of the rule of a decision, if it has one.
    pub(super) fn name_of(&self, decision: Decision) -> Option<Rc<str>> {
        let rule = decision.rule.and_then(|at| self.rules.get(at));
        rule.and_then(|rule| rule.name.clone())
    }

    /// Whether a path is denied.
    pub(super) fn denies(&self, touch: Touch, path: &VPath) -> bool {
        self.decide(touch, path).mode == Mode::Deny
    }

    /// Whether a rule names a path: by a pattern that does not stand for every name, as `/dir/*`.
    pub(super) fn names(&self, rule: usize, path: &VPath) -> bool {
        let names = |pattern: &RulePattern, path: &VPath| {
            pattern.accepts(path) && !pattern.text.ends_with("/*")
        };
        self.rules
            .get(rule)
            .is_some_and(|rule| rule.any(path, &self.spelled(path), names))
    }

    /// What certainly holds for everything strictly below a directory.
    pub(super) fn beneath(&self, touch: Touch, dir: &VPath) -> Beneath {
        let (mut some_denied, mut some_allowed) = (false, false);
        let spelled = self.spelled(dir);
        for rule in self.rules.iter() {
            if !rule.touches.contains(&touch) {
                continue;
            }
            if !rule.any(dir, &spelled, RulePattern::reaches_beneath) {
                continue;
            }
            let denies = rule.mode == Mode::Deny;
            if rule.covers(dir, &spelled) {
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
