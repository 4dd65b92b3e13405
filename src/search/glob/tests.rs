use std::rc::Rc;
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::core::testing::{cases, path};

fn pattern(text: &str, root: &str) -> Result<Pattern> {
    Pattern::parse(&GlobQuery::new(Rc::from(text), path(root)))
}

fn accepts(text: &str, root: &str, file: &str) -> bool {
    let pattern = pattern(text, root).expect("a pattern");
    let file = path(file);
    let accepted = pattern.accepts(&file);
    assert!(
        !accepted || pattern.scope().admits(&file),
        "{text} accepts {file:?} outside of {:?}",
        pattern.scope()
    );
    accepted
}

#[test]
fn what_patterns_mean() {
    let yes = [
        ("?.txt", "/", "/語.txt"),
        ("[日本]", "/", "/本"),
        ("**/a**b", "/", "/x/a-b"),
        ("**/**/a", "/", "/a"),
        ("a/**/b", "/", "/a/b"),
        ("a/**/b/*.c", "/", "/a/x/y/b/.c"),
        ("a/*/c", "/", "/a/b/c"),
        ("{a,b/**}/c", "/", "/b/c"),
        ("{a,b/**}/c", "/", "/b/x/c"),
        ("{a,{b,c}d}", "/", "/cd"),
        ("a{,b}", "/", "/a"),
        ("weird{2}.txt", "/", "/weird{2}.txt"),
        ("{{a,b}}", "/", "/{a}"),
        (r"\*", "/", "/*"),
        (r"weird\[1\]", "/", "/weird[1]"),
        (r"[\]]", "/", "/]"),
        ("[]a]", "/", "/]"),
        ("[a-]", "/", "/-"),
        ("[!a]", "/", "/b"),
        ("[^a]", "/", "/b"),
        ("/docs/*.md", "/src", "/docs/a.md"),
        ("{/docs,b}/*.md", "/src", "/docs/a.md"),
        ("{/docs,b}/*.md", "/src", "/src/b/a.md"),
        (".//a/./b", "/", "/a/b"),
        ("a}", "/", "/a}"),
        ("a,b", "/", "/a,b"),
        ("*", "/", "/.env"),
        ("a*b*c", "/", "/aXbYc"),
        ("**", "/a", "/a/b/c"),
        ("**/x/**/y", "/", "/x/y"),
    ];
    for (text, root, file) in yes {
        assert!(accepts(text, root, file), "{text} at {root}: {file}");
    }
    let no = [
        ("*", "/", "/a/b"),
        ("?", "/", "/ab"),
        ("a[b/]c", "/", "/a/c"),
        ("a[!b]c", "/", "/a/c"),
        ("a?c", "/", "/a/c"),
        ("a/**", "/", "/a"),
        ("a/", "/", "/a"),
        ("/", "/", "/a"),
        ("[!a]", "/", "/a"),
        ("a*a", "/", "/a"),
        ("A", "/", "/a"),
        ("/src/*", "/src", "/src/src/a"),
        ("*.ts", "/", "/ts"),
        ("**/.ts", "/", "/a.ts"),
        ("**", "/a", "/ab"),
        ("**", "/a", "/a"),
    ];
    for (text, root, file) in no {
        assert!(!accepts(text, root, file), "{text} at {root}: {file}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    let cases = [
        ("", "empty"),
        ("[a", "never closed"),
        ("a[", "never closed"),
        ("[]", "never closed"),
        ("{a,b", "never closed"),
        ("{a", "never closed"),
        ("[z-a]", "backwards"),
        ("a\\", "lone"),
        ("../a", "'..' segment"),
        ("a/../b", "'..' segment"),
        ("{a,..}/b", "'..' segment"),
        ("/..", "'..' segment"),
        (r"\.\./a", "'..' segment"),
        ("!*.test.ts", r"write '\!'"),
        ("!a", r"write '\!'"),
        ("!!a", r"write '\!'"),
        ("!(x)", "not known; write '{a,b}'"),
        ("a/!(x|y)", "not known"),
        ("+(a|b).md", "not known"),
        ("+(a)", "not known"),
        ("*(a|b)", "not known"),
        ("{a,!(b)}", "not known"),
        ("[[:alfa:]]", "class '[:…:]'"),
        ("{1..3}.ts", "ranges such as"),
        ("a/{a..e}/**", "ranges such as"),
        ("{-1..10..2}", "ranges such as"),
        ("{a,b{1..3}}", "ranges such as"),
        ("[:alpha:]*", "'[[:alpha:]]'"),
        ("[a[:digit:]", "never closed"),
    ];
    for (text, why) in cases {
        let error = pattern(text, "/").err().expect(text);
        assert_eq!(error.code(), "invalid_pattern", "{text}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(PathGlob::parse(text).is_err());
    }
}

#[test]
fn other_spellings_of_alternatives_and_classes_are_known() {
    let cases = [
        ("*.(ts|md)", "a.ts b.md", "a.js ts"),
        ("@(a|b).*", "a.c b.", "@a.c c.c"),
        ("@(a).ts", "a.ts", "@(a).ts"),
        ("(src|lib)/**", "src/a lib/b/c", "src (src|lib)/a"),
        ("a?(.b|c)", "a a.b ac", "ab a?(.b|c)"),
        ("{a,(b|c)}.ts", "a.ts b.ts c.ts", "d.ts"),
        ("(a|b{c,d})", "a bc bd", "b"),
        ("((a|b)|c)d", "ad bd cd", "d"),
        ("(a|b/c)/d", "a/d b/c/d", "b/d"),
        ("(a|*.ts)", "a x.ts", "b"),
        ("(group)/*.tsx", "(group)/page.tsx", "group/page.tsx"),
        ("report(1).*", "report(1).pdf", "report1.pdf"),
        ("*(1).txt", "a(1).txt (1).txt", "1.txt"),
        (r"\(a|b\)", "(a|b)", "a b"),
        (r"\@(a|b)", "@a @b", "a"),
        (r"\!a", "!a", "a"),
        ("a!b", "a!b", "ab"),
        ("a|b", "a|b", "a b"),
        ("(a", "(a", "a"),
        ("a)", "a)", "a"),
        ("{a,(b}", "a (b", "b"),
        ("[(a|b)]", "( a | b )", "(a|b)"),
        ("[[:alpha:]]", "a Z", "1 é : ab"),
        ("[![:alpha:]]", "1 _", "a"),
        ("[[:digit:]_x-z][[:upper:]]", "1A _B yC", "aA 1a"),
        ("*.[[:alpha:]][[:alnum:]]", "a.ts a.t1", "a.1t"),
        ("[[:]", "[ :", "a"),
        ("[[:space:]]", " ", "a"),
        ("a..b", "a..b", "a.b"),
        (r"\{1..3}", "{1..3}", "1 2"),
        ("{...all}", "{...all}", "all"),
        ("{a..}", "{a..}", "a"),
        ("{a..b,c}", "a..b c", "a"),
        ("...", "...", ".."),
        ("..*", "..a", "a"),
    ];
    for (text, yes, no) in cases {
        let all = |files: &str| -> Vec<String> {
            let files = if files == " " {
                vec![" "]
            } else {
                files.split(' ').collect()
            };
            files.into_iter().map(|file| format!("/{file}")).collect()
        };
        for file in all(yes) {
            assert!(accepts(text, "/", &file), "{text}: {file}");
        }
        for file in all(no).iter().filter(|file| *file != "/..") {
            assert!(!accepts(text, "/", file), "{text}: {file}");
        }
    }
}

#[test]
fn a_filter_that_begins_with_an_exclamation_mark_excludes() {
    let cases = [
        ("!*.ts", "/", "/a/b.ts", false),
        ("!*.ts", "/", "/a/b.md", true),
        ("!*.test.ts", "/", "/a.ts", true),
        ("!a/**", "/", "/a/b", false),
        ("!a/**", "/", "/b/a", true),
        ("!/a/**", "/b", "/b/c", true),
        ("!/a/**", "/a", "/a/c", false),
        ("!{a,b}", "/", "/b", false),
        ("!b.ts", "/a/b.ts", "/a/b.ts", false),
        ("!**/b.ts", "/a/b.ts", "/a/b.ts", false),
        (r"\!a", "/", "/!a", true),
    ];
    for (glob, root, file, expected) in cases {
        let filter = NameFilter::parse(glob, &path(root)).expect("a filter");
        assert_eq!(filter.accepts(&path(file)), expected, "{glob} {root}");
    }
    for glob in ["!", "!!a", "!(a|b)", "!../a"] {
        let error = NameFilter::parse(glob, &path("/")).err().expect(glob);
        assert_eq!(error.code(), "invalid_pattern", "{glob}");
    }
}

#[test]
fn a_pattern_that_takes_too_much_work_is_an_error_and_a_rule_is_not() {
    let text = format!("{{{}}}", vec!["*a".repeat(60) + "?b*"; 33].join(","));
    let long = path(&format!("/{}", "a".repeat(1000)));
    let slow = pattern(&text, "/").expect("a pattern");
    let filter = NameFilter::parse(&text, &path("/")).expect("a filter");
    let rule = PathGlob::parse(&text).expect("a rule");
    for _ in 0..2_000 {
        assert!(!slow.accepts(&long) && !filter.accepts(&long));
        if slow.over().is_err() && filter.over().is_err() {
            break;
        }
    }
    for error in [slow.over(), filter.over()] {
        let error = error.expect_err("too much");
        assert_eq!(error.code(), "timeout");
        assert!(error.to_string().contains("the glob pattern"), "{error}");
    }
    assert!(!rule.accepts(&long) && rule.accepts(&path(&format!("/{}xb", "a".repeat(70)))));
}

#[test]
fn the_scope_narrows_to_what_is_literal() {
    let cases = [
        ("src/ma*.ts", "/", "/", "src/ma"),
        ("src/lib/**", "/a", "/a", "src/lib/"),
        ("/docs/**", "/a", "/", "docs/"),
        ("{src,srv}/*.ts", "/", "/", "sr"),
        ("**/*.ts", "/a", "/a", ""),
        ("a.py", "/", "/", "a.py"),
        ("{/a,b}", "/c", "/", ""),
    ];
    for (text, root, expected, prefix) in cases {
        let pattern = pattern(text, root).expect("a pattern");
        let scope = pattern.scope();
        let got = (scope.root.as_str(), scope.prefix.as_str());
        assert_eq!(got, (expected, prefix), "{text}");
    }
}

#[test]
fn a_filter_asks_for_the_name_or_for_the_path() {
    let cases = [
        ("*.ts", "/", "/a/b.ts", true),
        ("*.ts", "/a/b.ts", "/a/b.ts", true),
        ("a/*.ts", "/", "/a/b.ts", true),
        ("a/*.ts", "/a", "/a/b.ts", false),
        ("**/*.ts", "/a", "/a/b.ts", true),
        ("**/*.ts", "/a/b.ts", "/a/b.ts", true),
        ("/a/*.ts", "/a", "/a/b.ts", true),
        ("./b.ts", "/a/b.ts", "/a/b.ts", true),
        ("", "/", "/a/b.ts", true),
        ("*.{md,txt}", "/", "/a/b.txt", true),
        ("b", "/", "/b/c", false),
    ];
    for (glob, root, file, expected) in cases {
        let filter = NameFilter::parse(glob, &path(root)).expect("a filter");
        assert_eq!(filter.accepts(&path(file)), expected, "{glob} {root}");
    }
}

#[test]
fn a_rule_counts_from_the_root_with_or_without_a_slash() {
    for (glob, file, expected) in [
        ("/secrets/**", "/secrets/a/b", true),
        ("secrets/**", "/secrets/a", true),
        ("**/*.key", "/a.key", true),
        ("/**", "/a/b", true),
        ("/*.key", "/a/b.key", false),
    ] {
        let rule = PathGlob::parse(glob).expect("a rule");
        assert_eq!(rule.accepts(&path(file)), expected, "{glob}");
    }
}

/// Quadratic or worse time would be minutes; the limit leaves room for a slow machine.
#[test]
fn hostile_patterns_are_refused_or_matched_quickly() {
    let started = Instant::now();
    let refused = [
        "[".repeat(4096),
        "{".repeat(4096),
        "{a,".repeat(1000),
        "{a,b}".repeat(800),
        format!("{}{}", "{a,b}".repeat(10), "c"),
        format!("{}x{}", "{a,".repeat(40), "}".repeat(40)),
        format!("{}{}", "{a,b}".repeat(9), "c".repeat(4000)),
        "a".repeat(4097),
        "{,}".repeat(1300),
    ];
    for text in &refused {
        let error = pattern(text, "/").err().expect("refused");
        assert_eq!(error.code(), "invalid_pattern");
        assert!(error.to_string().len() < 600);
    }
    assert!(pattern(&"{a,b}".repeat(9), "/").is_ok());
    let long = path(&format!("/{}", "a".repeat(1000)));
    let deep = path(&"/a".repeat(500));
    for text in [
        "*a".repeat(2000) + "b",
        "**/a/".repeat(800) + "b",
        "?*".repeat(500) + "b",
        "*[ab]".repeat(300) + "b",
        format!("*a{}", "?".repeat(500)),
        "{*a*,*b*}".repeat(9) + "c",
        "[!b]".repeat(1000),
    ] {
        let pattern = pattern(&text, "/").expect("a pattern");
        for _ in 0..20 {
            pattern.accepts(&long);
            pattern.accepts(&deep);
        }
    }
    let elapsed = started.elapsed();
    assert!(elapsed.as_secs() < 30, "{elapsed:?}");
}

/// The naive twin: expands braces as text, then matches recursively.
mod twin {
    pub fn matches(pattern: &str, path: &str) -> bool {
        expand(pattern).iter().any(|one| {
            let pattern: Vec<&str> = one.split('/').collect();
            let path: Vec<&str> = path.split('/').collect();
            segments(&pattern, &path)
        })
    }

    /// Expands the first innermost pair of braces, repeatedly.
    fn expand(pattern: &str) -> Vec<String> {
        let Some(close) = pattern.find('}') else {
            return vec![pattern.to_owned()];
        };
        let open = pattern[..close].rfind('{').expect("balanced braces");
        let choices = pattern[open + 1..close].split(',');
        let (before, after) = (&pattern[..open], &pattern[close + 1..]);
        choices
            .flat_map(|choice| expand(&format!("{before}{choice}{after}")))
            .collect()
    }

    fn segments(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            (["**"], rest) => !rest.is_empty(),
            (["**", rest @ ..], _) => (0..=path.len()).any(|skip| segments(rest, &path[skip..])),
            ([first, pattern @ ..], [name, path @ ..]) => {
                let first: Vec<char> = first.chars().collect();
                let name: Vec<char> = name.chars().collect();
                within(&first, &name) && segments(pattern, path)
            }
            _ => false,
        }
    }

    fn within(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => (0..=name.len()).any(|skip| within(rest, &name[skip..])),
            (['?', pattern @ ..], [_, name @ ..]) => within(pattern, name),
            (['[', '!', c, ']', pattern @ ..], [n, name @ ..]) => n != c && within(pattern, name),
            (['[', a, b, ']', pattern @ ..], [n, name @ ..]) => {
                (n == a || n == b) && within(pattern, name)
            }
            ([c, pattern @ ..], [n, name @ ..]) => c == n && within(pattern, name),
            _ => false,
        }
    }
}

/// Patterns whose braces never produce an empty segment, which the twin does not drop.
fn patterns() -> impl Strategy<Value = String> {
    let atom = r"a|b|é|\*|\?|\[!a\]|\[ab\]|\.|\{a,b\*\}|\{é,\[ab\]\?,b/a\}|\{a/\*\*/b,\{b,\?\}a\}";
    let segment = format!(r"(\*\*|({atom}){{1,4}}|\*\.ts|a\*)");
    proptest::string::string_regex(&format!("{segment}(/{segment}){{0,4}}")).expect("a strategy")
}

fn paths() -> impl Strategy<Value = String> {
    prop::collection::vec("[abé]{1,4}|[ab]{0,2}\\.ts|\\.a", 1..6).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(cases(1000))]
    #[test]
    fn it_matches_as_the_recursive_twin(
        text in patterns(),
        files in prop::collection::vec(paths(), 1..12),
    ) {
        // More braces could expand to more alternatives than the limit.
        prop_assume!(text.matches('{').count() < 6);
        // A segment `.` is dropped from patterns and paths alike.
        prop_assume!(!text.split('/').any(|segment| segment == "."));
        // And `..` is refused.
        prop_assume!(!text.split('/').any(|segment| segment == ".."));
        // A pair of braces expands to at most three, and more than a thousand are refused.
        prop_assume!(text.matches('{').count() <= 6);
        for file in files {
            let expected = twin::matches(&text, &file);
            let got = accepts(&text, "/", &format!("/{file}"));
            prop_assert_eq!(got, expected, "{} {}", text, file);
        }
    }
}
