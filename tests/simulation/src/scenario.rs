//! What a world is made of, drawn from its seed: storages, clients, rules, faults and sizes.

use crate::rng::Rng;

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// S3 that honours conditions; with `true`, found out by a probe.
    Bucket(bool),
    /// S3 that ignores conditions.
    PlainBucket,
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// A host's storage with conditional puts.
    Shelf,
    /// A host's storage without.
    PlainShelf,
    /// Memory.
    Memory,
}

impl Kind {
    /// Whether several clients may change the same files.
    pub fn shared(self) -> bool {
        matches!(
            self,
            Kind::Bucket(_) | Kind::Sqlite | Kind::Postgres | Kind::Shelf
        )
    }

    /// Whether it is S3.
    pub fn is_bucket(self) -> bool {
        matches!(self, Kind::Bucket(_) | Kind::PlainBucket)
    }
}

/// Which sizes files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Up to 200 bytes.
    Tiny,
    /// Up to a few kilobytes.
    Small,
    /// Around the sizes of blocks, pages and parts.
    Edges,
    /// Some hundred kilobytes.
    Large,
    /// Some megabytes.
    Huge,
}

/// The rules of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    /// A hidden file and a read-only directory.
    pub permissions: bool,
    /// Every content is inspected.
    pub inspect: bool,
    /// The bytes of all files together.
    pub quota: Option<u64>,
}

/// What a world is made of.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The storage of `/`.
    pub root: Kind,
    /// The storage mounted at `/m`.
    pub mount: Option<Kind>,
    /// The number of clients, each with its own instance of everything.
    pub clients: usize,
    /// The callers of each client.
    pub lanes: usize,
    /// The calls of each caller.
    pub calls: u32,
    /// The files that are used.
    pub paths: Vec<&'static str>,
    /// Rules.
    pub guards: Guards,
    /// Whether `write` overwrites.
    pub overwrite: bool,
    /// Cancelled calls in a thousand.
    pub cancels: u32,
    /// Failing requests in a thousand.
    pub faults: u32,
    /// The longest usual delay in microseconds.
    pub slow: u64,
    /// How often a client crashes.
    pub crashes: u32,
    /// Sizes.
    pub sizes: Sizes,
    /// Names on a page of an S3 listing.
    pub page: usize,
}

const PATHS: &[&str] = &[
    "/a.txt",
    "/d/b.txt",
    "/d/c.txt",
    "/d/e/f.md",
    "/d/x.bin",
    "/d/y.txt",
];
const MOUNTED: &[&str] = &["/m/g.txt", "/m/h/i.txt"];

impl Scenario {
    /// Draws a scenario.
    pub fn draw(rng: &mut Rng) -> Scenario {
        let kinds = [
            Kind::Bucket(true),
            Kind::Bucket(false),
            Kind::Bucket(false),
            Kind::PlainBucket,
            Kind::Sqlite,
            Kind::Postgres,
            Kind::Shelf,
            Kind::PlainShelf,
            Kind::PlainShelf,
            Kind::Memory,
        ];
        let root = *rng.pick(&kinds);
        let mount = rng.chance(350).then(|| *rng.pick(&kinds));
        let mut guards = Guards::default();
        if rng.chance(400) {
            guards.permissions = rng.chance(500);
            guards.inspect = rng.chance(500);
        }
        let sizes = match rng.below(100) {
            0..45 => Sizes::Tiny,
            45..75 => Sizes::Small,
            75..90 => Sizes::Edges,
            90..99 => Sizes::Large,
            _ => Sizes::Huge,
        };
        let heavy = matches!(sizes, Sizes::Large | Sizes::Huge);
        let with_quota = rng.chance(200) && mount.is_none() && !heavy;
        if with_quota {
            guards.quota = Some(rng.range(600, 3000));
        }
        let shared = root.shared() && mount.is_none_or(Kind::shared);
        let clients = match shared && guards.quota.is_none() {
            true => rng.range(1, 3) as usize,
            false => 1,
        };
        let lanes = match clients {
            1 => rng.range(2, 4),
            _ => rng.range(1, 2),
        };
        let mut paths: Vec<&str> = PATHS.to_vec();
        // Few paths are many meetings.
        while paths.len() > 1 && rng.chance(700) {
            let at = rng.below(paths.len() as u64) as usize;
            paths.remove(at);
        }
        if mount.is_some() {
            paths.extend(&MOUNTED[..rng.range(1, 2) as usize]);
        }
        Scenario {
            root,
            mount,
            clients,
            lanes: lanes as usize,
            calls: if heavy {
                rng.range(3, 6)
            } else {
                rng.range(4, 14)
            } as u32,
            paths,
            guards,
            overwrite: rng.chance(400),
            cancels: if rng.chance(500) {
                rng.range(20, 300) as u32
            } else {
                0
            },
            faults: if rng.chance(600) {
                rng.range(5, 200) as u32
            } else {
                0
            },
            slow: *rng.pick(&[200, 2_000, 20_000, 100_000]),
            crashes: if rng.chance(250) {
                rng.range(1, 2) as u32
            } else {
                0
            },
            sizes,
            page: *rng.pick(&[1, 2, 3, 1000]),
        }
    }

    /// The storage of a path.
    pub fn kind_of(&self, path: &str) -> Kind {
        match self.mount {
            Some(mount) if path.starts_with("/m/") => mount,
            _ => self.root,
        }
    }

    /// Draws a size.
    pub fn size(&self, rng: &mut Rng) -> usize {
        let edge = |rng: &mut Rng, edges: &[usize]| {
            let edge = *rng.pick(edges);
            edge + rng.below(3) as usize - 1
        };
        if rng.chance(40) {
            return 0;
        }
        match self.sizes {
            _ if rng.chance(200) => rng.range(24, 200) as usize,
            Sizes::Tiny => rng.range(24, 200) as usize,
            Sizes::Small => rng.range(24, 6000) as usize,
            Sizes::Edges => edge(rng, &[4096, 8192, 16_384, 32_768, 65_536]),
            Sizes::Large => match rng.chance(300) {
                true => edge(rng, &[65_536, 131_072, 196_608, 262_144]),
                false => rng.range(60_000, 400_000) as usize,
            },
            Sizes::Huge => rng.range(500_000, 3_000_000) as usize,
        }
    }

    /// A line for people.
    pub fn describe(&self) -> String {
        let mount = self.mount.map(|mount| format!(" + {mount:?} at /m"));
        format!(
            "{:?}{}, {} clients × {} callers × {} calls, {:?}, faults {}‰, cancels {}‰, crashes {}, {:?}",
            self.root,
            mount.unwrap_or_default(),
            self.clients,
            self.lanes,
            self.calls,
            self.sizes,
            self.faults,
            self.cancels,
            self.crashes,
            self.guards
        )
    }
}
