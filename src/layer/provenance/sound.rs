//! What rules about labels must be. TypeScript checks the options of the npm package by itself, and says which one
//! is wrong; a component has nothing else.

use std::rc::Rc;

use super::{Labels, Options, Patterns, Seen, Then};
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::layer::policy::unsound;
use crate::protocol::Operation;

/// Most characters of a label.
const LONGEST: usize = 64;

fn wrong(message: String) -> Error {
    Error::new(Kind::InvalidArgument, message)
}

/// A label: a name without anything that a line of a file or a sentence would end with.
pub fn label(text: &str) -> Result<Rc<str>> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    match (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_usual) {
        true => Ok(text.into()),
        false => Err(wrong(format!(
            "A label must be at most {LONGEST} letters, digits, '.', '_' or '-', not '{}'",
            text.chars().take(LONGEST).collect::<String>()
        ))),
    }
}

/// Patterns that mean what who wrote them expects.
pub fn patterns(given: &[String]) -> Result<Patterns> {
    if given.is_empty() {
        return Err(wrong(
            "A rule must have a pattern at least, such as '/web/**'".into(),
        ));
    }
    for pattern in given {
        let why = match pattern.as_str() {
            other if !other.starts_with('/') => Some("it must begin with '/'"),
            other if other.contains(|c: char| c < ' ') => Some("it has a control character"),
            other if other.contains("//") || other.contains("/./") => {
                Some("'.' and empty segments are in no path")
            }
            other => unsound(other),
        };
        if let Some(why) = why {
            let message = format!("Invalid pattern '{pattern}': {why}");
            return Err(Error::new(Kind::InvalidPattern, message));
        }
    }
    Patterns::parse(given.iter().map(String::as_str))
}

/// What an earlier object of a conversation has read.
pub fn seen(given: &str, path: &str, operation: &str) -> Result<Seen> {
    Ok(Seen {
        label: label(given)?,
        path: VPath::parse(path)?,
        operation: Operation::named(operation)
            .ok_or_else(|| wrong(format!("There is no operation '{operation}'")))?,
    })
}

impl Options {
    /// Refuses rules that can never do anything.
    pub fn checked(self) -> Result<Options> {
        let mut known = Labels::default();
        for rule in &self.labels {
            known.add(&rule.label);
        }
        if known.is_empty() {
            return Err(wrong("There must be a label at least".into()));
        }
        for flow in &self.flows {
            if !known.has(&flow.from) {
                let message = format!("No rule gives the label '{}' of a flow", flow.from);
                return Err(wrong(message));
            }
            if flow.then == Then::Ask && self.ask.is_none() {
                return Err(wrong("A flow that asks needs the name of its host".into()));
            }
        }
        Ok(self)
    }
}
