//! A mount that fails: searches and deletes above it name the mount.

use super::*;
use crate::core::future::Pending;

/// Fails every search and delete.
struct Failing(Files<Memory>);

fn broken<'a, T: 'a>() -> Pending<'a, T> {
    Box::pin(async { Err(Error::new(Kind::Unavailable, "The disk is on fire")) })
}

impl Backend for Failing {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn ls<'a>(&'a self, path: &'a VPath) -> Pending<'a, Vec<FileInfo>> {
        self.0.ls(path)
    }
    fn read<'a>(&'a self, path: &'a VPath, page: Page) -> Pending<'a, ReadResult> {
        self.0.read(path, page)
    }
    fn read_raw<'a>(&'a self, path: &'a VPath) -> Pending<'a, RawFile> {
        self.0.read_raw(path)
    }
    fn grep<'a>(&'a self, _: &'a GrepQuery) -> Pending<'a, GrepResult> {
        broken()
    }
    fn glob<'a>(&'a self, _: &'a GlobQuery) -> Pending<'a, GlobResult> {
        broken()
    }
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        self.0.write(path, content)
    }
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        self.0.edit(path, edit)
    }
    fn delete<'a>(&'a self, _: &'a VPath, _: Option<&'a Bytes>) -> Pending<'a, DeleteResult> {
        broken()
    }
    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        self.0.transfer(asked)
    }
    fn upload<'a>(&'a self, files: Vec<(VPath, Bytes)>) -> LocalBoxFuture<'a, Vec<Result<()>>> {
        self.0.upload(files)
    }
    fn download<'a>(&'a self, paths: &'a [VPath]) -> LocalBoxFuture<'a, Vec<Result<Bytes>>> {
        self.0.download(paths)
    }
    fn part<'a>(&'a self, path: &'a VPath, range: std::ops::Range<u64>) -> Pending<'a, Bytes> {
        self.0.part(path, range)
    }
    fn shell(&self) -> Option<&dyn Shell> {
        None
    }
    fn atomic(&self) -> Atomic<'_> {
        Atomic::Never
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
