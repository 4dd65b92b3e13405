//! A tree with rules that hide a file: no sync may show it to another tree, or touch it.

use bytes::Bytes;
use kitbag::core::path::VPath;
use kitbag::files::stepping::ended;
use kitbag::layer::policy::{Mode, Policy, Rule, Rules, Touch, stack};
use kitbag::protocol::{BackendExt, SharedBackend, files_beneath};

use crate::people::{path, read};

const HIDDEN: &str = "/dir/hidden.md";
const SECRET: &str = "what only this tree may know";

/// Puts the file into a tree; the tree as its rules show it.
pub fn hiding(tree: &SharedBackend) -> SharedBackend {
    let body = Bytes::from_static(SECRET.as_bytes());
    ended(tree.store(&path(HIDDEN), body))
        .expect("it ends")
        .expect("stored");
    let both = [Touch::Read, Touch::Write];
    let rule = Rule::new(&both, Mode::Deny, [HIDDEN]).expect("a rule");
    let policy = Policy {
        permissions: Some(Rules::new(vec![rule], true)),
        ..Policy::default()
    };
    stack(tree.clone(), policy).expect("a policy")
}

/// What shows that the file of a tree left it or was touched. `trees` are without rules.
pub fn shown(trees: &[SharedBackend], hides: usize) -> Option<String> {
    let found = ended(async {
        let there = read(&trees[hides], &path(HIDDEN)).await;
        if there.as_deref() != Some(SECRET) {
            return Some(format!("a sync touched the hidden file: {there:?}"));
        }
        for (number, tree) in trees.iter().enumerate() {
            for info in files_beneath(&**tree, &VPath::root())
                .await
                .expect("listed")
            {
                let is_it = number == hides && info.path.as_str() == HIDDEN;
                let text = read(tree, &info.path).await.unwrap_or_default();
                if !is_it && text.contains(SECRET) {
                    return Some(format!("the hidden file is at {}", info.path.as_str()));
                }
            }
        }
        None
    });
    found.expect("it ends")
}
