//! Paths, and the way to a file. Each directory is opened from the one before, and no link is followed, so
//! that whoever exchanges a directory for a link meanwhile gains nothing.

use std::ops::Deref;

use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode as Wasi, OpenFlags,
    PathFlags,
};

use crate::exports::kitbag::files::types::{Error, ErrorCode};
use crate::refusal;

/// How names of temporary files begin. They are in no listing, and no path has them.
pub const SCRATCH: &str = ".~kitbag-";

/// Links are not followed.
pub const STAY: PathFlags = PathFlags::empty();

/// Whether this names something in a directory, and nothing else. Some hosts take `\` for a `/`.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

/// A path as its directories and the name of its file.
pub struct Place<'a> {
    pub path: &'a str,
    pub directories: Vec<&'a str>,
    pub name: &'a str,
}

impl<'a> Place<'a> {
    pub fn of(path: &'a str) -> Result<Place<'a>, Error> {
        let wrong = |why: &str| {
            Err(refusal::error(
                ErrorCode::InvalidPath,
                format!("'{path}' {why}"),
            ))
        };
        let Some(rest) = path.strip_prefix('/') else {
            return wrong("must begin with '/'");
        };
        let mut directories: Vec<&str> = rest.split('/').collect();
        if !directories.iter().all(|name| is_name(name)) {
            return wrong("must consist of names between '/', without '.', '..', '\\' and NUL");
        }
        if directories.iter().any(|name| name.starts_with(SCRATCH)) {
            return wrong("has a name of temporary files");
        }
        match directories.pop() {
            Some(name) => Ok(Place {
                path,
                directories,
                name,
            }),
            None => wrong("names no file"),
        }
    }
}

/// What is at a name.
pub enum Step {
    Directory(Descriptor),
    Missing,
    /// A file, or something else that is neither a directory nor a link.
    Other,
}

/// Opens a directory in another one.
pub fn step(parent: &Descriptor, name: &str, path: &str) -> Result<Step, Error> {
    match parent.open_at(STAY, name, OpenFlags::DIRECTORY, DescriptorFlags::READ) {
        Ok(found) => Ok(Step::Directory(found)),
        Err(Wasi::NoEntry) => Ok(Step::Missing),
        // Hosts say in different ways that it is a link.
        Err(code) => match status(parent, name) {
            Ok(Some(found)) if found.type_ == DescriptorType::SymbolicLink => {
                Err(refusal::link(path))
            }
            Ok(Some(found)) if found.type_ != DescriptorType::Directory => Ok(Step::Other),
            _ => Err(refusal::of(path, code)),
        },
    }
}

/// Opens a directory in another one, and creates it if it is missing.
pub fn made(parent: &Descriptor, name: &str, path: &str) -> Result<Descriptor, Error> {
    let found = match step(parent, name, path)? {
        Step::Missing => {
            match parent.create_directory_at(name) {
                Ok(()) | Err(Wasi::Exist) => {}
                Err(code) => return Err(refusal::of(path, code)),
            }
            step(parent, name, path)?
        }
        found => found,
    };
    match found {
        Step::Directory(found) => Ok(found),
        Step::Missing => Err(refusal::conflict(path)),
        Step::Other => Err(refusal::of(path, Wasi::NotDirectory)),
    }
}

/// The directory in which a file is: the root itself, or one that was opened below it.
pub struct Home<'a> {
    root: &'a Descriptor,
    below: Option<Descriptor>,
}

impl<'a> Home<'a> {
    /// With another directory below the same root.
    pub fn at(&self, below: Descriptor) -> Home<'a> {
        Home {
            root: self.root,
            below: Some(below),
        }
    }
}

impl Deref for Home<'_> {
    type Target = Descriptor;

    fn deref(&self) -> &Descriptor {
        self.below.as_ref().unwrap_or(self.root)
    }
}

/// The directory in which something is; none if it is missing.
pub fn home<'a>(
    root: &'a Descriptor,
    directories: &[&str],
    path: &str,
) -> Result<Option<Home<'a>>, Error> {
    let mut here = Home { root, below: None };
    for name in directories {
        match step(&here, name, path)? {
            Step::Directory(found) => here.below = Some(found),
            Step::Missing | Step::Other => return Ok(None),
        }
    }
    Ok(Some(here))
}

/// The same with missing directories created.
pub fn home_made<'a>(root: &'a Descriptor, place: &Place<'_>) -> Result<Home<'a>, Error> {
    let mut here = Home { root, below: None };
    for name in &place.directories {
        here.below = Some(made(&here, name, place.path)?);
    }
    Ok(here)
}

/// A directory again. One that the host has opened cannot be listed everywhere; what is opened from it can.
pub fn itself(directory: &Descriptor, path: &str) -> Result<Descriptor, Error> {
    let opened = directory.open_at(STAY, ".", OpenFlags::DIRECTORY, DescriptorFlags::READ);
    opened.map_err(|code| refusal::of(path, code))
}

/// What is at a name, itself and not what it leads to.
pub fn status(home: &Descriptor, name: &str) -> Result<Option<DescriptorStat>, Wasi> {
    match home.stat_at(STAY, name) {
        Ok(found) => Ok(Some(found)),
        Err(Wasi::NoEntry | Wasi::NotDirectory) => Ok(None),
        Err(code) => Err(code),
    }
}
