//! Tests of trees: the same files make the same tree, a change makes few new nodes, and what is read is
//! what was built.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::core::path::VPath;
use crate::files::stepping::ended;
use crate::files::{Files, FilesOptions};
use crate::protocol::SharedBackend;
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

/// The bytes of the nodes of one tree that another one lacks.
fn added(before: &Built, after: &Built) -> usize {
    let known: BTreeSet<Digest> = before.nodes.iter().map(|(digest, _)| *digest).collect();
    let new = after.nodes.iter();
    let new = new.filter(|(digest, _)| !known.contains(digest));
    new.map(|(_, node)| node.len()).sum()
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
    #![proptest_config(ProptestConfig::with_cases(64))]

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
            let page = ended(reader.page(built.root, &from, width)).expect("it ends");
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

#[test]
fn one_change_among_ten_thousand_files_makes_two_kilobytes_of_nodes_or_less() {
    let shapes: [fn(usize) -> String; 2] = [
        |number| format!("/many/{number}"),
        |number| format!("/a/b/c/d/e/{}/{}/{number}.md", number % 7, number % 91),
    ];
    for (shape, name) in shapes.iter().enumerate() {
        let numbers = 0..10_000;
        let files: BTreeMap<String, String> = numbers
            .map(|number| (name(number), number.to_string()))
            .collect();
        let before = tree(&files);
        assert!(before.nodes.len() < 3_300, "{}", before.nodes.len());
        let mut bytes = Vec::new();
        let paths: Vec<&String> = files.keys().collect();
        for step in 0..12 {
            let path = paths[step * 7_919 % paths.len()];
            let mut now = files.clone();
            match step % 3 {
                0 => drop(now.insert(path.clone(), "changed".into())),
                1 => drop(now.insert(format!("{path}-new"), "created".into())),
                _ => drop(now.remove(path)),
            }
            bytes.push(added(&before, &tree(&now)));
        }
        let average = bytes.iter().sum::<usize>() / bytes.len();
        assert!(average <= 2_048, "shape {shape}: {average} of {bytes:?}");
        assert!(
            bytes.iter().all(|bytes| *bytes <= 2_560),
            "{shape}: {bytes:?}"
        );
    }
}

#[test]
fn nodes_are_small_and_nodes_of_a_tree_are_all_needed() {
    let files = (0..2_000).map(|number| (format!("/{number}"), String::new()));
    let files: BTreeMap<String, String> = files.collect();
    let built = tree(&files);
    let mut named: BTreeSet<Digest> = [built.root].into();
    for (_, bytes) in &built.nodes {
        let count = match Node::parse(bytes).expect("a node") {
            Node::Leaves(leaves) => leaves.len(),
            Node::Children(children) => {
                named.extend(children.iter().map(|child| child.digest));
                children.len()
            }
        };
        assert!((1..=16).contains(&count), "{count}");
    }
    assert_eq!(
        named,
        built.nodes.iter().map(|(digest, _)| *digest).collect()
    );
}

#[test]
fn no_files_are_a_tree_too() {
    let built = build([].iter());
    let (_, reader) = kept(&built);
    let page = ended(reader.page(built.root, "/", 8)).expect("it ends");
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
        for wrong in [
            node.slice(..node.len() / 2),
            Bytes::from_static(b"tree1 0\n"),
        ] {
            let put = vec![(path.clone(), wrong)];
            ended(objects.at.upload(put)).expect("it ends");
            let found = ended(objects.nodes(&[*digest])).expect("it ends");
            assert_eq!(found.expect("read"), [Found::Damaged]);
        }
    }
    for wrong in [
        "",
        "tree1 ",
        "tree1 0",
        "tree1 0\n0 1 short /a\n",
        "tree1 1\n7 x /\n",
        "tree1 x\n",
        "tree1 0\n0\n",
    ] {
        assert_eq!(Node::parse(wrong.as_bytes()), None, "{wrong:?}");
    }
}

#[test]
fn digests_have_two_forms() {
    let digest = Digest::of(b"text");
    assert_eq!(Digest::from_hex(&digest.hex()), Some(digest));
    assert_eq!(Digest::from_short(&digest.short()), Some(digest));
    assert_eq!((digest.hex().len(), digest.short().len()), (64, 43));
    let hex = digest.hex();
    for wrong in ["", "x", &hex[1..], &hex.to_uppercase(), &format!("{hex}0")] {
        assert_eq!(Digest::from_hex(wrong), None, "{wrong}");
    }
}
