//! The bucket behind a latency, and the operations that are measured.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use kitbag::core::path::VPath;
use kitbag::env::http::{Http, HttpError, Request, Response};
use kitbag::env::simulated;
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::layer::indexed::{Indexed, Updated};
use kitbag::protocol::{BackendExt, GrepQuery, SharedBackend};
use kitbag::side::Room;
use kitbag::storage::s3::testing::{self, Server};
use kitbag::storage::s3::{S3Options, Trust};
use kitbag_simulation::world::{Hosting, World};

use crate::Cost;
use crate::corpus;
use crate::model::LATENCY;

/// A way to the server that counts.
struct Way {
    server: Rc<Server>,
    world: Rc<World>,
    cost: Rc<Cell<Cost>>,
}

impl Http for Way {
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
        Box::pin(async move {
            self.world.sleep(LATENCY / 2).await;
            let response = self.server.answer(&request);
            self.server.log.borrow_mut().clear();
            let mut cost = self.cost.get();
            match request.method {
                "GET" | "HEAD" if request.url.contains("list-type") => cost.lists += 1,
                "GET" | "HEAD" => cost.gets += 1,
                _ => cost.puts += 1,
            }
            let sent = request.body.as_ref().map_or(0, Bytes::len);
            cost.bytes += (response.body.len() + sent) as u64;
            self.cost.set(cost);
            self.world.sleep(LATENCY / 2).await;
            Ok(response)
        })
    }
}

/// A million objects are read in fewer steps.
const MOST_STEPS: u64 = 100_000_000;

/// A filled bucket.
pub struct Bench {
    server: Rc<Server>,
}

impl Bench {
    pub fn new(count: usize) -> Bench {
        let server = Server::new();
        for at in 0..count {
            server.put(&corpus::key(at), &corpus::text(at));
        }
        Bench { server }
    }

    /// Runs work of a client that knows nothing, alone in a new world.
    fn run(&self, work: impl AsyncFnOnce(SharedBackend) -> u64 + 'static) -> Cost {
        let steps = self.run_steps(16, async move |files, note: Note| note(work(files).await));
        steps.first().copied().unwrap_or_default()
    }

    /// The same with so many requests at once, and what each of its steps came to.
    fn run_steps(
        &self,
        at_once: usize,
        work: impl AsyncFnOnce(SharedBackend, Note) + 'static,
    ) -> Vec<Cost> {
        let world = World::new(1);
        simulated::set(Some(Rc::new(Hosting(world.clone()))));
        let cost = Rc::new(Cell::new(Cost::default()));
        let way = Rc::new(Way {
            server: self.server.clone(),
            world: world.clone(),
            cost: cost.clone(),
        });
        let options = S3Options {
            trust: Trust::Standard,
            concurrency: Some(at_once),
            ..S3Options::default()
        };
        let files = FilesOptions {
            write_mode: WriteMode::Overwrite,
            ..FilesOptions::default()
        };
        let files = Rc::new(Files::new(testing::storage(&way, options, ""), files));
        let steps = Rc::new(RefCell::new(Vec::new()));
        let (end, out, last) = (world.clone(), steps.clone(), Cell::new(0.0));
        let note: Note = Box::new(move |found| {
            let now = end.micros() as f64 / 1e3;
            out.borrow_mut().push(Cost {
                found,
                millis: now - last.replace(now),
                ..cost.take()
            });
        });
        world.spawn(async move { work(files, note).await });
        assert!(world.run_within(MOST_STEPS), "it does not end");
        simulated::set(None);
        steps.take()
    }

    /// Searches that list nothing, by one reader: the first, the same again, and for another word; then a
    /// write, and a search that knows it from its note.
    pub fn by_notes(&self, at_once: usize) -> Vec<Cost> {
        self.run_steps(at_once, async |files, note: Note| {
            let index = indexed(files).with_notes();
            for word in [corpus::RAREST, corpus::RAREST, corpus::OTHER] {
                note(searched(&index, word).await);
            }
            let at = VPath::parse("/src/noted.ts").expect("a path");
            let text = format!("let again = {};\n", corpus::OTHER);
            index.store(&at, text.into()).await.expect("stored");
            note(1);
            note(searched(&index, corpus::OTHER).await);
        })
    }

    /// A search.
    pub fn grep(&self, with_index: bool, word: &'static str) -> Cost {
        self.run(async move |files| {
            let files: SharedBackend = match with_index {
                true => Rc::new(indexed(files)),
                false => files,
            };
            let found = files.grep(&GrepQuery::literal(word)).await;
            found.expect("found").matches.rows.len() as u64
        })
    }

    /// An update of the index.
    pub fn update(&self) -> (Cost, Updated) {
        let seen = Rc::new(Cell::new(Updated::default()));
        let out = seen.clone();
        let cost = self.run(async move |files| {
            let updated = indexed(files).update().await.expect("updated");
            out.set(updated);
            updated.added
        });
        (cost, seen.get())
    }

    /// One file is written, and the index is updated.
    pub fn write_and_update(&self) -> Cost {
        self.server.put("src/new.ts", "const written = later(1);\n");
        self.update().0
    }
}

/// Takes down what a step has found.
type Note = Box<dyn Fn(u64)>;

/// How many matches a search has that lists nothing.
async fn searched(index: &Indexed, word: &str) -> u64 {
    let query = GrepQuery {
        stats: true,
        ..GrepQuery::literal(word)
    };
    let found = index.grep(&query).await.expect("found");
    let by_notes = found.stats.is_some_and(|stats| stats.by_notes);
    assert!(by_notes, "it listed the files");
    found.matches.rows.len() as u64
}

fn indexed(files: SharedBackend) -> Indexed {
    let dir = VPath::own("/.kitbag/index").expect("a path");
    let room = Room::new(files.clone(), dir, None);
    Indexed::new(files, room)
}
