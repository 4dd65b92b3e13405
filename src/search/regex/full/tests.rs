use proptest::prelude::*;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::*;
use crate::core::testing::cases;

/// With all surrogates, which no text has.
fn whole(ranges: Vec<Range>) -> Set {
    Set::of(ranges).union(&Set::of(vec![(0xD800, 0xDFFF)]))
}

/// The characters of an expression for one, as the crate `regex` reads it.
fn theirs(hir: &Hir) -> Set {
    whole(match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
        HirKind::Class(Class::Bytes(class)) => class
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
            .expect("text")
            .chars()
            .map(|c| (u32::from(c), u32::from(c)))
            .collect(),
        other => panic!("{other:?}"),
    })
}

fn ours(ast: &Ast) -> Set {
    match ast {
        Ast::Set(set) => whole(set.ranges().to_vec()),
        Ast::Concat(parts) => ours(parts.first().expect("a part")),
        other => panic!("{other:?}"),
    }
}

/// A class in brackets, or what may stand alone.
fn class() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        "[abkszAKé]",
        "[a-dK-Mß-ï]".prop_map(|c| format!("{c}-\u{212b}")),
        r"\\x[0-9][0-9A-F]|\\xE[0-9]|\\u\{212a\}|\\x\{e9\}",
        r"\[:(\^)?(alpha|upper|lower|word|punct|space|xdigit|print|graph|cntrl|ascii|alnum):\]",
        r"\\(d|D|s|S|w|W|pL|PL|p\{Greek\}|P\{Lu\}|p\{scx=Cyrl\}|p\{gc!=Ll\}|p\{Sk\}|pq)",
    ];
    one.prop_recursive(3, 12, 4, |inner| {
        let some = proptest::collection::vec(inner, 1..4).prop_map(|all| all.concat());
        (some.clone(), some, "(&&|--|~~)?", "\\^?")
            .prop_map(|(left, right, between, not)| format!("[{not}{left}{between}{right}]"))
    })
}

proptest! {
    #![proptest_config(cases(1_000))]
    #[test]
    fn classes_are_those_of_the_crate_regex(
        class in class(),
        flags in "(\\(\\?(i|-u|i-u|u|s)\\))?",
        ignore_case: bool,
    ) {
        let pattern = match class.starts_with(['[', '\\']) && !class.starts_with("[:") {
            true => format!("{flags}{class}"),
            false => format!("{flags}[{class}]"),
        };
        let parser = ParserBuilder::new().case_insensitive(ignore_case).crlf(true).build().parse(&pattern);
        match (parser, parse(&pattern, ignore_case)) {
            (Ok(hir), Ok(parsed)) => prop_assert_eq!(theirs(&hir), ours(&parsed.ast), "{}", pattern),
            (Err(error), Err(mine)) => {
                let kind = match error {
                    regex_syntax::Error::Parse(error) => error.kind().to_string(),
                    regex_syntax::Error::Translate(error) => error.kind().to_string(),
                    other => other.to_string(),
                };
                prop_assert!(mine.to_string().contains(&kind), "{pattern}: {mine}, {kind}");
            }
            (Ok(_), Err(error)) => prop_assert!(false, "{pattern}: {error}"),
            (Err(error), Ok(_)) => prop_assert!(false, "{pattern}: {error}"),
        }
    }
}

#[test]
fn the_set_of_a_class_is_made_once() {
    for part in [r"\w", r"\P{Cn}", r"[\p{L}\P{Lu}]", r"[^\p{Greek}--\p{Lu}]"] {
        let pattern = part.repeat(8_000 / part.len());
        let Ok(Ast::Concat(parts)) = parse(&pattern, true).map(|parsed| parsed.ast) else {
            panic!("{part}");
        };
        let set = |ast: &Ast| match ast {
            Ast::Set(set) => Rc::as_ptr(set),
            other => panic!("{other:?}"),
        };
        let sets: Vec<_> = parts.iter().map(set).collect();
        assert!(sets.iter().all(|one| *one == sets[0]), "{part}");
    }
    // The same text, in which white space counts or not, and case.
    let parsed = parse("(?x)[a b](?-x)[a b](?i)[a b]", false).expect("an expression");
    let Ast::Concat(parts) = parsed.ast else {
        panic!("{:?}", parsed.ast);
    };
    let counts = parts.iter().map(|part| ours(part).ranges().len());
    assert_eq!(counts.collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn many_large_classes_are_refused_before_all_are_made() {
    let classes = (0..600).map(|at| format!(r"[\p{{L}}\x{{{:x}}}]", 0xE000 + at));
    let error = parse(&classes.collect::<String>(), true)
        .err()
        .expect("an error");
    assert!(error.to_string().contains("too many ranges"), "{error}");
    // Names that are written in other ways are one.
    let ages = (0..300).map(|at| format!(r"[\p{{age={:_<1$}16.0}}]", "", at % 20));
    let parsed = parse(&ages.collect::<String>(), true).expect("an expression");
    assert!(matches!(parsed.ast, Ast::Concat(parts) if parts.len() == 300));
}

#[test]
fn an_empty_value_is_not_the_property_that_was_there_before() {
    for pattern in [
        r"\p{L=}",
        r"\p{L}\p{L=}",
        r"(?i)\p{L}\p{L=}",
        r"[\p{L}\p{L=}]",
    ] {
        assert!(parse(pattern, false).is_err(), "{pattern}");
    }
}
