//! How large an expression is once its counted repetitions are written out: `(?:a{9}){8}` is 72
//! letters. An engine's time is at worst this number for every byte of a line. It is read off the
//! text, so that it is the same whatever the engine; what cannot be read counts as what it is long.

/// How many letters, classes and signs, at most.
pub(super) fn weight(pattern: &str) -> usize {
    let mut groups = vec![Group::default()];
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '(' => {
                // A group's name or flags are no part of what it matches.
                let ends = |c: &char| matches!(c, ':' | '>' | ')');
                let signs = rest.next_if_eq(&'?').is_some();
                if !signs || rest.by_ref().find(ends) != Some(')') {
                    groups.push(Group::default());
                }
            }
            ')' if groups.len() > 1 => {
                let inner = groups.pop().unwrap_or_default().total();
                add(&mut groups, inner);
            }
            '\\' => {
                let class = rest.next();
                if matches!(class, Some('x' | 'u' | 'U' | 'p' | 'P')) && rest.peek() == Some(&'{') {
                    rest.by_ref().find(|c| *c == '}');
                }
                add(&mut groups, 1);
            }
            '[' => {
                skip_class(&mut rest);
                add(&mut groups, 1);
            }
            '{' => {
                let inside: String = rest.by_ref().take_while(|c| *c != '}').collect();
                if let Some(group) = groups.last_mut() {
                    group.last = group.last.max(1).saturating_mul(times(&inside));
                }
            }
            '*' | '+' | '?' | '|' => {}
            _ => add(&mut groups, 1),
        }
    }
    let open = groups.iter().map(Group::total);
    open.fold(0usize, usize::saturating_add)
}

/// What stands between two parentheses.
#[derive(Default)]
struct Group {
    before: usize,
    /// The last atom, which a repetition would multiply.
    last: usize,
}

impl Group {
    fn total(&self) -> usize {
        self.before.saturating_add(self.last)
    }
}

fn add(groups: &mut [Group], weight: usize) {
    if let Some(group) = groups.last_mut() {
        group.before = group.total();
        group.last = weight;
    }
}

/// The largest number in `3`, `3,` or `3,5`.
fn times(inside: &str) -> usize {
    let number = |text: &str| text.trim().parse::<usize>().unwrap_or(usize::MAX);
    inside
        .split(',')
        .filter(|text| !text.trim().is_empty())
        .map(number)
        .max()
        .unwrap_or(1)
        .max(1)
}

fn skip_class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    rest.next_if_eq(&'^');
    // A bracket right at the start stands for itself.
    rest.next_if_eq(&']');
    let mut depth = 1usize;
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                rest.next();
            }
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        let cases = [
            ("", 0),
            ("abc", 3),
            ("a*b+c?", 3),
            ("a{3}", 3),
            ("a{3,5}b", 6),
            ("a{3,}b", 4),
            ("(?:a{99}){90}[bc]", 99 * 90 + 1),
            ("(?P<name>a{9}){9}", 81),
            ("(?i)a{9}", 9),
            ("(?i:a){9}", 9),
            ("((a{10}){10}){10}", 1000),
            (r"\w{20}\d", 21),
            (r"[^\]a-z]{7}", 7),
            ("[]a]{7}", 7),
            ("[[:alpha:]]{5}", 5),
            ("a|b|c{4}", 6),
            (r"\x{1F600}{3}", 3),
            (r"a\{9}", 4),
            ("a{99999999999999999999}", usize::MAX),
            ("((((a{9999}){9999}){9999}){9999}){9999}", usize::MAX),
            ("a{0}", 1),
            ("(((", 0),
            (")))a{2}", 5),
        ];
        for (pattern, expected) in cases {
            assert_eq!(weight(pattern), expected, "{pattern}");
        }
    }
}
