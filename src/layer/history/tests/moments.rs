//! Moments that a history cannot go back to.

use super::*;

#[test]
fn a_moment_before_dropped_notes_is_refused() {
    let (inner, at) = (memory(), memory());
    let keep = Retention {
        count: Some(2),
        ..Retention::default()
    };
    let history = with(&inner, &at, keep);
    put(&*inner, "/a", "0");
    let mut moments = Vec::new();
    for number in 1..=6 {
        put(&history, "/a", &number.to_string());
        moments.push(Moment::After(log(&history, "/")[0].id.clone()));
    }
    finished(history.prune()).expect("pruned");
    let everything = path("/");
    let restored = |moment: &Moment| finished(history.restore(&everything, moment)).map(drop);
    let differs = |from, to| finished(history.diff(from, to)).map(|all| all.len());
    for (place, moment) in moments.iter().enumerate() {
        // The two that are left end at the fifth and the sixth; the fourth is where they begin.
        let is_known = place >= 3;
        assert_eq!(differs(moment, &Moment::Now).is_ok(), is_known, "{place}");
        assert_eq!(differs(moment, &moments[5]).is_ok(), is_known, "{place}");
        let restored = restored(moment);
        match is_known {
            true => assert_eq!(body(&*inner, "/a"), Some((place + 1).to_string())),
            false => assert_eq!(restored.expect_err("gone").kind(), Kind::InvalidArgument),
        }
    }
    assert!(restored(&Moment::At(0)).is_err());
}
