//! A database of files in IndexedDB: sheets of metadata, and the bytes of each file. Every browser
//! storage that keeps records uses it. [`schema`] describes the records, [`connection`] how a
//! database is opened and closed, [`transaction`] what keeps a transaction alive, [`sheets`] and
//! [`gaps`] the file metadata, [`runs`] which bodies are read together, [`version1`] the migration
//! of an older layout, and [`torn_log`] crash protection.

pub mod connection;
pub mod gaps;
pub mod runs;
pub mod schema;
pub mod sheets;
pub mod torn_log;
pub mod transaction;
mod version1;
