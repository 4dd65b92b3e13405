//! A composite that fits the conformance suite.

use super::*;
use crate::core::future::Pending;

/// A composite lists its mounts as directories even if they are empty, a flat tree does not. To
/// compare the two, this wrapper removes directories without files.
pub(super) struct NoEmptyDirectories(pub(super) SharedBackend);

impl NoEmptyDirectories {
    async fn filled(&self, path: &VPath) -> Result<Vec<FileInfo>> {
        let mut kept = Vec::new();
        for info in self.0.ls(path).await? {
            if !info.is_dir() || self.has_files(&info.path).await? {
                kept.push(info);
            }
        }
        Ok(kept)
    }

    async fn has_files(&self, path: &VPath) -> Result<bool> {
        let beneath = GlobQuery::new("**", path.clone());
        Ok(!self.0.glob(&beneath).await?.files.is_empty())
    }

    async fn read_page(&self, path: &VPath, page: Page) -> Result<ReadResult> {
        let answer = self.0.read(path, page).await;
        match &answer {
            Err(error)
                if error.to_string() == Error::not_a_file(path).to_string()
                    && !self.has_files(path).await? =>
            {
                Err(Error::not_found(path))
            }
            _ => answer,
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for NoEmptyDirectories {
    fn capability(&self) -> Capability {
        self.0.capability()
    }
    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Ls(path) => answer(self.filled(path), Answer::Ls),
            Request::Read(path, page) => answer(self.read_page(path, page), Answer::Read),
            request => self.0.call(request),
        }
    }
    fn shell(&self) -> Option<Rc<str>> {
        self.0.shell()
    }
    fn atomic(&self) -> Atomic<'_> {
        self.0.atomic()
    }
}

/// A composite with mounts where the suite writes its files.
pub(crate) fn mounted_where_the_suite_writes() -> SharedBackend {
    let inner: SharedBackend =
        Rc::new(Composite::new(memory(), [(path("/deep"), memory())]).expect("mounts"));
    let mounts = ["/a/deep", "/d/e", "/dir", "/src", "/src/lib", "/docs", "/v"]
        .map(|prefix| (path(prefix), memory()))
        .into_iter()
        .chain([(path("/x"), inner)]);
    let composite = Composite::new(memory(), mounts).expect("mounts");
    Rc::new(NoEmptyDirectories(Rc::new(composite)))
}

#[test]
fn the_conformance_suite_passes_through_mounts() {
    let report = now(crate::conformance::run(async || {
        Ok(mounted_where_the_suite_writes())
    }));
    assert!(report.failures.is_empty(), "{}", report.failures.join("\n"));
    assert!(report.passed >= 20, "{report:?}");
}

#[test]
fn what_holds_a_mount_is_a_directory() {
    let composite = Composite::new(memory(), [(path("/a/b"), memory())]).expect("mounts");
    let page = Page {
        offset: 0,
        limit: 10,
    };
    let error = now(composite.read(&path("/a"), page)).expect_err("a directory");
    assert_eq!(error.kind(), Kind::IsDirectory, "{error}");
    let error = now(composite.read(&path("/c"), page)).expect_err("nothing");
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
    put(&composite, "/a", "a file beside the directory");
    assert!(now(composite.read(&path("/a"), page)).is_ok());
}
