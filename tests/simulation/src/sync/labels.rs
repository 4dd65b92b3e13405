//! Trees with labels: each thing that somebody does there is a conversation of its own. Some of what they write
//! comes from outside, and its mark has a label from then on: no tree may hold it without.

use std::rc::Rc;

use kitbag::core::path::VPath;
use kitbag::files::stepping::{ended, stepping};
use kitbag::layer::provenance::{LabelFile, LabelRule, Options, Patterns, Provenance, Seen};
use kitbag::protocol::{BackendExt, Operation, SharedBackend, files_beneath};
use kitbag::side::Room;

use crate::people::{marks_in, path};
use crate::place::World;

const LABEL: &str = "outside";

/// A tree whose labels are kept in a file, or in memory.
pub fn labelled(inner: SharedBackend, world: &World) -> Rc<Provenance> {
    let file = (world.roll(2) == 0).then(|| LabelFile {
        room: Room::new(
            stepping(),
            VPath::own("/.kitbag").expect("a path of the library"),
            None,
        ),
        name: "labels.tsv".into(),
    });
    let options = Options {
        labels: vec![LabelRule {
            paths: Patterns::parse(["/outside/**"]).expect("a pattern"),
            label: LABEL.into(),
        }],
        flows: Vec::new(),
        ask: None,
        file,
    };
    Rc::new(Provenance::new(inner, options))
}

/// A new conversation, and whether it has read what comes from outside.
pub fn conversation(tree: &Provenance, world: &World) -> (SharedBackend, bool) {
    let is_outside = world.roll(4) == 0;
    let seen = is_outside.then(|| Seen {
        label: LABEL.into(),
        path: path("/outside/page"),
        operation: Operation::Read,
    });
    let conversation = tree.conversation(seen.into_iter().collect());
    (Rc::new(conversation), is_outside)
}

/// What a tree holds with a mark of the outside and without the label; `None` if there is nothing.
pub fn unlabelled(tree: &Provenance, is_outside: impl Fn(&str) -> bool) -> Option<String> {
    let found = ended(async {
        for info in files_beneath(tree, &VPath::root()).await.expect("listed") {
            let reader = tree.conversation(Vec::new());
            let Ok(body) = reader.fetch(&info.path).await else {
                continue;
            };
            let text = String::from_utf8_lossy(&body).into_owned();
            let labels = tree.labels(&info.path).await.expect("labels");
            if !labels.has(LABEL) && marks_in(&text).iter().any(|mark| is_outside(mark)) {
                return Some(format!("{}: {text}", info.path.as_str()));
            }
        }
        None
    });
    found.expect("it ends")
}
