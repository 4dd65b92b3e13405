//! Which files got labels by being written, as one plain value with a text form.
//!
//! A record has labels and the versions of the file that are known to lack them. So it fails closed:
//! a version that the book does not know, such as one that was changed past this layer, has the
//! labels. Who writes labelled content records it before the content lands, which forgets the clean
//! versions; a version becomes clean only if no such record was made in between, which `serial`
//! shows. A number is never used twice, also after the record was removed.
//!
//! Beside the records are the digests of labelled contents, so that one that comes back has its labels:
//! from a history, a receipt or anywhere else. They are cryptographic, since who writes a labelled
//! content could choose one with the hash of a clean version.

use std::borrow::Cow;
use std::rc::Rc;

use crate::core::path::VPath;
use crate::core::sorted::Sorted;
use crate::layer::folding::folded_path;
use crate::layer::provenance::labels::Labels;
use crate::pins::Digest;
use crate::protocol::Names;

/// What a line about a content begins with; one about a file begins with `/`.
const CONTENT: char = '#';

/// Most clean versions of a file that are remembered.
const CLEAN: usize = 8;

/// The version of a content: its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Digest);

impl Version {
    /// The version of these bytes.
    pub fn of(body: &[u8]) -> Version {
        Version(Digest::of(body))
    }
}

/// What is known of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Labels of every version that is not known to be clean.
    pub labels: Labels,
    /// The number of its last labelled change.
    pub serial: u32,
    clean: Vec<Version>,
}

impl Record {
    /// Whether a version is known to be without labels.
    pub fn is_clean(&self, version: Version) -> bool {
        self.clean.contains(&version)
    }
}

/// The records of all files. That of the root is about every file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// Which spellings are one file. The records are about folded paths.
    names: Names,
    records: Sorted<VPath, Record>,
    /// Labelled contents, wherever they are or were.
    contents: Sorted<Version, Labels>,
    /// The last number of a labelled change.
    last: u32,
}

impl Book {
    /// Which spellings are one file.
    pub fn names(&self) -> Names {
        self.names
    }

    /// Takes these spellings for one file from now on.
    pub fn fold(&mut self, names: Names) {
        self.names = names;
        let all = std::mem::take(&mut self.records);
        for (path, mut record) in all {
            let path = self.known(&path).into_owned();
            if let Some(other) = self.records.remove(&path) {
                record.labels.merge(&other.labels);
                record.serial = record.serial.max(other.serial);
                record.clean.clear();
            }
            self.records.insert(path, record);
        }
    }

    /// A path as the records have it.
    fn known<'a>(&self, path: &'a VPath) -> Cow<'a, VPath> {
        match self.names.folds() {
            true => Cow::Owned(folded_path(path, self.names)),
            false => Cow::Borrowed(path),
        }
    }

    /// The record of a file.
    pub fn record(&self, path: &VPath) -> Option<&Record> {
        self.records.get(&*self.known(path))
    }

    /// Whether the labels of a file depend on its version.
    pub fn knows(&self, path: &VPath) -> bool {
        self.record(path).is_some() || self.records.get(&VPath::root()).is_some()
    }

    /// The labels of a version of a file; without a version, those of one that is not known.
    pub fn labels(&self, path: &VPath, version: Option<Version>) -> Labels {
        let mut labels = Labels::default();
        let own = self.record(path);
        let is_clean = own.zip(version).is_some_and(|(own, at)| own.is_clean(at));
        if !is_clean {
            for record in [own, self.records.get(&VPath::root())]
                .into_iter()
                .flatten()
            {
                labels.merge(&record.labels);
            }
        }
        labels
    }

    /// The labels that a content had in any file.
    pub fn content(&self, version: Version) -> Labels {
        self.contents.get(&version).cloned().unwrap_or_default()
    }

    /// Whether any content had labels.
    pub fn has_contents(&self) -> bool {
        !self.contents.is_empty()
    }

    /// Records that a content has labels. Nothing carries nothing.
    pub fn remember(&mut self, version: Version, labels: &Labels) {
        if labels.is_empty() || version == Version::of(b"") {
            return;
        }
        let mut all = self.content(version);
        all.merge(labels);
        self.contents.insert(version, all);
    }

    /// A person has decided that a content is as it should be.
    pub fn forget_content(&mut self, version: Version) {
        self.contents.remove(&version);
    }

    /// Forgets all contents.
    pub fn forget_contents(&mut self) {
        self.contents = Sorted::new();
    }

    /// Records that labelled content is about to be stored.
    pub fn taint(&mut self, path: &VPath, labels: &Labels) {
        self.last = self.last.wrapping_add(1);
        let serial = self.last;
        let path = self.known(path).into_owned();
        let mut record = self.records.remove(&path).unwrap_or_default();
        record.labels.merge(labels);
        record.clean.clear();
        self.records.insert(path, Record { serial, ..record });
    }

    /// Records that labelled content was stored, if somebody has forgotten it meanwhile.
    pub fn ensure(&mut self, path: &VPath, labels: &Labels) {
        let known = self.record(path).map(|record| &record.labels);
        if known.is_none_or(|known| !labels.without(known).is_empty()) {
            self.taint(path, labels);
        }
    }

    /// Takes back [`Book::taint`], unless somebody else has recorded something since.
    pub fn restore(&mut self, path: &VPath, serial: u32, before: Option<Record>) {
        let path = self.known(path).into_owned();
        if self.record(&path).map(|record| record.serial) != Some(serial) {
            return;
        }
        match before {
            Some(before) => {
                self.records.insert(path, before);
            }
            None => {
                self.records.remove(&path);
            }
        }
    }

    /// Records a version as clean, unless labelled content was recorded since `serial`.
    pub fn clean(&mut self, path: &VPath, serial: Option<u32>, version: Version) {
        let path = self.known(path).into_owned();
        let is_newest = self.record(&path).map(|record| record.serial) == serial;
        if !is_newest || self.contents.get(&version).is_some() {
            return;
        }
        let mut record = self.records.remove(&path).unwrap_or_default();
        if !record.is_clean(version) {
            record.clean.push(version);
        }
        if record.clean.len() > CLEAN {
            record.clean.remove(0);
        }
        self.records.insert(path, record);
    }

    /// Forgets the files at and below a path. The record of the root is one of no file.
    pub fn forget(&mut self, path: &VPath) {
        let path = self.known(path).into_owned();
        self.records
            .retain(|known| known.is_root() || !known.is_under(&path));
    }

    /// The files at and below a path that have records.
    pub fn below(&self, path: &VPath) -> Vec<VPath> {
        let path = self.known(path);
        let known = self.records.iter().map(|(known, _)| known);
        let inside = known.filter(|known| !known.is_root() && known.is_under(&path));
        inside.cloned().collect()
    }

    /// Forgets the record about every file.
    pub fn forget_root(&mut self) {
        self.records.remove(&VPath::root());
    }

    /// Its text form, a file a line.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.last);
        for (path, record) in self.records.iter() {
            let labels: Vec<&str> = record.labels.iter().map(|label| &**label).collect();
            let clean: Vec<String> = record.clean.iter().map(|at| at.0.hex()).collect();
            text.push_str(&format!(
                "{}\t{}\t{}\t{}\n",
                path.as_str(),
                labels.join(","),
                record.serial,
                clean.join(",")
            ));
        }
        for (version, labels) in self.contents.iter() {
            let labels: Vec<&str> = labels.iter().map(|label| &**label).collect();
            text.push_str(&format!(
                "{CONTENT}{}\t{}\n",
                version.0.hex(),
                labels.join(",")
            ));
        }
        text
    }

    /// Parses the text form.
    pub fn parse(text: &[u8]) -> Option<Book> {
        let (last, lines) = std::str::from_utf8(text).ok()?.split_once('\n')?;
        let mut book = Book {
            last: last.parse().ok()?,
            ..Book::default()
        };
        for line in lines.lines() {
            if let Some(content) = line.strip_prefix(CONTENT) {
                let (digest, labels) = content.split_once('\t')?;
                let version = Version(Digest::from_hex(digest)?);
                book.contents.insert(version, parse_labels(labels));
                continue;
            }
            let (path, record) = parse_line(line)?;
            book.records.insert(path, record);
        }
        Some(book)
    }
}

fn parse_labels(text: &str) -> Labels {
    let mut labels = Labels::default();
    for label in text.split(',').filter(|label| !label.is_empty()) {
        labels.add(&Rc::from(label));
    }
    labels
}

fn parse_line(line: &str) -> Option<(VPath, Record)> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let path = VPath::any(next()?).ok()?;
    let mut record = Record {
        labels: parse_labels(next()?),
        ..Record::default()
    };
    record.serial = next()?.parse().ok()?;
    let versions = next()?.split(',').filter(|version| !version.is_empty());
    for version in versions {
        record.clean.push(Version(Digest::from_hex(version)?));
    }
    next().is_none().then_some((path, record))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::path;

    fn labels(names: &[&str]) -> Labels {
        let mut labels = Labels::default();
        for name in names {
            labels.add(&Rc::from(*name));
        }
        labels
    }

    #[test]
    fn an_unknown_version_has_the_labels_and_a_clean_one_has_none() {
        let (mut book, at) = (Book::default(), path("/a"));
        let version = Version::of(b"clean");
        assert!(book.labels(&at, None).is_empty());
        book.taint(&at, &labels(&["web"]));
        assert_eq!(book.labels(&at, Some(version)), labels(&["web"]));
        book.clean(&at, Some(1), version);
        assert!(book.labels(&at, Some(version)).is_empty());
        assert_eq!(
            book.labels(&at, Some(Version::of(b"other"))),
            labels(&["web"])
        );
        assert_eq!(book.labels(&at, None), labels(&["web"]));
        // Labelled content may be the same, so what was clean is not any longer.
        book.taint(&at, &labels(&["mail"]));
        assert_eq!(book.labels(&at, Some(version)), labels(&["mail", "web"]));
    }

    #[test]
    fn a_version_is_not_clean_if_labelled_content_was_recorded_since() {
        let (mut book, at) = (Book::default(), path("/a"));
        let version = Version::of(b"x");
        book.taint(&at, &labels(&["web"]));
        book.taint(&at, &labels(&["web"]));
        book.clean(&at, Some(1), version);
        assert_eq!(book.labels(&at, Some(version)), labels(&["web"]));
    }

    #[test]
    fn a_failed_change_is_taken_back_unless_another_one_was_recorded() {
        let at = path("/a");
        let mut book = Book::default();
        book.taint(&at, &labels(&["web"]));
        book.restore(&at, 1, None);
        assert_eq!(book.record(&at), None);
        book.taint(&at, &labels(&["web"]));
        book.taint(&at, &labels(&["web"]));
        book.restore(&at, 1, None);
        book.restore(&at, 2, None);
        assert_eq!(book.labels(&at, None), labels(&["web"]));
    }

    #[test]
    fn the_record_of_the_root_is_about_every_file_but_clean_ones() {
        let (mut book, version) = (Book::default(), Version::of(b"x"));
        book.taint(&VPath::root(), &labels(&["web"]));
        assert_eq!(book.labels(&path("/a"), Some(version)), labels(&["web"]));
        book.clean(&path("/a"), None, version);
        assert!(book.labels(&path("/a"), Some(version)).is_empty());
        book.forget(&VPath::root());
        assert_eq!(book.labels(&path("/b"), None), labels(&["web"]));
        book.forget_root();
        assert!(book.labels(&path("/b"), None).is_empty());
    }

    #[test]
    fn a_content_that_had_labels_is_never_a_clean_version() {
        let (mut book, version) = (Book::default(), Version::of(b"obey"));
        book.taint(&path("/a"), &labels(&["web"]));
        book.remember(version, &labels(&["web"]));
        book.remember(version, &labels(&["mail"]));
        book.remember(Version::of(b""), &labels(&["web"]));
        assert_eq!(book.content(version), labels(&["mail", "web"]));
        assert!(book.content(Version::of(b"")).is_empty());
        book.clean(&path("/a"), Some(1), version);
        assert_eq!(book.labels(&path("/a"), Some(version)), labels(&["web"]));
        book.forget_content(version);
        book.clean(&path("/a"), Some(1), version);
        assert!(book.labels(&path("/a"), Some(version)).is_empty());
    }

    #[test]
    fn its_text_is_read_back_and_anything_else_is_refused() {
        let mut book = Book::default();
        book.taint(&path("/a b,c"), &labels(&["mail", "web"]));
        book.taint(&path("/d"), &labels(&["web"]));
        book.clean(&path("/d"), Some(2), Version::of(b""));
        book.remember(Version::of(b"obey"), &labels(&["mail", "web"]));
        assert_eq!(Book::parse(book.to_text().as_bytes()), Some(book.clone()));
        assert_eq!(Book::parse(b"0\n"), Some(Book::default()));
        let good = book.to_text();
        for bad in [
            "",
            "1",
            "one\n",
            &good.replace("\t2\t", "\ttwo\t"),
            &good.replace("/d", "/../d"),
            &format!("{good}/e\n"),
            &format!("{good}/e\tweb\t1\t\t\n"),
            &format!("{good}#0badc0de\tweb\n"),
            &format!("{good}/e\tweb\t1\tcbf29ce484222325\n"),
        ] {
            assert!(Book::parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
