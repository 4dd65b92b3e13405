//! A file that cannot be read is not replaced.

use std::rc::Rc;

use super::*;
use crate::core::error::Error;
use crate::core::future::{Pending, done};
use crate::protocol::{Atomic, Capability, Request};

/// Stores files of any size, and reads only small ones.
struct Shortsighted(Memories);

impl Backend for Shortsighted {
    fn capability(&self) -> Capability {
        self.0.capability()
    }

    fn call<'a>(&'a self, request: Request<'a>) -> Pending<'a, crate::protocol::Answer> {
        match request {
            Request::ReadRaw(path, _) if path.name() == "large" => {
                done(Err(Error::new(Kind::TooLarge, "The file is too large")))
            }
            request => self.0.call(request),
        }
    }

    fn shell(&self) -> Option<Rc<str>> {
        self.0.shell()
    }

    fn atomic(&self) -> Atomic<'_> {
        self.0.atomic()
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_replaced() {
    let options = FilesOptions {
        write_mode: WriteMode::Overwrite,
        ..FilesOptions::default()
    };
    let files = Files::new(Memory::new(1 << 30), options);
    put(&files, "/large", b"precious");
    put(&files, "/small", b"s");
    let backend = Shortsighted(files);
    let set = ToolSet::new(ToolOptions {
        tools: Some(schema::TABLE.map(|one| one.tool).to_vec()),
        ..ToolOptions::default()
    });
    let said = |name: &str, input: &str| {
        let answer = now(set.call(&backend, name, Ok(input::parsed(input)), "id-1"));
        assert_eq!(answer.is_error, !name.starts_with("read"), "{name}");
        text_of(&answer).to_owned()
    };
    said("read_file", r#"{"file_path":"/small"}"#);
    let write = said("write_file", r#"{"file_path":"/large","content":"gone"}"#);
    assert!(write.contains("already exists"), "{write}");
    for name in ["move_file", "copy_file"] {
        let moved = said(name, r#"{"from":"/small","to":"/large","overwrite":true}"#);
        assert!(moved.contains("already exists"), "{moved}");
    }
    let kept = now(backend
        .0
        .download(&[VPath::parse_file("/large").expect("a path")]));
    assert_eq!(kept[0].as_ref().expect("read")[..], *b"precious");
}
