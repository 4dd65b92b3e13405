//! Rules over files that are those of the running graph.

use super::*;
use crate::core::error::Kind;
use crate::files::graph_state::testing::made;
use crate::layer::composite::Composite;

#[test]
fn a_quota_counts_the_files_of_the_graph_that_writes() {
    let (host, bare) = made();
    let routed: SharedBackend =
        Rc::new(Composite::new(bare.clone(), vec![(path("/other"), memory())]).expect("a router"));
    for inner in [bare, routed] {
        let limits = Limits {
            max_files: Some(2),
            ..Limits::default()
        };
        let policy = Policy {
            quota: Some(limits),
            ..Policy::default()
        };
        let backend = stack(inner, policy).expect("a policy");
        for at in ["/a", "/b"] {
            for graph in [1, 2, 0] {
                host.running.set(graph);
                write(&backend, at, "x").expect("there is room in this graph");
            }
        }
        for graph in [2, 0, 1] {
            host.running.set(graph);
            let refused = write(&backend, "/c", "x").expect_err("this graph is full");
            assert_eq!(refused.kind(), Kind::QuotaExceeded);
            for at in ["/a", "/b"] {
                now(backend.delete(&path(at), None)).expect("deleted");
            }
        }
    }
}
