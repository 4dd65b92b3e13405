//! The requests to a bucket, one for each operation, before signing. No I/O, no clock, no
//! credentials.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use md5::{Digest, Md5};

use super::note::META;
use super::objects::{Condition, NewObject, Query, Source, Step, TagForm};
use super::sign::encode_path;
use super::xml;

/// One request to a bucket, before signing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// `GET`, `PUT` and so on.
    pub method: &'static str,
    /// The key; `None` for the bucket itself.
    pub key: Option<String>,
    /// Names and values, not percent-encoded.
    pub query: Vec<(String, String)>,
    /// Lowercase names with their values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Bytes>,
}

fn ask(method: &'static str, key: &str) -> Ask {
    Ask {
        method,
        key: Some(key.to_owned()),
        ..Ask::default()
    }
}

impl Ask {
    fn with(mut self, name: &str, value: String) -> Ask {
        self.headers.push((name.to_owned(), value));
        self
    }

    fn asking(mut self, name: &str, value: String) -> Ask {
        self.query.push((name.to_owned(), value));
        self
    }

    fn under(self, condition: &Condition<'_>) -> Ask {
        match condition {
            Condition::Always => self,
            Condition::Absent => self.with("if-none-match", "*".into()),
            Condition::Matches(tag, form) => self.with("if-match", form.write(tag)),
        }
    }

    /// Requests the metadata of an object.
    pub fn head(key: &str) -> Ask {
        ask("HEAD", key)
    }

    /// Requests an object; with `known`, only if its ETag is different.
    pub fn get(key: &str, known: Option<&str>) -> Ask {
        let ask = ask("GET", key);
        match known {
            Some(tag) => ask.with("if-none-match", TagForm::Quoted.write(tag)),
            None => ask,
        }
    }

    /// Requests the bytes from `start` to `end` (exclusive) of an object; with `known`, only if its
    /// ETag is different.
    pub fn get_range(key: &str, start: u64, end: u64, known: Option<&str>) -> Ask {
        let last = end.saturating_sub(1);
        Ask::get(key, known).with("range", format!("bytes={start}-{last}"))
    }

    /// Stores an object.
    pub fn put(key: &str, object: &NewObject<'_>, condition: &Condition<'_>) -> Ask {
        let mut ask = ask("PUT", key)
            .with("content-type", object.mime.to_owned())
            .with(META, object.meta.clone())
            .under(condition);
        ask.body = Some(object.body.clone());
        ask
    }

    /// The same with the bytes of another object of that bucket.
    pub fn copying(mut self, bucket: &str, source: Source<'_>) -> Ask {
        self.body = None;
        let tag = source.form.write(source.tag);
        let from = format!("/{}/{}", encode_path(bucket), encode_path(source.key));
        self.with("x-amz-copy-source", from)
            .with("x-amz-copy-source-if-match", tag)
            .with("x-amz-metadata-directive", "REPLACE".into())
    }

    /// A request of an upload in parts.
    pub fn upload(key: &str, step: Step<'_>) -> Ask {
        let of = |method, id: &str| ask(method, key).asking("uploadId", id.to_owned());
        match step {
            Step::Begin(mime, meta) => ask("POST", key)
                .asking("uploads", String::new())
                .with("content-type", mime.to_owned())
                .with(META, meta.to_owned()),
            Step::Part(id, number, body) => {
                let mut ask = of("PUT", id).asking("partNumber", number.to_string());
                ask.body = Some(body.clone());
                ask
            }
            Step::Complete(id, tags, condition) => {
                let mut body = String::from("<CompleteMultipartUpload>");
                for (at, tag) in tags.iter().enumerate() {
                    let (number, tag) = (at.saturating_add(1), xml::escape(tag));
                    body.push_str(&format!(
                        "<Part><PartNumber>{number}</PartNumber><ETag>&quot;{tag}&quot;</ETag></Part>"
                    ));
                }
                body.push_str("</CompleteMultipartUpload>");
                let mut ask = of("POST", id).with("content-type", "application/xml".to_owned());
                ask.body = Some(Bytes::from(body));
                ask.under(&condition)
            }
            Step::Abandon(id) => of("DELETE", id),
        }
    }

    /// Removes an object.
    pub fn delete(key: &str, condition: &Condition<'_>) -> Ask {
        ask("DELETE", key).under(condition)
    }

    /// Requests a page of a listing, at most 1,000 keys.
    pub fn list(wanted: Query<'_>) -> Ask {
        let Query {
            prefix,
            one_level,
            token,
            after,
        } = wanted;
        let mut query = vec![("list-type".to_owned(), "2".to_owned())];
        let mut add = |name: &str, value: &str| query.push((name.to_owned(), value.to_owned()));
        if !prefix.is_empty() {
            add("prefix", prefix);
        }
        if one_level {
            add("delimiter", "/");
        }
        if let Some(token) = token {
            add("continuation-token", token);
        } else if let Some(after) = after {
            add("start-after", after);
        }
        Ask {
            method: "GET",
            query,
            ..Ask::default()
        }
    }

    /// Removes objects.
    pub fn delete_many(keys: &[&str]) -> Ask {
        let mut body = String::from("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        for key in keys {
            body.push_str("<Object><Key>");
            body.push_str(&xml::escape(key));
            body.push_str("</Key></Object>");
        }
        body.push_str("</Delete>");
        let digest = STANDARD.encode(Md5::digest(body.as_bytes()));
        Ask {
            method: "POST",
            key: None,
            query: vec![("delete".to_owned(), String::new())],
            headers: vec![
                ("content-md5".to_owned(), digest),
                ("content-type".to_owned(), "application/xml".to_owned()),
            ],
            body: Some(Bytes::from(body)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_carry_their_conditions() {
        let header = |ask: &Ask, name: &str| {
            ask.headers
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        let object = NewObject {
            body: Bytes::from_static(b"x"),
            source: None,
            mime: "text/plain",
            meta: "m".into(),
        };
        let put = |condition| Ask::put("k", &object, &condition);
        assert_eq!(
            header(&put(Condition::Absent), "if-none-match").as_deref(),
            Some("*")
        );
        let quoted = put(Condition::Matches("e", TagForm::Quoted));
        assert_eq!(header(&quoted, "if-match").as_deref(), Some("\"e\""));
        let bare = put(Condition::Matches("e", TagForm::Bare));
        assert_eq!(header(&bare, "if-match").as_deref(), Some("e"));
        let source = Source {
            key: "a b/ü.txt",
            tag: "s",
            form: TagForm::Quoted,
        };
        let copy = put(Condition::Absent).copying("b", source);
        assert_eq!(copy.body, None);
        for (name, value) in [
            ("x-amz-copy-source", "/b/a%20b/%C3%BC.txt"),
            ("x-amz-copy-source-if-match", "\"s\""),
            ("x-amz-metadata-directive", "REPLACE"),
            ("if-none-match", "*"),
        ] {
            assert_eq!(header(&copy, name).as_deref(), Some(value));
        }
        let range = Ask::get_range("k", 5, 10, Some("e"));
        assert_eq!(header(&range, "range").as_deref(), Some("bytes=5-9"));
        assert_eq!(header(&range, "if-none-match").as_deref(), Some("\"e\""));
        let many = Ask::delete_many(&["a&b", "c\rd"]);
        let body = String::from_utf8(many.body.clone().unwrap_or_default().to_vec()).expect("text");
        assert!(body.contains("<Key>a&amp;b</Key>") && body.contains("<Key>c&#13;d</Key>"));
        assert!(header(&many, "content-md5").is_some());
    }
}
