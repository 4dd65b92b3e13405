//! A mount that fails: searches and deletes above it name the mount.

use super::*;
use crate::core::future::{Pending, done};

/// Fails every search and delete.
struct Failing(Files<Memory>);

impl Backend for Failing {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Grep(_) | Request::Glob(_) | Request::Delete(..) => {
                done(Err(Error::new(Kind::Unavailable, "The disk is on fire")))
            }
            request => self.0.call(request),
        }
    }
}

#[test]
fn a_route_that_fails_fails_the_search_by_name() {
    let failing = Rc::new(Failing(Files::new(
        Memory::default(),
        FilesOptions::default(),
    )));
    let (good, default) = (memory(), memory());
    put(&*default, "/a/x", "x");
    put(&*good, "/y", "y");
    let mounts: Vec<(VPath, SharedBackend)> = vec![
        (path("/a/bad/long"), failing),
        (path("/a/later"), good.clone()),
        (path("/a/much/longer/prefix"), good.clone()),
    ];
    let composite = Composite::new(default.clone(), mounts).expect("mounts");
    let error = now(composite.grep(&GrepQuery::literal("x"))).expect_err("fails");
    assert_eq!(
        error.to_string(),
        "The mount '/a/bad/long/' failed: The disk is on fire"
    );
    let mut bad = GrepQuery::literal("(");
    bad.regex = true;
    let error = now(composite.grep(&bad)).expect_err("no pattern");
    assert!(
        error.to_string().starts_with("Invalid regex pattern: "),
        "{error}"
    );
    let error = now(composite.delete(&path("/a"), None)).expect_err("half-way");
    assert_eq!(
        error.to_string(),
        "Error: '/a' was deleted only in part. Removed: /a, /a/much/longer/prefix/. \
         Not tried: /a/later/. Failed: /a/bad/long/: The disk is on fire"
    );
    assert_eq!(error.kind(), Kind::Unavailable);
}
