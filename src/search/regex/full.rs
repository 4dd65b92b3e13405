//! The full parser: it reads with the parser of the crate `regex`, and knows all of Unicode. It is large, so it is
//! in a chunk of its own in the WebAssembly.

use std::rc::Rc;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{
    Assertion, AssertionKind, Ast as From, ClassAscii, ClassBracketed, ClassPerl, ClassPerlKind,
    ClassSet, ClassSetBinaryOp, ClassSetBinaryOpKind, ClassSetItem, ClassUnicode, ClassUnicodeKind,
    Flag, Flags as Switches, FlagsItemKind, Literal, Repetition, RepetitionKind, RepetitionRange,
    Span,
};

use super::ast::{Ast, Edge, Look, Range, Set};
use super::nfa::{Facts, MAX_RANGES};
use super::properties::{self, Unknown, others, plain};
use super::{Parsed, invalid, tables, too_many_ranges};
use crate::core::error::Result;

/// The deepest nesting, so that parsing cannot overflow the stack.
const MAX_DEPTH: u32 = 100;

/// Parses an expression.
pub fn parse(pattern: &str, ignore_case: bool) -> Result<Parsed> {
    let parsed = ParserBuilder::new()
        .nest_limit(MAX_DEPTH)
        .build()
        .parse(pattern)
        .map_err(|error| invalid(error.kind()))?;
    let mut reader = Reader {
        pattern,
        flags: Flags {
            ignore_case,
            any: false,
            crlf: true,
            unicode: true,
            spaced: false,
        },
        known: Vec::new(),
        ranges: 0,
        asks_words: false,
    };
    let ast = reader.expression(&parsed)?;
    let words = match reader.asks_words {
        true => reader.words(),
        false => Rc::default(),
    };
    Ok(Parsed {
        ast,
        facts: Facts {
            words,
            ..Facts::default()
        },
    })
}

fn not_text<T>() -> Result<T> {
    Err(invalid("pattern can match invalid UTF-8"))
}

fn not_unicode<T>() -> Result<T> {
    Err(invalid("Unicode not allowed here"))
}

/// Those of the flags that make a difference to a search by lines, or to what a class means.
#[derive(Clone, Copy)]
struct Flags {
    ignore_case: bool,
    /// `.` matches line endings too.
    any: bool,
    /// `\r` ends a line, so `.` does not match it.
    crlf: bool,
    unicode: bool,
    /// White space means nothing.
    spaced: bool,
}

impl Flags {
    fn set(&mut self, switches: &Switches) {
        let mut on = true;
        for item in &switches.items {
            match item.kind {
                FlagsItemKind::Negation => on = false,
                FlagsItemKind::Flag(Flag::CaseInsensitive) => self.ignore_case = on,
                FlagsItemKind::Flag(Flag::DotMatchesNewLine) => self.any = on,
                FlagsItemKind::Flag(Flag::Unicode) => self.unicode = on,
                FlagsItemKind::Flag(Flag::CRLF) => self.crlf = on,
                FlagsItemKind::Flag(Flag::IgnoreWhitespace) => self.spaced = on,
                FlagsItemKind::Flag(Flag::MultiLine | Flag::SwapGreed) => {}
            }
        }
    }
}

struct Reader<'a> {
    pattern: &'a str,
    flags: Flags,
    /// Sets by what was asked for.
    known: Vec<(String, Rc<Set>)>,
    /// How many ranges the classes have together.
    ranges: usize,
    /// Whether the expression asks which characters are word characters.
    asks_words: bool,
}

impl Reader<'_> {
    fn expression(&mut self, from: &From) -> Result<Ast> {
        Ok(match from {
            From::Empty(_) => Ast::Empty,
            From::Flags(set) => {
                self.flags.set(&set.flags);
                Ast::Empty
            }
            From::Literal(literal) => self.literal(literal)?,
            From::Dot(_) => Ast::Set(Rc::new(self.dot()?)),
            From::Assertion(assertion) => Ast::Look(self.condition(assertion)),
            From::ClassUnicode(class) => self.once(&class.span, |own| own.property(class))?,
            From::ClassPerl(class) => self.once(&class.span, |own| own.perl(class))?,
            From::ClassBracketed(class) => {
                self.once(&class.span, |own| own.bracketed(class).map(Rc::new))?
            }
            From::Repetition(repetition) => self.repeated(repetition)?,
            From::Group(group) => {
                let outer = self.flags;
                if let Some(flags) = group.flags() {
                    self.flags.set(flags);
                }
                let inner = self.expression(&group.ast)?;
                self.flags = outer;
                inner
            }
            From::Alternation(branches) => {
                let branches = branches.asts.iter();
                Ast::Alt(
                    branches
                        .map(|one| self.expression(one))
                        .collect::<Result<_>>()?,
                )
            }
            From::Concat(parts) => {
                let mut all = Vec::new();
                for part in &parts.asts {
                    match self.expression(part)? {
                        Ast::Empty => {}
                        Ast::Concat(some) => all.extend(some),
                        one => all.push(one),
                    }
                }
                Ast::Concat(all)
            }
        })
    }

    /// A class; its set is made once, however often the class is in the expression.
    fn once(
        &mut self,
        span: &Span,
        make: impl FnOnce(&mut Self) -> Result<Rc<Set>>,
    ) -> Result<Ast> {
        let Flags {
            ignore_case,
            unicode,
            spaced,
            ..
        } = self.flags;
        let key = format!("{ignore_case}{unicode}{spaced}{}", self.text(span));
        if let Some(set) = self.recalled(&key) {
            return Ok(Ast::Set(set));
        }
        let set = make(self)?;
        // As the automaton does, but before all of them are made.
        self.ranges += set.ranges().len();
        if self.ranges > MAX_RANGES {
            return Err(too_many_ranges());
        }
        self.known.push((key, Rc::clone(&set)));
        Ok(Ast::Set(set))
    }

    fn recalled(&self, key: &str) -> Option<Rc<Set>> {
        let found = self.known.iter().find(|(known, _)| known == key);
        found.map(|(_, set)| Rc::clone(set))
    }

    fn repeated(&mut self, repetition: &Repetition) -> Result<Ast> {
        let inner = self.expression(&repetition.ast)?;
        let (least, most) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne => (0, Some(1)),
            RepetitionKind::ZeroOrMore => (0, None),
            RepetitionKind::OneOrMore => (1, None),
            RepetitionKind::Range(RepetitionRange::Exactly(times)) => (*times, Some(*times)),
            RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (*least, None),
            RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, Some(*most)),
        };
        Ok(match (least, most, inner) {
            (1, Some(1), inner) => inner,
            // A condition is the same however often it is asked.
            (least, _, inner @ (Ast::Empty | Ast::Look(_))) => match least {
                0 => Ast::Empty,
                _ => inner,
            },
            (least, most, inner) => Ast::Repeat {
                inner: Box::new(inner),
                least,
                most,
            },
        })
    }

    fn literal(&mut self, literal: &Literal) -> Result<Ast> {
        if !self.flags.unicode && literal.byte().is_some_and(|byte| !byte.is_ascii()) {
            return not_text();
        }
        let one = u32::from(literal.c);
        let set = Set::of(vec![(one, one)]);
        Ok(Ast::Set(Rc::new(match self.flags.ignore_case {
            true => self.folded(&set),
            false => set,
        })))
    }

    fn dot(&self) -> Result<Set> {
        if !self.flags.unicode {
            return not_text();
        }
        Ok(others(&Set::of(match self.flags {
            Flags { any: true, .. } => Vec::new(),
            Flags { crlf: true, .. } => vec![(0x0A, 0x0A), (0x0D, 0x0D)],
            _ => vec![(0x0A, 0x0A)],
        })))
    }

    fn condition(&mut self, assertion: &Assertion) -> Look {
        let edge = match assertion.kind {
            AssertionKind::StartLine | AssertionKind::StartText => return Look::Start,
            AssertionKind::EndLine | AssertionKind::EndText => return Look::End,
            AssertionKind::WordBoundary => Edge::Any,
            AssertionKind::NotWordBoundary => Edge::None,
            AssertionKind::WordBoundaryStart | AssertionKind::WordBoundaryStartAngle => Edge::Start,
            AssertionKind::WordBoundaryEnd | AssertionKind::WordBoundaryEndAngle => Edge::End,
            AssertionKind::WordBoundaryStartHalf => Edge::StartHalf,
            AssertionKind::WordBoundaryEndHalf => Edge::EndHalf,
        };
        self.asks_words = true;
        Look::Word {
            edge,
            ascii: !self.flags.unicode,
        }
    }

    /// `[a-z]`: what is in it, in both cases, and then what is not.
    fn bracketed(&mut self, class: &ClassBracketed) -> Result<Set> {
        let set = self.class(&class.kind)?;
        self.finished(set, class.negated)
    }

    /// A set in both cases if case is ignored; all others if it is negated.
    fn finished(&mut self, set: Set, negated: bool) -> Result<Set> {
        let set = match self.flags.ignore_case {
            true => self.folded(&set),
            false => set,
        };
        match (negated, self.flags.unicode) {
            (false, _) => Ok(set),
            (true, true) => Ok(others(&set)),
            // Bytes that are no characters of ASCII.
            (true, false) => not_text(),
        }
    }

    fn class(&mut self, class: &ClassSet) -> Result<Set> {
        match class {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(operation) => self.operation(operation),
        }
    }

    fn operation(&mut self, operation: &ClassSetBinaryOp) -> Result<Set> {
        let (left, right) = (self.class(&operation.lhs)?, self.class(&operation.rhs)?);
        let (left, right) = (self.finished(left, false)?, self.finished(right, false)?);
        let without = |one: &Set, other: &Set| others(&others(one).union(other));
        Ok(match operation.kind {
            ClassSetBinaryOpKind::Intersection => without(&left, &others(&right)),
            ClassSetBinaryOpKind::Difference => without(&left, &right),
            ClassSetBinaryOpKind::SymmetricDifference => {
                without(&left, &right).union(&without(&right, &left))
            }
        })
    }

    fn item(&mut self, item: &ClassSetItem) -> Result<Set> {
        Ok(match item {
            ClassSetItem::Empty(_) => Set::default(),
            ClassSetItem::Literal(one) => {
                let c = self.member(one)?;
                Set::of(vec![(c, c)])
            }
            ClassSetItem::Range(range) => {
                Set::of(vec![(self.member(&range.start)?, self.member(&range.end)?)])
            }
            ClassSetItem::Ascii(class) => self.ascii(class)?,
            ClassSetItem::Unicode(class) => Set::clone(&*self.property(class)?),
            ClassSetItem::Perl(class) => Set::clone(&*self.perl(class)?),
            ClassSetItem::Bracketed(class) => self.bracketed(class)?,
            ClassSetItem::Union(union) => {
                // Characters and ranges are put in order at once, and not one by one.
                let (mut ranges, mut all) = (Vec::new(), Set::default());
                for item in &union.items {
                    let set = self.item(item)?;
                    match item {
                        ClassSetItem::Literal(_) | ClassSetItem::Range(_) => {
                            ranges.extend_from_slice(set.ranges());
                        }
                        _ => all = all.union(&set),
                    }
                }
                all.union(&Set::of(ranges))
            }
        })
    }

    /// A character in a class.
    fn member(&self, literal: &Literal) -> Result<u32> {
        match literal.c {
            c if self.flags.unicode || c.is_ascii() => Ok(u32::from(c)),
            _ if literal.byte().is_some() => not_text(),
            _ => not_unicode(),
        }
    }

    /// `[:alpha:]` in a class.
    fn ascii(&mut self, class: &ClassAscii) -> Result<Set> {
        let text = self.text(&class.span).trim_matches(['[', ':', '^', ']']);
        self.finished(ascii(text), class.negated)
    }

    fn text(&self, span: &Span) -> &str {
        let text = self.pattern.get(span.start.offset..span.end.offset);
        text.unwrap_or_default()
    }

    /// `\d`, `\s`, `\w` and what is none of them. They have both cases.
    fn perl(&mut self, class: &ClassPerl) -> Result<Rc<Set>> {
        let set = match (&class.kind, self.flags.unicode) {
            (ClassPerlKind::Word, true) => self.words(),
            (ClassPerlKind::Digit, true) => self.looked_up("nd", None)?,
            (ClassPerlKind::Space, true) => self.looked_up("space", None)?,
            (_, false) if class.negated => return not_text(),
            (kind, false) => Rc::new(ascii(match kind {
                ClassPerlKind::Word => "word",
                ClassPerlKind::Digit => "digit",
                ClassPerlKind::Space => "space",
            })),
        };
        Ok(match class.negated {
            true => Rc::new(others(&set)),
            false => set,
        })
    }

    fn words(&mut self) -> Rc<Set> {
        self.remembered("w".to_owned(), || Ok(properties::words()))
            .unwrap_or_default()
    }

    /// `\p{Greek}`, `\p{scx=Greek}`, and what is none of them.
    fn property(&mut self, class: &ClassUnicode) -> Result<Rc<Set>> {
        if !self.flags.unicode {
            return not_unicode();
        }
        let letter;
        let (name, value) = match &class.kind {
            ClassUnicodeKind::OneLetter(one) => {
                letter = one.to_string();
                (&letter, None)
            }
            ClassUnicodeKind::Named(name) => (name, None),
            ClassUnicodeKind::NamedValue { name, value, .. } => (name, Some(value)),
        };
        let (name, value) = (plain(name), value.map(|value| plain(value)));
        let mut set = self.looked_up(&name, value.as_deref())?;
        if self.flags.ignore_case {
            let key = key("i", &name, value.as_deref());
            set = self.remembered(key, || Ok(set.folded()))?;
        }
        Ok(match class.is_negated() {
            true => Rc::new(others(&set)),
            false => set,
        })
    }

    fn looked_up(&mut self, name: &str, value: Option<&str>) -> Result<Rc<Set>> {
        self.remembered(key("p", name, value), || {
            properties::property(name, value).map_err(|unknown| {
                invalid(match unknown {
                    Unknown::Property => "Unicode property not found",
                    Unknown::Value => "Unicode property value not found",
                })
            })
        })
    }

    /// What is made once for an expression, however often it is in it.
    fn remembered(&mut self, key: String, make: impl FnOnce() -> Result<Set>) -> Result<Rc<Set>> {
        if let Some(set) = self.recalled(&key) {
            return Ok(set);
        }
        let set = Rc::new(make()?);
        self.known.push((key, Rc::clone(&set)));
        Ok(set)
    }

    fn folded(&self, set: &Set) -> Set {
        if self.flags.unicode {
            return set.folded();
        }
        let letters = |from: u32, to: u32| {
            let moved = |(first, last): &Range| {
                let (first, last) = (*first.max(&from), *last.min(&(from + 25)));
                (first <= last).then(|| (first - from + to, last - from + to))
            };
            set.ranges().iter().filter_map(moved).collect()
        };
        let (upper, lower) = (u32::from('A'), u32::from('a'));
        set.union(&Set::of(letters(upper, lower)))
            .union(&Set::of(letters(lower, upper)))
    }
}

fn ascii(name: &str) -> Set {
    tables::ascii(name)
        .map(|ranges| Set::of(ranges.to_vec()))
        .unwrap_or_default()
}

/// What the set of a property is remembered by; no value is another one than an empty value.
fn key(kind: &str, name: &str, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{kind}{name}={value}"),
        None => format!("{kind}{name}"),
    }
}

#[cfg(test)]
mod tests;
