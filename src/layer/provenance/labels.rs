//! Labels, and the rules about them: which paths have one, and where labelled content may not go
//! without a question. Pure.

use std::rc::Rc;

use crate::core::error::Result;
use crate::core::order;
use crate::core::path::VPath;
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

/// Patterns over whole paths; `/a/**` matches `/a` too, and `/**/x` matches `/x`.
pub struct Patterns(Vec<PathGlob>);

impl Patterns {
    /// Parses patterns.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Patterns> {
        let mut globs = Vec::new();
        for pattern in patterns {
            globs.push(PathGlob::parse(pattern)?);
            if let Some(stem) = pattern.strip_suffix("/**").filter(|stem| !stem.is_empty()) {
                globs.push(PathGlob::parse(stem)?);
            }
        }
        Ok(Patterns(globs))
    }

    /// Whether one of them matches.
    pub fn accept(&self, path: &VPath) -> bool {
        self.0.iter().any(|glob| glob.accepts(path))
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
