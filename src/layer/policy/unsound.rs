//! Patterns of permission rules, and of labels and flows, that do not mean what who wrote them expects.

/// Why a pattern would not have the meaning that its author expects.
pub(in crate::layer) fn unsound(pattern: &str) -> Option<&'static str> {
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
    if is_choice(pattern) {
        return Some("alternatives such as '(a|b)' are not known here; write '{a,b}'");
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
    if pattern == "." || pattern.ends_with("/.") {
        return Some("it ends with '.' and so matches no file; leave that out, or write '/**'");
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

/// Whether a `|` stands in parentheses.
fn is_choice(pattern: &str) -> bool {
    let mut open = 0usize;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            '|' if open > 0 => return true,
            _ => {}
        }
    }
    false
}
