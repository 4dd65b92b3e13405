//! Records of another key. Such a record may be as good as ever: another program wrote it, or this one was
//! given the wrong key. Or somebody has planted it, to stop this program. So a call that needs its place
//! fails at first, which gives a person the time to notice; after [`WAIT`] the record is moved to the
//! directory [`OTHERS`] of the room, whole and under the name of its key, and the work goes on.
//!
//! The time counts for the whole room, from the first such record on, so nobody can stop the work again
//! with another record. It is kept in a record of this key.

use bytes::Bytes;

use super::record::{Found, key_of};
use super::room::{MOST_ASIDE, Over, Room};
use crate::core::bugs::{Bug, has};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::order;
use crate::env::{clock, random};
use crate::protocol::BackendExt;

/// Where records of other keys are moved: `KEY/NAME/TIME-RANDOM`.
pub const OTHERS: &str = ".other";

/// Where each key notes when it first met a record of another one.
const MET: &str = ".met";

/// How long records of other keys stop calls that need their places, in microseconds.
pub const WAIT: i64 = 600 * 1_000_000;

/// What the note of a meeting is among records.
const KIND: &str = "met";

impl Room {
    /// Makes sure that the place of a record of another key can be used: fails while it stays, and then
    /// keeps a copy. Nothing is done about any other record.
    pub fn keep_other<'a>(
        &'a self,
        name: &'a str,
        found: &'a Found,
        file: &'a Bytes,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            if !matches!(found, Found::OtherKey(_)) {
                return Ok(());
            }
            self.others_waited(name).await?;
            let by = key_of(file).unwrap_or("-");
            let dir = format!("{OTHERS}/{by}/{name}");
            let (at, random) = (clock::now().micros(), random::bits());
            let copy = format!("{dir}/{at:016}-{random:016x}");
            self.stored(&copy, file.clone(), Over::Nothing).await?;
            self.only_newest(&dir).await
        })
    }

    /// Fails as long as records of other keys stay where they are.
    pub(super) fn others_waited<'a>(&'a self, name: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            let now = clock::now().micros();
            let waited = now.saturating_sub(self.met(now).await);
            match WAIT.saturating_sub(waited) {
                ..=0 if !has(Bug::OtherStuck) => Ok(()),
                left => Err(self.other_key(name, left)),
            }
        })
    }

    /// When this key first met a record of another one in this room. A time that is not yet is of no clock.
    async fn met(&self, now: i64) -> i64 {
        let known = self.met.get().filter(|since| *since <= now);
        if let Some(since) = known {
            return since;
        }
        let name = format!("{MET}/{}", self.key_name());
        let noted = match self.look(KIND, &name).await {
            Ok(Some((Found::Proven(body), _))) => std::str::from_utf8(&body)
                .ok()
                .and_then(|text| text.parse().ok())
                .filter(|since| *since <= now),
            _ => None,
        };
        if noted.is_none() {
            let note = self.sealed(KIND, &name, now.to_string().as_bytes()).await;
            // If this fails, the time counts for this process.
            let _ = self.stored(&name, note, Over::Anything).await;
        }
        let since = noted.unwrap_or(now);
        self.met.set(Some(since));
        since
    }

    /// Keeps the newest files of a directory.
    pub(super) async fn only_newest(&self, dir: &str) -> Result<()> {
        let mut infos = self.at().ls(&self.path(dir)?).await?;
        order::sort_by(&mut infos, |a, b| a.path.cmp(&b.path));
        let oldest = infos.len().saturating_sub(MOST_ASIDE);
        for info in infos.into_iter().take(oldest) {
            // What fails is left to the next time.
            let _ = self.at().delete(&info.path, None).await;
        }
        Ok(())
    }

    fn other_key(&self, name: &str, left: i64) -> Error {
        let path = self.path(name).unwrap_or_else(|_| self.dir().clone());
        let (how, which) = match self.key() {
            Some(_) => ("' has another key", "the key with which it was written"),
            None => ("' was written with a key", "that key"),
        };
        let minutes = (left + 59_999_999) / 60_000_000;
        let then = format!(
            "{how}. Give keepIn {which}, or name another place. After {minutes} min it is moved to \
             '{OTHERS}' there, and the work goes on without it."
        );
        Error::at(Kind::InvalidArgument, "Nothing was changed: '", &path, then)
    }
}
