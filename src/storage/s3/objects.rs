//! What a bucket can do: head, get, put, delete and list objects. Two implementations: signed
//! requests over HTTP ([`http`](super::http)), and the R2 binding of a Worker ([`r2`](super::r2)).
//! An implementation makes one attempt. Retries, timeouts and the meaning of failures are not here.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{LocalBoxFuture, ready};

use super::answer::{Deleted, Page, Told};
use super::xml::Broken;
use crate::core::error::Error;
use crate::core::time::Time;
use crate::env::http::HttpError;

/// Maximum number of keys in one batch deletion.
pub const MAX_DELETES: usize = 1000;

/// The form of an ETag in `If-Match`. The standard requires quotes; some gateways accept it only
/// without quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagForm {
    /// `"abc"`.
    #[default]
    Quoted,
    /// `abc`.
    Bare,
}

impl TagForm {
    /// An ETag in this form.
    pub fn write(self, tag: &str) -> String {
        match self {
            TagForm::Quoted => format!("\"{tag}\""),
            TagForm::Bare => tag.to_owned(),
        }
    }
}

/// The condition of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition<'a> {
    /// No condition.
    Always,
    /// Only if the object does not exist.
    Absent,
    /// Only if the object has this ETag.
    Matches(&'a str, TagForm),
}

/// An object of the same bucket whose bytes are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// Its key.
    pub key: &'a str,
    /// The ETag that it must have.
    pub tag: &'a str,
    /// The form of that ETag.
    pub form: TagForm,
}

/// An object to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObject<'a> {
    /// Its bytes; empty if they are copied.
    pub body: Bytes,
    /// The object to copy the bytes from.
    pub source: Option<Source<'a>>,
    /// Its type.
    pub mime: &'a str,
    /// The encoded note.
    pub meta: String,
}

/// Which objects to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// The beginning of their keys.
    pub prefix: &'a str,
    /// Whether keys with another `/` are combined into common prefixes.
    pub one_level: bool,
    /// The token of the page; the first page by default.
    pub token: Option<&'a str>,
    /// On the first page, only keys after this one.
    pub after: Option<&'a str>,
}

/// The answer to a get.
#[derive(Debug)]
pub enum Got {
    /// The object still has the ETag that the caller knows.
    Same,
    /// The whole object.
    Whole(Told, Bytes),
    /// The requested part.
    Part(Told, Bytes),
    /// A part without `Content-Range`, so its position is unknown. Ranges cannot be used in this
    /// environment.
    Unnamed,
    /// A part of a compressed representation, which the host has decompressed.
    Packed,
}

/// An unsuccessful status.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    /// The server's error code, such as `SlowDown`; empty if there is none.
    pub code: String,
    /// How long the server asks the client to wait.
    pub wait: Option<Duration>,
    /// The server's time, if it reports that the local clock is wrong.
    pub server_time: Option<Time>,
}

/// Why an attempt did not succeed.
#[derive(Debug)]
pub enum Trouble {
    /// It was not sent, for example because it could not be signed.
    Unsent(Error),
    /// The network failed before or after the request arrived.
    Network(HttpError),
    /// The host's object threw an exception, which is the cause of this error.
    Thrown(Error),
    /// The server refused it.
    Refused(Refusal),
    /// The response cannot be used.
    Broken(&'static str),
}

impl From<Broken> for Trouble {
    fn from(broken: Broken) -> Trouble {
        Trouble::Broken(broken.0)
    }
}

/// An attempt.
pub type Sent<'a, T> = LocalBoxFuture<'a, Result<T, Trouble>>;

/// A request of an upload in parts, which has an id.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Begins an upload of an object with this type and note.
    Begin(&'a str, &'a str),
    /// Sends the part with this number, counted from 1.
    Part(&'a str, usize, &'a Bytes),
    /// Makes an object of all parts, which have these ETags.
    Complete(&'a str, &'a [String], Condition<'a>),
    /// Gives the upload up.
    Abandon(&'a str),
}

/// A bucket. Each method makes one attempt; a missing object is a refusal with status 404.
pub trait Objects {
    /// The metadata of an object.
    fn head<'a>(&'a self, key: &'a str) -> Sent<'a, Told>;

    /// An object or a part of it; with `known`, only if its ETag is different. A range that begins
    /// at or after the end is a refusal with status 416.
    fn get<'a>(
        &'a self,
        key: &'a str,
        range: Option<&'a Range<u64>>,
        known: Option<&'a str>,
    ) -> Sent<'a, Got>;

    /// Whether `put` takes a source.
    fn copies(&self) -> bool {
        false
    }

    /// Stores an object and returns its ETag, if it is visible. If the condition is not met, or the
    /// source has another ETag, it is a refusal with status 412 (or 409, or 404).
    fn put<'a>(
        &'a self,
        key: &'a str,
        object: &'a NewObject<'a>,
        condition: Condition<'a>,
    ) -> Sent<'a, Option<String>>;

    /// Whether it takes objects in parts.
    fn uploads(&self) -> bool {
        false
    }

    /// Makes a request of an upload in parts: returns the id of a new one, or the ETag of a part.
    fn upload<'a>(&'a self, _key: &'a str, _step: Step<'a>) -> Sent<'a, String> {
        let refusal = Refusal {
            status: 501,
            ..Refusal::default()
        };
        Box::pin(ready(Err(Trouble::Refused(refusal))))
    }

    /// Removes an object.
    fn delete<'a>(&'a self, key: &'a str, condition: Condition<'a>) -> Sent<'a, ()>;

    /// Removes at most [`MAX_DELETES`] objects.
    fn delete_many<'a>(&'a self, keys: &'a [&'a str]) -> Sent<'a, Deleted>;

    /// A page of a listing, in byte order of the keys.
    fn list<'a>(&'a self, query: Query<'a>) -> Sent<'a, Page>;
}
