//! Parts of files of the index that were read. These files never change, so a part need not be read
//! again; the first ones that were read are forgotten when there are too many.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use super::Indexed;
use super::load::WHOLE;
use super::segment::Shape;
use crate::core::error::Result;
use crate::core::future::{Pending, together};
use crate::core::order;
use crate::core::sorted::Sorted;
use crate::protocol::clipped;

/// Bytes of parts that are kept.
const MOST: usize = 16 << 20;
/// Parts that are no further apart than this are read in one request.
const GAP: u64 = 4096;
/// A read of neighbours does not become longer than this, so that several run at once.
const LONGEST: u64 = 1 << 20;

/// A part that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// The number of the file, and its length.
    pub id: u64,
    pub length: u64,
    pub range: Range<u64>,
}

impl Want {
    /// A part of a segment.
    pub fn of(shape: &Shape, range: Range<u64>) -> Want {
        Want {
            id: shape.id,
            length: shape.bytes(),
            range,
        }
    }
}

/// What was read and what it cost.
#[derive(Default)]
pub struct Read {
    pub parts: Vec<Option<Bytes>>,
    pub requests: u64,
    pub bytes: u64,
}

/// Parts that are kept: by file and offset.
#[derive(Default)]
pub struct Parts {
    kept: Sorted<(u64, u64), Bytes>,
    order: VecDeque<(u64, u64)>,
    bytes: usize,
}

impl Parts {
    fn find(&self, want: &Want) -> Option<Bytes> {
        let start = match want.length <= WHOLE {
            true => 0,
            false => want.range.start,
        };
        let kept = self.kept.get(&(want.id, start))?;
        let part = clipped(kept, start, want.range.clone());
        (part.len() as u64 == want.range.end - want.range.start).then_some(part)
    }

    fn keep(&mut self, id: u64, start: u64, part: Bytes) {
        self.bytes += part.len();
        if let Some(old) = self.kept.insert((id, start), part) {
            self.bytes -= old.len();
        } else {
            self.order.push_back((id, start));
        }
        while self.bytes > MOST
            && let Some(first) = self.order.pop_front()
        {
            let old = self.kept.remove(&first).map_or(0, |old| old.len());
            self.bytes -= old;
        }
    }
}

/// What is read of a file in one request, for some of the parts.
pub struct Request {
    id: u64,
    range: Range<u64>,
    wants: Vec<usize>,
}

/// The requests for parts that are not kept, of which neighbours are read together, and short files whole.
pub fn requests(wants: &[Want], kept: &Parts) -> Vec<Request> {
    let mut missing: Vec<(usize, &Want)> = wants.iter().enumerate().collect();
    missing.retain(|(_, want)| kept.find(want).is_none());
    order::sort_by_key(&mut missing, |(_, want)| (want.id, want.range.start));
    let mut requests: Vec<Request> = Vec::new();
    for (number, want) in missing {
        let range = match want.length <= WHOLE {
            true => 0..want.length,
            false => want.range.clone(),
        };
        match requests.last_mut() {
            Some(last)
                if last.id == want.id
                    && range.start <= last.range.end.saturating_add(GAP)
                    && (range.end <= last.range.end || range.end - last.range.start <= LONGEST) =>
            {
                last.range.end = last.range.end.max(range.end);
                last.wants.push(number);
            }
            _ => requests.push(Request {
                id: want.id,
                range,
                wants: vec![number],
            }),
        }
    }
    requests
}

impl Indexed {
    /// Reads parts that are not kept yet. What cannot be read is `None`.
    pub(super) async fn fetch(&self, wants: &[Want]) -> Read {
        let requests = requests(wants, &self.state.parts.borrow());
        let reads: Vec<Pending<'_, Bytes>> = requests
            .iter()
            .map(|request| self.read_part(request.id, request.range.clone()))
            .collect();
        let answers: Vec<Result<Bytes>> = together(reads).await;
        let mut read = Read {
            requests: requests.len() as u64,
            ..Read::default()
        };
        let mut fresh: Sorted<usize, Bytes> = Sorted::new();
        let mut kept = self.state.parts.borrow_mut();
        for (request, answer) in requests.iter().zip(answers) {
            let Ok(body) = answer else { continue };
            read.bytes += body.len() as u64;
            for number in &request.wants {
                let Some(want) = wants.get(*number) else {
                    continue;
                };
                let part = clipped(&body, request.range.start, want.range.clone());
                match want.length <= WHOLE {
                    true => kept.keep(want.id, 0, body.clone()),
                    // A part of a longer read would keep all of it.
                    false => kept.keep(want.id, want.range.start, Bytes::copy_from_slice(&part)),
                }
                fresh.insert(*number, part);
            }
        }
        let parts = wants.iter().enumerate();
        let parts = parts.map(|(number, want)| fresh.remove(&number).or_else(|| kept.find(want)));
        read.parts = parts.collect();
        read
    }
}
