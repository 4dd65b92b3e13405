//! Somebody who writes to the library's own files past kitbag: it knows all formats, has kept copies of
//! what it saw there, and has not the key of the program.

use bytes::Bytes;
use kitbag::core::path::VPath;
use kitbag::layer::indexed::Indexed;
use kitbag::protocol::{BackendExt, GlobQuery};
use kitbag::side::{Key, Room, Writer};

use crate::place::{ROOMS, Tree};
use crate::world::{PLANT, World, bytes, memory, path};

/// Most copies that it keeps.
const COPIES: usize = 80;

/// A file of a room, as it was once.
#[derive(Clone)]
struct Copy {
    room: &'static str,
    name: String,
    body: Bytes,
}

/// What it knows.
#[derive(Default)]
pub struct Past(Vec<Copy>);

/// Names and kinds of records that it can forge.
const RECORDS: &[(&str, &str, &str)] = &[
    ("turns", "journal", "journal"),
    ("kept", "turn", "s/log/00000001"),
    ("kept", "turn", "t/log/00000002"),
    ("kept", "done", "s/done"),
    ("labels", "labels", "labels.tsv"),
    ("labels", "labels", "labels.tsv.kept"),
    ("index-0", "index", "manifest.bin"),
    ("index-1", "index", "manifest.bin"),
    ("history", "dropped", "dropped"),
    ("history", "pruning", "pruning"),
    (
        "history",
        "note",
        "log/0999999999999999-0000000000000001-many",
    ),
    (
        "history",
        "pin",
        "pins/0999999999999999-making-0000000000000001",
    ),
];

impl Past {
    /// One change of a room.
    pub async fn act(&mut self, world: &World) -> Result<(), String> {
        let room = match world.place.layers.has_journal && world.roll(2) == 0 {
            true => "turns",
            false => world.pick(ROOMS),
        };
        let (at, dir) = world.place.room_at(room);
        self.look_at(world, room).await;
        let has_journal = self.0.iter().any(|one| one.room == "turns");
        let what = match room == "turns" && has_journal && world.roll(2) == 0 {
            true => 3,
            false => world.roll(9),
        };
        world.note(format!("past kitbag: {what} in {room}"));
        // What was sealed once can be put back, or deleted. Labels are lost so, as the documents say.
        let can_return = room != "labels";
        let mine: Vec<Copy> = self
            .0
            .iter()
            .filter(|one| one.room == room)
            .cloned()
            .collect();
        let any = |some: &[Copy]| (!some.is_empty()).then(|| world.pick(some));
        let (name, body) = match what {
            0 | 1 => return forge(world).await,
            2 => {
                let garbage = ["", "garbage", "kitbag 1 journal - 0\n", "{}"];
                let (room, _, name) = world.pick(RECORDS);
                return put(world, room, name, bytes(world.pick(&garbage))).await;
            }
            3 if can_return => match any(&mine) {
                Some(copy) => (copy.name, copy.body),
                None => return Ok(()),
            },
            4 => match (any(&mine), any(&self.0)) {
                (Some(place), Some(copy)) if place.name != copy.name => (place.name, copy.body),
                _ => return Ok(()),
            },
            5 => match any(&mine) {
                Some(copy) => {
                    let mut body = copy.body.to_vec();
                    let at = world.roll(body.len() + 1);
                    match body.get_mut(at) {
                        Some(byte) => *byte ^= 1 << world.roll(8),
                        None => body.push(b'\n'),
                    }
                    (copy.name, Bytes::from(body))
                }
                None => return Ok(()),
            },
            6 if can_return => {
                if let Some(copy) = any(&mine) {
                    let _ = at
                        .delete(&dir.join(&copy.name).expect("a path"), None)
                        .await;
                }
                return Ok(());
            }
            7 => match any(&mine) {
                Some(copy) => (format!("{}/x", copy.name), bytes("in the way")),
                None => return Ok(()),
            },
            _ => return blank_index(world).await,
        };
        put(world, room, &name, body).await
    }

    /// Keeps copies of what is in a room.
    pub async fn look_at(&mut self, world: &World, room: &'static str) {
        let (at, dir) = world.place.room_at(room);
        let all = GlobQuery::new("**", dir.clone());
        let Ok(found) = at.glob(&all).await else {
            return;
        };
        let paths: Vec<VPath> = found.files.into_iter().map(|info| info.path).collect();
        for (path, body) in paths.iter().zip(at.download(&paths).await) {
            let Some(name) = path.relative_to(&dir) else {
                continue;
            };
            let Ok(body) = body else { continue };
            let copy = Copy {
                room,
                name: name.to_owned(),
                body,
            };
            match self.0.len() < COPIES {
                true => self.0.push(copy),
                false => {
                    let at = world.roll(COPIES);
                    self.0[at] = copy;
                }
            }
        }
    }
}

async fn put(world: &World, room: &str, name: &str, body: Bytes) -> Result<(), String> {
    let (at, dir) = world.place.room_at(room);
    let path = dir.join(name).map_err(|error| error.to_string())?;
    let _ = at.store(&path, body).await;
    Ok(())
}

/// A record in the right form, sealed without a key or with another one.
async fn forge(world: &World) -> Result<(), String> {
    let of_journal = world.place.layers.has_journal && world.roll(2) == 0;
    let (room, kind, name) = match of_journal {
        true => RECORDS[0],
        false => world.pick(RECORDS),
    };
    world.note(format!("forged {name} in {room}"));
    let body = match kind {
        "journal" => journal(world).await,
        "turn" => entry(world).await,
        "labels" => bytes("0\n"),
        "dropped" => bytes("9999999999999999-0000000000000001-many"),
        "pruning" => bytes("999999999999999999"),
        _ => bytes(""),
    };
    let key = Key::of(b"the key of somebody else").expect("a key");
    let (at, dir) = world.place.room_at(room);
    let own = Room::new(at, dir, (world.roll(3) == 0).then_some(key));
    put(world, room, name, own.sealed(kind, name, &body).await).await
}

/// A file, what it is and what it is to be.
type Change = (&'static str, Option<Bytes>, Option<Bytes>);

/// Changes of files, as somebody would have them.
async fn changes(world: &World) -> Vec<Change> {
    let paths = [
        "/fixed/a",
        "/fixed/d/b",
        "/fixed/new",
        "/secret/new",
        "/asked/a",
        "/asked/new",
        "/memories/m",
        "/memories/new",
        "/work/a",
        "/work/d/key",
    ];
    let mut changes: Vec<Change> = Vec::new();
    for _ in 0..=world.roll(2) {
        let at = world.pick(&paths);
        // What is hidden it does not know.
        let before = match at {
            "/work/d/key" => None,
            _ => world.raw.fetch(&path(at)).await.ok(),
        };
        let after = match world.roll(4) {
            0 => None,
            1 => Some(bytes("x\n")),
            _ => Some(bytes(&format!("{PLANT} by a forger\n"))),
        };
        if changes.iter().all(|(other, ..)| *other != at) {
            changes.push((at, before, after));
        }
    }
    changes
}

async fn journal(world: &World) -> Bytes {
    let mut out = Writer::default();
    out.text(world.pick(&["preparing", "applying", "applying", "undoing"]));
    out.number(world.roll(1000));
    for (at, before, after) in changes(world).await {
        out.text(at);
        out.part(before.as_deref());
        out.part(after.as_deref());
        out.optional(Some(0o777));
    }
    out.finish()
}

async fn entry(world: &World) -> Bytes {
    let mut out = Writer::default();
    out.number(world.roll(1000));
    out.text("start");
    out.number(1);
    out.number(2);
    for (at, before, after) in changes(world).await {
        out.text("change");
        out.text(at);
        out.part(before.as_deref());
        out.optional(None::<i64>);
        out.number(0);
        out.optional(None::<u32>);
        out.optional(Some(0o777));
        out.part(after.as_deref());
    }
    out.text("end");
    out.finish()
}

/// An index that says of every file that it holds nothing.
async fn blank_index(world: &World) -> Result<(), String> {
    if world.place.layers.tree != Tree::Single {
        return Ok(());
    }
    let room = world.pick(&["index-0", "index-1"]);
    let files = world.place.disks[0].blank().files();
    let own = memory();
    let index = Indexed::new(files, Room::new(own.clone(), path("/index"), None));
    if index.update().await.is_err() {
        return Ok(());
    }
    world.note(format!("blank index in {room}"));
    for info in own.ls(&path("/index")).await.unwrap_or_default() {
        let body = own
            .fetch(&info.path)
            .await
            .map_err(|error| error.to_string())?;
        put(world, room, info.path.name(), body).await?;
    }
    Ok(())
}
