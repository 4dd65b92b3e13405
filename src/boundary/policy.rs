//! `withPolicy`.

use std::rc::Rc;
use std::time::Duration;

use crate::boundary::Host;
use crate::boundary::macros::{calls, options, words};
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::error::Result;
use crate::core::path::VPath;
use crate::layer::policy::{Covers, Limits, Mode, Policy, Rate, Rates, Rule, Rules, Touch};
use crate::protocol::Operation;

words! { Mode { Allow = "allow", Deny = "deny", Ask = "ask" } }
words! { Touch { Read = "read", Write = "write" } }

/// What applies to a path that no rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultMode {
    /// It is allowed.
    Allow,
    /// It is refused.
    Deny,
}

words! { DefaultMode { Allow = "allow", Deny = "deny" } }

/// What happens to names with characters that nobody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenCharacters {
    /// They are refused.
    Refuse,
    /// They are allowed.
    Allow,
}

words! { HiddenCharacters { Refuse = "refuse", Allow = "allow" } }

options! {
    /// A rule about reading or writing paths.
    pub struct RuleGiven {
        name: Option<String>,
        operations: Vec<Touch> [own],
        paths: Vec<String> [least 1, wanted "an array of patterns"],
        mode: Mode = "allow",
    }
}

options! {
    /// Most operations in a period: all of them, or those of one kind.
    pub struct RateGiven {
        kind: Option<Operation> [own],
        operations: usize [wanted "a whole number, zero or more"],
        per_ms: Duration [least 1],
    }
}

options! {
    /// How much may be stored.
    pub struct QuotaGiven {
        max_bytes: Option<u64> [narrows],
        max_files: Option<u64> [narrows],
        max_file_bytes: Option<u64> [narrows],
    }
}

options! {
    /// The rules of a policy, and its callbacks.
    pub struct PolicyGiven {
        read_only: bool,
        read_only_prefixes: Vec<String> [wanted "an array of strings"],
        permissions: Vec<RuleGiven> [own],
        default_mode: DefaultMode = "allow",
        on_ask: Option<Host>,
        ask_timeout_ms: Duration = 60000,
        rates: Vec<RateGiven> [own],
        quota: Option<QuotaGiven>,
        inspect: Option<Host>,
        audit: Option<Host>,
        before: Option<Host> [own],
        after: Option<Host> [own],
        allow_execute: Option<bool>,
        hidden_characters: HiddenCharacters = "refuse",
    }
}

impl PolicyGiven {
    /// The rules; the callbacks are added where there is a host.
    pub fn rules(&self) -> Result<Policy> {
        let prefixes = self.read_only_prefixes.iter();
        let prefixes = prefixes.map(|prefix| Ok(VPath::parse(prefix)?));
        let rules: Vec<Rule> = self
            .permissions
            .iter()
            .map(RuleGiven::rule)
            .collect::<Result<_>>()?;
        let allows = self.default_mode == DefaultMode::Allow;
        let permissions = (!rules.is_empty() || !allows).then(|| Rules::new(rules, allows));
        Ok(Policy {
            read_only: self.read_only,
            allow_execute: self.allow_execute,
            hidden_characters: self.hidden_characters == HiddenCharacters::Allow,
            deny_prefixes: prefixes.collect::<Result<_>>()?,
            permissions,
            rates: Rates::new(self.rates.iter().map(RateGiven::rate)),
            quota: self.quota.as_ref().map(|quota| Limits {
                max_bytes: quota.max_bytes,
                max_files: quota.max_files,
                max_file_bytes: quota.max_file_bytes,
            }),
            ..Policy::default()
        })
    }
}

impl RuleGiven {
    fn rule(&self) -> Result<Rule> {
        let patterns = self.paths.iter().map(String::as_str);
        let rule = Rule::new(&self.operations, self.mode, patterns)?;
        Ok(match &self.name {
            Some(name) => rule.named(name),
            None => rule,
        })
    }
}

impl RateGiven {
    fn rate(&self) -> Rate {
        Rate {
            covers: match self.kind {
                None => Covers::Everything,
                Some(Operation::Read) => Covers::Reads,
                Some(Operation::Write) => Covers::Writes,
                Some(operation) => Covers::Only(operation),
            },
            operations: self.operations,
            per: self.per_ms,
        }
    }
}

calls! {
    /// Which paths the rules show: those that they show themselves, and those at or below which they may
    /// show something.
    pub enum RulesCall {
        Shown { paths: Vec<Rc<str>> },
        Reached { paths: Vec<Rc<str>> },
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        RuleGiven::printed(),
        RateGiven::printed(),
        QuotaGiven::printed(),
        PolicyGiven::printed(),
        RulesCall::printed(),
    ]
}
