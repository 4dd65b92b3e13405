//! A backend that completes changes a few polls later, and has a shell: for tests of concurrent
//! calls, and of commands under rules about files.

use super::*;
use crate::core::future::Pending;

/// Completes changes a few polls later.
pub(super) struct Slow(pub(super) SharedBackend);

async fn later() {
    for _ in 0..3 {
        crate::env::timer::sleep(Duration::ZERO).await;
    }
}

impl Backend for Slow {
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
    fn grep<'a>(&'a self, query: &'a GrepQuery) -> Pending<'a, GrepResult> {
        self.0.grep(query)
    }
    fn glob<'a>(&'a self, query: &'a GlobQuery) -> Pending<'a, GlobResult> {
        Box::pin(async move {
            later().await;
            self.0.glob(query).await
        })
    }
    fn write<'a>(&'a self, path: &'a VPath, content: Content) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            later().await;
            self.0.write(path, content).await
        })
    }
    fn edit<'a>(&'a self, path: &'a VPath, edit: &'a Edit) -> Pending<'a, EditResult> {
        Box::pin(async move {
            later().await;
            self.0.edit(path, edit).await
        })
    }
    fn delete<'a>(
        &'a self,
        path: &'a VPath,
        unchanged: Option<&'a Bytes>,
    ) -> Pending<'a, DeleteResult> {
        self.0.delete(path, unchanged)
    }
    fn transfer<'a>(&'a self, asked: &'a Transfer) -> Pending<'a, WriteResult> {
        Box::pin(async move {
            later().await;
            self.0.transfer(asked).await
        })
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
        Some(self)
    }
    fn atomic(&self) -> Atomic<'_> {
        Atomic::Never
    }
}

impl Shell for Slow {
    fn id(&self) -> Rc<str> {
        Rc::from("slow")
    }
    fn execute<'a>(&'a self, command: &'a str, _: ExecuteOptions) -> Pending<'a, ExecuteResult> {
        let output = command.to_owned();
        crate::core::future::done(Ok(ExecuteResult {
            output,
            exit_code: Some(0),
            truncated: false,
        }))
    }
}

#[test]
fn a_shell_is_refused_where_a_rule_is_about_files() {
    let shelled = || -> SharedBackend { Rc::new(Slow(memory())) };
    let run = |policy: Policy| {
        let backend = stack(shelled(), policy).expect("a policy");
        let shell = backend.shell().expect("the property stays");
        assert_eq!(&*shell.id(), "slow");
        let answer = now(shell.execute("rm -rf /", ExecuteOptions::default()));
        answer.map(|ran| ran.output).map_err(|error| error.code())
    };
    let rules = || Some(Rules::new(vec![rule(BOTH, Mode::Deny, &["/a"])], true));
    let inspect: OnInspect = Rc::new(|_| Box::pin(async { Ok(Verdict::Pass) }));
    let refusing = [
        Policy {
            read_only: true,
            ..Policy::default()
        },
        Policy {
            deny_prefixes: vec![path("/a")],
            ..Policy::default()
        },
        Policy {
            permissions: rules(),
            ..Policy::default()
        },
        Policy {
            quota: Some(Limits::default()),
            ..Policy::default()
        },
        Policy {
            inspect: Some(inspect),
            ..Policy::default()
        },
    ];
    for policy in refusing {
        assert_eq!(run(policy.clone()), Err("permission_denied"));
        assert!(
            run(Policy {
                allow_execute: true,
                ..policy
            })
            .is_ok()
        );
    }
    assert!(
        run(Policy {
            audit: Some(Rc::new(|_| {})),
            ..Policy::default()
        })
        .is_ok()
    );
    let rate = Rate {
        covers: Covers::Only(Operation::Execute),
        operations: 0,
        per: Duration::from_secs(1),
    };
    assert_eq!(
        run(Policy {
            rates: Rates::new([rate]),
            ..Policy::default()
        }),
        Err("rate_limited")
    );
}
