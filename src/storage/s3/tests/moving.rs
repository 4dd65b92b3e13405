//! Moves under faults: whichever request fails, in whatever way, the content is at one path.

use std::cell::Cell;

use super::*;
use crate::protocol::{BackendExt, Transfer};

fn moving(from: &str, to: &str) -> Transfer {
    Transfer {
        from: path(from),
        to: path(to),
        keeps: false,
        overwrite: false,
    }
}

/// Moves a file while requests number `first` and the `count - 1` behind it fail; `None` if the move
/// was over before.
fn moved_under(fault: &Fault, first: usize, count: usize, conditions: bool) -> Option<bool> {
    let server = Server::new();
    server.conditions.set(conditions);
    let files = with(
        &server,
        S3Options {
            retry: Retry {
                attempts: 3,
                ..Retry::default()
            },
            ..S3Options::default()
        },
    );
    write(&files, "/a.txt", "the text").expect("the probe is done");
    let sent = Rc::new(Cell::new(0));
    let (seen, fault) = (sent.clone(), fault.clone());
    server.script(move |_| {
        let number = seen.replace(seen.get() + 1);
        match (first..first + count).contains(&number) {
            true => fault.clone(),
            false => Fault::None,
        }
    });
    let answer = block_on(files.transfer(&moving("/a.txt", "/b.txt")));
    let (a, b) = (server.body("a.txt"), server.body("b.txt"));
    let text = Some("the text".to_owned());
    assert!(a == text || b == text, "request {first}: both are gone");
    if answer.is_ok() {
        assert_eq!((a, b), (None, text), "request {first}");
    }
    (sent.get() > first).then_some(answer.is_ok())
}

#[test]
fn a_fault_at_any_request_of_a_move_loses_nothing() {
    for conditions in [true, false] {
        for fault in [
            Fault::Before,
            Fault::After,
            Fault::Status(503, "SlowDown"),
            Fault::Executed(500, "InternalError"),
            Fault::Status(403, "AccessDenied"),
            Fault::Corrupt,
        ] {
            // Once, and until no retry is left.
            for count in [1, 3] {
                let mut failed = 0;
                for first in 0.. {
                    match moved_under(&fault, first, count, conditions) {
                        Some(true) => {}
                        Some(false) => failed += 1,
                        None => break,
                    }
                }
                let hard = fault == Fault::Status(403, "AccessDenied");
                assert!(!hard || failed > 3, "{failed} moves failed under {fault:?}");
            }
        }
    }
}

#[test]
fn of_eight_moves_to_one_path_one_wins_and_the_others_stay() {
    let server = Server::new();
    let files = files(&server);
    for at in 0..8 {
        write(&files, &format!("/{at}.txt"), &format!("text {at}")).expect("written");
    }
    let asked: Vec<Transfer> = (0..8)
        .map(|at| moving(&format!("/{at}.txt"), "/one.txt"))
        .collect();
    let answers = block_on(join_all(asked.iter().map(|asked| files.transfer(asked))));
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let stay = (0..8).filter(|at| server.body(&format!("{at}.txt")).is_some());
    assert_eq!(stay.count(), 7);
    assert!(server.body("one.txt").is_some());
}
