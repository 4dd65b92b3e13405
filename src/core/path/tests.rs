use super::*;
use crate::core::testing::path;

#[test]
fn a_rebased_path_is_as_if_it_were_parsed() {
    let dirs = ["/", "/a", "/a/.kitbag", "/\u{200b}", "/a\u{e9}/b"];
    let rests = [
        "",
        "b",
        "b/c.txt",
        ".kitbag/x",
        "x\u{200b}y",
        "~",
        "~/x",
        "C:",
        "a/C:",
    ];
    let long = "x".repeat(1020);
    let dirs = dirs.map(|dir| VPath::any(dir).expect(dir));
    for from in &dirs {
        for to in &dirs {
            for rest in rests.into_iter().chain([&*long]) {
                let Ok(file) = from.join(rest) else { continue };
                let parsed = to.join(rest).ok();
                let rebased = file.rebase(from, to);
                assert_eq!(rebased, parsed, "{file:?} from {from:?} to {to:?}");
                let marks = |path: VPath| (path.tail, path.is_own(), path.is_deceptive());
                assert_eq!(rebased.map(marks), parsed.map(marks), "{file:?}");
            }
        }
    }
    assert_eq!(path("/ab/c").rebase(&path("/a"), &path("/")), None);
}

#[test]
fn a_caller_cannot_name_the_librarys_own_files() {
    for given in [
        "/.kitbag",
        ".kitbag/turns/journal",
        "/a/./.kitbag//x",
        "/a/b/.KITBAG/",
        "/mount/.kitbag/history/log/1",
        "/.kitbag./x",
    ] {
        let error = VPath::parse(given).expect_err(given);
        assert!(error.to_string().contains("'.kitbag' is for"), "{error}");
        assert!(VPath::parse_file(given).is_err(), "{given}");
        assert!(VPath::own(given).expect(given).is_own(), "{given}");
    }
    let own = |text: &str| VPath::own(text).expect(text);
    let file = |text: &str| VPath::own_file(text).expect(text);
    assert_eq!(file("/labels.tsv").as_str(), "/.kitbag/labels.tsv");
    assert_eq!(file("/a/labels.tsv").as_str(), "/a/.kitbag/labels.tsv");
    assert_eq!(file("/.kitbag/x").as_str(), "/.kitbag/x");
    assert!(VPath::own_file("/").is_err());
    assert_eq!(own("/index").as_str(), "/index/.kitbag");
    assert_eq!(own("/").as_str(), "/.kitbag");
    assert_eq!(own("/.kitbag/log").as_str(), "/.kitbag/log");
    assert!(own("/a").join("b").expect("a path").is_own());
    assert!(!own("/a").parent().is_own());
    let (plain, stored) = (path("/a/b"), VPath::from_stored("/a/.kitbag/b"));
    let stored = stored.expect("a path");
    assert!(plain.is_shown_at(&plain) && plain.is_shown_at(&stored));
    assert!(stored.is_shown_at(&stored) && !stored.is_shown_at(&plain));
}

#[test]
fn a_deceptive_name_is_refused_with_its_character_and_place() {
    let error = path("/notes/pla\u{200b}n.md").deception().expect("one");
    let text = error.to_string();
    assert!(text.starts_with("Invalid path '/notes/pla\\u{200b}n.md': character 11 is U+200B,"));
    let tag = path("/\u{e0041}").deception().expect("one").to_string();
    assert!(tag.contains("character 2 is U+E0041"), "{tag}");
    assert_eq!(path("/notes/plan.md").deception(), None);
    let own = VPath::own("/a\u{200b}").expect("a path");
    assert_eq!(own.deception(), None);
}

#[test]
fn marks_of_a_path_do_not_change_what_its_suffixes_are() {
    for text in [
        "/.kitbag/notes.test.ts",
        "/a\u{200b}/notes.test.ts",
        "/notes.test.ts",
    ] {
        let path = VPath::any(text).expect(text);
        for end in ["s", ".ts", "test.ts", ".test.ts", "notes.test.ts"] {
            let mask = Tail::mask(end.len());
            assert!(path.tail().agrees(Tail::of(end), mask), "{text} {end}");
        }
        assert!(!path.tail().agrees(Tail::of("x.ts"), Tail::mask(4)));
    }
}

#[test]
fn spellings_of_one_path_are_one_path() {
    for (given, canonical) in [
        ("notes.txt", "/notes.txt"),
        ("//a/./b/", "/a/b"),
        ("/a/b", "/a/b"),
        ("", "/"),
        (".", "/"),
        ("/", "/"),
        ("///", "/"),
        ("~backup", "/~backup"),
        ("a..b", "/a..b"),
        ("/x/~", "/x/~"),
        ("__proto__", "/__proto__"),
        ("/日本/語", "/日本/語"),
        ("/x/c:", "/x/c:"),
    ] {
        assert_eq!(VPath::parse(given).expect(given).as_str(), canonical);
    }
}

#[test]
fn what_cannot_be_a_path_is_refused() {
    let long = format!("/{}", "x".repeat(1024));
    for bad in [
        "..",
        "/../etc",
        "a/../b",
        "/a/..",
        "~",
        "~/x",
        "/~",
        "//~/x",
        "a\0b",
        "a\nb",
        "a\\b",
        "C:",
        "C:/x",
        "/c:/x",
        "c:x",
        long.as_str(),
    ] {
        let error = VPath::parse(bad).expect_err(bad);
        assert!(error.to_string().starts_with("Invalid path"), "{bad:?}");
    }
    assert!(VPath::parse(&format!("/{}", "x".repeat(1023))).is_ok());
    for bad in ["", "/", ".", "//"] {
        assert!(VPath::parse_file(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn prefixes_are_whole_segments() {
    let path = VPath::parse("/abc/d").expect("a path");
    let under = |dir: &str| path.is_under(&VPath::parse(dir).expect("a path"));
    assert!(under("/") && under("/abc") && under("/abc/d"));
    assert!(!under("/ab") && !under("/abc/d/e"));
    let root = VPath::root();
    assert_eq!(path.relative_to(&root), Some("abc/d"));
    assert_eq!(path.parent().as_str(), "/abc");
    assert_eq!(path.parent().parent().as_str(), "/");
    let moved = path.rebase(&VPath::parse("/abc").expect("a path"), &root);
    assert_eq!(moved.expect("rebased").as_str(), "/d");
    assert_eq!(root.relative_to(&root), Some(""));
}

#[test]
fn a_tail_tells_how_a_path_ends() {
    for (path, end) in [
        ("/a/b.ts", ".ts"),
        ("/a/b.ts", ""),
        ("/a/b.ts", "/a/b.ts"),
        ("/a/b.tsx", ".ts"),
        ("/ts", "s/ts"),
        ("/dir/longer.json", "ger.json"),
        ("/dir/longer.json", "gar.json"),
        ("/é.ts", "é.ts"),
    ] {
        let told = VPath::parse(path).expect("a path").tail();
        let agrees = told.agrees(Tail::of(end), Tail::mask(end.len()));
        assert_eq!(agrees, path.ends_with(end), "{path} {end}");
    }
}

#[test]
fn stored_keys_that_no_path_can_name_are_passed_over() {
    assert!(VPath::from_stored("/a/b").is_some());
    for key in ["a", "/a//b", "/a/", "/a/../b", "/a\\b"] {
        assert!(VPath::from_stored(key).is_none(), "{key}");
    }
}
