//! Storages of a browser.

#[cfg(host = "javascript")]
#[cfg(host = "javascript")]
pub mod database;
#[cfg(host = "javascript")]
pub mod indexed_db;
#[cfg(host = "javascript")]
pub mod opfs;
#[cfg(host = "javascript")]
mod parallel;
pub mod sheet;

/// Whether a commit waits until the data is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It waits for the disk.
    Strict,
    /// It waits only until the operating system has the data.
    Relaxed,
}

/// Whether a storage protects its files from a killed Chromium, which can lose them. The protection
/// appends to the browser's own logs, so it is off unless it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashProtection {
    /// Nothing is written but files.
    Off,
    /// The browser's logs are made safe before the first change of a page.
    On,
}
