//! Searches by name and by text.

use super::words::*;
use super::*;

pub(super) fn searching() -> Vec<Case> {
    vec![
        case!(grep_finds_lines_in_order, writable, |it| {
            it.write("/b.txt", "needle\nhay\nneedle 2").await?;
            it.write("/a/x.md", "a needle\r\n").await?;
            it.write("/a/none.md", "nothing").await?;
            let wanted = strings(&[
                "/a/x.md:1:a needle\r",
                "/b.txt:1:needle",
                "/b.txt:3:needle 2",
            ]);
            same(
                "all",
                it.grep(&GrepQuery::literal("needle")).await?,
                (wanted, false),
            )?;
            let mut below = GrepQuery::literal("needle");
            below.path = path("/a")?;
            let wanted = strings(&["/a/x.md:1:a needle\r"]);
            same("below", it.grep(&below).await?, (wanted.clone(), false))?;
            below.path = path("/a/x.md")?;
            same("one file", it.grep(&below).await?, (wanted.clone(), false))?;
            let mut named = GrepQuery::literal("needle");
            named.glob = Some("*.md".into());
            same("by name", it.grep(&named).await?, (wanted, false))?;
        }),
        case!(grep_takes_the_pattern_literally, writable, |it| {
            it.write("/g.txt", "a.c\nabc\nA.C\n[x](y)\n").await?;
            let found = it.grep(&GrepQuery::literal("a.c")).await?.0;
            same("dot", found, strings(&["/g.txt:1:a.c"]))?;
            let found = it.grep(&GrepQuery::literal("[x](")).await?.0;
            same("brackets", found, strings(&["/g.txt:4:[x](y)"]))?;
            same(
                "line feed",
                it.grep(&GrepQuery::literal("c\nA")).await?.0,
                Vec::new(),
            )?;
        }),
        case!(grep_stops_at_its_cap, writable, |it| {
            it.write("/c1.txt", "m\nm\nm\n").await?;
            it.write("/c2.txt", "m\n").await?;
            let mut query = GrepQuery::literal("m");
            query.max_count = Some(2);
            let wanted = strings(&["/c1.txt:1:m", "/c1.txt:2:m"]);
            same("two", it.grep(&query).await?, (wanted, true))?;
            query.max_count = Some(4);
            let (all, truncated) = it.grep(&query).await?;
            same("exactly all", (all.len(), truncated), (4, false))?;
        }),
        case!(grep_knows_expressions_case_and_context, writable, |it| {
            it.write("/r.txt", "one\nTwo 22\nthree\nfour 44\n").await?;
            let mut query = GrepQuery::literal(r"^\w+ \d+$");
            query.regex = true;
            let wanted = strings(&["/r.txt:2:Two 22", "/r.txt:4:four 44"]);
            same("expression", it.grep(&query).await?.0, wanted)?;
            let mut query = GrepQuery::literal("two");
            query.ignore_case = true;
            query.before = 1;
            query.after = 1;
            let wanted = strings(&["/r.txt-1-one", "/r.txt:2:Two 22", "/r.txt-3-three"]);
            same("context", it.grep(&query).await?.0, wanted)?;
            let mut query = GrepQuery::literal("(");
            query.regex = true;
            let said = refused("bad", it.0.grep(&query).await, Kind::InvalidPattern)?;
            same(
                "sentence",
                said.starts_with("Invalid regex pattern: "),
                true,
            )?;
        }),
        case!(grep_passes_over_binary_files, keeps_bytes, |it| {
            it.upload(&[
                ("/x.png", b"needle"),
                ("/y", b"needle\0"),
                ("/z", b"needle"),
            ])
            .await?;
            let found = it.grep(&GrepQuery::literal("needle")).await?.0;
            same("text only", found, strings(&["/z:1:needle"]))?;
        }),
        case!(glob_follows_the_protocol, writable, |it| {
            for at in [
                "/a.ts",
                "/src/b.ts",
                "/src/deep/c.ts",
                "/src/.d.ts",
                "/src/e.js",
            ] {
                it.write(at, "x").await?;
            }
            for (pattern, at, wanted) in [
                ("*.ts", "/", &["/a.ts"][..]),
                ("*.ts", "/src", &["/src/.d.ts", "/src/b.ts"]),
                (
                    "**/*.ts",
                    "/",
                    &["/a.ts", "/src/.d.ts", "/src/b.ts", "/src/deep/c.ts"],
                ),
                (
                    "src/**",
                    "/",
                    &["/src/.d.ts", "/src/b.ts", "/src/deep/c.ts", "/src/e.js"],
                ),
                (
                    "/src/*.{js,ts}",
                    "/src/deep",
                    &["/src/.d.ts", "/src/b.ts", "/src/e.js"],
                ),
                ("[!a-d].js", "/src", &["/src/e.js"]),
                ("src", "/", &[]),
            ] {
                same(pattern, it.glob(pattern, at).await?, strings(wanted))?;
            }
            let query = GlobQuery {
                pattern: "[".into(),
                path: VPath::root(),
            };
            refused("bad pattern", it.0.glob(&query).await, Kind::InvalidPattern)?;
        }),
    ]
}
