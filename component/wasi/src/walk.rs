//! Lists files below a directory, in pages. A page says where the next begins by the path of its last file, so
//! nothing is kept between pages. Links, and what the host may not read, are left out.

use std::vec::IntoIter;

use wasip2::clocks::wall_clock;
use wasip2::filesystem::types::{Descriptor, DescriptorType, ErrorCode as Wasi};

use crate::exports::kitbag::files::storage::{Entry, Listing};
use crate::exports::kitbag::files::types::Error;
use crate::place::{self, Home, SCRATCH, Step};
use crate::{refusal, store};

/// Files of a page.
const PAGE: usize = 5_000;
/// After so many seconds a temporary file is one that nobody writes any more.
const LEFT_SECONDS: u64 = 600;
/// A directory with more names that are no texts is not read to its end.
const NO_TEXTS: u32 = 1_000_000;

/// A name in a directory.
type Named = (String, DescriptorType);

/// The names in a directory, sorted.
pub fn names(directory: &Descriptor) -> Result<Vec<Named>, Wasi> {
    let entries = directory.read_directory()?;
    let mut found = Vec::new();
    let mut no_texts = 0;
    loop {
        match entries.read_directory_entry() {
            Ok(Some(entry)) if place::is_name(&entry.name) => found.push((entry.name, entry.type_)),
            Ok(Some(_)) => {}
            Ok(None) => break,
            // A name that is not UTF-8; paths of kitbag are texts.
            Err(Wasi::IllegalByteSequence) if no_texts < NO_TEXTS => no_texts += 1,
            Err(code) => return Err(code),
        }
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// A directory that is being listed.
struct Level<'a> {
    directory: Home<'a>,
    /// Its path with `/` at the end.
    prefix: String,
    names: IntoIter<Named>,
    /// Names up to this one were in an earlier page; of a directory of this name, a part was.
    after: Option<String>,
}

/// The path at which a listing goes on, as names; the first one is last.
struct Goal(Vec<String>);

impl Goal {
    fn of(prefix: &str, from: Option<&str>) -> Goal {
        let rest = from.and_then(|from| from.strip_prefix(prefix));
        let names = rest.into_iter().flat_map(|rest| rest.split('/').rev());
        Goal(names.map(str::to_owned).collect())
    }
}

/// A page of the files whose paths begin with `prefix`.
pub fn page(root: &Descriptor, prefix: &str, from: Option<&str>) -> Result<Listing, Error> {
    let mut listing = Listing {
        entries: Vec::new(),
        next: None,
    };
    // What is behind the last `/` begins a name.
    let Some((above, begins)) = prefix.rsplit_once('/') else {
        return Ok(listing);
    };
    let mut directories = above.split('/');
    // Before the first `/` there is nothing.
    let is_path = directories.next() == Some("");
    let directories: Vec<&str> = directories.collect();
    if !is_path || !directories.iter().all(|name| place::is_name(name)) {
        return Ok(listing);
    }
    let Some(directory) = place::home(root, &directories, prefix)? else {
        return Ok(listing);
    };
    let base = format!("{above}/");
    let mut goal = Goal::of(&base, from);
    let mut names = names(&directory).map_err(|code| refusal::of(prefix, code))?;
    names.retain(|(name, _)| name.starts_with(begins));
    let mut levels = vec![Level {
        directory,
        prefix: base,
        names: names.into_iter(),
        after: goal.0.pop(),
    }];
    while let Some(level) = levels.last_mut() {
        let Some((name, kind)) = level.names.next() else {
            levels.pop();
            continue;
        };
        let is_goal = level.after.as_deref() == Some(&name);
        if level.after.as_deref().is_some_and(|after| *name < *after) {
            continue;
        }
        if name.starts_with(SCRATCH) {
            sweep(&level.directory, &name);
            continue;
        }
        let path = format!("{}{name}", level.prefix);
        if kind == DescriptorType::Directory {
            let after = is_goal.then(|| goal.0.pop()).flatten();
            let below = below(&level.directory, &name, path, after);
            levels.extend(below);
            continue;
        }
        if is_goal {
            continue;
        }
        listing.entries.extend(entry(&level.directory, &name, path));
        if listing.entries.len() >= PAGE {
            listing.next = listing.entries.last().map(|entry| entry.path.clone());
            break;
        }
    }
    Ok(listing)
}

/// A directory below another one, unless it is a link or cannot be read.
fn below<'a>(
    parent: &Home<'a>,
    name: &str,
    path: String,
    after: Option<String>,
) -> Option<Level<'a>> {
    let Ok(Step::Directory(directory)) = place::step(parent, name, &path) else {
        return None;
    };
    let names = names(&directory).ok()?;
    Some(Level {
        directory: parent.at(directory),
        prefix: path + "/",
        names: names.into_iter(),
        after,
    })
}

/// A file of a listing. What is gone meanwhile is left out.
fn entry(home: &Descriptor, name: &str, path: String) -> Option<Entry> {
    let found = place::status(home, name).ok().flatten()?;
    if !store::is_file(&found) {
        return None;
    }
    let version = store::version_at(home, name, &found);
    let metadata = store::metadata(&found, version);
    Some(Entry { path, metadata })
}

/// Removes a temporary file whose writer was ended.
fn sweep(home: &Descriptor, name: &str) {
    let Ok(Some(found)) = place::status(home, name) else {
        return;
    };
    let written = found
        .data_modification_timestamp
        .map_or(u64::MAX, |time| time.seconds);
    let age = wall_clock::now().seconds.saturating_sub(written);
    if store::is_file(&found) && age > LEFT_SECONDS {
        let _ = home.unlink_file_at(name);
    }
}
