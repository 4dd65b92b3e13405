//! Parses a pattern into its alternatives: braces are expanded, and each alternative is a list of
//! segments. The size is computed before the expansion, so that a hostile pattern costs no more
//! than parsing it. Matching is done elsewhere.

use crate::core::error::{Error, Kind, Result};

/// The longest pattern, in bytes.
const MAX_BYTES: usize = 4096;
/// Limit on the number of alternatives after brace expansion.
const MAX_ALTERNATIVES: usize = 1000;
/// Limit on the characters in all alternatives together.
const MAX_WRITTEN_OUT: usize = 1 << 16;
/// The deepest nesting of braces.
const MAX_DEPTH: usize = 32;

/// One element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// This character.
    Literal(char),
    /// `/`.
    Separator,
    /// `?`: one character.
    Any,
    /// `*`: any number of characters.
    Star,
    /// `[…]`: one of these characters, or none of them.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// A segment of an alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// `**`: any number of whole segments.
    Deep,
    /// A pattern within one segment.
    Tokens(Vec<Token>),
}

/// One alternative of the pattern, after brace expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// Whether it began with `/`.
    pub(super) anchored: bool,
    /// Whether it ended with `/`, and so matches only directories.
    pub(super) directory: bool,
    /// The segments between the slashes. Empty segments and `.` are dropped, as in a path.
    pub(super) segments: Vec<Segment>,
}

enum Node {
    Token(Token),
    Group(Vec<Vec<Node>>),
}

/// Parses a pattern.
pub(super) fn alternatives(pattern: &str) -> Result<Vec<Alternative>> {
    if pattern.is_empty() {
        return Err(invalid(pattern, "it is empty; '**' matches every file"));
    }
    if pattern.len() > MAX_BYTES {
        return Err(invalid(pattern, "it is longer than 4096 bytes"));
    }
    let chars: Vec<char> = pattern.chars().collect();
    if chars.first() == Some(&'!') && chars.get(1) != Some(&'(') {
        return Err(invalid(
            pattern,
            "a leading '!' excludes files only in the glob filter of grep; write '\\!' for the \
             character",
        ));
    }
    let closers = group_ends(&chars).map_err(|why| invalid(pattern, why))?;
    let mut reader = Reader {
        chars: &chars,
        closers: &closers,
        at: 0,
    };
    let nodes = reader
        .sequence(chars.len(), 0, None)
        .map_err(|why| invalid(pattern, why))?;
    let (count, size) = reckon(&nodes);
    if count > MAX_ALTERNATIVES {
        return Err(invalid(
            pattern,
            "its braces stand for more than 1000 alternatives",
        ));
    }
    if size > MAX_WRITTEN_OUT {
        return Err(invalid(
            pattern,
            "it is too long once its braces are written out; split it",
        ));
    }
    let written = write_out(&nodes, vec![Vec::new()]);
    let all = written.into_iter().map(segments);
    all.collect::<Option<_>>().ok_or_else(|| {
        invalid(
            pattern,
            "it has a '..' segment; give the directory as the path, or begin the pattern with '/'",
        )
    })
}

pub(super) fn invalid(pattern: &str, why: &str) -> Error {
    let shown: String = pattern.chars().take(100).collect();
    let dots = if shown.len() < pattern.len() {
        "…"
    } else {
        ""
    };
    Error::new(
        Kind::InvalidPattern,
        format!("Invalid glob pattern '{shown}{dots}': {why}"),
    )
}

/// A brace or parenthesis that is open.
struct Open {
    at: usize,
    is_brace: bool,
    /// Whether it has more than one alternative.
    is_choice: bool,
    /// The character before it, unless that is escaped.
    before: Option<char>,
}

/// For each position: where the `{` or `(` there closes, if it opens a group. Braces without a comma of
/// their own are ordinary characters, so that `weird{2}.txt` matches that file. So are parentheses
/// without a `|`, since `(1)` is in many names.
fn group_ends(chars: &[char]) -> Result<Vec<Option<usize>>, &'static str> {
    let mut ends = vec![None; chars.len()];
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0usize;
    let mut before = None;
    while let Some(c) = chars.get(at) {
        let last = before.replace(*c);
        match c {
            '\\' => {
                at += 1;
                before = None;
            }
            '[' => {
                at = class_end(chars, at).ok_or(UNCLOSED_CLASS)?;
                before = None;
            }
            '{' | '(' => open.push(Open {
                at,
                is_brace: *c == '{',
                is_choice: false,
                before: last,
            }),
            ',' => {
                if let Some(last) = open.iter_mut().rev().find(|one| one.is_brace) {
                    last.is_choice = true;
                }
            }
            '|' => {
                if let Some(last) = open.last_mut().filter(|one| !one.is_brace) {
                    last.is_choice = true;
                }
            }
            '}' => {
                if let Some(place) = open.iter().rposition(|one| one.is_brace) {
                    // A parenthesis that is not closed within the braces is a character.
                    open.truncate(place + 1);
                    if let Some(group) = open.pop() {
                        if !group.is_choice && is_range(chars.get(group.at + 1..at)) {
                            return Err(RANGE);
                        }
                        if let Some(slot) = ends.get_mut(group.at).filter(|_| group.is_choice) {
                            *slot = Some(at);
                        }
                    }
                }
            }
            ')' => {
                if let Some(group) = open.pop_if(|one| !one.is_brace) {
                    let is_group = match group.before {
                        Some('+' | '!') => return Err(EXTENDED),
                        Some('*') if group.is_choice => return Err(EXTENDED),
                        Some('@') => true,
                        _ => group.is_choice,
                    };
                    if let Some(slot) = ends.get_mut(group.at).filter(|_| is_group) {
                        *slot = Some(at);
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
    if open.iter().all(|one| !one.is_brace) {
        Ok(ends)
    } else {
        Err("a '{' is never closed; write '\\{' for the character")
    }
}

/// Whether braces hold a range of a shell, such as `{1..3}` or `{a..e..2}`.
fn is_range(body: Option<&[char]>) -> bool {
    let body = body.unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let ends = [body.first(), body.last()];
    body.windows(2).any(|two| two == ['.', '.'])
        && body.iter().all(is_plain)
        && !ends.contains(&Some(&'.'))
}

const RANGE: &str = "ranges such as '{1..3}' are not known; write '{1,2,3}' or '[1-3]', and '\\{' for the \
                     character";
const EXTENDED: &str = "'!(…)', '+(…)' and '*(a|b)' are not known; write '{a,b}' for alternatives, and \
                        '\\(' for the character";
const UNCLOSED_CLASS: &str = "a '[' is never closed; write '\\[' for the character";

/// The position of the `]` that closes the class that opens at `open`.
fn class_end(chars: &[char], open: usize) -> Option<usize> {
    let mut at = open + 1;
    if matches!(chars.get(at), Some('!' | '^')) {
        at += 1;
    }
    let first = at;
    loop {
        match chars.get(at)? {
            ']' if at > first => return Some(at),
            '\\' => at += 2,
            _ => at = named_class(chars, at).map_or(at + 1, |(_, end)| end),
        }
    }
}

/// The name of a class such as `[:alpha:]` within a class, and the position behind it.
fn named_class(chars: &[char], at: usize) -> Option<(String, usize)> {
    let rest = chars.get(at..)?.strip_prefix(&['[', ':'])?;
    let length = rest.iter().take_while(|c| c.is_ascii_lowercase()).count();
    let (name, behind) = rest.split_at_checked(length)?;
    behind.strip_prefix(&[':', ']'])?;
    Some((name.iter().collect(), at + length + 4))
}

/// The characters of a named class, as POSIX has them.
fn members(name: &str) -> Option<&'static [(char, char)]> {
    Some(match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    })
}

struct Reader<'a> {
    chars: &'a [char],
    closers: &'a [Option<usize>],
    at: usize,
}

impl Reader<'_> {
    /// Parses up to `end`; inside a group, up to its comma or `|` as well.
    fn sequence(
        &mut self,
        end: usize,
        depth: usize,
        divider: Option<char>,
    ) -> Result<Vec<Node>, &'static str> {
        if depth > MAX_DEPTH {
            return Err("its braces are nested deeper than 32");
        }
        let mut nodes = Vec::new();
        while self.at < end {
            let Some(&c) = self.chars.get(self.at) else {
                break;
            };
            if divider == Some(c) {
                break;
            }
            let is_marked = matches!(c, '@' | '?') && self.chars.get(self.at + 1) == Some(&'(');
            let opens = self.at + usize::from(is_marked);
            if let Some(Some(close)) = self.closers.get(opens).copied() {
                self.at = opens + 1;
                let divider = if self.chars.get(opens) == Some(&'{') {
                    ','
                } else {
                    '|'
                };
                let mut branches = self.group(close, depth, divider)?;
                if is_marked && c == '?' {
                    branches.push(Vec::new());
                }
                nodes.push(Node::Group(branches));
                continue;
            }
            let token = self.token(c)?;
            nodes.push(Node::Token(token));
        }
        Ok(nodes)
    }

    fn group(
        &mut self,
        close: usize,
        depth: usize,
        divider: char,
    ) -> Result<Vec<Vec<Node>>, &'static str> {
        let mut branches = Vec::new();
        loop {
            branches.push(self.sequence(close, depth + 1, Some(divider))?);
            let ended = self.at >= close;
            self.at += 1;
            if ended {
                return Ok(branches);
            }
        }
    }

    fn token(&mut self, c: char) -> Result<Token, &'static str> {
        self.at += 1;
        Ok(match c {
            '/' => Token::Separator,
            '?' => Token::Any,
            '*' => Token::Star,
            '[' => self.class()?,
            '\\' => {
                let escaped = self.chars.get(self.at);
                self.at += 1;
                match escaped {
                    Some('/') => Token::Separator,
                    Some(&c) => Token::Literal(c),
                    None => return Err("it ends with a lone '\\'"),
                }
            }
            c => Token::Literal(c),
        })
    }

    fn class(&mut self) -> Result<Token, &'static str> {
        let end = class_end(self.chars, self.at - 1).ok_or(UNCLOSED_CLASS)?;
        let negated = matches!(self.chars.get(self.at), Some('!' | '^'));
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        let inside = self.chars.get(self.at..end).unwrap_or_default();
        if let [':', name @ .., ':'] = inside
            && members(&name.iter().collect::<String>()).is_some()
        {
            return Err("a class such as '[:alpha:]' needs brackets around it: '[[:alpha:]]'");
        }
        while self.at < end {
            if let Some((name, behind)) = named_class(self.chars, self.at) {
                let known = members(&name).ok_or("it has a class '[:…:]' that is not known")?;
                ranges.extend_from_slice(known);
                self.at = behind;
                continue;
            }
            let start = self.member().ok_or(UNCLOSED_CLASS)?;
            let ranged = self.chars.get(self.at) == Some(&'-') && self.at + 1 < end;
            let last = if ranged {
                self.at += 1;
                self.member().ok_or(UNCLOSED_CLASS)?
            } else {
                start
            };
            if last < start {
                return Err("a range in '[…]' runs backwards");
            }
            ranges.push((start, last));
        }
        self.at = end + 1;
        Ok(Token::Class { negated, ranges })
    }

    fn member(&mut self) -> Option<char> {
        if self.chars.get(self.at) == Some(&'\\') {
            self.at += 1;
        }
        let c = self.chars.get(self.at).copied();
        self.at += 1;
        c
    }
}

/// The number of alternatives of a sequence, and their total length.
fn reckon(nodes: &[Node]) -> (usize, usize) {
    nodes.iter().fold((1, 0), |(count, size), node| {
        let (more, longer) = match node {
            Node::Token(_) => (1, 1),
            Node::Group(branches) => branches.iter().map(|branch| reckon(branch)).fold(
                (0usize, 0usize),
                |sum, branch| {
                    (
                        sum.0.saturating_add(branch.0),
                        sum.1.saturating_add(branch.1),
                    )
                },
            ),
        };
        let size = size
            .saturating_mul(more)
            .saturating_add(longer.saturating_mul(count));
        (count.saturating_mul(more), size)
    })
}

fn write_out(nodes: &[Node], mut begun: Vec<Vec<Token>>) -> Vec<Vec<Token>> {
    for node in nodes {
        match node {
            Node::Token(token) => {
                for one in &mut begun {
                    one.push(token.clone());
                }
            }
            Node::Group(branches) => {
                begun = branches
                    .iter()
                    .flat_map(|branch| write_out(branch, begun.clone()))
                    .collect();
            }
        }
    }
    begun
}

/// The segments of an alternative; `None` if one is `..`.
fn segments(tokens: Vec<Token>) -> Option<Alternative> {
    let anchored = tokens.first() == Some(&Token::Separator);
    let directory = tokens.last() == Some(&Token::Separator);
    let mut segments: Vec<Segment> = Vec::new();
    for part in tokens.split(|token| *token == Token::Separator) {
        let segment = match part {
            [] | [Token::Literal('.')] => continue,
            [Token::Literal('.'), Token::Literal('.')] => return None,
            [Token::Star, Token::Star] => Segment::Deep,
            _ => {
                let mut row = part.to_vec();
                row.dedup_by(|a, b| *a == Token::Star && *b == Token::Star);
                Segment::Tokens(row)
            }
        };
        if segment == Segment::Deep && segments.last() == Some(&Segment::Deep) {
            continue;
        }
        segments.push(segment);
    }
    Some(Alternative {
        anchored,
        directory,
        segments,
    })
}
