//! A client: the real router and rules over the real storages, reached over its own wires. After a
//! crash it is made anew over the same stores.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use kitbag::core::path::VPath;
use kitbag::files::{Files, FilesOptions, WriteMode};
use kitbag::layer::composite::Composite;
use kitbag::layer::policy::{
    Inspected, Limits, Mode, OnInspect, Policy, Rule, Rules, Touch, Verdict, stack,
};
use kitbag::protocol::{Capability, Reach, SharedBackend};
use kitbag::storage::hosted::Hosted;
use kitbag::storage::memory::Memory;
use kitbag::storage::s3::client::Retry;
use kitbag::storage::s3::testing::{self, Server};
use kitbag::storage::s3::{S3Options, Trust};
use kitbag::storage::sql::dialect::{Dialect, Table as Named};
use kitbag::storage::sql::statements::Place;
use kitbag::storage::sql::{Sql, SqlOptions};

use crate::scenario::{Guards, Kind, Scenario};
use crate::stores::Line;
use crate::stores::bucket::{Bucket, Network};
use crate::stores::database::{Connection, Table};
use crate::stores::shelf::{Hand, Shelf};
use crate::watch::{Durable, Watch};
use crate::wire::Wire;
use crate::world::World;

/// A durable store of some kind.
#[derive(Clone)]
enum Store {
    Bucket(Rc<Server>),
    Database(Rc<Table>),
    Shelf(Rc<Shelf>),
    Memory(Rc<Files<Memory>>),
}

struct Remembered(Rc<Files<Memory>>);

impl Durable for Remembered {
    fn files(&self) -> Vec<(String, bytes::Bytes)> {
        let files = self.0.storage().all().into_iter();
        files
            .map(|(path, file)| (path.as_str().to_owned(), file.body))
            .collect()
    }
}

/// The stores of a world.
pub struct Stores {
    root: (Kind, Store),
    mount: Option<(Kind, Store)>,
}

/// A client.
pub struct Client {
    /// Its number.
    pub number: usize,
    backend: RefCell<SharedBackend>,
    wires: RefCell<Vec<Rc<Wire>>>,
}

/// What clients are made from.
pub struct Maker {
    /// The world.
    pub world: Rc<World>,
    /// The watch.
    pub watch: Rc<Watch>,
    /// The scenario.
    pub scenario: Rc<Scenario>,
    /// The stores.
    pub stores: Stores,
    /// Faults in a thousand requests, now.
    pub faults: Rc<Cell<u32>>,
}

impl Stores {
    /// The stores of a scenario, which `watch` watches from now on.
    pub fn new(scenario: &Scenario, watch: &Watch) -> Stores {
        let make = |kind: Kind, dir: &str| {
            let (store, durable): (_, Rc<dyn Durable>) = match kind {
                Kind::Bucket(_) | Kind::PlainBucket => {
                    let server = Server::new();
                    server.page.set(scenario.page);
                    server.conditions.set(kind != Kind::PlainBucket);
                    (Store::Bucket(server.clone()), Rc::new(Bucket(server)))
                }
                Kind::Sqlite | Kind::Postgres => {
                    let table = Rc::new(Table::default());
                    (Store::Database(table.clone()), table)
                }
                Kind::Shelf | Kind::PlainShelf => {
                    let shelf = Rc::new(Shelf::default());
                    (Store::Shelf(shelf.clone()), shelf)
                }
                Kind::Memory => {
                    let files = Rc::new(Files::new(Memory::default(), options(scenario)));
                    (Store::Memory(files.clone()), Rc::new(Remembered(files)))
                }
            };
            watch.stores.borrow_mut().push((dir.to_owned(), durable));
            (kind, store)
        };
        Stores {
            root: make(scenario.root, ""),
            mount: scenario.mount.map(|kind| make(kind, "/m")),
        }
    }
}

fn options(scenario: &Scenario) -> FilesOptions {
    FilesOptions {
        write_mode: match scenario.overwrite {
            true => WriteMode::Overwrite,
            false => WriteMode::Create,
        },
        ..FilesOptions::default()
    }
}

impl Maker {
    /// A new client.
    pub fn client(&self, number: usize) -> Option<Rc<Client>> {
        let (backend, wires) = self.build(number, self.scenario.guards)?;
        Some(Rc::new(Client {
            number,
            backend: RefCell::new(backend),
            wires: RefCell::new(wires),
        }))
    }

    /// A client crashes and is started again. Its calls have been dropped before.
    pub fn crash(&self, client: &Client) {
        // Without conditions, nothing protects a new client from what the old one has sent.
        let late = [Some(self.scenario.root), self.scenario.mount];
        let late = late.into_iter().flatten().all(Kind::shared);
        for wire in client.wires.borrow().iter() {
            wire.crash(late && self.scenario.guards.quota.is_none());
        }
        if let Some((backend, wires)) = self.build(client.number, self.scenario.guards) {
            *client.backend.borrow_mut() = backend;
            *client.wires.borrow_mut() = wires;
        }
    }

    /// A backend without rules.
    pub fn unguarded(&self) -> Option<SharedBackend> {
        Some(self.build(usize::MAX, Guards::default())?.0)
    }

    fn build(&self, number: usize, guards: Guards) -> Option<(SharedBackend, Vec<Rc<Wire>>)> {
        let mut wires = Vec::new();
        let root = self.files(&self.stores.root, number, &mut wires)?;
        let mut top = root;
        if let Some(mount) = &self.stores.mount {
            let mounted = self.files(mount, number, &mut wires)?;
            let prefix = VPath::parse("/m").ok()?;
            top = Rc::new(Composite::new(top, [(prefix, mounted)]).ok()?);
        }
        let policy = self.policy(guards)?;
        Some((stack(top, policy).ok()?, wires))
    }

    fn files(
        &self,
        (kind, store): &(Kind, Store),
        client: usize,
        wires: &mut Vec<Rc<Wire>>,
    ) -> Option<SharedBackend> {
        let wire = Wire::new(&self.world);
        wires.push(wire.clone());
        let line = Line {
            world: self.world.clone(),
            wire,
            watch: self.watch.clone(),
            client,
            faults: self.faults.clone(),
            slow: self.scenario.slow,
        };
        let options = options(&self.scenario);
        Some(match store {
            Store::Bucket(server) => {
                let network = Rc::new(Network {
                    server: server.clone(),
                    line,
                });
                let s3 = S3Options {
                    trust: match kind {
                        Kind::Bucket(true) => Trust::Probe,
                        Kind::Bucket(false) => Trust::Standard,
                        _ => Trust::Nothing,
                    },
                    retry: Retry {
                        attempts: 4,
                        limit: Duration::from_secs(5),
                        ..Retry::default()
                    },
                    ..S3Options::default()
                };
                Rc::new(Files::new(testing::storage(&network, s3, ""), options))
            }
            Store::Database(table) => {
                let dialect = match kind {
                    Kind::Postgres => Dialect::Postgres,
                    _ => Dialect::Sqlite,
                };
                let connection = Connection {
                    table: table.clone(),
                    line,
                    dialect,
                };
                let place = Place {
                    dialect,
                    table: Named::parse("files").ok()?,
                    namespace: Rc::from("n"),
                };
                let sql = Sql::new(connection, place, SqlOptions::default());
                Rc::new(Files::new(sql, options))
            }
            Store::Shelf(shelf) => {
                let conditional = *kind == Kind::Shelf;
                let reach = match conditional {
                    true => Reach::Storage,
                    false => Reach::Instance,
                };
                let capability = Capability {
                    create: reach,
                    update: reach,
                    ..Capability::full()
                };
                let hand = Hand {
                    shelf: shelf.clone(),
                    line,
                    conditional,
                };
                Rc::new(Files::new(Hosted::of(hand, capability), options))
            }
            Store::Memory(files) => files.clone(),
        })
    }

    fn policy(&self, guards: Guards) -> Option<Policy> {
        let mut policy = Policy::default();
        if guards.permissions {
            let rule = |touches: &[Touch], pattern| Rule::new(touches, Mode::Deny, [pattern]).ok();
            let rules = vec![
                rule(&[Touch::Read, Touch::Write], "/hidden/**")?,
                rule(&[Touch::Write], "/frozen/**")?,
            ];
            policy.permissions = Some(Rules::new(rules, true));
        }
        if guards.inspect {
            policy.inspect = Some(self.inspection());
        }
        policy.quota = guards.quota.map(|bytes| Limits {
            max_bytes: Some(bytes),
            ..Limits::default()
        });
        Some(policy)
    }

    /// Takes its time, and refuses some contents.
    fn inspection(&self) -> OnInspect {
        let (world, watch) = (self.world.clone(), self.watch.clone());
        let slow = self.scenario.slow;
        Rc::new(move |inspected: Inspected| {
            let (world, watch) = (world.clone(), watch.clone());
            Box::pin(async move {
                let wait = world.draw(|rng| rng.range(10, slow * 2));
                world.sleep(wait).await;
                if world.draw(|rng| rng.chance(60)) {
                    return Ok(Verdict::Deny("the inspection refuses it".into()));
                }
                watch.pass(&inspected.content);
                Ok(Verdict::Pass)
            })
        })
    }
}

impl Client {
    /// What calls are made on.
    pub fn backend(&self) -> SharedBackend {
        self.backend.borrow().clone()
    }
}
