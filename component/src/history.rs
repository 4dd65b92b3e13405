//! The resource `history`: a backend whose changes are noted, and pins.

use std::rc::Rc;

use kitbag::core::error::Result;
use kitbag::core::path::VPath;
use kitbag::core::time::Time;
use kitbag::files::{Files, FilesOptions};
use kitbag::layer::history::{
    Author, Compared, History, HistoryOptions, Loss, Moment, Note, Pin, Retention, Who,
};
use kitbag::layer::turn::compared;
use kitbag::protocol::{Backend as _, Replacement, SharedBackend};
use kitbag::storage::pinned::Pinned;

use crate::backends::Held;
use crate::bindings::exports::kitbag::files::backends::WriteMode as GivenMode;
use crate::bindings::exports::kitbag::files::backends::{Backend, BackendBorrow};
use crate::bindings::exports::kitbag::files::history as wit;
use crate::bindings::exports::kitbag::files::turns::Change;
use crate::bindings::kitbag::files::types;
use crate::run::answered;
use crate::{given, turns};

/// A history that the host holds.
pub struct HeldHistory(Rc<History>);

type Answer<T> = Result<T, types::Error>;

/// Where a history is if nobody says.
const PLACE: &str = "/.kitbag/history";

fn opened(base: SharedBackend, options: wit::HistoryOptions<'_>) -> Result<History> {
    let room = given::room(&base, &options.keep_in, PLACE)?;
    let keep = options.keep;
    let how = HistoryOptions {
        overwrite: matches!(options.write_mode, GivenMode::Overwrite),
        keep: Retention {
            count: keep.count.map(given::count),
            age: keep
                .age_ms
                .map(|age| i64::try_from(age).unwrap_or(i64::MAX)),
            bytes: keep.bytes,
        },
    };
    Ok(History::new(base, room, always(&options.by, ""), how))
}

/// All changes have this author and call.
fn always(by: &str, call: &str) -> Who {
    let author = Author {
        by: line(by),
        call: line(call),
    };
    Rc::new(move || Ok(author.clone()))
}

/// One line, as the npm package keeps it.
fn line(text: &str) -> Rc<str> {
    let mut line = String::with_capacity(text.len());
    let mut is_broken = false;
    for one in text.chars() {
        let breaks = matches!(one, '\n' | '\r');
        match breaks {
            false => line.push(one),
            true if !is_broken => line.push(' '),
            true => {}
        }
        is_broken = breaks;
    }
    line.into()
}

fn moment(given: wit::Moment) -> Result<Moment> {
    match given {
        wit::Moment::At(at) => Ok(Moment::from(Time::from_micros(at))),
        wit::Moment::Named(name) => Moment::named(&name).ok_or_else(|| {
            given::wrong(format!(
                "'{name}' is no moment: give the id of an entry of log(), or a pin"
            ))
        }),
    }
}

fn entries(notes: Vec<Note>) -> Vec<wit::Entry> {
    let text = |text: &Rc<str>| text.to_string();
    let entry = |note: Note| wit::Entry {
        id: text(&note.id),
        by: text(&note.by),
        call: text(&note.call),
        operation: text(&note.operation),
        at: note.at().micros(),
        files: note
            .files
            .iter()
            .map(|file| wit::Noted {
                path: file.path.as_str().to_owned(),
                before: file.before.as_ref().map(text),
                after: file.after.as_ref().map(text),
            })
            .collect(),
    };
    notes.into_iter().map(entry).collect()
}

fn replaced(file: Compared) -> Replacement {
    Replacement {
        path: file.path,
        before: file.before,
        after: file.after,
        mode: None,
    }
}

fn pinned(pin: Pin) -> wit::Pinned {
    wit::Pinned {
        pin: pin.name.to_string(),
        at: pin.at.micros(),
    }
}

fn loss(loss: Loss) -> wit::Loss {
    wit::Loss {
        path: loss.path.to_string(),
        is_list: loss.is_list,
        is_missing: loss.is_missing,
        digest: loss.digest.to_string(),
    }
}

/// The files of a pin. One that is not kept any more has no time.
async fn open_pin(history: &History, pin: &str) -> Result<SharedBackend> {
    let (objects, root) = history.objects(pin)?;
    let kept = history.pins().await?;
    let kept = kept.iter().find(|one| *one.name == *pin);
    let at = kept.map_or(Time::from_micros(0), |one| one.at);
    let pinned = Pinned::new(objects, root, at);
    let files = Rc::new(Files::new(pinned, FilesOptions::default()));
    // Labels of what the pin holds are those of the files.
    Ok(history.capability().origins.earlier(files))
}

fn held(history: History) -> wit::History {
    wit::History::new(HeldHistory(Rc::new(history)))
}

impl wit::GuestHistory for HeldHistory {
    fn open(base: BackendBorrow<'_>, options: wit::HistoryOptions<'_>) -> Answer<wit::History> {
        let base = base.get::<Held>().0.clone();
        answered("open", async { opened(base, options).map(held) })
    }

    fn for_author(&self, by: String, call: String) -> Answer<wit::History> {
        answered("for-author", async {
            Ok(held(self.0.told_by(always(&by, &call))))
        })
    }

    fn files(&self) -> Backend {
        Backend::new(Held(self.0.clone()))
    }

    fn log(&self, path: String, limit: u32) -> Answer<Vec<wit::Entry>> {
        answered("log", async {
            let path = VPath::parse(&path)?;
            let notes = self.0.log(&path, given::count(limit)).await?;
            Ok(entries(notes))
        })
    }

    fn why(&self, path: String) -> Answer<wit::Reasons> {
        answered("why", async {
            let why = self.0.why(&VPath::parse_file(&path)?).await?;
            Ok(wit::Reasons {
                entries: entries(why.notes),
                known: why.is_known,
            })
        })
    }

    fn diff(&self, from: wit::Moment, to: Option<wit::Moment>) -> Answer<Vec<Change>> {
        answered("diff", async {
            let to = to.map_or(Ok(Moment::Now), moment)?;
            let files = self.0.diff(&moment(from)?, &to).await?;
            let changes = compared(files.into_iter().map(replaced).collect()).await;
            Ok(changes.into_iter().map(turns::change).collect())
        })
    }

    fn restore(&self, path: String, to: wit::Moment) -> Answer<Vec<String>> {
        answered("restore", async {
            let paths = self.0.restore(&VPath::parse(&path)?, &moment(to)?).await?;
            Ok(turns::paths(paths))
        })
    }

    fn prune(&self) -> Answer<wit::Pruned> {
        answered("prune", async {
            let pruned = self.0.prune().await?;
            Ok(wit::Pruned {
                dropped: pruned.dropped as u64,
                entries: pruned.entries as u64,
                bytes: pruned.bytes,
            })
        })
    }

    fn pin(&self) -> Answer<wit::Pinned> {
        answered("pin", self.0.pin()).map(pinned)
    }

    fn pins(&self) -> Answer<Vec<wit::Pinned>> {
        answered("pins", self.0.pins()).map(|pins| pins.into_iter().map(pinned).collect())
    }

    fn unpin(&self, pin: String) -> Answer<()> {
        answered("unpin", self.0.unpin(&pin))
    }

    fn label(&self, label: String, pin: String) -> Answer<()> {
        answered("label", self.0.label(&label, &pin))
    }

    fn labelled(&self, label: String) -> Answer<String> {
        answered("labelled", self.0.labelled(&label)).map(|pin| pin.to_string())
    }

    fn verify(&self, pin: Option<String>) -> Answer<wit::Verified> {
        let verified = answered("verify", self.0.verify(pin.as_deref()))?;
        Ok(wit::Verified {
            lost: verified.lost.into_iter().map(loss).collect(),
            drifted: turns::paths(verified.drifted),
        })
    }

    fn open_pin(&self, pin: String) -> Answer<Backend> {
        let files = answered("open-pin", open_pin(&self.0, &pin))?;
        Ok(Backend::new(Held(files)))
    }
}
