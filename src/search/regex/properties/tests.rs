use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::{Set, Unknown, lines, plain, words};

/// The characters that the crate `regex` finds with an expression for one character.
fn known(expression: &str) -> Option<Set> {
    let hir = regex_syntax::parse(&format!("[{expression}]")).ok()?;
    let ranges = |class: &ClassUnicode| {
        let range = |range: &ClassUnicodeRange| (u32::from(range.start()), u32::from(range.end()));
        Set::of(class.iter().map(range).collect())
    };
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(ranges(class)),
        // A class of one character is a literal.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let one = text.chars().map(|c| (u32::from(c), u32::from(c)));
            Some(Set::of(one.collect()))
        }
        _ => None,
    }
}

/// With all surrogates, which no text has.
fn whole(set: Option<Set>) -> Option<Set> {
    set.map(|set| set.union(&Set::of(vec![(0xD800, 0xDFFF)])))
}

/// What is asked for with names as they are written.
fn property(name: &str, value: Option<&str>) -> Result<Set, Unknown> {
    super::property(&plain(name), value.map(plain).as_deref())
}

#[test]
fn each_name_has_the_characters_of_the_crate_regex() {
    let properties = |kind| match kind {
        "g" => vec!["gc", "General_Category"],
        "s" => vec!["sc", "script", "scx", "Script_Extensions"],
        "a" => vec!["age"],
        "c" => vec!["gcb", "Grapheme_Cluster_Break"],
        "w" => vec!["wb", "is word-break"],
        "b" => vec!["sb", "SENTENCE BREAK"],
        _ => Vec::new(),
    };
    let mut count = 0;
    for line in lines() {
        for name in line.names.split(' ') {
            for property_name in properties(line.kind) {
                let theirs = whole(known(&format!(r"\p{{{property_name}={name}}}")));
                let ours = whole(property(property_name, Some(name)).ok());
                assert!(ours.is_some() && ours == theirs, "{property_name}={name}");
                count += 1;
            }
            if "gsp".contains(line.kind) {
                let ours = property(name, None).ok();
                assert!(ours.is_some(), "{name}");
                assert_eq!(
                    whole(ours),
                    whole(known(&format!(r"\p{{{name}}}"))),
                    "{name}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 1500, "{count}");
}

#[test]
fn names_that_are_no_lines_of_the_list() {
    for name in ["any", "ASCII", "Assigned", "is_L", "L", "isC", "iSc", "Lc"] {
        let ours = property(name, None).ok();
        assert_eq!(
            whole(ours),
            whole(known(&format!(r"\p{{{name}}}"))),
            "{name}"
        );
        let ours = property("gc", Some(name)).ok();
        assert_eq!(
            whole(ours),
            whole(known(&format!(r"\p{{gc={name}}}"))),
            "gc={name}"
        );
    }
    for (name, value) in [
        ("", None),
        ("klingon", None),
        ("sc", Some("klingon")),
        ("nothing", Some("L")),
    ] {
        assert!(property(name, value).is_err(), "{name}");
    }
    assert!(matches!(property("alpha", Some("L")), Err(Unknown::Value)));
    assert!(matches!(
        property("beta", Some("L")),
        Err(Unknown::Property)
    ));
}

#[test]
fn words_are_those_of_the_crate_regex() {
    assert_eq!(Some(words()), known(r"\w"));
    assert_eq!(property("nd", None).ok(), known(r"\d"));
    assert_eq!(property("space", None).ok(), known(r"\s"));
}
