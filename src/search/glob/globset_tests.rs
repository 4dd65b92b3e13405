//! The engine against the crate `globset`, on patterns that mean the same in both, and the patterns
//! that do not.

use globset::GlobBuilder;

use super::PathGlob;
use crate::core::path::VPath;

const PATHS: [&str; 34] = [
    "/a",
    "/b",
    "/ab",
    "/abc",
    "/a.ts",
    "/a.tsx",
    "/.ts",
    "/.hidden",
    "/main.rs",
    "/src/main.rs",
    "/src/lib.rs",
    "/src/a/b/c.ts",
    "/src/a/b/c.test.ts",
    "/src/a.ts",
    "/src/.env",
    "/src",
    "/docs/readme.md",
    "/docs/a/readme.md",
    "/docs/a/b/readme.md",
    "/a/b",
    "/a/b/c",
    "/a/b/c/d",
    "/a/x/b",
    "/a/x/y/b",
    "/x/a/b",
    "/a-b",
    "/a_b",
    "/a1",
    "/a9z",
    "/file[1].txt",
    "/file{1}.txt",
    "/file*.txt",
    "/file 1.txt",
    "/A.TS",
];

const PATTERNS: [&str; 88] = [
    "*",
    "**",
    "a",
    "ab",
    "a*",
    "*a",
    "*b",
    "a*b",
    "a*c",
    "*.*",
    "*.ts",
    "*.tsx",
    "*.ts*",
    "*.rs",
    "?",
    "??",
    "???",
    "a?",
    "?b",
    "a?c",
    "?.ts",
    "[a]",
    "[ab]",
    "[a-z]",
    "[!a]",
    "[^a]",
    "[!a-z]",
    "a[0-9]",
    "a[0-9]z",
    "[a-c]*",
    "[A-Z]*",
    "a[-_]b",
    "a[_-]b",
    "file[[]1].txt",
    "file[[]1[]].txt",
    "[]a]",
    "[!]a]",
    "*[!s]",
    "**/*.ts",
    "**/*.rs",
    "**/*",
    "**/a",
    "**/b",
    "**/readme.md",
    "**/a/**",
    "**/b/**",
    "src/*",
    "src/**",
    "src/*.rs",
    "src/**/*.ts",
    "src/**/c.ts",
    "src/*/*",
    "src/*/*/*",
    "*/*",
    "*/*/*",
    "*/main.rs",
    "**/main.rs",
    "docs/**/readme.md",
    "docs/*/readme.md",
    "docs/**/a/**",
    "a/**/b",
    "a/*/b",
    "a/**/b/**",
    "**/a/**/b",
    "**/**/b",
    "a/**/**/b",
    "a/b/c",
    "a/b/*",
    "a/?",
    "a/[b-x]",
    "{a,b}",
    "{a,ab}",
    "*.{ts,tsx}",
    "**/*.{ts,rs}",
    "{a,src}/*",
    "{a,b,ab,abc}",
    "{*.ts,*.rs}",
    "{src,docs}/**",
    "{a,{b,ab}}",
    "{a,}b",
    "a{,b}",
    "x{a,b}",
    "src/{a,main}.{ts,rs}",
    r"file\[1\].txt",
    r"file\{1\}.txt",
    r"file\*.txt",
    "file?1?.txt",
    "file *",
];

fn ours(pattern: &str, path: &str) -> bool {
    let path = VPath::parse(path).expect("a path");
    PathGlob::parse(pattern).expect(pattern).accepts(&path)
}

fn theirs(pattern: &str, path: &str) -> bool {
    let mut builder = GlobBuilder::new(pattern);
    let glob = builder
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build();
    let glob = glob.expect(pattern).compile_matcher();
    glob.is_match(path.trim_start_matches('/'))
}

#[test]
fn what_means_the_same_in_globset_matches_the_same() {
    let mut differ = Vec::new();
    for pattern in PATTERNS {
        for path in PATHS {
            if ours(pattern, path) != theirs(pattern, path) {
                differ.push((pattern, path, ours(pattern, path)));
            }
        }
    }
    assert!(differ.is_empty(), "{} {differ:?}", differ.len());
}

/// `docs/protocol.md` gives the reason for each.
#[test]
fn what_means_something_else_in_globset() {
    let cases = [
        ("?.txt", "/語.txt", true, false),
        ("[語]", "/語", true, false),
        ("[!a]b", "/éb", true, false),
        ("a[!x]b", "/a/b", false, true),
        ("a[+-9]b", "/a/b", false, true),
        ("weird{2}.txt", "/weird{2}.txt", true, false),
        ("a//b", "/a/b", true, false),
        ("./a", "/a", true, false),
        ("/a", "/a", true, false),
    ];
    for (pattern, path, here, there) in cases {
        let found = (ours(pattern, path), theirs(pattern, path));
        assert_eq!(found, (here, there), "{pattern} {path}");
    }
}
