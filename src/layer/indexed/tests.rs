//! The answers of an index are those of a scan, whatever happens to it.

mod hostile;
mod listed;
mod storage;
mod writers;

use bytes::Bytes;

use super::*;
use crate::core::error::Kind;
use crate::core::path::VPath;
use crate::core::testing::path;
use crate::files::{Files, FilesOptions};
use crate::layer::composite::Composite;
use crate::layer::tests::each;
use crate::protocol::{EntryInfo, GlobQuery, GrepStats};
use crate::side::Key;
use crate::storage::memory::Memory;
use storage::{Shared, ready};

fn plain(storage: &Shared) -> SharedBackend {
    let options = FilesOptions {
        write_mode: crate::files::WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    Rc::new(Files::new(storage.clone(), options))
}

fn over(backend: SharedBackend) -> Indexed {
    let room = Room::new(backend.clone(), dir(), None);
    Indexed::new(backend, room)
}

fn indexed(storage: &Shared) -> Indexed {
    over(plain(storage))
}

fn upload(backend: &SharedBackend, at: &str, body: &[u8]) {
    ready(backend.store(&path(at), Bytes::copy_from_slice(body))).expect("stored");
}

/// Where the index is kept.
fn dir() -> VPath {
    VPath::own("/.kitbag/index").expect("a path of the library")
}

/// The matches of a search.
fn shown(found: Result<GrepResult>) -> std::result::Result<Vec<String>, String> {
    let found = found.map_err(|error| error.to_string())?;
    let lines = found.matches.iter().map(|line| {
        format!(
            "{}:{}:{:?}:{:?}",
            line.path, line.line, line.kind, line.text
        )
    });
    Ok(lines.chain(found.truncated.then(|| "cut".into())).collect())
}

fn stats(backend: &dyn Backend, pattern: &str) -> GrepStats {
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal(pattern)
    };
    ready(backend.grep(&query))
        .expect("found")
        .stats
        .expect("stats")
}

/// Some text with many words.
fn prose(seed: u64, bytes: usize) -> String {
    let mut state = seed;
    let mut roll = |sides: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 31)) % sides
    };
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&format!("w{:x} = f({});\n", roll(4000), roll(300)));
    }
    text
}

fn filled_storage(count: usize) -> Shared {
    let storage = Shared::default();
    let backend = plain(&storage);
    for at in 0..count {
        let mut text = prose(at as u64, 500 + at * 37 % 3000);
        if at == 17 {
            text.push_str("retry_budget here\n");
        }
        upload(&backend, &format!("/src/{at}.ts"), text.as_bytes());
    }
    storage
}

#[test]
fn a_rare_word_needs_only_the_file_that_has_it() {
    let storage = filled_storage(300);
    let files = indexed(&storage);
    let cold = stats(&files, "retry_budget");
    assert_eq!((cold.indexed, cold.unindexed), (0, 300));
    let updated = ready(files.update()).expect("updated");
    assert_eq!(
        (updated.added, updated.files, updated.segments),
        (300, 300, 1)
    );
    let reader = indexed(&storage);
    let found = stats(&reader, "retry_budget");
    assert_eq!(found.unindexed, 0);
    assert!(found.candidates <= 3, "{found:?}");
    assert_eq!(found.candidates + found.indexed, 300);
    // Manifest, names, and at most one block for each trigram.
    assert!(found.requests <= 8, "{found:?}");
    // The manifest and the names are known now.
    assert!(stats(&reader, "retry_budget").requests <= 6);
    // A file that is written later is searched, until the index knows it.
    upload(&plain(&storage), "/src/new.ts", b"retry_budget");
    let found = stats(&reader, "retry_budget");
    assert_eq!(
        (found.unindexed, found.indexed + found.candidates),
        (1, 300)
    );
    assert_eq!(ready(reader.update()).expect("updated").added, 1);
    assert_eq!(stats(&reader, "retry_budget").unindexed, 0);
}

#[test]
fn an_index_of_small_files_of_random_words_takes_at_most_four_tenths_of_them() {
    let storage = filled_storage(300);
    let files = indexed(&storage);
    let bytes: u64 = ready(files.glob(&GlobQuery::new("**", VPath::root())))
        .expect("listed")
        .files
        .iter()
        .map(|info| match info.entry {
            EntryInfo::File { size, .. } => size.unwrap_or_default(),
            EntryInfo::Directory => 0,
        })
        .sum();
    let updated = ready(files.update()).expect("updated");
    assert!(
        updated.bytes * 10 < bytes * 4,
        "{} of {bytes}",
        updated.bytes
    );
}

#[test]
fn the_directory_of_the_index_is_hidden_and_closed() {
    let storage = filled_storage(3);
    let files = indexed(&storage);
    ready(files.update()).expect("updated");
    let root = VPath::root();
    let listed = ready(files.ls(&root)).expect("listed");
    assert_eq!(listed.len(), 1);
    let everything = GlobQuery::new("**", root);
    assert_eq!(
        ready(files.glob(&everything)).expect("found").files.len(),
        3
    );
    let all = shown(ready(files.grep(&GrepQuery::literal("")))).expect("found");
    assert!(!all.is_empty());
    assert!(all.iter().all(|line| !line.contains("/.kitbag/")));
    // It is there, but no path of a caller leads to it.
    let manifest = "/.kitbag/index/manifest.bin";
    let own = VPath::own(manifest).expect("a path of the library");
    assert!(ready(plain(&storage).read_raw(&own)).is_ok());
    assert!(VPath::parse(manifest).is_err());
}

#[test]
fn many_updates_leave_few_segments_and_deleted_files_leave_the_index() {
    let storage = Shared::default();
    let files = indexed(&storage);
    let backend = plain(&storage);
    let mut most = 0;
    for at in 0..60 {
        upload(&backend, &format!("/{at}.ts"), prose(at, 900).as_bytes());
        let updated = ready(files.update()).expect("updated");
        assert_eq!((updated.added, updated.files), (1, at + 1));
        most = most.max(updated.segments);
    }
    assert!(most <= 5, "{most} segments");
    for at in 0..55 {
        ready(backend.delete(&path(&format!("/{at}.ts")), None)).expect("deleted");
    }
    assert!(ready(files.update()).expect("updated").files <= 10);
}

#[test]
fn a_manifest_that_was_cut_to_nothing_is_replaced() {
    let storage = filled_storage(3);
    ready(indexed(&storage).update()).expect("updated");
    let manifest = dir().join("manifest.bin").expect("a path");
    ready(plain(&storage).store(&manifest, Bytes::new())).expect("stored");
    assert_eq!(ready(indexed(&storage).update()).expect("updated").files, 3);
    assert_eq!(stats(&indexed(&storage), "retry").unindexed, 0);
}

#[test]
fn a_file_over_the_limit_is_not_indexed_and_is_found_by_reading_it() {
    let storage = Shared::default();
    let backend = plain(&storage);
    let limit = usize::try_from(sift::MAX_FILE).expect("a size");
    for (at, size) in [("/fits.txt", limit), ("/larger.txt", limit + 1)] {
        let mut body = vec![b'\n'; size];
        body[..12].copy_from_slice(b"retry_budget");
        upload(&backend, at, &body);
    }
    let updated = ready(indexed(&storage).update()).expect("updated");
    // The index knows that it is there.
    assert_eq!(updated.files, 2);
    let reader = indexed(&storage);
    let absent = stats(&reader, "not_a_word_of_these_files");
    assert_eq!((absent.indexed, absent.unindexed), (1, 1));
    let found = ready(reader.grep(&GrepQuery::literal("retry_budget")));
    assert_eq!(shown(found).expect("found").len(), 2);
}

#[test]
fn a_storage_without_versions_is_scanned_and_says_so() {
    let backend: SharedBackend = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
    upload(&backend, "/a.ts", b"retry_budget");
    let files = over(backend);
    assert!(!files.capability().indexed);
    assert!(
        files
            .capability()
            .notes
            .iter()
            .any(|note| note.contains("no versions"))
    );
    assert_eq!(
        ready(files.update()).map_err(|error| error.kind()),
        Err(Kind::Unsupported)
    );
    let found = stats(&files, "retry_budget");
    assert_eq!((found.requests, found.unindexed), (0, 1));
}

#[test]
fn a_composite_searches_mounts_with_and_without_an_index() {
    let (a, b) = (filled_storage(40), filled_storage(20));
    let with: Rc<Indexed> = Rc::new(indexed(&a));
    ready(with.update()).expect("updated");
    let tree = Composite::new(plain(&b), [(path("/with"), with as SharedBackend)]).expect("a tree");
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal("retry_budget")
    };
    let found = ready(tree.grep(&query)).expect("found");
    let paths: Vec<&str> = found.matches.paths.iter().map(VPath::as_str).collect();
    assert_eq!(paths, ["/src/17.ts", "/with/src/17.ts"]);
    // The mount without an index counts nothing.
    let counted = found.stats.expect("stats");
    assert_eq!(counted.indexed + counted.candidates, 40);
    // An index around a composite covers its mounts.
    let tree: SharedBackend =
        Rc::new(Composite::new(plain(&b), [(path("/m"), plain(&a))]).expect("a tree"));
    let files = over(tree);
    assert_eq!(ready(files.update()).expect("updated").added, 60);
    let found = ready(files.grep(&query)).expect("found");
    assert_eq!(found.matches.paths.len(), 2);
    assert!(found.stats.expect("stats").indexed > 50);
}

#[test]
fn what_a_policy_hides_is_neither_found_nor_counted() {
    use crate::layer::policy::{Mode, Policy, Rule, Rules, Touch, stack};
    let storage = filled_storage(30);
    upload(
        &plain(&storage),
        "/secret/key.txt",
        b"the retry_budget of the bank",
    );
    let open = Rc::new(indexed(&storage));
    ready(open.update()).expect("updated");
    let ruled = |inner: SharedBackend| {
        let rule = Rule::new(&[Touch::Read, Touch::Write], Mode::Deny, ["/secret/**"]);
        let policy = Policy {
            permissions: Some(Rules::new(vec![rule.expect("a rule")], true)),
            ..Policy::default()
        };
        stack(inner, policy).expect("a policy")
    };
    let above = stats(&*ruled(open), "retry_budget");
    assert_eq!((above.requests, above.candidates + above.unindexed), (0, 1));
    assert_eq!(above.indexed, 29);
    let files = over(ruled(plain(&storage)));
    let below = stats(&files, "retry_budget");
    assert_eq!((below.unindexed + below.candidates, below.indexed), (1, 29));
}

/// The names of the entries in all segments, as the manifest has them now.
fn names(storage: &Shared) -> Vec<u128> {
    let known = ready(indexed(storage).open(&Vec::new(), true)).known;
    known
        .names
        .iter()
        .flat_map(|names| names.to_vec())
        .collect()
}

#[test]
fn updates_keep_few_segments_and_drop_what_is_out_of_date() {
    let storage = filled_storage(40);
    let files = indexed(&storage);
    ready(files.update()).expect("updated");
    let outside = plain(&storage);
    // Each is too small to take up the one before.
    for at in 0..8 {
        let body = prose(at, 60_000 >> at);
        upload(&outside, &format!("/new/{at}.ts"), body.as_bytes());
        let updated = ready(files.update()).expect("updated");
        assert!(updated.segments <= 4, "{} segments", updated.segments);
        assert_eq!(updated.files, 41 + at);
    }
    assert_eq!(names(&storage).len(), 48);
    for at in 0..8 {
        ready(outside.delete(&path(&format!("/new/{at}.ts")), None)).expect("deleted");
    }
    for at in 0..8 {
        ready(outside.delete(&path(&format!("/src/{at}.ts")), None)).expect("deleted");
    }
    ready(files.update()).expect("updated");
    assert_eq!(names(&storage).len(), 32);
    assert_eq!(stats(&files, "nowhere at all").unindexed, 0);
    // There is nothing left to do, so nothing is written.
    let before = ready(files.manifest()).expect("read");
    ready(files.update()).expect("updated");
    assert_eq!(ready(files.manifest()).expect("read"), before);
}

#[test]
fn updates_of_several_writers_that_merge_at_once_keep_each_entry_once() {
    let storage = filled_storage(20);
    let outside = plain(&storage);
    let writers = [indexed(&storage), indexed(&storage)];
    for at in 0..4 {
        let body = prose(at, 40_000 >> (2 * at));
        upload(&outside, &format!("/{at}.md"), body.as_bytes());
        ready(writers[0].update()).expect("updated");
    }
    let before = names(&storage);
    for at in 0..10 {
        ready(outside.delete(&path(&format!("/src/{at}.ts")), None)).expect("deleted");
    }
    upload(&outside, "/more.md", prose(7, 900).as_bytes());
    let [a, b] = &writers;
    let (one, two) = ready(futures_util::future::join(a.update(), b.update()));
    let added = one.expect("updated").added + two.expect("updated").added;
    let mut after = names(&storage);
    after.sort_unstable();
    assert!(after.windows(2).all(|two| two[0] != two[1]), "one is twice");
    assert_eq!((after.len(), added), (before.len() - 10 + 1, 1));
    assert_eq!(stats(&indexed(&storage), "nowhere at all").unindexed, 0);
}

#[test]
fn a_planted_manifest_hides_no_match() {
    // A salt, and no segment.
    each(
        manifest::KIND,
        &[7; 24],
        |room| {
            let storage = filled_storage(2);
            upload(&plain(&storage), "/a.ts", b"a needle");
            ready(Indexed::new(plain(&storage), room.clone()).update()).expect("updated");
            (manifest::NAME.into(), storage)
        },
        |room, storage, what| {
            let files = Indexed::new(plain(&storage), room.clone());
            for _ in 0..2 {
                let found = ready(files.grep(&GrepQuery::literal("needle"))).expect("found");
                assert_eq!(found.matches.paths, [path("/a.ts")], "{what}");
                assert_eq!(ready(files.update()).expect(what).files, 3, "{what}");
            }
        },
    );
}

#[test]
fn with_a_key_nobody_who_reads_the_manifest_can_make_a_segment() {
    for key in [None, Key::of(b"a key of the tests").ok()] {
        let storage = filled_storage(2);
        upload(&plain(&storage), "/a.ts", b"a needle");
        let is_keyed = key.is_some();
        let room = Room::new(plain(&storage), dir(), key);
        ready(Indexed::new(plain(&storage), room.clone()).update()).expect("updated");
        let known =
            ready(Indexed::new(plain(&storage), room.clone()).open(&Vec::new(), true)).known;
        // A segment of the same shape, in which no file has any text.
        let manifest = &known.manifest;
        let shape = manifest.segments.first().expect("a segment");
        let mut bytes =
            ready(plain(&storage).fetch(&room.path(&file_of(shape.id)).expect("a path")))
                .expect("a segment")
                .to_vec();
        for block in (0..).take_while(|block| shape.block(*block).end <= shape.bytes()) {
            let range = shape.block(block);
            let (start, end) = (range.start as usize, range.end as usize - 8);
            bytes[start..end].fill(0);
            let part = block as u64 + 1;
            let sum = hash::checksum(manifest.salt, shape.id, part, &bytes[start..end]);
            bytes[end..end + 8].copy_from_slice(&sum);
        }
        let at = room.path(&file_of(shape.id)).expect("a path");
        ready(plain(&storage).store(&at, bytes.into())).expect("planted");
        let files = Indexed::new(plain(&storage), room);
        let found = ready(files.grep(&GrepQuery::literal("needle"))).expect("found");
        // Without a key, who may write there is believed.
        assert_eq!(found.matches.paths.len(), usize::from(is_keyed));
    }
}

fn file_of(id: u64) -> String {
    format!("{id:016x}.bin")
}

#[test]
fn a_manifest_of_another_key_stops_the_update_and_no_search_and_stays() {
    let key = |text: &str| Key::of(text.as_bytes()).ok();
    for marked in [false, true] {
        let storage = filled_storage(2);
        let backend = plain(&storage);
        upload(&backend, "/a.ts", b"a needle");
        let room = || Room::new(backend.clone(), dir(), key("a key of the tests"));
        if marked {
            ready(room().put("note", "other", b"")).expect("written");
        }
        let theirs = Room::new(backend.clone(), dir(), key("a key of somebody else"));
        let own = Indexed::new(backend.clone(), theirs);
        ready(own.update()).expect("updated");
        let at = room().path(manifest::NAME).expect("a path");
        let before = ready(backend.fetch(&at)).expect("a manifest");
        let segments = || {
            let infos = ready(backend.ls(&dir())).expect("listed");
            infos.iter().filter(|info| !info.is_dir()).count()
        };
        let count = segments();
        let files = Indexed::new(backend.clone(), room());
        let query = GrepQuery::literal("needle");
        assert_eq!(
            ready(files.grep(&query))
                .expect("found")
                .matches
                .iter()
                .count(),
            1
        );
        let error = ready(files.update()).expect_err("refused");
        assert_eq!(error.kind(), Kind::InvalidArgument);
        assert!(error.to_string().contains("has another key"), "{error}");
        assert_eq!(ready(backend.fetch(&at)).expect("a manifest"), before);
        assert_eq!(segments(), count);
        assert_eq!(stats(&own, "needle").unindexed, 0);
    }
}
