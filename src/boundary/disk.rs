//! Storages that somebody else wrote: `CustomBackend`, `FilesystemBackend`, `LocalShellBackend`,
//! `SandboxBackend`; and what they promise.

use std::rc::Rc;

use crate::boundary::Host;
use crate::boundary::macros::options;
#[cfg(test)]
use crate::boundary::printed::Table;
use crate::core::file::Format;
use crate::files::WriteMode;
use crate::protocol::{Capability, Directories, FileSet, Listings, Names, Origins, Reach};

options! {
    /// What a storage says of itself. Guarantees that it does not mention are not assumed.
    pub struct Promises {
        create: Reach = "instance",
        update: Reach = "instance",
        directories: Directories = "implied",
        names: Names = "exact",
        keeps_created: bool,
        keeps_mime: bool,
        keeps_format: bool,
        keeps_modes: bool,
        keeps_binary: bool = true,
        writable: bool = true,
        max_file_bytes: Option<u64>,
        notes: Vec<Rc<str>> [wanted "an array of strings"],
    }
}

impl Promises {
    /// The capability of the storage; `writable` is whether it has the methods for changes.
    pub fn capability(self, writable: bool) -> Capability {
        let reach = |said: Reach| match said {
            _ if !writable => Reach::Never,
            Reach::Storage => Reach::Storage,
            Reach::Instance | Reach::Never => Reach::Instance,
        };
        let (create, update) = (reach(self.create), reach(self.update));
        let mut notes = self.notes;
        if !writable {
            notes.push(Rc::from(
                "Read-only: the storage has no put() or no delete().",
            ));
        } else if create != Reach::Storage || update != Reach::Storage {
            notes.push(Rc::from(
                "The storage has no conditional put: calls of this instance take turns, but another \
                 writer's change at the same time may be lost.",
            ));
        }
        Capability {
            create,
            update,
            directories: self.directories,
            listings: Listings::Ruled,
            names: self.names,
            keeps_created: self.keeps_created,
            keeps_mime: self.keeps_mime,
            keeps_format: self.keeps_format,
            keeps_modes: self.keeps_modes,
            keeps_binary: self.keeps_binary,
            // Versions may be chosen by the host's code, which promises no more than an edit needs.
            lists_versions: false,
            indexed: false,
            leaves_out: false,
            writable: writable && self.writable,
            max_file_bytes: self.max_file_bytes,
            files: FileSet::Same,
            notes,
            origins: Origins::default(),
            overwrites: false,
        }
    }
}

options! {
    /// Options of a storage written in JavaScript. `writes` is whether it has the methods for changes.
    pub struct CustomGiven {
        storage: Host [own],
        promises: Promises [own],
        writes: bool [own],
        write_mode: WriteMode = "create",
        file_format: Format = "v2",
        max_file_bytes: Option<u64>,
    }
}

options! {
    /// Options of a folder. With an `id` and `execute` it also runs commands.
    pub struct DiskGiven {
        disk: Host [own],
        promises: Promises [own],
        write_mode: WriteMode = "create",
        id: Option<String> [own],
        execute: Option<Host> [own],
    }
}

options! {
    /// Options of a machine that is reached by running commands. `execute` runs those of the caller,
    /// `own_execute` those of kitbag.
    pub struct SandboxGiven {
        id: String,
        execute: Host [wanted "a function that runs a command"],
        upload_files: Option<Host>,
        download_files: Option<Host>,
        root_dir: String = "/",
        max_file_bytes: u64 = 10485760,
        write_mode: WriteMode = "create",
        own_execute: Host [own],
    }
}

#[cfg(test)]
pub(super) fn tables() -> Vec<Table> {
    vec![
        Promises::printed(),
        CustomGiven::printed(),
        DiskGiven::printed(),
        SandboxGiven::printed(),
    ]
}
