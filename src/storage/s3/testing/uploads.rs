//! Uploads in parts.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::Object;
use super::answers::{document, status, tag};
use crate::env::http::{Request, Response};
use crate::storage::s3::xml;

/// An upload that was begun.
pub struct Upload {
    key: String,
    mime: String,
    meta: Option<String>,
    parts: BTreeMap<usize, Bytes>,
}

/// All uploads, by their ids.
#[derive(Default)]
pub struct Uploads {
    pub begun: usize,
    pub open: BTreeMap<String, Upload>,
}

impl Uploads {
    /// Answers a request that is about an upload; `None` for another.
    pub fn answer(
        &mut self,
        request: &Request,
        key: &str,
        query: &BTreeMap<String, String>,
        objects: &mut BTreeMap<String, Object>,
    ) -> Option<Response> {
        let header = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let body = request.body.clone().unwrap_or_default();
        if query.contains_key("uploads") {
            self.begun += 1;
            let id = format!("upload/{}==", self.begun);
            let begun = format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId>\
                 </InitiateMultipartUploadResult>"
            );
            self.open.insert(
                id,
                Upload {
                    key: key.to_owned(),
                    mime: header("content-type").unwrap_or_default(),
                    meta: header("x-amz-meta-kitbag"),
                    parts: BTreeMap::new(),
                },
            );
            return Some(document(begun));
        }
        let id = query.get("uploadId")?;
        let Some(upload) = self.open.get_mut(id).filter(|upload| upload.key == key) else {
            return Some(status(404, "NoSuchUpload"));
        };
        if let Some(number) = query.get("partNumber") {
            let made = tag(&body);
            upload.parts.insert(number.parse().expect("a number"), body);
            return Some(Response {
                status: 200,
                headers: vec![("etag".into(), format!("\"{made}\""))],
                body: Bytes::new(),
            });
        }
        if request.method != "DELETE" {
            let there = objects.get(key).map(|object| format!("\"{}\"", object.tag));
            let is_met = header("if-none-match").is_none_or(|_| there.is_none())
                && header("if-match").is_none_or(|tag| there == Some(tag));
            if !is_met {
                return Some(status(412, "PreconditionFailed"));
            }
        }
        let upload = self.open.remove(id)?;
        if request.method == "DELETE" {
            return Some(status(204, ""));
        }
        let root = xml::parse(&body).expect("a document");
        let mut whole = Vec::new();
        for (at, part) in root.all("Part").enumerate() {
            let number: usize = part.text_of("PartNumber")?.parse().expect("a number");
            assert_eq!(number, at + 1, "parts are in order");
            let body = upload.parts.get(&number).expect("a part that was sent");
            let named = part.text_of("ETag").expect("an ETag");
            assert_eq!(named.trim_matches('"'), tag(body));
            whole.extend_from_slice(body);
        }
        let made = format!("{}-{}", tag(&whole), upload.parts.len());
        objects.insert(
            key.to_owned(),
            Object {
                body: Bytes::from(whole),
                mime: upload.mime,
                meta: upload.meta,
                tag: made.clone(),
                encoding: None,
            },
        );
        Some(document(format!(
            "<CompleteMultipartUploadResult><ETag>&quot;{made}&quot;</ETag>\
             </CompleteMultipartUploadResult>"
        )))
    }
}
