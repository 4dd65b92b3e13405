//! Moves and copies between mounts: what they keep, and what stands where if a step fails.

use std::cell::Cell;

use super::*;
use crate::core::future::Pending;

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing was done.
    Before,
    /// It was done, and the answer was lost.
    After,
}

/// Fails one call, by its number; shared by all mounts of a tree.
struct Faults {
    left: Cell<usize>,
    fault: Fault,
}

struct Faulty(SharedBackend, Rc<Faults>);

fn lost() -> Error {
    Error::new(Kind::Unavailable, "The line is cut")
}

impl Backend for Faulty {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        Box::pin(async move {
            let left = self.1.left.get();
            self.1.left.set(left.wrapping_sub(1));
            match (left, self.1.fault) {
                (0, Fault::Before) => Err(lost()),
                (0, Fault::After) => self.0.call(request).await.and(Err(lost())),
                _ => self.0.call(request).await,
            }
        })
    }
}

fn asked(from: &str, to: &str, keeps: bool, overwrite: bool) -> Transfer {
    Transfer {
        from: path(from),
        to: path(to),
        keeps,
        overwrite,
    }
}

fn content(backend: &dyn Backend, at: &str) -> Option<Bytes> {
    now(backend.read_raw(&path(at))).ok().map(|file| file.body)
}

/// A tree of two backends, whose call number `fails` fails.
fn tree(fails: usize, fault: Fault) -> (Composite, SharedBackend, SharedBackend) {
    let (here, there) = (memory(), memory());
    put(&*here, "/a.txt", "the text");
    put(&*here, "/d/one.txt", "1");
    put(&*here, "/d/e/two.txt", "2");
    put(&*there, "/old.txt", "old");
    let faults = Rc::new(Faults {
        left: Cell::new(fails),
        fault,
    });
    let faulty =
        |inner: &SharedBackend| -> SharedBackend { Rc::new(Faulty(inner.clone(), faults.clone())) };
    let mounts = [(path("/m"), faulty(&there))];
    let composite = Composite::new(faulty(&here), mounts).expect("a composite");
    (composite, here, there)
}

#[test]
fn files_and_directories_go_between_mounts() {
    let (tree, here, there) = tree(usize::MAX, Fault::Before);
    now(tree.transfer(&asked("/a.txt", "/m/b.txt", false, false))).expect("moved");
    assert_eq!(content(&*here, "/a.txt"), None);
    assert_eq!(
        content(&*there, "/b.txt").as_deref(),
        Some(&b"the text"[..])
    );
    now(tree.transfer(&asked("/d", "/m/d", true, false))).expect("copied");
    now(tree.transfer(&asked("/m/d/e", "/e", false, false))).expect("moved back");
    assert_eq!(
        globbed(&tree, "**", "/"),
        [
            "/d/e/two.txt",
            "/d/one.txt",
            "/e/two.txt",
            "/m/b.txt",
            "/m/d/one.txt",
            "/m/old.txt"
        ]
    );
}

#[test]
fn a_move_onto_a_file_of_another_mount_is_refused_or_replaces_it() {
    let (tree, here, there) = tree(usize::MAX, Fault::Before);
    let refused = now(tree.transfer(&asked("/a.txt", "/m/old.txt", false, false)));
    let error = refused.expect_err("the file exists");
    assert_eq!(error.code(), "already_exists");
    assert!(error.to_string().contains("'/m/old.txt'"), "{error}");
    assert!(content(&*here, "/a.txt").is_some());
    now(tree.transfer(&asked("/a.txt", "/m/old.txt", false, true))).expect("replaced");
    assert_eq!(
        content(&*there, "/old.txt").as_deref(),
        Some(&b"the text"[..])
    );
}

#[test]
fn a_mount_itself_is_no_target() {
    let (tree, ..) = tree(usize::MAX, Fault::Before);
    let refused = now(tree.transfer(&asked("/a.txt", "/m", false, true)));
    assert_eq!(refused.expect_err("a mount").code(), "is_directory");
}

#[test]
fn a_fault_at_any_step_between_mounts_loses_nothing() {
    for fault in [Fault::Before, Fault::After] {
        for overwrite in [false, true] {
            let mut failed = 0;
            for step in 0.. {
                let (tree, here, there) = tree(step, fault);
                let to = if overwrite {
                    "/m/old.txt"
                } else {
                    "/m/new.txt"
                };
                let answer = now(tree.transfer(&asked("/a.txt", to, false, overwrite)));
                let (from, to) = (content(&*here, "/a.txt"), content(&*there, &to[2..]));
                let text = Some(Bytes::from_static(b"the text"));
                assert!(from == text || to == text, "step {step} {fault:?}");
                match answer {
                    Ok(_) => {
                        assert_eq!((from, to), (None, text), "step {step} {fault:?}");
                        break;
                    }
                    Err(error) => {
                        failed += 1;
                        let said = error.to_string();
                        let both = from == text && to == text;
                        let tells = said.contains("stands at both paths");
                        // A lost answer may hide that the step was done, and never the reverse.
                        assert!(
                            !tells || both || fault == Fault::After,
                            "step {step}: {said}"
                        );
                        assert!(
                            !both || tells || fault == Fault::After,
                            "step {step}: {said}"
                        );
                    }
                }
            }
            assert!(failed >= 5, "{failed} steps failed");
        }
    }
}

#[test]
fn a_directory_that_breaks_off_between_mounts_is_at_one_path_or_the_other() {
    for fault in [Fault::Before, Fault::After] {
        for step in 0.. {
            let (tree, here, there) = tree(step, fault);
            let answer = now(tree.transfer(&asked("/d", "/m/d", false, false)));
            for (name, text) in [("/d/one.txt", "1"), ("/d/e/two.txt", "2")] {
                let found = [content(&*here, name), content(&*there, name)];
                let text = Bytes::from_static(text.as_bytes());
                assert!(found.contains(&Some(text)), "step {step} {fault:?} {name}");
            }
            match answer {
                Ok(_) => break,
                Err(error) => {
                    // The error names what was moved, and only that.
                    let moved = content(&*here, "/d/e/two.txt").is_none();
                    let said = error.to_string();
                    let names = said.contains("Moved: e/two.txt,");
                    assert!(!names || moved, "step {step}: {said}");
                    assert!(
                        names || !moved || fault == Fault::After,
                        "step {step}: {said}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_change_during_a_move_is_not_lost() {
    struct Changed(SharedBackend);
    let (here, there) = (memory(), memory());
    put(&*here, "/a.txt", "first");
    // The copy is there: another writer changes the source before it is deleted.
    let mounts = [(path("/m"), there.clone())];
    let tree = Composite::new(here.clone(), mounts).expect("a composite");
    let step = Step {
        from: path("/a.txt"),
        to: path("/m/a.txt"),
        size: None,
        whole: false,
    };
    let other = Changed(here.clone());
    let revise = move |_: VPath, body: Bytes| -> Pending<'_, Bytes> {
        put(&*other.0, "/a.txt", "second");
        Box::pin(async move { Ok(body) })
    };
    let asked = asked("/a.txt", "/m/a.txt", false, false);
    let answer = now(Box::pin(by_bytes(&tree, &asked, step, Some(&revise))));
    let error = answer.expect_err("the source was changed");
    assert_eq!(error.code(), "conflict");
    assert!(
        error.to_string().contains("stands at both paths"),
        "{error}"
    );
    assert_eq!(content(&*here, "/a.txt").as_deref(), Some(&b"second"[..]));
}
