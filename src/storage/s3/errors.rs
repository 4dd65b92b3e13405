//! Maps unsuccessful S3 responses to errors. Messages contain the operation, the path and the
//! server's error code, but never the server's message, which may repeat keys and signatures.

use std::time::Duration;

use super::date::http_date;
use super::objects::{Refusal, Trouble};
use super::xml;
use crate::core::error::{Error, Kind};
use crate::core::path::VPath;
use crate::core::time::{Time, whole_millis};
use crate::env::http::{HttpError, Response};

/// A failed attempt, before the decision whether to retry.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The status; 0 if there was no response.
    pub status: u16,
    /// The server's error code, such as `SlowDown`; empty if there is none.
    pub code: String,
    /// Whether the same request may succeed later.
    pub transient: bool,
    /// Whether the request may have been executed nevertheless.
    pub uncertain: bool,
    /// How long the server asks the client to wait.
    pub wait: Option<Duration>,
    /// The error for the caller.
    pub error: Error,
}

impl Failure {
    /// A failure before anything was sent, for example because keys could not be fetched.
    pub fn before(error: Error) -> Failure {
        Failure {
            status: 0,
            code: String::new(),
            transient: false,
            uncertain: false,
            wait: None,
            error,
        }
    }

    /// Whether the condition of a change was not met.
    pub fn is_condition(&self) -> bool {
        self.status == 412 || self.is_race()
    }

    /// Whether another change of the same object was in progress.
    pub fn is_race(&self) -> bool {
        self.status == 409 && self.code != "BucketAlreadyExists"
    }

    /// Whether the object does not exist (as opposed to the bucket).
    pub fn is_missing(&self) -> bool {
        self.status == 404 && self.code != "NoSuchBucket"
    }

    /// Whether the server asks for fewer requests.
    pub fn asks_for_fewer(&self) -> bool {
        matches!(self.status, 429 | 503)
    }

    /// Whether the server does not support the request.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.status, 501 | 405) || self.code == "NotImplemented"
    }
}

/// The context of a failure.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// `read`, `write`, `list` …
    pub operation: &'static str,
    /// The path, or `None` for the bucket.
    pub path: Option<&'a VPath>,
    /// `S3`, or the name of a compatible service.
    pub service: &'static str,
    /// The bucket's name.
    pub bucket: &'a str,
}

impl About<'_> {
    /// An error in this context: `S3 could not {operation} '{path}'{after}`.
    pub fn error(&self, kind: Kind, after: String) -> Error {
        match self.path {
            Some(path) => Error::at(
                kind,
                format!("{} could not {} '", self.service, self.operation),
                path,
                format!("'{after}"),
            ),
            None => Error::new(
                kind,
                format!(
                    "{} could not {} in bucket '{}'{after}",
                    self.service, self.operation, self.bucket
                ),
            ),
        }
    }

    /// An unusable response; a retry may help.
    pub fn nonsense(&self, what: &str) -> Failure {
        Failure {
            status: 0,
            code: String::new(),
            transient: true,
            uncertain: true,
            wait: None,
            error: self.error(
                Kind::Unavailable,
                format!(": the answer cannot be used, {what}"),
            ),
        }
    }

    /// No response before the timeout of one attempt.
    pub fn late(&self, limit: Duration) -> Failure {
        Failure {
            status: 0,
            code: String::new(),
            transient: true,
            uncertain: true,
            wait: None,
            error: self.error(
                Kind::Timeout,
                format!(": no answer within {} ms", whole_millis(limit)),
            ),
        }
    }

    /// No response, or an incomplete one.
    fn network(&self, failure: &HttpError) -> Failure {
        let code = failure.code.clone().unwrap_or_default();
        let mut after = String::from(if failure.broken {
            ": the answer broke off"
        } else {
            ": the server could not be reached"
        });
        if !code.is_empty() {
            after = format!("{after} ({code})");
        }
        if failure.cross_origin {
            after.push_str(
                ". In a page the likely cause is CORS: the bucket must allow this origin, the \
                 methods GET, HEAD, PUT, POST and DELETE, all headers ('*'), and expose the \
                 headers ETag, Last-Modified, Content-Range, Retry-After and x-amz-meta-kitbag",
            );
        }
        Failure {
            status: 0,
            code,
            transient: true,
            uncertain: true,
            wait: None,
            error: self.error(Kind::Unavailable, after),
        }
    }

    /// An exception of the host's object. Only its code is repeated; R2 appends it to its messages
    /// in parentheses.
    fn thrown(&self, thrown: &Error) -> Failure {
        let message = thrown.to_string();
        let code = message
            .trim_end()
            .strip_suffix(')')
            .and_then(|message| message.rsplit_once('('))
            .map(|(_, code)| code)
            .filter(|code| !code.is_empty() && code.bytes().all(|b| b.is_ascii_digit()));
        let shown = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let error = self.error(
            Kind::Unavailable,
            format!(": the binding threw an exception{shown}; see the cause"),
        );
        Failure {
            status: 0,
            code: code.unwrap_or_default().to_owned(),
            transient: true,
            uncertain: true,
            wait: None,
            error: match thrown.cause() {
                Some(cause) => error.caused_by(cause.clone()),
                None => error,
            },
        }
    }

    /// Why an attempt did not succeed.
    pub fn trouble(&self, trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Unsent(error) => Failure::before(error),
            Trouble::Network(failure) => self.network(&failure),
            Trouble::Thrown(error) => self.thrown(&error),
            Trouble::Refused(refusal) => self.refused(refusal),
            Trouble::Broken(what) => self.nonsense(what),
        }
    }

    /// An unsuccessful status.
    pub fn refused(&self, refusal: Refusal) -> Failure {
        let Refusal {
            status, code, wait, ..
        } = refusal;
        let transient = matches!(status, 429 | 500 | 502 | 503 | 504)
            || matches!(
                code.as_str(),
                "RequestTimeout"
                    | "SlowDown"
                    | "InternalError"
                    | "BadDigest"
                    | "IncompleteBody"
                    | "XAmzContentSHA256Mismatch"
                    | "ExpiredToken"
                    | "RequestTimeTooSkewed"
            );
        let shown = match (status, code.as_str()) {
            (0, _) => "a redirect".to_owned(),
            (status, "") => status.to_string(),
            (status, code) => format!("{status} {code}"),
        };
        let error = self.explain(status, &code, &shown);
        Failure {
            status,
            transient,
            uncertain: matches!(status, 500 | 502 | 503 | 504),
            wait,
            code,
            error: match wait {
                Some(wait) => error.retry_after(wait),
                None => error,
            },
        }
    }

    fn explain(&self, status: u16, code: &str, shown: &str) -> Error {
        match (status, code) {
            (404, "NoSuchBucket") => Error::new(
                Kind::Unavailable,
                format!(
                    "The bucket '{}' does not exist ({shown}). Create it, or correct `bucket`, \
                     `region` or `endpoint`.",
                    self.bucket
                ),
            ),
            (404, _) => match self.path {
                Some(path) => Error::not_found(path),
                None => self.error(
                    Kind::Unavailable,
                    format!(": {shown}. Check `bucket` and `endpoint`."),
                ),
            },
            (0 | 301 | 307 | 308, _) | (400, "AuthorizationHeaderMalformed") => self.error(
                Kind::Unavailable,
                format!(
                    ": {shown}. The bucket is served elsewhere; check `region` and `endpoint`."
                ),
            ),
            (403, "RequestTimeTooSkewed") => self.error(
                Kind::Unavailable,
                format!(": {shown}. The clock of this machine is wrong."),
            ),
            (_, "ExpiredToken") => self.error(
                Kind::PermissionDenied,
                format!(": {shown}. The credentials have expired; give fresh ones."),
            ),
            (401 | 403, _) => self.error(
                Kind::PermissionDenied,
                format!(
                    ": {shown}. The credentials, or the bucket's rules, do not allow it in '{}'.",
                    self.bucket
                ),
            ),
            (412, _) | (409, "ConditionalRequestConflict") => match self.path {
                Some(path) => Error::conflict(path),
                None => self.error(Kind::Conflict, format!(": {shown}")),
            },
            (413, _) | (_, "EntityTooLarge") => {
                self.error(Kind::TooLarge, format!(": {shown}. It is too large."))
            }
            (429, _) | (_, "SlowDown") => self.error(
                Kind::RateLimited,
                format!(": {shown}. Too many requests; try again later."),
            ),
            (507, _) | (_, "QuotaExceeded") => self.error(
                Kind::QuotaExceeded,
                format!(": {shown}. The storage is full."),
            ),
            (501 | 405, _) | (_, "NotImplemented") => self.error(
                Kind::Unsupported,
                format!(": {shown}. The server cannot do this."),
            ),
            _ => self.error(Kind::Unavailable, format!(": {shown}")),
        }
    }
}

/// Parses a response with an unsuccessful status.
pub fn refusal(response: &Response, now: Time) -> Refusal {
    let document = xml::parse(&response.body)
        .ok()
        .filter(|root| root.name == "Error");
    let field = |name: &str| document.as_ref().and_then(|root| root.text_of(name));
    let code: String = field("Code")
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(64)
        .collect();
    Refusal {
        status: response.status,
        wait: response
            .header("retry-after")
            .and_then(|text| retry_after(text, now)),
        server_time: (code == "RequestTimeTooSkewed")
            .then(|| field("ServerTime").and_then(Time::parse))
            .flatten(),
        code,
    }
}

/// Parses `Retry-After`: seconds or a date.
fn retry_after(text: &str, now: Time) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let until = http_date(text)?.micros().saturating_sub(now.micros());
    Some(Duration::from_micros(u64::try_from(until).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> VPath {
        VPath::parse("/a.txt").expect("a path")
    }

    fn told(status: u16, body: &str) -> Failure {
        let path = path();
        let about = About {
            operation: "write",
            path: Some(&path),
            service: "S3",
            bucket: "files",
        };
        let response = Response {
            status,
            headers: vec![("retry-after".into(), "2".into())],
            body: body.to_owned().into(),
        };
        about.refused(refusal(&response, Time::default()))
    }

    #[test]
    fn a_server_s_own_words_are_never_repeated() {
        let body = "<Error><Code>InvalidAccessKeyId</Code><Message>AKIASECRET is unknown</Message>\
            <AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>";
        let failure = told(403, body);
        assert_eq!(failure.error.kind(), Kind::PermissionDenied);
        let text = format!("{} {:?} {failure:?}", failure.error, failure.error);
        assert!(!text.contains("AKIA"), "{text}");
        assert!(
            text.contains("/a.txt") && text.contains("403 InvalidAccessKeyId"),
            "{text}"
        );
        assert!(!failure.transient);
    }

    #[test]
    fn statuses_and_codes_become_kinds() {
        let coded = |code: &str| format!("<Error><Code>{code}</Code></Error>");
        for (status, body, kind, transient) in [
            (404, coded("NoSuchBucket"), Kind::Unavailable, false),
            (404, coded("NoSuchKey"), Kind::NotFound, false),
            (404, String::new(), Kind::NotFound, false),
            (403, String::new(), Kind::PermissionDenied, false),
            (412, coded("PreconditionFailed"), Kind::Conflict, false),
            (
                409,
                coded("ConditionalRequestConflict"),
                Kind::Conflict,
                false,
            ),
            (429, String::new(), Kind::RateLimited, true),
            (503, coded("SlowDown"), Kind::RateLimited, true),
            (
                500,
                "<Error><Code>Inter".to_owned(),
                Kind::Unavailable,
                true,
            ),
            (
                400,
                coded("XAmzContentSHA256Mismatch"),
                Kind::Unavailable,
                true,
            ),
            (400, coded("ExpiredToken"), Kind::PermissionDenied, true),
            (413, coded("EntityTooLarge"), Kind::TooLarge, false),
            (501, coded("NotImplemented"), Kind::Unsupported, false),
            (301, coded("PermanentRedirect"), Kind::Unavailable, false),
        ] {
            let failure = told(status, &body);
            assert_eq!(failure.error.kind(), kind, "{status} {body}");
            assert_eq!(failure.transient, transient, "{status} {body}");
            assert_eq!(failure.wait, Some(Duration::from_secs(2)));
        }
        let missing = told(404, &coded("NoSuchBucket"));
        assert!(missing.error.to_string().contains("'files'"));
    }

    #[test]
    fn waits_and_dates_are_read() {
        let now = http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("a date");
        assert_eq!(now.to_string(), "1994-11-06T08:49:37.000Z");
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:40 GMT", now),
            Some(Duration::from_secs(3))
        );
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:30 GMT", now),
            Some(Duration::ZERO)
        );
        for bad in ["", "soon", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun,", "-1"] {
            assert_eq!(retry_after(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_page_is_told_of_cors() {
        let path = path();
        let about = About {
            operation: "read",
            path: Some(&path),
            service: "S3",
            bucket: "files",
        };
        let mut failure = HttpError {
            broken: false,
            cross_origin: true,
            code: None,
        };
        assert!(about.network(&failure).error.to_string().contains("CORS"));
        failure.cross_origin = false;
        failure.code = Some("ECONNREFUSED".into());
        let text = about.network(&failure).error.to_string();
        assert!(!text.contains("CORS") && text.contains("ECONNREFUSED"));
    }
}
