//! Indexes of somebody who has the key of the room, or of a room without one: manifests that are sealed
//! and parts of segments whose checksums are right, with any numbers and of any length. They may hide a
//! match then, but each search and update ends, and takes no more memory than what was read.

use proptest::prelude::*;

use crate::core::testing::cases;

use super::*;
use crate::layer::indexed::manifest::{KIND, Manifest, NAME};
use crate::layer::indexed::segment::{KINDS, Shape};

/// A segment with these counts, and these bodies with right checksums where its parts would be.
fn plant(storage: &Shared, shapes: &[(Shape, Vec<Vec<u8>>)]) -> Room {
    let room = Room::new(plain(storage), dir(), None);
    let mut manifest = Manifest::new([1, 2], &room);
    for (shape, bodies) in shapes {
        let mut file = Vec::new();
        for (part, body) in bodies.iter().enumerate() {
            file.extend_from_slice(body);
            file.extend(hash::checksum(manifest.key, shape.id, part as u64, body));
        }
        let at = room.path(&file_of(shape.id)).expect("a path");
        ready(room.at().store(&at, file.into())).expect("planted");
        manifest.segments.push(shape.clone());
        manifest.is_complete = true;
    }
    ready(room.put(KIND, NAME, &manifest.encode())).expect("planted");
    room
}

/// Searches and updates; after an update that could read nothing, everything is found again.
fn used(storage: &Shared, room: &Room) {
    let files = Indexed::new(plain(storage), room.clone());
    let by_notes = Indexed::new(plain(storage), room.clone()).with_notes();
    for pattern in ["needle", "no", "[ab]+c needle", ""] {
        let query = GrepQuery {
            regex: pattern.contains('['),
            ..GrepQuery::literal(pattern)
        };
        ready(files.grep(&query)).expect("searched");
        ready(by_notes.grep(&query)).expect("searched");
    }
    ready(files.update()).expect("updated");
    ready(files.grep(&GrepQuery::literal("needle"))).expect("searched");
}

fn storage() -> Shared {
    let storage = filled_storage(2);
    upload(&plain(&storage), "/a.ts", b"a needle");
    storage
}

#[test]
fn counts_of_files_that_are_not_there_take_no_memory() {
    for count in [1 << 20, 1 << 28, u32::MAX] {
        let storage = storage();
        let shape = Shape {
            id: 7,
            counts: [count; KINDS],
            catalogue: [count; 2],
        };
        let empty = vec![Vec::new(); 3];
        let room = plant(&storage, &[(shape.clone(), empty.clone())]);
        used(&storage, &room);
        let mut one_kind = shape;
        one_kind.counts = [0; KINDS];
        one_kind.counts[1] = count;
        let room = plant(&storage, &[(one_kind, empty)]);
        used(&storage, &room);
        let found = ready(indexed(&storage).grep(&GrepQuery::literal("needle"))).expect("found");
        assert_eq!(found.matches.paths, [path("/a.ts")]);
    }
}

#[test]
fn names_of_another_length_are_damage() {
    let shape = Shape {
        id: 7,
        counts: std::array::from_fn(|kind| u32::from(kind == 1) * 3),
        catalogue: [0; 2],
    };
    for bytes in [0, 16, 47, 49, 64] {
        let body: Bytes = [
            &vec![0; bytes][..],
            &hash::checksum([1, 2], 7, 0, &vec![0; bytes]),
        ]
        .concat()
        .into();
        assert!(shape.read_names([1, 2], &body).is_none(), "{bytes}");
    }
}

#[test]
fn any_manifest_that_is_sealed_is_read_or_not() {
    let storage = storage();
    let room = Room::new(plain(&storage), dir(), None);
    for body in [vec![], vec![0xff; 24], vec![0xff; 8_000], vec![0; 8_000]] {
        ready(room.put(KIND, NAME, &body)).expect("planted");
        used(&storage, &room);
    }
}

#[test]
fn notes_that_are_out_of_order_are_damage() {
    let storage = storage();
    let room = Room::new(plain(&storage), dir(), None);
    for (notes, is_read) in [([3u64, 5, 9], true), ([9, 5, 3], false), ([3, 3, 5], false)] {
        let mut body = vec![0; 7 * 8];
        body.extend_from_slice(&3u64.to_le_bytes());
        body.extend(
            notes
                .iter()
                .flat_map(|note| [*note, 1])
                .flat_map(u64::to_le_bytes),
        );
        body.extend_from_slice(&0u64.to_le_bytes());
        ready(room.put(KIND, NAME, &body)).expect("planted");
        let (_, file) = ready(room.look(KIND, NAME)).expect("read").expect("there");
        let read = ready(Manifest::decode(&file, &room));
        assert_eq!(read.is_some(), is_read, "{notes:?}");
        used(&storage, &room);
    }
}

fn counts() -> impl Strategy<Value = [u32; KINDS]> {
    let count = prop_oneof![8 => Just(0), 4 => 0..20u32, 1 => any::<u32>()];
    prop::collection::vec(count, KINDS)
        .prop_map(|counts| counts.try_into().expect("as many as there are kinds"))
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn searches_and_updates_end_whatever_is_sealed(
        shapes in prop::collection::vec(
            (any::<u64>(), counts(), [0..700u32, 0..700u32], prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 0..4)),
            0..3,
        ),
    ) {
        let storage = storage();
        let shapes: Vec<(Shape, Vec<Vec<u8>>)> = shapes
            .into_iter()
            .map(|(id, counts, catalogue, bodies)| (Shape { id, counts, catalogue }, bodies))
            .collect();
        used(&storage, &plant(&storage, &shapes));
    }
}
