//! Access rules: read-only, denied prefixes, and rules by pattern.

use super::*;

fn permitted(inner: &SharedBackend, rules: Vec<Rule>, allow: bool) -> SharedBackend {
    let policy = Policy {
        permissions: Some(Rules::new(rules, allow)),
        ..Policy::default()
    };
    stack(inner.clone(), policy).expect("a policy")
}

#[test]
fn read_only_refuses_every_change_and_no_read() {
    let inner = with(&[("/a", "x")]);
    let policy = Policy {
        read_only: true,
        ..Policy::default()
    };
    let backend = stack(inner.clone(), policy).expect("a policy");
    assert_eq!(read(&backend, "/a").expect("read"), "x");
    assert_eq!(code(write(&backend, "/b", "x")), "permission_denied");
    assert_eq!(code(edit(&backend, "/a", "x", "y")), "permission_denied");
    assert_eq!(
        code(now(backend.delete(&path("/a"), None))),
        "permission_denied"
    );
    let answers = now(backend.upload(vec![(path("/c"), Bytes::new())]));
    assert_eq!(
        code(answers.into_iter().next().expect("one")),
        "permission_denied"
    );
    assert!(!backend.capability().writable);
    assert_eq!(ls(&inner, "/").expect("listed"), ["/a"]);
}

#[test]
fn a_deny_prefix_is_whole_segments() {
    let backend = stack(
        memory(),
        Policy {
            deny_prefixes: vec![path("/a/")],
            ..Policy::default()
        },
    )
    .expect("a policy");
    assert_eq!(code(write(&backend, "/a/x", "x")), "permission_denied");
    assert_eq!(code(write(&backend, "/a", "x")), "permission_denied");
    write(&backend, "/ab", "x").expect("another directory");
    let answers = now(backend.upload(vec![
        (path("/a/x"), Bytes::new()),
        (path("/b"), Bytes::new()),
    ]));
    let ok: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [false, true]);
}

#[test]
fn what_may_not_be_read_does_not_show() {
    let inner = with(&[
        ("/pub/a.txt", "needle"),
        ("/pub/b.key", "needle"),
        ("/keys/only.key", "needle"),
        ("/secrets/x.txt", "needle"),
        ("/z.txt", "needle"),
    ]);
    let rules = vec![rule(
        &[Touch::Read],
        Mode::Deny,
        &["/secrets/**", "**/*.key"],
    )];
    let backend = permitted(&inner, rules, true);
    assert_eq!(ls(&backend, "/").expect("listed"), ["/pub/", "/z.txt"]);
    assert_eq!(ls(&backend, "/pub").expect("listed"), ["/pub/a.txt"]);
    assert_eq!(code(ls(&backend, "/secrets")), "permission_denied");
    assert_eq!(
        globbed(&backend, "**", "/").expect("found"),
        ["/pub/a.txt", "/z.txt"]
    );
    assert_eq!(
        globbed(&backend, "/secrets/*", "/pub").expect("found"),
        Vec::<String>::new()
    );
    let mut query = GrepQuery::literal("needle");
    for (cap, truncated) in [(0, true), (1, true), (2, false), (3, false)] {
        query.max_count = Some(cap);
        let shown = ["/pub/a.txt", "/z.txt"]
            .iter()
            .take(cap)
            .map(|s| (*s).to_owned());
        let wanted: Vec<String> = shown.collect();
        assert_eq!(
            grepped(&backend, &query).expect("found"),
            (wanted, truncated),
            "{cap}"
        );
    }
    let said = |at: &str| read(&backend, at).expect_err("denied").to_string();
    assert_eq!(
        said("/secrets/x.txt"),
        "Error: permission denied for read on /secrets/x.txt"
    );
    assert_eq!(
        said("/secrets/no.txt"),
        "Error: permission denied for read on /secrets/no.txt"
    );
    // The result of a write would reveal whether the file exists, that of an edit its content.
    assert_eq!(
        code(write(&backend, "/secrets/x.txt", "")),
        "permission_denied"
    );
    assert_eq!(
        code(write(&backend, "/secrets/no.txt", "")),
        "permission_denied"
    );
    assert_eq!(
        code(edit(&backend, "/secrets/x.txt", "needle", "")),
        "permission_denied"
    );
    assert_eq!(
        code(now(backend.delete(&path("/pub"), None))),
        "permission_denied"
    );
    let error = now(backend.delete(&path("/pub"), None))
        .expect_err("denied")
        .to_string();
    assert!(!error.contains("b.key"), "{error}");
    now(backend.delete(&path("/z.txt"), None)).expect("nothing is hidden there");
}

#[test]
fn the_first_rule_that_matches_wins_and_the_default_can_be_turned_round() {
    let inner = with(&[("/w/a/x", "1"), ("/w/b/x", "1"), ("/other", "1")]);
    let rules = vec![
        rule(BOTH, Mode::Allow, &["/w/a/**"]),
        rule(BOTH, Mode::Deny, &["/w/b/**"]),
    ];
    let open = permitted(&inner, rules.clone(), true);
    assert_eq!(
        globbed(&open, "**", "/").expect("found"),
        ["/other", "/w/a/x"]
    );
    let closed = permitted(&inner, rules, false);
    assert_eq!(globbed(&closed, "**", "/").expect("found"), ["/w/a/x"]);
    assert_eq!(ls(&closed, "/").expect("listed"), ["/w/"]);
    assert_eq!(ls(&closed, "/w").expect("listed"), ["/w/a/"]);
    assert_eq!(code(read(&closed, "/other")), "permission_denied");
    assert_eq!(code(ls(&closed, "/nowhere")), "permission_denied");
    write(&closed, "/w/a/y", "1").expect("allowed");
    assert_eq!(code(write(&closed, "/w/c", "1")), "permission_denied");
}

#[test]
fn an_escaped_directory_that_is_allowed_is_listed_and_searched() {
    for (pattern, dir) in [
        (r"/app/\[slug\]/**", "/app/[slug]"),
        (r"/\{a,b\}/**", "/{a,b}"),
        (r"/a\*/**", "/a*"),
        (r"\(x\)/**", "/(x)"),
        (r"/\a/**", "/a"),
        (r"/(group)/\[...all\]/**", "/(group)/[...all]"),
    ] {
        let file = format!("{dir}/page.tsx");
        let inner = with(&[(&file, "needle"), ("/other", "needle")]);
        let rules = vec![Rule::new(BOTH, Mode::Allow, [pattern]).expect("a rule")];
        let closed = permitted(&inner, rules, false);
        assert_eq!(
            ls(&closed, dir).expect("listed"),
            [file.as_str()],
            "{pattern}"
        );
        assert_eq!(globbed(&closed, "**", "/").expect("found"), [file.as_str()]);
        assert!(read(&closed, &file).is_ok(), "{pattern}");
        assert_eq!(code(read(&closed, "/other")), "permission_denied");
        let rules = vec![Rule::new(BOTH, Mode::Deny, [pattern]).expect("a rule")];
        let open = permitted(&inner, rules, true);
        assert_eq!(
            globbed(&open, "**", "/").expect("found"),
            ["/other"],
            "{pattern}"
        );
        assert_eq!(code(ls(&open, dir)), "permission_denied", "{pattern}");
    }
}

#[test]
fn a_rule_that_restricts_a_name_restricts_what_is_below_it() {
    let inner = with(&[
        ("/src/a", "1"),
        ("/src/x/b", "1"),
        ("/srcs", "1"),
        ("/y/.git/c", "1"),
    ]);
    let refused = |pattern: &str, path: &str| {
        let rules = vec![Rule::new(BOTH, Mode::Deny, [pattern]).expect("a rule")];
        read(&permitted(&inner, rules, true), path).is_err()
    };
    for (pattern, path, expected) in [
        ("/src", "/src/a", true),
        ("/src", "/src/x/b", true),
        ("src", "/src/a", true),
        ("/src", "/srcs", false),
        ("/src/a", "/src/a", true),
        ("/src/x", "/src/x/b", true),
        ("/src/x", "/src/a", false),
        ("/**/.git", "/y/.git/c", true),
        ("**/x", "/src/x/b", true),
        (r"/s\rc", "/src/x/b", true),
        ("/", "/src/x/b", true),
        ("/{src,lib}", "/src/x/b", true),
        ("/{src/x,lib}", "/src/x/b", true),
        ("/{src/x,lib}", "/src/a", false),
        ("**/{.git,.ssh}", "/y/.git/c", true),
        ("/{src,lib}", "/srcs", false),
        // A pattern for names means names.
        ("/src/*", "/src/x/b", false),
        ("/s*", "/src/a", false),
    ] {
        assert_eq!(refused(pattern, path), expected, "{pattern} {path}");
    }
    let rules = vec![Rule::new(BOTH, Mode::Allow, ["/src"]).expect("a rule")];
    let closed = permitted(&inner, rules, false);
    assert_eq!(code(read(&closed, "/src/a")), "permission_denied");
    let rules = vec![Rule::new(BOTH, Mode::Deny, ["/src"]).expect("a rule")];
    let open = permitted(&inner, rules, true);
    assert_eq!(
        globbed(&open, "**", "/").expect("found"),
        ["/srcs", "/y/.git/c"]
    );
    assert_eq!(code(write(&open, "/src/new", "1")), "permission_denied");
}

#[test]
fn patterns_that_would_protect_nothing_are_refused() {
    for bad in [
        "/*.(ts|md)",
        "/(a|b)/**",
        "/a/(b|c)",
        "!/a",
        "/+(a|b)",
        "/a/@(b)",
        "/{1..3}",
        "/[[:alpha:]]",
        "/a/",
        "/a/.",
        ".",
        "/../a",
        "/~/x",
        "",
        "[",
        "{a,",
    ] {
        assert!(Rule::new(BOTH, Mode::Deny, [bad]).is_err(), "{bad}");
    }
    for good in [
        r"/\(a|b)",
        "/a|b",
        "/(a)/**",
        "/",
        "/**",
        "**/*.key",
        "/a(b)",
        "/{a,b}/**",
        r"/\*",
        "a/**",
    ] {
        assert!(Rule::new(BOTH, Mode::Deny, [good]).is_ok(), "{good}");
    }
}
