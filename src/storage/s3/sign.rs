//! AWS Signature Version 4 in the S3 variant: paths are encoded once and not normalised. Text in,
//! headers or a query out; no clock, no network. It does not know what a request means.

use std::fmt::Write;
use std::rc::Rc;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::core::cell::RefCell;
use crate::core::order;
use crate::core::time::Time;

/// Replaces the body digest if the body is not part of the signature.
pub const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// Keys to sign with. They must never be printed, so there is deliberately no `Debug` or `Display`.
#[derive(Clone)]
pub struct Credentials {
    /// The access key id (public).
    pub access_key_id: String,
    /// The secret access key.
    pub secret_access_key: String,
    /// The session token of temporary keys.
    pub session_token: Option<String>,
    /// When they expire, if they do.
    pub expires: Option<Time>,
}

/// Keys with the signing key derived last. All signatures of a day share the signing key, and
/// deriving it takes half the digests of a signature.
pub struct Keys {
    /// The keys.
    pub credentials: Credentials,
    derived: RefCell<Option<(String, Rc<[u8]>)>>,
}

impl Keys {
    /// Keys without a derived signing key.
    pub fn new(credentials: Credentials) -> Keys {
        Keys {
            credentials,
            derived: RefCell::renewable(|| None),
        }
    }

    /// The signing key for that day and domain.
    fn derived(&self, stamp: &str, domain: Domain<'_>) -> Rc<[u8]> {
        let scope = credential_scope(stamp, domain);
        if let Some((known, key)) = &*self.derived.borrow()
            && *known == scope
        {
            return key.clone();
        }
        let secret = format!("AWS4{}", self.credentials.secret_access_key);
        let mut key = mac(secret.as_bytes(), day(stamp));
        for step in [domain.region, domain.service, "aws4_request"] {
            key = mac(&key, step);
        }
        let key: Rc<[u8]> = key.into();
        self.derived.replace(Some((scope, key.clone())));
        key
    }
}

/// The service and region in which a signature is valid.
#[derive(Clone, Copy, Debug)]
pub struct Domain<'a> {
    /// Such as `us-east-1`.
    pub region: &'a str,
    /// `s3`; different only in the published test suite.
    pub service: &'a str,
}

/// The signed parts of a request.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// `GET`, `PUT` and so on.
    pub method: &'a str,
    /// The percent-encoded path, as sent.
    pub path: &'a str,
    /// Names and values, not percent-encoded.
    pub query: &'a [(String, String)],
    /// Lowercase names with their values, including `host`.
    pub headers: &'a [(String, String)],
}

/// Percent-encodes everything except letters, digits and `-._~`.
pub fn encode(text: &str) -> String {
    encode_but(text, false)
}

/// Percent-encodes a path, except for `/`.
pub fn encode_path(text: &str) -> String {
    encode_but(text, true)
}

fn encode_but(text: &str, keep_slash: bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || (keep_slash && byte == b'/');
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The query as signed and sent: percent-encoded and sorted by encoded names and values.
pub fn canonical_query(query: &[(String, String)]) -> String {
    let mut pairs: Vec<(String, String)> = query
        .iter()
        .map(|(name, value)| (encode(name), encode(value)))
        .collect();
    order::sort(&mut pairs);
    let mut out = String::new();
    for (at, (name, value)) in pairs.iter().enumerate() {
        if at > 0 {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
    out
}

/// A SHA-256 digest in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return NOTHING.to_owned();
    }
    hex(&Sha256::digest(bytes))
}

/// The digest of an empty body, which most requests have.
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// A timestamp like `20130524T000000Z`.
pub fn stamp(time: Time) -> String {
    let text = time.to_string();
    let mut out: String = text
        .split('.')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    out.push('Z');
    out
}

fn day(stamp: &str) -> &str {
    stamp.get(..8).unwrap_or(stamp)
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC accepts keys of any length, so this error never happens.
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }
        Err(_) => Vec::new(),
    }
}

/// The canonical request and the names of its signed headers.
fn canonical_request(parts: Parts<'_>, payload: &str) -> (String, String) {
    let mut headers: Vec<(&str, String)> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), squeeze(value)))
        .collect();
    order::sort(&mut headers);
    let names = headers
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(";");
    let mut text = format!(
        "{}\n{}\n{}\n",
        parts.method,
        parts.path,
        canonical_query(parts.query)
    );
    for (name, value) in &headers {
        let _ = writeln!(text, "{name}:{value}");
    }
    let _ = write!(text, "\n{names}\n{payload}");
    (text, names)
}

/// A header value as signed: trimmed, with runs of spaces reduced to one.
fn squeeze(value: &str) -> String {
    value
        .split(' ')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn signature(canonical: &str, stamp: &str, domain: Domain<'_>, keys: &Keys) -> String {
    let text = format!(
        "AWS4-HMAC-SHA256\n{stamp}\n{}\n{}",
        credential_scope(stamp, domain),
        sha256_hex(canonical.as_bytes())
    );
    hex(&mac(&keys.derived(stamp, domain), &text))
}

fn credential_scope(stamp: &str, domain: Domain<'_>) -> String {
    format!(
        "{}/{}/{}/aws4_request",
        day(stamp),
        domain.region,
        domain.service
    )
}

/// The value of the `authorization` header. `parts` must contain all headers to be signed,
/// including the date and the session token.
pub fn authorization(
    parts: Parts<'_>,
    payload: &str,
    time: Time,
    domain: Domain<'_>,
    keys: &Keys,
) -> String {
    let stamp = stamp(time);
    let credentials = &keys.credentials;
    let (canonical, names) = canonical_request(parts, payload);
    format!(
        "AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={names},Signature={}",
        credentials.access_key_id,
        credential_scope(&stamp, domain),
        signature(&canonical, &stamp, domain, keys)
    )
}

/// The query of a presigned request, valid for `seconds`. The body is not signed; the headers are,
/// and must be sent unchanged.
pub fn presigned_query(
    parts: Parts<'_>,
    seconds: u32,
    time: Time,
    domain: Domain<'_>,
    keys: &Keys,
) -> String {
    let stamp = stamp(time);
    let credentials = &keys.credentials;
    let mut names: Vec<&str> = parts
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    order::sort(&mut names);
    let mut query = parts.query.to_vec();
    let mut add = |name: &str, value: String| query.push((name.to_owned(), value));
    add("X-Amz-Algorithm", "AWS4-HMAC-SHA256".to_owned());
    add(
        "X-Amz-Credential",
        format!(
            "{}/{}",
            credentials.access_key_id,
            credential_scope(&stamp, domain)
        ),
    );
    add("X-Amz-Date", stamp.clone());
    add("X-Amz-Expires", seconds.to_string());
    add("X-Amz-SignedHeaders", names.join(";"));
    if let Some(token) = &credentials.session_token {
        add("X-Amz-Security-Token", token.clone());
    }
    let signed = Parts {
        query: &query,
        ..parts
    };
    let (canonical, _) = canonical_request(signed, UNSIGNED);
    format!(
        "{}&X-Amz-Signature={}",
        canonical_query(&query),
        signature(&canonical, &stamp, domain, keys)
    )
}

/// The published examples. The module is public so that the wasm build can be tested with them too.
#[cfg(any(test, feature = "testing"))]
pub mod examples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_that_were_published() {
        let outcomes = examples::all();
        assert_eq!(outcomes.len(), 11);
        for outcome in outcomes {
            assert_eq!(outcome.made, outcome.published, "{}", outcome.name);
        }
    }

    #[test]
    fn nasty_characters_are_encoded_once() {
        assert_eq!(encode_path("a b/+%?#é~"), "a%20b/%2B%25%3F%23%C3%A9~");
        assert_eq!(encode("a/b"), "a%2Fb");
        let query = [("prefix", "a b+c"), ("delimiter", "/"), ("Z", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(canonical_query(&query), "Z=&delimiter=%2F&prefix=a%20b%2Bc");
    }

    #[test]
    fn a_presigned_request_carries_its_token() {
        let keys = Keys::new(Credentials {
            access_key_id: "id".into(),
            secret_access_key: "secret".into(),
            session_token: Some("to/ken".into()),
            expires: None,
        });
        let headers = [("host".to_owned(), "h".to_owned())];
        let parts = Parts {
            method: "GET",
            path: "/k",
            query: &[],
            headers: &headers,
        };
        let domain = Domain {
            region: "r",
            service: "s3",
        };
        let query = presigned_query(parts, 60, Time::default(), domain, &keys);
        assert!(query.contains("X-Amz-Security-Token=to%2Fken"));
        assert!(query.contains("X-Amz-Date=19700101T000000Z"));
        assert!(!query.contains("secret"));
    }

    #[test]
    fn the_digest_of_nothing_is_what_it_is() {
        assert_eq!(hex(&Sha256::digest(b"")), sha256_hex(b""));
    }

    #[test]
    fn keys_sign_on_another_day_and_elsewhere_as_fresh_ones_do() {
        let fresh = || {
            Keys::new(Credentials {
                access_key_id: "id".into(),
                secret_access_key: "secret".into(),
                session_token: None,
                expires: None,
            })
        };
        let parts = Parts {
            method: "GET",
            path: "/k",
            query: &[],
            headers: &[],
        };
        let used = fresh();
        let mut seen = Vec::new();
        for (day, region) in [(0, "r"), (0, "r"), (1, "r"), (1, "q"), (0, "r")] {
            let time = Time::from_micros(day * 86_400_000_000);
            let domain = Domain {
                region,
                service: "s3",
            };
            let sign = |keys: &Keys| authorization(parts, NOTHING, time, domain, keys);
            assert_eq!(sign(&used), sign(&fresh()));
            seen.push(sign(&used));
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 3);
    }
}
