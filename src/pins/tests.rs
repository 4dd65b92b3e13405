//! Tests of trees: the same files make the same tree, a change makes few new nodes, and what is read is
//! what was built.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bytes::Bytes;
use proptest::prelude::*;

use crate::core::testing::{cases, fewer};

use super::*;
use crate::core::path::VPath;
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions};
use crate::protocol::{BackendExt, SharedBackend};
use crate::storage::memory::Memory;

fn leaf(path: &str, text: &str) -> Leaf {
    Leaf {
        path: VPath::parse(path).expect("a path"),
        digest: Digest::of(text.as_bytes()),
        size: text.len() as u64,
    }
}

fn tree<'a>(files: impl IntoIterator<Item = (&'a String, &'a String)>) -> Built {
    let leaves = files.into_iter().map(|(path, text)| leaf(path, text));
    build(leaves.collect::<Vec<_>>().iter())
}

fn kept(built: &Built) -> (Objects, Reader) {
    let at: SharedBackend = Rc::new(Files::new(Memory::default(), FilesOptions::default()));
    let dir = VPath::parse("/history").expect("a path");
    let objects = Objects { at, dir };
    let files = built.nodes.iter().map(|(digest, node)| {
        let path = objects.node_path(digest).expect("a path");
        (path, node.clone())
    });
    ended(objects.at.upload(files.collect())).expect("it ends");
    (objects.clone(), Reader::new(objects))
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "/[a-c]{1,3}",
        "/[a-c]/[a-c-]{1,4}",
        "/[a-c]/[ab.]/[0-9]{1,3}",
        "/(äö|ä|日本)/[a-cü ]{0,2}x",
    ]
    .prop_filter("a canonical path", |name| {
        VPath::parse_file(name).is_ok_and(|path| path.as_str() == name)
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_same_files_make_the_same_tree_in_whatever_order_they_were_written(
        files in prop::collection::btree_map(names(), "[a-b]{0,2}", 0..150),
        others in prop::collection::btree_map(names(), "[a-b]{0,2}", 0..20),
    ) {
        let built = tree(&files);
        // Files come, change and go again, in another order.
        let mut now: BTreeMap<String, String> = others.clone();
        for (path, text) in files.iter().rev() {
            now.insert(path.clone(), format!("{text}!"));
        }
        for (path, text) in &files {
            now.insert(path.clone(), text.clone());
        }
        now.retain(|path, _| files.contains_key(path));
        let again = tree(&now);
        prop_assert_eq!(built.root, again.root);
        // Other files make another one.
        if files != others {
            prop_assert_ne!(built.root, tree(&others).root);
        }
    }

    #[test]
    fn every_page_of_a_tree_is_what_was_built(
        files in prop::collection::btree_map(names(), "[a-b]{0,2}", 0..150),
        from in names(),
        width in 1usize..9,
    ) {
        let built = tree(&files);
        let (_, reader) = kept(&built);
        let all: Vec<Leaf> = files.iter().map(|(path, text)| leaf(path, text)).collect();
        let mut each = Vec::new();
        ended(reader.each(built.root, |leaf| each.push(leaf))).expect("it ends").expect("read");
        prop_assert_eq!(&each, &all);
        let expected: Vec<&Leaf> = all.iter().filter(|leaf| leaf.path.as_str() >= &*from).collect();
        let mut seen = Vec::new();
        let mut next: Option<Rc<str>> = Some(from.as_str().into());
        while let Some(from) = next {
            let page = ended(reader.page(built.root, &from, width, &Budget::after(0))).expect("it ends");
            let page = page.expect("read");
            seen.extend(page.leaves);
            next = page.next;
        }
        prop_assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
        let wanted = VPath::parse(&from).expect("a path");
        let found = ended(reader.find(built.root, &wanted)).expect("it ends").expect("read");
        prop_assert_eq!(found, all.into_iter().find(|leaf| leaf.path == wanted));
    }
}

/// A stream of numbers below a limit.
fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |sides| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }
}

/// A name like those of sources.
fn name(roll: &mut impl FnMut(usize) -> usize) -> String {
    const WORDS: [&str; 24] = [
        "app", "auth", "backend", "cache", "client", "config", "core", "editor", "event", "field",
        "form", "handler", "index", "list", "menu", "model", "page", "query", "report", "route",
        "session", "style", "user", "view",
    ];
    let mut name = WORDS[roll(WORDS.len())].to_owned();
    while roll(2) == 0 {
        name += ["-", "_"][roll(2)];
        name += WORDS[roll(WORDS.len())];
    }
    name
}

/// Ten thousand files like those of a large project: directories in directories, most with some ten files.
fn project(roll: &mut impl FnMut(usize) -> usize) -> BTreeSet<String> {
    let mut dirs = vec![String::new()];
    let mut files = BTreeSet::new();
    while files.len() < 10_000 {
        let above = match roll(5) {
            0 => String::new(),
            _ => dirs[roll(dirs.len())].clone(),
        };
        if above.matches('/').count() > 7 {
            continue;
        }
        let dir = format!("{above}/{}", name(roll));
        for _ in 0..=roll(6) * roll(6) {
            let ending = ["ts", "tsx", "md", "json", "css", "test.ts"][roll(6)];
            files.insert(format!("{dir}/{}.{ending}", name(roll)));
        }
        dirs.push(dir);
    }
    while files.len() > 10_000 {
        files.pop_last();
    }
    files
}

const KINDS: [&str; 4] = ["edit", "create", "delete", "move"];

/// The bytes of new nodes of so many random changes of each kind.
fn costs(files: &[Leaf], changes: usize) -> [Vec<usize>; 4] {
    let mut roll = dice(11);
    let before = build(files.iter());
    let known: BTreeSet<Digest> = before.nodes.iter().map(|(digest, _)| *digest).collect();
    let mut costs = KINDS.map(|_| Vec::new());
    for step in 0..changes {
        for (kind, bytes) in KINDS.iter().zip(&mut costs) {
            let at = roll(files.len());
            let (dir, _) = files[at].path.as_str().rsplit_once('/').expect("a path");
            let fresh = format!("{dir}/{}-{step}.ts", name(&mut roll));
            let mut now = files.to_vec();
            match *kind {
                "edit" => now[at].digest = Digest::of(&[step as u8]),
                "delete" => drop(now.remove(at)),
                "create" => now.push(leaf(&fresh, "created")),
                _ => now[at].path = VPath::parse(&fresh).expect("a path"),
            }
            now.sort_by(|one, other| one.path.cmp(&other.path));
            let after = build(now.iter());
            let new = after.nodes.iter();
            let new = new.filter(|(digest, _)| !known.contains(digest));
            bytes.push(new.map(|(_, node)| node.len()).sum());
        }
    }
    costs.iter_mut().for_each(|bytes| bytes.sort_unstable());
    costs
}

#[test]
fn one_change_among_ten_thousand_files_makes_two_kilobytes_of_nodes_or_less() {
    let many = (0..10_000).map(|number| format!("/many/{number}"));
    let deep =
        (0..10_000).map(|number| format!("/a/b/c/d/e/{}/{}/{number}.md", number % 7, number % 91));
    // The tree for which the limit was set, and two extremes.
    let shapes = [
        ("a project", fewer(40), project(&mut dice(7)), 2_048),
        ("one directory", fewer(20), many.collect(), 2_560),
        ("deep", fewer(20), deep.collect(), 2_560),
    ];
    for (shape, changes, paths, limit) in shapes {
        let mut files: Vec<Leaf> = paths.iter().map(|path| leaf(path, "text")).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let nodes = build(files.iter()).nodes.len();
        assert!(nodes < 5_500, "{shape}: {nodes} nodes");
        let p99 = |bytes: &[usize]| bytes[(bytes.len() * 99).div_ceil(100) - 1];
        let mut at_one_place = Vec::new();
        for (kind, bytes) in KINDS.iter().zip(costs(&files, changes)) {
            let mean = bytes.iter().sum::<usize>() / bytes.len();
            let (p99, most) = (p99(&bytes), bytes[bytes.len() - 1]);
            println!("{shape}, {nodes} nodes, {kind}: mean {mean}, p99 {p99}, max {most}");
            if *kind == "move" {
                // It changes two places.
                assert!(mean <= 2_048 && p99 <= 3_072, "{shape}: {mean}, {p99}");
            } else {
                assert!(mean <= 1_600, "{shape}, {kind}: {mean}");
                at_one_place.extend(bytes);
            }
        }
        at_one_place.sort_unstable();
        assert!(p99(&at_one_place) <= limit, "{shape}: {at_one_place:?}");
    }
}

/// Paths of about `length` bytes whose ranks rise from one to the next, so that no hash ends a node among
/// them; `tries` is forty times their number, at most 99,999.
fn chosen(count: u64, length: usize, tries: u64) -> Vec<String> {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let ended = |hash: u64| {
        let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (hash ^ (hash >> 33)) >> 16
    };
    let fill = "x".repeat(length.saturating_sub(11));
    let digits = |state: u64, text: &str| text.bytes().fold(state, step);
    // Ten ends share all but their last digit, and so most of their hash.
    let tens: Vec<String> = (0..tries / 10).map(|one| format!("{one:04}")).collect();
    let mut least = 0;
    let mut paths = Vec::new();
    for number in 0..count {
        let start = format!("/{number:05}{fill}");
        let next = format!("/{:05}", number + 1);
        let equal = start.bytes().zip(next.bytes());
        let length = equal.take_while(|(a, b)| a == b).count() as u64 + 1;
        let state = digits(0xcbf2_9ce4_8422_2325, &start);
        let mut found: Option<(u64, &str, u8)> = None;
        for ten in &tens {
            let shared = digits(state, ten);
            for digit in b'0'..=b'9' {
                let rank = ended(step(shared, digit)) * length;
                if rank > least && found.is_none_or(|(best, _, _)| rank < best) {
                    found = Some((rank, ten, digit));
                }
            }
        }
        let (rank, ten, digit) = found.expect("more tries");
        least = rank;
        paths.push(format!("{start}{ten}{}", char::from(digit)));
    }
    paths
}

#[test]
fn names_that_are_chosen_for_their_ranks_make_no_node_that_cannot_be_read() {
    for (count, length) in [(300, 11), (1_200, 60), (1_200, 1_000)] {
        let paths = chosen(count, length, count * 40);
        let files = paths.into_iter().map(|path| (path, String::new()));
        let files: BTreeMap<String, String> = files.collect();
        let built = tree(&files);
        let lines = |node: &Bytes| node.iter().filter(|byte| **byte == b'\n').count() - 1;
        let most = built.nodes.iter().map(|(_, node)| lines(node)).max();
        assert_eq!(most, Some(256), "they are what they should be");
        let (_, reader) = kept(&built);
        let mut read = 0;
        let each = ended(reader.each(built.root, |_| read += 1));
        each.expect("it ends").expect("read");
        assert_eq!(read, count);
    }
}

#[test]
fn a_change_among_chosen_names_writes_at_most_their_nodes_once() {
    let paths = chosen(1_000, 20, 40_000);
    let files: Vec<Leaf> = paths.iter().map(|path| leaf(path, "text")).collect();
    let all: usize = build(files.iter())
        .nodes
        .iter()
        .map(|(_, node)| node.len())
        .sum();
    for (kind, bytes) in KINDS.iter().zip(costs(&files, 8)) {
        let most = bytes[bytes.len() - 1];
        println!("{kind}: max {most} of {all}");
        assert!(most <= all + 1_024, "{kind}: {most} of {all}");
    }
}

#[test]
fn nodes_are_small_and_nodes_of_a_tree_are_all_needed() {
    let files = (0..2_000).map(|number| (format!("/{number}"), String::new()));
    let files: BTreeMap<String, String> = files.collect();
    let built = tree(&files);
    let nodes: BTreeMap<Digest, &Bytes> = built
        .nodes
        .iter()
        .map(|(digest, node)| (*digest, node))
        .collect();
    let mut named: BTreeSet<Digest> = BTreeSet::new();
    let mut open: Vec<(Digest, Rc<str>)> = vec![(built.root, "".into())];
    while let Some((digest, from)) = open.pop() {
        named.insert(digest);
        let count = match Node::parse(nodes[&digest], &from).expect("a node") {
            Node::Leaves(leaves) => leaves.len(),
            Node::Children(children) => {
                let below = children
                    .iter()
                    .map(|child| (child.digest, child.from.clone()));
                open.extend(below);
                children.len()
            }
        };
        assert!((1..=12).contains(&count), "{count}");
    }
    assert_eq!(named, nodes.keys().copied().collect());
}

#[test]
fn no_files_are_a_tree_too() {
    let built = build([].iter());
    let (_, reader) = kept(&built);
    let page = ended(reader.page(built.root, "/", 8, &Budget::after(0))).expect("it ends");
    assert!(page.expect("read").leaves.is_empty());
}

#[test]
fn a_node_that_is_cut_short_or_altered_is_not_read() {
    let files: Vec<Leaf> = (0..6)
        .map(|number| leaf(&format!("/{number}"), "x"))
        .collect();
    let built = build(files.iter());
    let (objects, _) = kept(&built);
    for (digest, node) in &built.nodes {
        let path = objects.node_path(digest).expect("a path");
        for wrong in [node.slice(..node.len() / 2), Bytes::from_static(b"f\n")] {
            let put = vec![(path.clone(), wrong)];
            ended(objects.at.upload(put)).expect("it ends");
            let found = ended(objects.nodes(&[*digest])).expect("it ends");
            assert_eq!(found.expect("read"), [Found::Damaged]);
        }
    }
    let digest = Digest::of(b"x").short();
    let node = Digest::of_node(b"x").short();
    for wrong in [
        String::new(),
        "x".into(),
        "n\n".into(),
        "f\nshort".into(),
        "n\nshort\n".into(),
        format!("f\n{digest}1\n"),
        format!("f\n{digest}1 x /a\n"),
        format!("f\n{digest}1 7 /a\n"),
        format!("f\n{digest}x 0 /a\n"),
        format!("n\n{node}9 /\n"),
        // Entries that are not in order.
        format!("f\n{digest}1 0 /b\n{digest}1 0 /a\n"),
        format!("f\n{digest}1 0 /b\n{digest}1 0 /b\n"),
        format!("n\n{node}0 /b\n{node}0 /a\n"),
        format!("n\n{node}0 /b\n{node}\n"),
    ] {
        assert_eq!(Node::parse(wrong.as_bytes(), &"".into()), None, "{wrong:?}");
    }
}

#[test]
fn two_directories_that_share_nodes_are_both_read() {
    let files = (0..400).map(|number| (format!("/{}/x/{}", number / 200, number % 200), "".into()));
    let files: BTreeMap<String, String> = files.collect();
    let built = tree(&files);
    let distinct: BTreeSet<Digest> = built.nodes.iter().map(|(digest, _)| *digest).collect();
    assert!(distinct.len() < built.nodes.len(), "{}", distinct.len());
    let (_, reader) = kept(&built);
    let mut each = Vec::new();
    let visited = ended(reader.each(built.root, |leaf| each.push(leaf.path.to_string())));
    visited.expect("it ends").expect("read");
    assert!(each.iter().eq(files.keys()), "{}", each.len());
}

#[test]
fn digests_have_two_forms() {
    let digest = Digest::of(b"text");
    assert_eq!(Digest::from_hex(&digest.hex()), Some(digest));
    assert_eq!(Digest::from_short(&digest.short()), Some(digest));
    assert_eq!((digest.hex().len(), digest.short().len()), (64, 43));
    let node = Digest::of_node(b"text");
    assert_eq!(Digest::from_hex(&node.hex()), Some(node));
    assert_eq!(Digest::from_short(&node.short()), Some(node));
    assert_eq!((node.hex().len(), node.short().len()), (48, 32));
    assert!(digest.hex().starts_with(&node.hex()));
    let hex = digest.hex();
    for wrong in ["", "x", &hex[1..], &hex.to_uppercase(), &format!("{hex}0")] {
        assert_eq!(Digest::from_hex(wrong), None, "{wrong}");
    }
}

/// A tree that somebody has planted: a node for each level, and each names the one below twice. `file` is
/// whether there is a file in the lowest one.
fn planted(levels: usize, file: bool) -> Built {
    let lowest = match file {
        true => format!("f\n{}0 {} x\n", Digest::of(b"").short(), levels + 1),
        false => String::from("f\n"),
    };
    let mut nodes = vec![(Digest::of_node(lowest.as_bytes()), lowest.into())];
    let mut root = nodes
        .first()
        .map_or_else(|| Digest::of_node(b""), |(digest, _)| *digest);
    for level in (0..levels).rev() {
        let below = root.short();
        let (shared, slash) = match level {
            0 => (0, "/"),
            _ => (level + 1, ""),
        };
        let node = format!("n\n{below}{shared} {slash}a\n{below}{shared} {slash}b\n");
        root = Digest::of_node(node.as_bytes());
        nodes.push((root, node.into()));
    }
    Built { root, nodes }
}

#[test]
fn a_planted_tree_without_end_is_left_after_so_many_entries() {
    for file in [true, false] {
        let built = planted(60, file);
        let (_, reader) = kept(&built);
        let budget = Budget::after(MOST_ENTRIES - 50_000);
        let mut from: Rc<str> = "".into();
        let mut leaves = 0;
        let error = loop {
            match ended(reader.page(built.root, &from, 128, &budget)).expect("it ends") {
                Ok(page) => {
                    leaves += page.leaves.len();
                    from = page.next.expect("there is more");
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), crate::core::error::Kind::TooLarge);
        assert!(leaves <= 50_000 && (leaves > 500) == file, "{leaves}");
        assert_eq!(budget.used(), MOST_ENTRIES);
    }
}

#[test]
fn a_page_of_very_many_entries_and_a_node_of_very_many_bytes_are_refused() {
    let leaf = |number: usize| format!("{}0 0 /{number:07}\n", Digest::of(b"").short());
    let node = |count: usize| -> Bytes {
        let lines: String = (0..count).map(leaf).collect();
        format!("f\n{lines}").into()
    };
    let large = node((1 << 20) / 50);
    assert!(large.len() > 1 << 20);
    assert_eq!(Node::parse(&large, &"".into()), None);
    let (most, from) = (node(15_000), "".into());
    assert!(Node::parse(&most, &from).is_some());
    // Eight nodes of that many are one page.
    let below = Digest::of_node(&most);
    let mut nodes = vec![(below, most)];
    let mut lines = format!("n\n{}\n", below.short());
    for number in 1..8 {
        lines += &format!("{}0 .{number:02}\n", below.short());
    }
    let root = Digest::of_node(lines.as_bytes());
    nodes.push((root, lines.into()));
    let (_, reader) = kept(&Built { root, nodes });
    let page = ended(reader.page(root, "", 128, &Budget::after(0))).expect("it ends");
    assert!(page.is_err());
}

proptest! {
    #[test]
    fn a_set_of_digests_is_the_same_however_they_are_added(steps: Vec<(bool, Vec<u8>)>) {
        let (mut ours, mut theirs) = (Digests::default(), BTreeSet::new());
        for (at_once, texts) in steps {
            let digests: Vec<Digest> = texts.iter().map(|text| Digest::of(&[*text])).collect();
            match at_once {
                true => ours.add(digests.clone()),
                false => digests.iter().for_each(|digest| ours.insert(*digest)),
            }
            theirs.extend(digests);
            prop_assert!(ours.list().iter().eq(theirs.iter()));
            prop_assert!(theirs.iter().all(|digest| ours.has(digest)));
        }
    }
}
