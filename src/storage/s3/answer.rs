//! Parses the responses of a bucket: object headers, listings, batch deletions. Bytes in, values
//! out. A response without a required part is refused, so that a truncating proxy or a faulty
//! server never looks like an empty bucket.

use super::date::http_date;
use super::note::{META, Note};
use super::xml::{self, Broken};
use crate::core::file::Mime;
use crate::core::time::Time;
use crate::env::http::Response;
use crate::storage::{Meta, Version};

/// The metadata in a response's headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The metadata of the protocol.
    pub meta: Meta,
    /// The kitbag metadata; `None` for an object that another tool wrote.
    pub note: Option<Note>,
    /// The ETag.
    pub tag: String,
    /// Whether the stored bytes are known to be those of the file, and not a compressed form.
    pub plain: bool,
}

impl Told {
    /// The metadata of an object of `size` bytes that the server stored at `written`.
    pub fn new(
        tag: String,
        size: u64,
        written: Time,
        note: Option<Note>,
        mime: Option<Mime>,
    ) -> Told {
        let modified = note.as_ref().and_then(|note| note.modified);
        Told {
            plain: note.is_some(),
            meta: Meta {
                size,
                created: note.as_ref().and_then(|note| note.created),
                modified: modified.unwrap_or(written),
                mime: mime.filter(|mime| note.is_some() || !is_vague(mime.as_str())),
                format: note.as_ref().map(|note| note.format).unwrap_or_default(),
                texture: note.as_ref().and_then(|note| note.texture),
                mode: None,
                version: Some(Version::Tag(tag.as_str().into())),
            },
            note,
            tag,
        }
    }

    /// The number of lines of the whole object, if kitbag counted them. If the byte count differs,
    /// another tool changed the object but kept the note.
    pub fn lines(&self) -> Option<u64> {
        let (lines, bytes) = self.note.as_ref()?.lines?;
        (bytes == self.meta.size).then_some(lines)
    }
}

/// An ETag without quotes and weak prefix.
pub fn bare_tag(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("W/").unwrap_or(text).trim_matches('"')
}

/// The ETag of a response.
pub fn tag_of(response: &Response) -> Option<String> {
    response
        .header("etag")
        .map(|tag| bare_tag(tag).to_owned())
        .filter(|tag| !tag.is_empty())
}

/// Parses the headers of an object of `size` bytes.
pub fn told(response: &Response, size: u64) -> Result<Told, Broken> {
    let tag = tag_of(response).ok_or(Broken(
        "it has no ETag (in a page, the bucket's CORS rules must expose the header ETag)",
    ))?;
    let note = response.header(META).map(Note::read);
    let written = response.header("last-modified").and_then(http_date);
    let mime = response.header("content-type").map(Mime::given);
    let mut told = Told::new(tag, size, written.unwrap_or_default(), note, mime);
    told.plain = match response.header("content-encoding") {
        Some(_) => false,
        // A page does not see that header, nor the date, which every server sends.
        None => told.plain || response.header("date").is_some(),
    };
    Ok(told)
}

/// Generic types that tools give to unknown content.
fn is_vague(mime: &str) -> bool {
    matches!(
        mime.trim(),
        "" | "application/octet-stream"
            | "binary/octet-stream"
            | "application/x-www-form-urlencoded"
    )
}

/// The total size in a `Content-Range: bytes 0-9/100`.
pub fn whole_size(response: &Response) -> Option<u64> {
    let (_, size) = response.header("content-range")?.rsplit_once('/')?;
    size.trim().parse().ok()
}

/// The id in the answer to the begin of an upload.
pub fn begun(body: &[u8]) -> Result<String, Broken> {
    let root = xml::parse(body)?;
    let id = root.text_of("UploadId").unwrap_or_default().trim();
    match root.name == "InitiateMultipartUploadResult" && !id.is_empty() {
        true => Ok(id.to_owned()),
        false => Err(Broken("it does not say which upload was begun")),
    }
}

/// Whether an upload was completed; `false` for an error behind a status that was sent before.
pub fn completed(body: &[u8]) -> Result<bool, Broken> {
    match xml::parse(body)?.name.as_str() {
        "CompleteMultipartUploadResult" => Ok(true),
        "Error" => Ok(false),
        _ => Err(Broken("it does not say whether the upload was completed")),
    }
}

/// One object of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// The time of the last write, by the server's clock.
    pub modified: Time,
    /// Its ETag.
    pub tag: String,
}

impl Listed {
    /// The metadata of a file from a listing.
    pub fn meta(&self) -> Meta {
        Meta {
            version: Some(Version::Tag(self.tag.as_str().into())),
            ..Meta::of(self.size, self.modified)
        }
    }
}

/// A page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Objects, in byte order of their keys.
    pub objects: Vec<Listed>,
    /// The common prefixes one level below, each ending with `/`.
    pub prefixes: Vec<String>,
    /// The token of the next page.
    pub next: Option<String>,
}

/// Parses a ListObjectsV2 response.
pub fn page(body: &[u8]) -> Result<Page, Broken> {
    let root = xml::parse(body)?;
    if root.name != "ListBucketResult" {
        return Err(Broken("it is not a listing"));
    }
    let mut page = Page::default();
    for object in root.all("Contents") {
        page.objects.push(Listed {
            key: object
                .text_of("Key")
                .filter(|key| !key.is_empty())
                .ok_or(Broken("an object of the listing has no key"))?
                .to_owned(),
            size: object
                .text_of("Size")
                .and_then(|size| size.trim().parse().ok())
                .ok_or(Broken("an object of the listing has no size"))?,
            modified: object
                .text_of("LastModified")
                .and_then(Time::parse)
                .ok_or(Broken("an object of the listing has no time"))?,
            tag: bare_tag(object.text_of("ETag").unwrap_or_default()).to_owned(),
        });
    }
    for prefix in root.all("CommonPrefixes") {
        let prefix = prefix
            .text_of("Prefix")
            .ok_or(Broken("a common prefix of the listing has no name"))?;
        page.prefixes.push(prefix.to_owned());
    }
    match root.text_of("IsTruncated").map(str::trim) {
        Some("true") => {
            let token = root
                .text_of("NextContinuationToken")
                .filter(|token| !token.is_empty())
                .ok_or(Broken("the listing goes on but does not say where"))?;
            page.next = Some(token.to_owned());
        }
        Some("false") => {}
        _ => return Err(Broken("the listing does not say whether it goes on")),
    }
    Ok(page)
}

/// Parses the response to a copy: the ETag of the new object, empty if it is not named; `None`
/// for an error.
pub fn copied(body: &[u8]) -> Result<Option<String>, Broken> {
    let root = xml::parse(body)?;
    match root.name.as_str() {
        "CopyObjectResult" => {
            let tag = root.text_of("ETag").map(bare_tag).unwrap_or_default();
            Ok(Some(tag.to_owned()))
        }
        "Error" => Ok(None),
        _ => Err(Broken("it does not say what became of the copy")),
    }
}

/// The result of a batch deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The deleted keys.
    pub gone: Vec<String>,
    /// The keys that could not be deleted, with their error codes.
    pub kept: Vec<(String, String)>,
}

/// Parses a DeleteObjects response: the deleted keys, and the failed keys with their error codes.
pub fn deleted(body: &[u8]) -> Result<Deleted, Broken> {
    let root = xml::parse(body)?;
    if root.name != "DeleteResult" {
        return Err(Broken("it does not tell what was deleted"));
    }
    let key = |element: &xml::Element| element.text_of("Key").unwrap_or_default().to_owned();
    let gone = root.all("Deleted").map(key).collect();
    let kept = root
        .all("Error")
        .map(|error| {
            let code = error.text_of("Code").unwrap_or_default();
            let code = code.chars().filter(char::is_ascii_alphanumeric).take(64);
            (key(error), code.collect())
        })
        .collect();
    Ok(Deleted { gone, kept })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    const LISTING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
        <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
        <Prefix>d/</Prefix><MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter>\
        <IsTruncated>true</IsTruncated><KeyCount>2</KeyCount>\
        <NextContinuationToken>d/e&amp;</NextContinuationToken>\
        <Contents><Key>d/a&amp;b &#xe9;</Key><LastModified>2026-11-21T07:00:00.123Z</LastModified>\
        <ETag>&quot;781e5e245d69b566979b86e28d23f2c7&quot;</ETag><Size>10</Size>\
        <StorageClass>STANDARD</StorageClass></Contents>\
        <CommonPrefixes><Prefix>d/e/</Prefix></CommonPrefixes></ListBucketResult>";

    #[test]
    fn a_listing_is_read() {
        let page = page(LISTING.as_bytes()).expect("a listing");
        assert_eq!(page.prefixes, ["d/e/"]);
        assert_eq!(page.next.as_deref(), Some("d/e&"));
        let object = page.objects.first().expect("an object");
        assert_eq!(object.key, "d/a&b é");
        assert_eq!(
            (object.size, object.tag.as_str()),
            (10, "781e5e245d69b566979b86e28d23f2c7")
        );
        assert_eq!(object.modified.to_string(), "2026-11-21T07:00:00.123Z");
    }

    #[test]
    fn a_listing_cut_short_is_never_a_short_listing() {
        for end in 0..LISTING.len() {
            assert!(page(&LISTING.as_bytes()[..end]).is_err(), "cut at {end}");
        }
        for (from, to) in [
            ("<IsTruncated>true</IsTruncated>", ""),
            (
                "<NextContinuationToken>d/e&amp;</NextContinuationToken>",
                "",
            ),
            ("<Size>10</Size>", "<Size>ten</Size>"),
            ("ListBucketResult", "Html"),
        ] {
            assert!(
                page(LISTING.replace(from, to).as_bytes()).is_err(),
                "{from}"
            );
        }
    }

    #[test]
    fn a_batch_of_deletions_is_read() {
        let body = "<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key>\
            <Code>AccessDenied</Code><Message>secret</Message></Error></DeleteResult>";
        let Deleted { gone, kept } = deleted(body.as_bytes()).expect("an answer");
        assert_eq!(gone, ["a"]);
        assert_eq!(kept, [("b".to_owned(), "AccessDenied".to_owned())]);
        assert!(deleted(b"<Error/>").is_err());
    }

    #[test]
    fn an_object_s_headers_are_read() {
        let mut response = Response {
            status: 200,
            headers: [
                ("etag", "\"abc\""),
                ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("content-type", "binary/octet-stream"),
                ("content-range", "bytes 0-1/77"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
            body: Bytes::new(),
        };
        let foreign = told(&response, 5).expect("an object");
        assert_eq!(foreign.meta.mime, None);
        assert_eq!(
            foreign.meta.modified.to_string(),
            "1994-11-06T08:49:37.000Z"
        );
        assert_eq!(foreign.meta.version, Some(Version::Tag("abc".into())));
        assert_eq!(whole_size(&response), Some(77));
        response.headers.retain(|(name, _)| name != "etag");
        assert!(told(&response, 5).is_err());
        assert_eq!(bare_tag("W/\"x\""), "x");
    }
}
