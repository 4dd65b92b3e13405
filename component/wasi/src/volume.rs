//! The resource `volume` over a directory.

use wasip2::filesystem::types::{Descriptor, DescriptorType};

use crate::exports::kitbag::files::storage::{
    Condition, File, GuestVolume, Listing, Metadata, NewFile,
};
use crate::exports::kitbag::files::types::{Capability, Directories, Error, Promises, Reach};
use crate::place::{self, Place};
use crate::store::{self, How};
use crate::{refusal, walk};

/// Sentences for a caller.
const NOTES: [&str; 2] = [
    "A change by another instance between the check of an edit and its rename is lost",
    "WASI tells no permission bits: a file that is replaced gets those of a new one",
];

/// A directory that the host lends.
pub struct Folder {
    pub root: Descriptor,
    /// Most bytes of a file.
    pub most: u64,
    /// Whether names that differ in case alone are one file.
    pub folds: bool,
}

impl GuestVolume for Folder {
    fn capability(&self) -> Capability {
        let folds = match self.folds {
            // Such file systems mostly do not tell compositions apart either.
            true => Promises::FOLDS_CASE | Promises::FOLDS_COMPOSITION,
            false => Promises::empty(),
        };
        Capability {
            create: Reach::Storage,
            update: Reach::Instance,
            directories: Directories::Real,
            promises: Promises::WRITABLE | Promises::KEEPS_BINARY | folds,
            max_file_bytes: Some(self.most),
            notes: NOTES.map(str::to_owned).to_vec(),
        }
    }

    fn stat(&self, path: String) -> Result<Option<Metadata>, Error> {
        let place = Place::of(&path)?;
        let Some(home) = place::home(&self.root, &place.directories, &path)? else {
            return Ok(None);
        };
        let found = place::status(&home, place.name).map_err(|code| refusal::of(&path, code))?;
        let found = found.filter(store::is_file);
        Ok(found.map(|found| {
            let version = store::version_at(&home, place.name, &found);
            store::metadata(&found, version)
        }))
    }

    fn get(&self, path: String) -> Result<Option<File>, Error> {
        let place = Place::of(&path)?;
        let Some(home) = place::home(&self.root, &place.directories, &path)? else {
            return Ok(None);
        };
        let found = place::status(&home, place.name).map_err(|code| refusal::of(&path, code))?;
        match found.map(|found| found.type_) {
            Some(DescriptorType::RegularFile) => store::read(&home, place.name, &path, self.most),
            Some(DescriptorType::SymbolicLink) => Err(refusal::link(&path)),
            // To open a pipe can wait for ever.
            _ => Ok(None),
        }
    }

    fn put(
        &self,
        path: String,
        file: NewFile,
        condition: Condition,
    ) -> Result<Option<String>, Error> {
        let place = Place::of(&path)?;
        let size = file.body.len() as u64;
        if size > self.most {
            return Err(refusal::too_large(&path, size, self.most));
        }
        let home = place::home_made(&self.root, &place)?;
        let now = place::status(&home, place.name).map_err(|code| refusal::of(&path, code))?;
        match now.map(|now| now.type_) {
            None | Some(DescriptorType::RegularFile) => {}
            Some(DescriptorType::Directory) => return Err(store::is_directory(&path)),
            Some(_) => return Err(refusal::link(&path)),
        }
        let how = match (&condition, &now) {
            (Condition::Create, Some(_)) => return Err(refusal::exists(&path)),
            (Condition::Create, None) => How::New,
            (Condition::Overwrite, _) => How::Replaces,
            (Condition::Update(wanted), Some(now))
                if *wanted == store::version_at(&home, place.name, now) =>
            {
                How::Replaces
            }
            (Condition::Update(_), _) => return Err(refusal::conflict(&path)),
        };
        store::write(&home, place.name, &path, &file.body, how).map(Some)
    }

    fn delete(&self, path: String, version: Option<String>) -> Result<bool, Error> {
        let place = Place::of(&path)?;
        let Some(home) = place::home(&self.root, &place.directories, &path)? else {
            return Ok(false);
        };
        let refused = |code| refusal::of(&path, code);
        let now = place::status(&home, place.name).map_err(refused)?;
        let Some(now) = now.filter(store::is_file) else {
            return Ok(false);
        };
        let has = || store::version_at(&home, place.name, &now);
        if version.is_some_and(|wanted| wanted != has()) {
            return Err(refusal::conflict(&path));
        }
        home.unlink_file_at(place.name).map_err(refused)?;
        Ok(true)
    }

    fn list(&self, prefix: String, from: Option<String>) -> Result<Listing, Error> {
        walk::page(&self.root, &prefix, from.as_deref())
    }
}
