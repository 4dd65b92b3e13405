//! The properties of Unicode: which characters have one. `build.rs` packs what `regex-syntax` knows of them, in a
//! third of the bytes of its tables.

use super::ast::Set;
use crate::core::packed::take;

/// A line for each value of a property: the property as a letter, then the names of the value, of which the first is
/// the shortest. `g`: general category, `s`: script, `a`: age, `c`, `w`, `b`: breaks of graphemes, words and
/// sentences, `p`: a property that a character has or has not.
const NAMES: &str = include_str!("properties.txt");
/// For each line the ranges of its set; a script has a second one, with the characters of other scripts that it
/// uses. Each is its length in bytes and, for each range, the distance from the one before and how long it is.
static SETS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/properties.bin"));

/// All characters that are not in the set. No text has a surrogate, so it makes no difference where those are.
pub(super) fn others(set: &Set) -> Set {
    set.negated(u32::from(char::MAX))
}

/// Why there is no such set.
pub(super) enum Unknown {
    Property,
    Value,
}

/// The characters of `\p{name}`, or of `\p{name=value}`; both names as `plain` gives them.
pub(super) fn property(name: &str, value: Option<&str>) -> Result<Set, Unknown> {
    let Some(value) = value else {
        let kinds = ["p", "g", "s"].into_iter();
        let found = kinds.filter_map(|kind| valued(kind, name)).next();
        return found.ok_or(Unknown::Property);
    };
    let kind = match name {
        "gc" | "generalcategory" => "g",
        "sc" | "script" => "s",
        "scx" | "scriptextensions" => "x",
        "age" => "a",
        "gcb" | "graphemeclusterbreak" => "c",
        "wb" | "wordbreak" => "w",
        "sb" | "sentencebreak" => "b",
        _ if valued("p", name).is_some() => return Err(Unknown::Value),
        _ => return Err(Unknown::Property),
    };
    valued(kind, value).ok_or(Unknown::Value)
}

/// The word characters.
pub(super) fn words() -> Set {
    let parts = [
        ("p", "alpha"),
        ("g", "m"),
        ("g", "nd"),
        ("g", "pc"),
        ("p", "joinc"),
    ];
    union(parts.iter().filter_map(|(kind, name)| valued(kind, name)))
}

/// The characters with a value of a property.
fn valued(kind: &str, value: &str) -> Option<Set> {
    match (kind, value) {
        ("g", "any") => return Some(others(&Set::default())),
        ("g", "ascii") => return Some(Set::of(vec![(0, 0x7F)])),
        ("g", "assigned") => return valued("g", "cn").map(|set| others(&set)),
        _ => {}
    }
    let (wanted, second) = match kind {
        "x" => ("s", 1),
        kind => (kind, 0),
    };
    let mut of_kind = lines().filter(|line| line.kind == wanted);
    let line = of_kind.find(|line| line.names.split(' ').any(|name| name == value))?;
    let lines = lines().filter(|line| line.kind == wanted);
    Some(match (kind, line.names.split(' ').next()) {
        // A group of categories, such as all letters: those whose names begin with it.
        ("g", Some(group)) if group.len() == 1 => union(
            lines
                .filter(|one| one.names.starts_with(group) && !one.names.starts_with("lc "))
                .filter_map(|one| set(one.set)),
        ),
        // Each age has what is new in it.
        ("a", _) => union(
            lines
                .filter(|one| one.set <= line.set)
                .filter_map(|one| set(one.set)),
        ),
        _ => set(line.set + second)?,
    })
}

struct Line {
    kind: &'static str,
    names: &'static str,
    /// The number of its set.
    set: usize,
}

fn lines() -> impl Iterator<Item = Line> {
    let mut set = 0;
    NAMES.lines().filter_map(move |line| {
        let (kind, names) = line.split_once(' ')?;
        let line = Line { kind, names, set };
        set += if kind == "s" { 2 } else { 1 };
        Some(line)
    })
}

fn union(sets: impl Iterator<Item = Set>) -> Set {
    sets.fold(Set::default(), |all, set| all.union(&set))
}

/// The set with this number.
fn set(number: usize) -> Option<Set> {
    let mut rest = SETS;
    for _ in 0..number {
        let skipped = length(&mut rest)?;
        rest = rest.get(skipped..)?;
    }
    let length = length(&mut rest)?;
    let mut packed = rest.iter().copied().take(length);
    let mut ranges = Vec::new();
    let mut next = 0;
    while let (Some(distance), Some(longer)) = (take(&mut packed), take(&mut packed)) {
        let first = next + distance;
        next = first + longer + 1;
        ranges.push((first, first + longer));
    }
    Some(Set::of(ranges))
}

/// Takes the length of a set from where it begins.
fn length(rest: &mut &[u8]) -> Option<usize> {
    let mut bytes = rest.iter();
    let length = take(&mut bytes.by_ref().copied())?;
    *rest = bytes.as_slice();
    usize::try_from(length).ok()
}

/// A name without what makes no difference: case, spaces, hyphens, underscores, and `is` before it.
pub(super) fn plain(name: &str) -> String {
    let starts = |start: &str| start.eq_ignore_ascii_case("is");
    let rest = match name.get(..2).is_some_and(starts) {
        true => name.get(2..).unwrap_or_default(),
        false => name,
    };
    let kept = |c: &char| c.is_ascii() && !matches!(c, ' ' | '_' | '-');
    let plain: String = rest.chars().filter(kept).collect();
    match plain.to_ascii_lowercase() {
        // The short name of a comment, and not that of other characters.
        plain if plain == "c" && rest.len() < name.len() => "isc".to_owned(),
        plain => plain,
    }
}

#[cfg(test)]
mod tests;
