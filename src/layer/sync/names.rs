//! Names of conflict copies: `name (conflict of SIDE, TIME).ext`.

use crate::core::error::Result;
use crate::core::path::VPath;
use crate::core::time::Time;

/// What tells the copies of one file apart: when it was written, or what it holds. A run that is broken
/// off and made again must find the same.
pub fn mark(written: Option<Time>, digest: &str) -> String {
    match written {
        // Windows allows no colon in a name.
        Some(time) => {
            let text = time.to_string().replace('T', " ").replace(':', ".");
            text.chars().take(19).collect()
        }
        None => digest.chars().take(12).collect(),
    }
}

/// What stands behind the name of the file.
const MARK: &str = " (conflict of ";

/// A name before and from its last dot.
fn parted(name: &str) -> (&str, &str) {
    let dot = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    name.split_at_checked(dot).unwrap_or((name, ""))
}

/// Of how many files a path is the copy of a copy; zero for a file of its own.
pub fn depth(path: &VPath) -> usize {
    path.name().matches(MARK).count()
}

/// Most bytes of a name on usual file systems.
const NAME: usize = 255;
/// Bytes of a name behind the side: a mark, brackets, and a number.
const BEHIND: usize = 30;

/// The beginning of the names of copies, short enough for the rest of them.
fn stem<'a>(stem: &'a str, side: &str, ending: &str) -> &'a str {
    let rest = MARK.len() + side.len() + BEHIND + ending.len();
    let mut end = stem.len().min(NAME.saturating_sub(rest));
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    stem.get(..end).unwrap_or_default()
}

/// With what the paths of all copies of a file begin.
pub fn first_copy(path: &VPath, side: &str) -> String {
    let (before, ending) = parted(path.name());
    let whole = path.as_str();
    let folder = whole.strip_suffix(path.name()).unwrap_or_default();
    format!("{folder}{}{MARK}{side}, ", stem(before, side, ending))
}

/// Whether another path is in the same directory, and has the ending of this one.
pub fn is_beside(path: &VPath, other: &VPath) -> bool {
    path.parent() == other.parent() && other.name().ends_with(parted(path.name()).1)
}

/// The name of the copy of a file; `number` counts those that are taken, from 1.
pub fn copy(path: &VPath, side: &str, mark: &str, number: usize) -> Result<VPath> {
    let (before, ending) = parted(path.name());
    let stem = stem(before, side, ending);
    let count = match number {
        0 | 1 => String::new(),
        more => format!(" {more}"),
    };
    let name = format!("{stem}{MARK}{side}, {mark}){count}{ending}");
    Ok(path.parent().join(&name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::path;

    #[test]
    fn a_copy_has_the_name_of_the_file_its_side_and_a_time() {
        let time = Time::parse("2026-11-26T13:05:22.123Z");
        let mark = mark(time, "unused");
        let named = |at: &str, number| {
            let copy = copy(&path(at), "laptop", &mark, number);
            copy.expect("a path").as_str().to_owned()
        };
        assert_eq!(
            named("/notes/plan.v2.md", 1),
            "/notes/plan.v2 (conflict of laptop, 2026-11-26 13.05.22).md"
        );
        assert_eq!(
            named("/.env", 1),
            "/.env (conflict of laptop, 2026-11-26 13.05.22)"
        );
        assert_eq!(
            named("/Makefile", 3),
            "/Makefile (conflict of laptop, 2026-11-26 13.05.22) 3"
        );
        assert_eq!(super::mark(None, "0123456789abcdef"), "0123456789ab");
        for at in ["/notes/plan.v2.md", "/.env", "/Makefile", "/dir.d/plain"] {
            let copy = copy(&path(at), "laptop", &mark, 3).expect("a path");
            assert!(copy.as_str().starts_with(&first_copy(&path(at), "laptop")));
            assert!(is_beside(&path(at), &copy), "{at}");
            assert!(!is_beside(
                &path(at),
                &path("/else").join("x.md").expect("a path")
            ));
        }
        // The name of a copy fits where that of its file does.
        for name in [
            "x".repeat(251) + ".md",
            "語".repeat(83) + "é.md",
            "x".repeat(255),
        ] {
            let long = path(&format!("/notes/{name}"));
            let copy = copy(&long, "laptop", &mark, 12).expect("a path");
            let size = copy.name().len();
            assert!((240..=255).contains(&size), "{size}");
            assert!(copy.as_str().starts_with(&first_copy(&long, "laptop")));
            assert!(is_beside(&long, &copy));
        }
        let deep = format!("/{}", "d".repeat(200)).repeat(4);
        let deep = path(&format!("{deep}/{}", "x".repeat(200)));
        assert!(copy(&deep, "laptop", &mark, 1).is_err());
    }
}
