//! Those who work in the trees. Everything that they write has a mark of its own in it, so that it is known
//! whether it is there in the end, unless somebody who had read it took it away.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use bytes::Bytes;
use kitbag::core::path::VPath;
use kitbag::files::stepping::pause;
use kitbag::protocol::{BackendExt, Content, Edit, SharedBackend, Transfer, files_beneath};

use crate::place::World;

pub const FILES: &[&str] = &["/a.md", "/b.md", "/dir/c.md", "/dir/d.bin", "/e.md"];

/// What must be there in the end.
#[derive(Default)]
pub struct Marks {
    pub last: Cell<usize>,
    pub live: RefCell<BTreeSet<String>>,
    /// What somebody took away: a change can be read, and taken away, before its author has the answer.
    pub gone: RefCell<BTreeSet<String>>,
    /// Contents that somebody moved: they can be in conflict copies of two times.
    pub moved: RefCell<BTreeSet<String>>,
    /// The marks of those who had read what comes from outside.
    pub outside: RefCell<BTreeSet<String>>,
}

impl Marks {
    pub fn new_mark(&self, is_outside: bool) -> String {
        self.last.set(self.last.get() + 1);
        let mark = format!("<{}>", self.last.get());
        if is_outside {
            self.outside.borrow_mut().insert(mark.clone());
        }
        mark
    }

    /// A change was acknowledged: what its author left out was known to them.
    pub fn acknowledged(&self, old: &str, new: &str) {
        let (mut live, mut gone) = (self.live.borrow_mut(), self.gone.borrow_mut());
        for mark in marks_in(new) {
            if !old.contains(&mark) && !gone.contains(&mark) {
                live.insert(mark);
            }
        }
        for mark in marks_in(old) {
            if !new.contains(&mark) {
                live.remove(&mark);
                gone.insert(mark);
            }
        }
    }
}

/// The marks in a text.
pub fn marks_in(text: &str) -> Vec<String> {
    text.split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .map(|(number, _)| format!("<{number}>"))
        .collect()
}

pub fn path(text: &str) -> VPath {
    VPath::parse(text).expect("a path")
}

pub async fn read(at: &SharedBackend, path: &VPath) -> Option<String> {
    let body = at.fetch(path).await.ok()?;
    Some(String::from_utf8_lossy(&body).into_owned())
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// A text of some lines, most of which are the same in all files.
fn text(world: &World, marks: &Marks, is_outside: bool) -> String {
    let head = marks.new_mark(is_outside);
    let lines: Vec<String> = (0..6 + world.roll(4))
        .map(|line| format!("line {line}\n"))
        .collect();
    format!("{head}\n{}", lines.concat())
}

/// The same text with one line more, or another one.
fn edited(world: &World, marks: &Marks, old: &str, is_outside: bool) -> String {
    let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mark = format!("{}\n", marks.new_mark(is_outside));
    let at = world.roll(lines.len() + 1);
    match world.roll(4) == 0 && at < lines.len() {
        true => lines[at] = &mark,
        false => lines.insert(at, &mark),
    }
    lines.concat()
}

/// Replaces what was read; whether it was acknowledged.
async fn replace(at: &SharedBackend, path: &VPath, old: &str, new: &str, marks: &Marks) {
    let edit = Edit {
        old: bytes(old),
        new: bytes(new),
        replace_all: false,
        whole: true,
        appends: false,
    };
    if at.edit(path, &edit).await.is_ok() {
        marks.acknowledged(old, new);
    }
}

/// One thing that somebody does; `is_outside` if they have read what comes from outside.
pub async fn act(at: &SharedBackend, world: &World, marks: &Marks, is_outside: bool) {
    let mut file = path(FILES[world.roll(FILES.len())]);
    if world.roll(4) == 0 {
        // Whatever is there, such as a conflict copy.
        let files = files_beneath(&**at, &VPath::root()).await.expect("listed");
        let files: Vec<VPath> = files.into_iter().map(|info| info.path).collect();
        if !files.is_empty() {
            file = files[world.roll(files.len())].clone();
        }
    }
    let old = read(at, &file).await;
    if world.roll(3) == 0 {
        pause().await;
    }
    match (old, world.roll(10)) {
        (None, _) => {
            let mut new = text(world, marks, is_outside);
            if file.name().ends_with(".bin") {
                new.push('\0');
            }
            let written = at.write(&file, Content::New(bytes(&new), None)).await;
            if written.is_ok() {
                marks.acknowledged("", &new);
            }
        }
        (Some(old), 0..=5) => {
            let new = edited(world, marks, &old, is_outside);
            replace(at, &file, &old, &new, marks).await;
        }
        (Some(old), 6) => {
            let new = text(world, marks, is_outside);
            replace(at, &file, &old, &new, marks).await;
        }
        (Some(old), 7 | 8) => {
            if at.delete(&file, Some(&bytes(&old))).await.is_ok() {
                marks.acknowledged(&old, "");
            }
        }
        (Some(old), _) => {
            marks.moved.borrow_mut().insert(old);
            let moved = Transfer {
                from: file,
                to: path(FILES[world.roll(FILES.len())]),
                keeps: false,
                overwrite: false,
            };
            // What it moves stays, wherever it is then.
            let _ = at.transfer(&moved).await;
        }
    }
}
