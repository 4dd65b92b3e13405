//! Literals that a line must contain for a regular expression to match, extracted from the
//! expression. Searching for a literal is a hundred times faster than running the regex engine, so
//! the engine runs only on lines that contain one. If in doubt, no literals are extracted, and the
//! engine runs on every line.

/// More literals than this bring no gain.
const MAX_NEEDLES: usize = 8;

/// Literals of which every matching line contains at least one. `None` if no such literals are
/// known.
pub(super) fn needles(pattern: &str) -> Option<Vec<String>> {
    let mut reader = Reader::default();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        reader.take(c, &mut rest)?;
    }
    if reader.depth > 0 {
        return None;
    }
    reader.end_branch()?;
    Some(reader.needles)
}

#[derive(Default)]
struct Reader {
    needles: Vec<String>,
    /// The longest run of literals in this branch; `run` is the current one.
    longest: String,
    run: String,
    /// Number of open groups. Their contents are ignored.
    depth: usize,
}

impl Reader {
    /// Consumes one atom or operator; `None` if in doubt.
    fn take(&mut self, c: char, rest: &mut std::str::Chars<'_>) -> Option<()> {
        let next = rest.clone().next();
        match c {
            '(' => {
                if next == Some('?') {
                    rest.next();
                    if rest.next() != Some(':') {
                        return None;
                    }
                }
                self.end_run();
                self.depth += 1;
            }
            ')' => self.depth = self.depth.checked_sub(1)?,
            '[' => {
                self.end_run();
                skip_class(rest)?;
            }
            '|' if self.depth == 0 => self.end_branch()?,
            '?' | '*' => {
                self.run.pop();
                self.end_run();
            }
            '+' => {
                // `a+*` need not match an `a`.
                if matches!(next, Some('?' | '*' | '+' | '{')) {
                    self.run.pop();
                }
                self.end_run();
            }
            '{' => {
                self.run.pop();
                self.end_run();
                while rest.next()? != '}' {}
            }
            '.' | '^' | '$' | '|' => self.end_run(),
            '\\' => match rest.next()? {
                'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'A' | 'z' | 'B' => self.end_run(),
                'b' if rest.clone().next() != Some('{') => self.end_run(),
                '<' | '>' => self.end_run(),
                't' => self.literal('\t'),
                c if c.is_ascii_punctuation() => self.literal(c),
                _ => return None,
            },
            // Lines contain no `\n`, and the engine receives an invalid byte as U+FFFD.
            '\n' | '\u{fffd}' => return None,
            c => self.literal(c),
        }
        Some(())
    }

    fn literal(&mut self, c: char) {
        if self.depth == 0 {
            self.run.push(c);
        }
    }

    fn end_run(&mut self) {
        if self.run.len() > self.longest.len() {
            std::mem::swap(&mut self.run, &mut self.longest);
        }
        self.run.clear();
    }

    fn end_branch(&mut self) -> Option<()> {
        self.end_run();
        let longest = std::mem::take(&mut self.longest);
        if longest.is_empty() || self.needles.len() == MAX_NEEDLES {
            return None;
        }
        self.needles.push(longest);
        Some(())
    }
}

/// Skips to after the `]` of a class whose `[` was consumed. Nested classes, and a literal `]` or
/// `[`, are in doubt.
fn skip_class(rest: &mut std::str::Chars<'_>) -> Option<()> {
    let mut first = true;
    loop {
        match rest.next()? {
            '[' => return None,
            ']' if first => return None,
            ']' => return Some(()),
            '^' if first => continue,
            '\\' => {
                rest.next()?;
            }
            _ => {}
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_must_hold() {
        let cases: [(&str, &[&str]); 19] = [
            ("abc", &["abc"]),
            ("ab+c", &["ab"]),
            ("abc?d", &["ab"]),
            ("ab*", &["a"]),
            ("ab{0,3}cd", &["cd"]),
            (r"foo\s+barbaz", &["barbaz"]),
            (r"^import .* from", &["import "]),
            (r"\bfn\b", &["fn"]),
            (r"a\.b\(", &["a.b("]),
            ("TODO|FIXME", &["TODO", "FIXME"]),
            ("(a|b)cd", &["cd"]),
            ("(?:a|b)*cd$", &["cd"]),
            ("x[a-z]yz", &["yz"]),
            (r"x[^\]a]yz", &["yz"]),
            ("é+", &["é"]),
            ("abc+?d", &["ab"]),
            (r"a\tb", &["a\tb"]),
            ("ab((c)d)?ef", &["ab"]),
            ("a#b c", &["a#b c"]),
        ];
        for (pattern, expected) in cases {
            let found = needles(pattern).expect(pattern);
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn in_doubt_nothing_is_said() {
        for pattern in [
            "",
            ".*",
            "a|",
            "a|.b?",
            "(?i)abc",
            "(?x) a b",
            "(?P<n>a)b",
            "a?",
            "a+*",
            "a{0}",
            "[]a]b",
            "[[:alpha:]]b",
            r"\x41b",
            r"\b{start}a",
            r"a\nb",
            "a\u{fffd}b",
            "abc)",
            "(abc",
            r"\",
            "a|b|c|d|e|f|g|h|i",
        ] {
            assert_eq!(needles(pattern), None, "{pattern}");
        }
    }
}
