//! An in-memory S3 server for native tests that imitates real servers: conditions honoured or
//! ignored, ETags with or without quotes, responses lost, cut or corrupted.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the server of tests and of the simulator"
)]

mod answers;
mod uploads;
mod ways;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use super::access::{Access, KeyRing};
use super::bucket::{Bucket, Location};
use super::http::Signed;
use super::sign::Credentials;
use super::store::{S3, S3Options};
use super::xml;
use crate::core::cell::RefCell;
use crate::env::http::{Http, HttpError, Request, Response};
use crate::env::timer;

use answers::{decode, document, status, tag};
pub use uploads::Uploads;
pub use ways::{Copies, Fault, Ranges};

#[derive(Clone)]
pub struct Object {
    pub body: Bytes,
    pub mime: String,
    pub meta: Option<String>,
    pub tag: String,
    pub encoding: Option<String>,
}

/// The server.
pub struct Server {
    pub objects: RefCell<BTreeMap<String, Object>>,
    pub page: Cell<usize>,
    pub conditions: Cell<bool>,
    pub bare: Cell<bool>,
    pub batches: Cell<bool>,
    pub log: RefCell<Vec<String>>,
    pub sent: RefCell<Vec<Request>>,
    #[expect(clippy::type_complexity, reason = "a test's own script")]
    pub script: RefCell<Box<dyn FnMut(&Request) -> Fault>>,
    pub most: Cell<usize>,
    /// Total bytes of response bodies.
    pub moved: Cell<usize>,
    pub ranges: Cell<Ranges>,
    pub copies: Cell<Copies>,
    pub uploads: RefCell<Uploads>,
    busy: Cell<usize>,
}

impl Server {
    pub fn new() -> Rc<Server> {
        Rc::new(Server {
            objects: RefCell::default(),
            page: Cell::new(1000),
            conditions: Cell::new(true),
            bare: Cell::new(false),
            batches: Cell::new(true),
            log: RefCell::default(),
            sent: RefCell::default(),
            script: RefCell::new(Box::new(|_| Fault::None)),
            most: Cell::new(0),
            moved: Cell::new(0),
            ranges: Cell::new(Ranges::Honoured),
            copies: Cell::new(Copies::Honoured),
            uploads: RefCell::default(),
            busy: Cell::new(0),
        })
    }

    pub fn script(&self, script: impl FnMut(&Request) -> Fault + 'static) {
        drop(self.script.replace(Box::new(script)));
    }

    /// The next requests with that method get these faults, later ones none.
    pub fn faults(&self, method: &'static str, faults: Vec<Fault>) {
        let mut faults = faults.into_iter();
        self.script(move |request| match request.method == method {
            true => faults.next().unwrap_or(Fault::None),
            false => Fault::None,
        });
    }

    pub fn put(&self, key: &str, body: &str) {
        let object = Object {
            body: Bytes::copy_from_slice(body.as_bytes()),
            mime: "binary/octet-stream".into(),
            meta: None,
            tag: tag(body.as_bytes()),
            encoding: None,
        };
        self.objects.borrow_mut().insert(key.to_owned(), object);
    }

    pub fn body(&self, key: &str) -> Option<String> {
        let objects = self.objects.borrow();
        let body = objects.get(key)?.body.to_vec();
        Some(String::from_utf8(body).expect("text"))
    }

    pub fn keys(&self) -> Vec<String> {
        self.objects.borrow().keys().cloned().collect()
    }

    /// The number of requests whose log line starts with `beginning`, since the last call.
    pub fn count(&self, beginning: &str) -> usize {
        let log = self.log.take();
        log.iter()
            .filter(|line| line.starts_with(beginning))
            .count()
    }

    fn holds(&self, given: &str, object: Option<&Object>) -> bool {
        let Some(object) = object else { return false };
        match self.bare.get() {
            true => given == object.tag,
            false => given.trim_matches('"') == object.tag,
        }
    }

    /// Executes a request.
    pub fn answer(&self, request: &Request) -> Response {
        let rest = request.url.strip_prefix("http://h/b").expect("our bucket");
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let key = decode(path.strip_prefix('/').unwrap_or(path));
        let query: BTreeMap<String, String> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').expect("a value");
                (decode(name), decode(value))
            })
            .collect();
        let header = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        self.log.borrow_mut().push(match key.is_empty() {
            true if query.contains_key("delete") => "DELETES".to_owned(),
            true => format!("LIST {}", query.get("prefix").cloned().unwrap_or_default()),
            false if header("x-amz-copy-source").is_some() => format!("COPY {key}"),
            false => format!("{} {key}", request.method),
        });
        let mut objects = self.objects.borrow_mut();
        if key.is_empty() && query.contains_key("delete") {
            if !self.batches.get() {
                return status(501, "NotImplemented");
            }
            let root = xml::parse(&request.body.clone().unwrap_or_default()).expect("a document");
            let mut out = String::from("<DeleteResult>");
            for object in root.all("Object") {
                let key = object.text_of("Key").expect("a key");
                if key.contains("locked") {
                    let _ = write!(
                        out,
                        "<Error><Key>{}</Key><Code>AccessDenied</Code></Error>",
                        xml::escape(key)
                    );
                } else {
                    objects.remove(key);
                    let _ = write!(out, "<Deleted><Key>{}</Key></Deleted>", xml::escape(key));
                }
            }
            return document(out + "</DeleteResult>");
        }
        if key.is_empty() {
            return self.listing(&objects, &query);
        }
        let mut uploads = self.uploads.borrow_mut();
        if let Some(answer) = uploads.answer(request, &key, &query, &mut objects) {
            return answer;
        }
        let present = objects.get(&key);
        let conditions = self.conditions.get();
        match request.method {
            "GET" | "HEAD" => {
                let Some(object) = present else {
                    return status(404, "NoSuchKey");
                };
                let mut response = Response {
                    status: 200,
                    headers: vec![
                        ("etag".into(), format!("\"{}\"", object.tag)),
                        ("content-type".into(), object.mime.clone()),
                        ("date".into(), "Sat, 21 Nov 2026 07:00:00 GMT".into()),
                        (
                            "last-modified".into(),
                            "Sat, 21 Nov 2026 07:00:00 GMT".into(),
                        ),
                        ("content-length".into(), object.body.len().to_string()),
                    ],
                    body: object.body.clone(),
                };
                if let Some(encoding) = &object.encoding {
                    let encoding = ("content-encoding".to_owned(), encoding.clone());
                    response.headers.push(encoding);
                }
                if let Some(meta) = &object.meta {
                    let meta = ("x-amz-meta-kitbag".to_owned(), meta.clone());
                    response.headers.push(meta);
                }
                if header("if-none-match").is_some_and(|tag| tag.trim_matches('"') == object.tag) {
                    response.status = 304;
                    response.body = Bytes::new();
                } else if let Some(range) = header("range")
                    && self.ranges.get() != Ranges::Ignored
                {
                    let (start, end) = range
                        .strip_prefix("bytes=")
                        .and_then(|range| range.split_once('-'))
                        .expect("a range");
                    let start: usize = start.parse().expect("a number");
                    let end: usize = end.parse().expect("a number");
                    let size = object.body.len();
                    if start >= size {
                        return status(416, "InvalidRange");
                    }
                    response.body = object.body.slice(start..size.min(end + 1));
                    response.status = 206;
                    response
                        .headers
                        .retain(|(name, _)| name != "content-length");
                    let range = format!("bytes {start}-{}/{size}", start + response.body.len() - 1);
                    match self.ranges.get() {
                        Ranges::Unnamed => {}
                        ranges => {
                            response.headers.push(("content-range".into(), range));
                            if ranges == Ranges::Packed {
                                let packed = ("content-encoding".into(), "gzip".into());
                                response.headers.push(packed);
                            }
                        }
                    }
                }
                if request.method == "HEAD" {
                    response.body = Bytes::new();
                }
                response
            }
            "PUT" => {
                let source = header("x-amz-copy-source");
                let copies = self.copies.get();
                let (mut conditions, mut checks_source) = (conditions, conditions);
                if source.is_some() {
                    conditions &= matches!(copies, Copies::Honoured | Copies::SourceIgnored);
                    checks_source &= matches!(copies, Copies::Honoured | Copies::TargetIgnored);
                }
                if conditions {
                    if header("if-none-match").is_some() && present.is_some() {
                        return status(412, "PreconditionFailed");
                    }
                    if let Some(tag) = header("if-match")
                        && !self.holds(&tag, present)
                    {
                        return status(412, "PreconditionFailed");
                    }
                }
                let body = match &source {
                    None => request.body.clone().unwrap_or_default(),
                    Some(_) if copies == Copies::Unsupported => {
                        return status(501, "NotImplemented");
                    }
                    Some(source) => {
                        let key = decode(source.strip_prefix("/b/").expect("our bucket"));
                        let Some(from) = objects.get(&key) else {
                            return status(404, "NoSuchKey");
                        };
                        let wanted = header("x-amz-copy-source-if-match").expect("a condition");
                        if checks_source && !self.holds(&wanted, Some(from)) {
                            return status(412, "PreconditionFailed");
                        }
                        from.body.clone()
                    }
                };
                let tag = tag(&body);
                objects.insert(
                    key,
                    Object {
                        body,
                        mime: header("content-type").unwrap_or_default(),
                        meta: header("x-amz-meta-kitbag"),
                        tag: tag.clone(),
                        encoding: None,
                    },
                );
                if source.is_some() {
                    return document(format!(
                        "<CopyObjectResult><ETag>&quot;{tag}&quot;</ETag></CopyObjectResult>"
                    ));
                }
                Response {
                    status: 200,
                    headers: vec![("etag".into(), format!("\"{tag}\""))],
                    body: Bytes::new(),
                }
            }
            "DELETE" => {
                if let Some(tag) = header("if-match").filter(|_| conditions)
                    && !self.holds(&tag, present)
                {
                    return status(412, "PreconditionFailed");
                }
                objects.remove(&key);
                status(204, "")
            }
            method => panic!("{method} is not known"),
        }
    }

    fn listing(
        &self,
        objects: &BTreeMap<String, Object>,
        query: &BTreeMap<String, String>,
    ) -> Response {
        let prefix = query.get("prefix").cloned().unwrap_or_default();
        let token = query.get("continuation-token").or(query.get("start-after"));
        let token = token.cloned().unwrap_or_default();
        let mut out = String::from("<?xml version=\"1.0\"?><ListBucketResult>");
        let mut last_prefix = String::new();
        let (mut count, mut last, mut more) = (0, String::new(), false);
        let first = prefix.clone().max(token.clone());
        let listed = objects.range(first..);
        for (key, object) in listed.take_while(|(key, _)| key.starts_with(&prefix)) {
            let below = key.get(prefix.len()..).unwrap_or_default();
            let common = match (query.get("delimiter"), below.find('/')) {
                (Some(_), Some(at)) => Some(format!("{prefix}{}", &below[..=at])),
                _ => None,
            };
            let shown = common.clone().unwrap_or_else(|| key.clone());
            if shown <= token || common.as_ref() == Some(&last_prefix) {
                continue;
            }
            if count == self.page.get() {
                more = true;
                break;
            }
            count += 1;
            last = shown;
            match common {
                Some(common) => {
                    let _ = write!(
                        out,
                        "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>",
                        xml::escape(&common)
                    );
                    last_prefix = common;
                }
                None => {
                    let _ = write!(
                        out,
                        "<Contents><Key>{}</Key><LastModified>2026-11-21T07:00:00.000Z\
                         </LastModified><ETag>&quot;{}&quot;</ETag><Size>{}</Size></Contents>",
                        xml::escape(key),
                        object.tag,
                        object.body.len()
                    );
                }
            }
        }
        let _ = write!(out, "<IsTruncated>{more}</IsTruncated>");
        if more {
            let _ = write!(
                out,
                "<NextContinuationToken>{}</NextContinuationToken>",
                xml::escape(&last)
            );
        }
        document(out + "</ListBucketResult>")
    }
}

impl Http for Server {
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
        Box::pin(async move {
            let lost = |broken| HttpError {
                broken,
                cross_origin: false,
                code: Some("ECONNRESET".into()),
            };
            self.busy.set(self.busy.get() + 1);
            self.most.set(self.most.get().max(self.busy.get()));
            self.sent.borrow_mut().push(request.clone());
            let fault = (self.script.borrow_mut())(&request);
            // Other requests run while this one is in progress.
            timer::sleep(std::time::Duration::ZERO).await;
            let answer = match fault {
                Fault::None => Ok(self.answer(&request)),
                Fault::Before => Err(lost(false)),
                Fault::After => {
                    self.answer(&request);
                    Err(lost(true))
                }
                Fault::Status(code, word) => Ok(status(code, word)),
                Fault::Executed(code, word) => {
                    self.answer(&request);
                    Ok(status(code, word))
                }
                Fault::Cut | Fault::CutSilently => {
                    let mut response = self.answer(&request);
                    response.body = response.body.slice(..response.body.len() / 2);
                    if fault == Fault::CutSilently {
                        response
                            .headers
                            .retain(|(name, _)| name != "content-length");
                    }
                    Ok(response)
                }
                Fault::Corrupt => {
                    let mut response = self.answer(&request);
                    let mut body = response.body.to_vec();
                    if let Some(byte) = body.last_mut() {
                        *byte ^= 1;
                    }
                    response.body = Bytes::from(body);
                    Ok(response)
                }
                Fault::Hang => std::future::pending().await,
                Fault::ExecutedHang => {
                    self.answer(&request);
                    std::future::pending().await
                }
            };
            self.busy.set(self.busy.get() - 1);
            if let Ok(response) = &answer {
                self.moved.set(self.moved.get() + response.body.len());
            }
            answer
        })
    }
}

/// A backend over the server, with keys that must not appear in any text.
pub fn storage(http: &Rc<impl Http + 'static>, options: S3Options, prefix: &str) -> S3 {
    storage_that_warns(http, options, prefix, Box::new(|_| {}))
}

/// The same, with a callback for warnings.
pub fn storage_that_warns(
    http: &Rc<impl Http + 'static>,
    options: S3Options,
    prefix: &str,
    warn: Box<dyn Fn(&str)>,
) -> S3 {
    let bucket = Bucket::new(&Location {
        endpoint: Some("http://h"),
        region: "us-east-1",
        bucket: "b",
        prefix,
        path_style: None,
    })
    .expect("a bucket");
    let keys = Credentials {
        access_key_id: "AKIDSECRET".into(),
        secret_access_key: "VERYSECRET".into(),
        session_token: Some("TOKENSECRET".into()),
        expires: None,
    };
    let access = Access::Keys(KeyRing::new(Box::new(keys)));
    let objects = Signed::new(bucket.clone(), http.clone(), access);
    S3::new(bucket, Rc::new(objects), options, warn)
}
