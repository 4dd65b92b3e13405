//! A pass for paths of the library's own files, and for names with characters that nobody sees which a
//! policy has allowed, on their way through methods of a JavaScript object, such as an overridden `write`
//! of a subclass, to a backend of this library: behind a prefix that no path has and that is drawn anew in
//! each process, so that no caller can make one up.

use crate::core::path::{InvalidPath, VPath};
use crate::env::random;

/// The first character of a pass; a path with it is refused otherwise.
const MARK: char = '\0';

thread_local! {
    static SECRET: String = format!("{}{}{}", MARK, random::id(), random::id());
}

/// The path with a pass.
pub fn with_pass(path: &VPath) -> String {
    SECRET.with(|secret| format!("{secret}{}", path.as_str()))
}

/// Parses a path from a caller; with a pass it may be one of the library's own files, and its name is
/// allowed.
pub fn parse(text: &str) -> Result<VPath, InvalidPath> {
    if !text.starts_with(MARK) {
        return VPath::parse(text);
    }
    SECRET.with(|secret| match text.strip_prefix(secret.as_str()) {
        Some(path) => VPath::any(path).map(VPath::vouched),
        None => VPath::parse(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pass_of_this_process_opens_the_room() {
        let own = VPath::own("/").expect("a path");
        let passed = with_pass(&own);
        assert_eq!(parse(&passed), Ok(own.clone()));
        let hidden = VPath::parse("/a\u{202e}b").expect("a path");
        let allowed = parse(&with_pass(&hidden)).expect("a path");
        assert_eq!((&allowed, allowed.deception()), (&hidden, None));
        assert!(parse(hidden.as_str()).is_ok_and(|path| path.deception().is_some()));
        for text in [
            own.as_str(),
            &format!("\0{own}"),
            &format!("\0{}{own}", "0".repeat(32)),
            &passed[..passed.len() - own.as_str().len()].repeat(2),
            &format!("/x{passed}"),
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse("/a").is_ok());
    }
}
