//! A backend that completes changes a few polls later, and has a shell: for tests of concurrent
//! calls, and of commands under rules about files.

use super::*;
use crate::core::future::{Pending, done};
use crate::protocol::{Answer, BackendExt, Request};

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
    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, Answer> {
        match request {
            Request::Execute(command, _) => done(Ok(Answer::Execute(ExecuteResult {
                output: command.to_owned(),
                exit_code: Some(0),
                truncated: false,
            }))),
            Request::Glob(_) | Request::Write(..) | Request::Edit(..) | Request::Transfer(_) => {
                Box::pin(async move {
                    later().await;
                    self.0.call(request).await
                })
            }
            request => self.0.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        Some(Rc::from("slow"))
    }
}

#[test]
fn a_shell_is_refused_where_a_rule_is_about_files() {
    let shelled = || -> SharedBackend { Rc::new(Slow(memory())) };
    let run = |policy: Policy| {
        let backend = stack(shelled(), policy).expect("a policy");
        let id = backend.shell().expect("the property stays");
        assert_eq!(&*id, "slow");
        let answer = now(backend.execute("rm -rf /", ExecuteOptions::default()));
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
                allow_execute: Some(true),
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
