//! Holds a history against the model: each path is a register with create, compare-and-swap, append
//! and delete. A register is linearisable if its calls can be put in an order that contradicts no
//! answer and no real time (Wing and Gong's search). Contents name the edits in them, so nearly
//! every state allows one order only, and the search is short.

use std::collections::{BTreeMap, HashSet};

use kitbag::search::lines::{LineIndex, Page, page};

use crate::body::{Bodies, Value};
use crate::history::{Call, End, History, Step};
use crate::scenario::{Kind, Scenario};

/// The most calls on one path that the search can hold.
const MOST: usize = 128;
/// The most states that a search looks at.
const PATIENCE: usize = 4_000_000;

/// One call on one path.
struct Move {
    call: usize,
    step: Step,
    began: u64,
    /// `u64::MAX` for one whose outcome is unknown: it may take effect at any time.
    ended: u64,
    sure: bool,
    /// Moves after which it may not take effect any more.
    before: u128,
    /// Whether it may all the same, where there is no file: see [`risks`].
    resurrects: bool,
}

/// What contradicts the model, one sentence each.
pub fn check(
    history: &History,
    bodies: &mut Bodies,
    start: &BTreeMap<String, Value>,
    scenario: &Scenario,
) -> Vec<String> {
    let mut paths: BTreeMap<&str, Vec<Move>> = BTreeMap::new();
    for (number, call) in history.calls.iter().enumerate() {
        let answered = matches!(call.end, End::Answered);
        let sure = if answered { call.facts.as_slice() } else { &[] };
        let unsure = if answered { &call.unsure } else { &call.intent };
        let steps = sure.iter().map(|step| (step, true));
        for ((path, step), sure) in steps.chain(unsure.iter().map(|step| (step, false))) {
            if !sure && !step.changes() {
                continue;
            }
            paths.entry(path).or_default().push(Move {
                call: number,
                step: step.clone(),
                began: call.began.0,
                ended: if sure { call.ended.0 } else { u64::MAX },
                sure,
                before: 0,
                resurrects: false,
            });
        }
    }
    let mut wrong = Vec::new();
    for (path, mut moves) in paths {
        let bucket = scenario.kind_of(path).is_bucket();
        // Another client may delete what a cancelled creation finds missing then.
        let others = bucket && scenario.clients > 1;
        bound(&mut moves, &history.calls, others);
        if bucket {
            risks(path, &mut moves, history, scenario);
        }
        if moves.len() > MOST {
            wrong.push(format!(
                "{path}: {} calls are too many to check",
                moves.len()
            ));
            continue;
        }
        let first = start.get(path).copied().unwrap_or(Value::Absent);
        let mut search = Search {
            moves: &moves,
            bodies,
            seen: HashSet::new(),
            furthest: (0, 0, first),
        };
        // Most histories need few of the calls whose outcome is unknown.
        let mut found = None;
        for most in [1, 3, 6, MOST as u32] {
            search.seen.clear();
            found = search.from(first, most);
            if found == Some(true) {
                break;
            }
        }
        match found {
            Some(true) => {}
            Some(false) => {
                let (_, done, state) = search.furthest;
                wrong.push(explain(path, &moves, done, state, history, bodies));
            }
            None => wrong.push(format!("{path}: the search took too long")),
        }
    }
    wrong
}

/// A cancelled change is over before a later change of the same client takes effect.
fn bound(moves: &mut [Move], calls: &[Call], resurrects: bool) {
    for at in 0..moves.len() {
        let call = &calls[moves[at].call];
        if call.end != End::Cancelled {
            continue;
        }
        let mut before = 0u128;
        for (other, later) in moves.iter().enumerate().take(MOST) {
            let next = &calls[later.call];
            let follows = next.client == call.client && later.began > call.ended.0;
            if follows && later.sure && later.step.changes() {
                before |= 1 << other;
            }
        }
        moves[at].before = before;
        moves[at].resurrects = resurrects;
    }
}

/// The risks that remain on S3 (docs/s3.md): a creation whose answer was lost may happen again after
/// a delete, and so may one that was cancelled, if another client deletes; a server that does not delete conditionally may lose
/// what another client stores between kitbag's look and its request.
fn risks(path: &str, moves: &mut Vec<Move>, history: &History, scenario: &Scenario) {
    let unconditional = scenario.kind_of(path) == Kind::Bucket(false) && scenario.clients > 1;
    let mut again = Vec::new();
    for one in moves.iter_mut() {
        let call = &history.calls[one.call];
        let during = |at: u64| call.began.1 <= at && at <= call.ended.1;
        let mut faults = history.faults.iter();
        let faulty = faults.any(|fault| fault.client == call.client && during(fault.at));
        if (unconditional || faulty)
            && let Step::RemoveIf(_) = one.step
        {
            one.step = Step::Clear;
        }
        if !one.sure || !faulty {
            continue;
        }
        let created = call.intent.iter().find_map(|(at, step)| match step {
            Step::Set(value) | Step::Create(value) if at == path => Some(*value),
            _ => None,
        });
        again.extend(created.map(|value| (one.call, value)));
    }
    for (call, value) in again {
        let (began, ended) = (history.calls[call].began.0, history.calls[call].ended.0);
        let mut before = 0u128;
        for (at, later) in moves.iter().enumerate().take(MOST) {
            if later.began > ended {
                before |= 1 << at;
            }
        }
        moves.push(Move {
            call,
            step: Step::Create(value),
            began,
            ended: u64::MAX,
            sure: false,
            before,
            resurrects: false,
        });
    }
}

struct Search<'a, 'b> {
    moves: &'a [Move],
    bodies: &'b mut Bodies,
    seen: HashSet<(u128, Value, bool)>,
    furthest: (u32, u128, Value),
}

impl Search<'_, '_> {
    /// Whether an order exists; `None` if that takes too long to find out. With at most `most` of the calls whose outcome is unknown.
    fn from(&mut self, first: Value, most: u32) -> Option<bool> {
        let sure = self.moves.iter().enumerate().filter(|(_, one)| one.sure);
        let sure = sure.fold(0u128, |mask, (at, _)| mask | 1 << at);
        let mut waiting = vec![(0u128, first, false)];
        while let Some((mut done, state, mut guessed)) = waiting.pop() {
            // What was only seen changes nothing, so it is taken as soon as it fits.
            while let Some(at) = self.fitting(done, state) {
                done |= 1 << at;
                guessed = false;
            }
            if !self.seen.insert((done, state, guessed)) {
                continue;
            }
            if self.seen.len() > PATIENCE {
                return None;
            }
            let taken = (done & sure).count_ones();
            if taken >= self.furthest.0 {
                self.furthest = (taken, done, state);
            }
            if done & sure == sure {
                return Some(true);
            }
            let may_guess = (done & !sure).count_ones() < most;
            let limit = self.limit(done);
            let mut next = Vec::new();
            for (at, one) in self.moves.iter().enumerate() {
                let open = done & (1 << at) == 0 && one.began <= limit && one.step.changes();
                if !open || !(one.sure || may_guess) {
                    continue;
                }
                // What nobody has seen before it was replaced need not be assumed.
                if guessed && matches!(one.step, Step::Set(_) | Step::Clear) {
                    continue;
                }
                let resurrects = one.resurrects && state == Value::Absent;
                if done & one.before != 0 && !resurrects {
                    continue;
                }
                if let Some(after) = apply(&one.step, state, self.bodies) {
                    next.push((one.sure, done | 1 << at, after));
                }
            }
            // The last on the stack is tried first.
            next.sort_by_key(|(sure, ..)| *sure);
            let next = next.into_iter();
            waiting.extend(next.map(|(sure, done, state)| (done, state, !sure)));
        }
        Some(false)
    }

    /// The earliest end of what is not done yet: nothing that began later can come before.
    fn limit(&self, done: u128) -> u64 {
        let open = self.moves.iter().enumerate();
        let ends = open
            .filter(|(at, _)| done & (1 << at) == 0)
            .map(|(_, one)| one.ended);
        ends.min().unwrap_or(u64::MAX)
    }

    fn fitting(&mut self, done: u128, state: Value) -> Option<usize> {
        let limit = self.limit(done);
        for (at, one) in self.moves.iter().enumerate() {
            if done & (1 << at) == 0
                && one.began <= limit
                && !one.step.changes()
                && apply(&one.step, state, self.bodies).is_some()
            {
                return Some(at);
            }
        }
        None
    }
}

/// The state after a step; `None` if it cannot happen in this state.
fn apply(step: &Step, state: Value, bodies: &mut Bodies) -> Option<Value> {
    let when = |holds: bool| holds.then_some(state);
    let exists = state != Value::Absent;
    match step {
        Step::Set(value) => Some(*value),
        Step::Create(value) => (!exists).then_some(*value),
        Step::Append(mark) => bodies.appended(state, *mark),
        Step::Swap(old, new) => (state == *old).then_some(*new),
        Step::Remove => exists.then_some(Value::Absent),
        Step::RemoveIf(old) => (state == *old).then_some(Value::Absent),
        Step::Clear => Some(Value::Absent),
        Step::Saw(value) => when(state == *value),
        Step::SawSome => when(exists),
        Step::SawOther(value) => when(state != *value),
        Step::SawSize(size) => when(exists && bodies.size(state) == *size),
        Step::SawPage(offset, limit, bytes) => {
            if !exists {
                return None;
            }
            let text = bodies.bytes(state);
            let wanted = Page {
                offset: *offset,
                limit: *limit,
            };
            let range = page(&text, wanted, &LineIndex::build(&text)).range;
            when(text[range] == *bytes)
        }
        Step::SawMark(mark, there) => when(bodies.has_mark(state, *mark) == *there),
    }
}

/// Where the search came to its end, for people.
fn explain(
    path: &str,
    moves: &[Move],
    done: u128,
    state: Value,
    history: &History,
    bodies: &Bodies,
) -> String {
    let mut text = format!(
        "{path}: no order explains the answers. At {} these do not fit:",
        bodies.name(state)
    );
    let left = moves.iter().enumerate();
    for (_, one) in left
        .filter(|(at, one)| one.sure && done & (1 << at) == 0)
        .take(6)
    {
        let call = &history.calls[one.call];
        text.push_str(&format!(
            "\n    call {} ({} {}, client {}): {}",
            one.call,
            call.name,
            call.about,
            call.client,
            shown(&one.step, bodies)
        ));
    }
    text
}

/// A step for people.
pub fn shown(step: &Step, bodies: &Bodies) -> String {
    let name = |value: &Value| bodies.name(*value);
    match step {
        Step::Set(value) => format!("stored {}", name(value)),
        Step::Create(value) => format!("created {}", name(value)),
        Step::Append(mark) => format!("appended +{mark}"),
        Step::Swap(old, new) => format!("replaced {} by {}", name(old), name(new)),
        Step::Remove => "removed it".into(),
        Step::RemoveIf(old) => format!("removed {}", name(old)),
        Step::Clear => "removed what was there".into(),
        Step::Saw(value) => format!("saw {}", name(value)),
        Step::SawSome => "saw that it exists".into(),
        Step::SawOther(value) => format!("saw that it is not {}", name(value)),
        Step::SawSize(size) => format!("saw {size} bytes"),
        Step::SawPage(offset, limit, bytes) => {
            format!(
                "saw lines from {offset}, at most {limit}: {} bytes",
                bytes.len()
            )
        }
        Step::SawMark(mark, there) => format!("saw mark {mark}: {there}"),
    }
}
