//! Labels, and the rules about them: which paths have one, and where labelled content may not go
//! without a question. Pure.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
use crate::layer::folding::{Folding, folded_path, folded_pattern};
use crate::search::glob::PathGlob;

/// A set of labels, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Rc<str>>);

impl Labels {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a label is one of them.
    pub fn has(&self, label: &str) -> bool {
        self.0.iter().any(|one| **one == *label)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Rc<str>> {
        self.0.iter()
    }

    /// Adds a label.
    pub fn add(&mut self, label: &Rc<str>) {
        if !self.has(label) {
            self.0.push(label.clone());
            order::sort(&mut self.0);
        }
    }

    /// Adds all labels of another set.
    pub fn merge(&mut self, more: &Labels) {
        for label in &more.0 {
            self.add(label);
        }
    }

    /// Those that another set lacks.
    pub fn without(&self, other: &Labels) -> Labels {
        let rest = self.0.iter().filter(|label| !other.has(label));
        Labels(rest.cloned().collect())
    }
}

/// Patterns over whole paths; `/a/**` matches `/a` too, and `/**/x` matches `/x`. One that ends with a
/// name, or names in braces, matches what is below as well, as it may be a directory's. Over a storage
/// that takes several spellings of a name for one, they match every spelling.
pub struct Patterns {
    texts: Vec<String>,
    globs: Vec<PathGlob>,
    /// The same for folded paths of ASCII, and for other ones, made when they are first needed.
    folded: [OnceCell<Vec<PathGlob>>; 2],
}

/// Whether the last segment has no wildcard.
fn ends_with_names(pattern: &str) -> bool {
    let mut chars = pattern.rsplit('/').next().unwrap_or_default().chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' => return false,
            '\\' => _ = chars.next(),
            _ => {}
        }
    }
    true
}

impl Patterns {
    /// Parses patterns.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Patterns> {
        let mut texts: Vec<String> = Vec::new();
        for pattern in patterns {
            texts.push(pattern.into());
            if ends_with_names(pattern) {
                texts.push(format!("{}/**", pattern.trim_end_matches('/')));
            } else if let Some(stem) = pattern.strip_suffix("/**").filter(|stem| !stem.is_empty()) {
                texts.push(stem.into());
            }
        }
        let globs: Result<_> = texts.iter().map(|text| PathGlob::parse(text)).collect();
        Ok(Patterns {
            globs: globs?,
            texts,
            folded: Default::default(),
        })
    }

    /// Whether one of them matches.
    pub(super) fn accept(&self, path: &VPath, folding: &Folding) -> bool {
        if self.globs.iter().any(|glob| glob.accepts(path)) {
            return true;
        }
        let names = folding.names();
        if !names.folds() {
            return false;
        }
        let path = folded_path(path, names);
        let loose = !path.as_str().is_ascii();
        let [close, other] = &self.folded;
        let folded = if loose { other } else { close };
        let globs = folded.get_or_init(|| {
            let texts = self.texts.iter();
            let texts = texts.map(|text| folded_pattern(text, names, loose));
            // A pattern whose folded form means nothing matches all that is folded.
            let globs =
                texts.map(|text| PathGlob::parse(&text).or_else(|_| PathGlob::parse("/**")));
            globs.filter_map(Result::ok).collect()
        });
        globs.iter().any(|glob| glob.accepts(&path))
    }
}

/// Files at these paths have a label, whatever their content is.
pub struct LabelRule {
    /// Where the files are.
    pub paths: Patterns,
    /// Their label.
    pub label: Rc<str>,
}

/// What happens to content that a flow names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is refused.
    Refuse,
    /// A person is asked.
    Ask,
}

/// Where content with a label may not go by itself.
pub struct Flow {
    /// The label.
    pub from: Rc<str>,
    /// The files that it may not get into.
    pub to: Patterns,
    /// What happens instead.
    pub then: Then,
}
