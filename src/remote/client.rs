//! Sends requests, and again if no answer came. One that changes something has a key of its own: the server
//! gives the answer that it had for this key, and makes nothing twice. A key begins with the ticket of an
//! earlier answer; with one that is too old the server refuses the change, which is then either known not
//! to be made (it was sent once), or its outcome is unknown ([`Lost::Unknown`]).

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};

use super::asking::Sending;
use super::json::Value;
use super::message::{LINES, Message, PACKED};
use crate::core::cell::RefCell;
use crate::core::effort;
use crate::core::error::{Error, Kind};
use crate::core::parts::Parts;
use crate::core::path::VPath;
use crate::env::http::{Http, HttpError, Request, Response};
use crate::env::{random, timer};

/// How often a request is sent.
const ATTEMPTS: u32 = 6;
/// Most of the random pause before the second attempt; it doubles.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);

/// Most bytes of a read in a header.
const SHORT: usize = 1000;

/// So many bytes of a file have the time of one request.
const PIECE: u64 = 1 << 20;

/// Why there is no answer.
#[derive(Debug)]
pub enum Lost {
    /// Nothing was changed.
    Failed(Error),
    /// A change may have been made. With `never`, the server will not make it any more.
    Unknown {
        /// Whether it is too late for it.
        never: bool,
    },
}

/// A client of one server.
pub struct Client {
    http: Rc<dyn Http>,
    url: String,
    limit: Duration,
    ticket: RefCell<String>,
}

/// What one attempt came to.
enum Attempt {
    Answer(Response),
    /// The server is busy; it did nothing.
    Busy(Option<Duration>),
    /// The key is too old; the server did nothing.
    Stale,
    /// It may have arrived.
    Silent(Error),
    /// Something that is no server of files answered.
    Stranger(Error),
}

impl Client {
    /// A client of the server at an address without `/` at its end; `limit` is for one attempt.
    pub fn new(http: Rc<dyn Http>, url: String, limit: Duration) -> Client {
        Client {
            http,
            url,
            limit,
            ticket: RefCell::default(),
        }
    }

    /// Sends a request until it is answered, as often as is allowed.
    pub async fn send(&self, sending: &Sending<'_>) -> Result<Response, Lost> {
        let mut key = match sending.changes {
            true => self.key(),
            false => String::new(),
        };
        // Whether an earlier attempt may have arrived.
        let mut open = false;
        let mut attempt = 0;
        loop {
            let (error, wait) = match self.attempt(sending, &key).await {
                // One without a ticket was refused before the server looked at the key, as where nobody
                // is signed in any more: it says nothing about the earlier attempt.
                Attempt::Answer(response)
                    if open
                        && sending.changes
                        && !(200..300).contains(&response.status)
                        && response.header("kitbag-ticket").is_none() =>
                {
                    return Err(Lost::Unknown { never: false });
                }
                Attempt::Answer(response) => return Ok(response),
                Attempt::Stale if open => return Err(Lost::Unknown { never: true }),
                Attempt::Stale => {
                    key = self.key();
                    (unanswered("refused the keys of its own answers"), None)
                }
                Attempt::Busy(wait) => (unanswered("is too busy"), wait),
                Attempt::Silent(error) => {
                    open = true;
                    (error, None)
                }
                Attempt::Stranger(_) if open && sending.changes => {
                    return Err(Lost::Unknown { never: false });
                }
                Attempt::Stranger(error) => return Err(Lost::Failed(error)),
            };
            attempt += 1;
            if attempt >= ATTEMPTS {
                return Err(match open && sending.changes {
                    true => Lost::Unknown { never: false },
                    false => Lost::Failed(error),
                });
            }
            let most = PAUSE
                .saturating_mul(1u32.checked_shl(attempt - 1).unwrap_or(u32::MAX))
                .min(LONGEST);
            let pause = most.mul_f64(random::unit());
            timer::sleep(wait.map_or(pause, |wait| wait.min(LONGEST).max(pause))).await;
            effort::repeated();
        }
    }

    /// How long the parts of a file may take together.
    fn limit_of(&self, parts: &dyn Parts) -> Duration {
        let pieces = u32::try_from(parts.size() / PIECE).unwrap_or(u32::MAX);
        self.limit.saturating_mul(pieces.saturating_add(1))
    }

    fn key(&self) -> String {
        format!("{}.{}", *self.ticket.borrow(), random::id())
    }

    fn request(&self, sending: &Sending<'_>, key: &str) -> Request {
        let accept = match sending.lines {
            true => format!("{LINES}, {PACKED}"),
            false => PACKED.to_owned(),
        };
        if let Some(query) = short(sending) {
            return Request {
                method: "GET",
                url: format!("{}/", self.url),
                headers: vec![
                    ("accept".to_owned(), accept),
                    ("x-kitbag-query".to_owned(), query.to_owned()),
                ],
                body: None,
            };
        }
        let mut headers = vec![
            ("accept".to_owned(), accept),
            ("content-type".to_owned(), PACKED.to_owned()),
            ("x-kitbag".to_owned(), "1".to_owned()),
        ];
        if sending.changes {
            headers.push(("idempotency-key".to_owned(), key.to_owned()));
        }
        if let Some((path, parts)) = sending.file {
            headers.push(("x-kitbag-size".to_owned(), parts.size().to_string()));
            if parts.is_new() {
                headers.push(("if-none-match".to_owned(), "*".to_owned()));
            }
            return Request {
                method: "PUT",
                url: format!("{}{}", self.url, encoded(path)),
                headers,
                body: None,
            };
        }
        Request {
            method: if sending.changes { "POST" } else { "QUERY" },
            url: format!("{}/", self.url),
            headers,
            body: Some(sending.body.clone()),
        }
    }

    async fn attempt(&self, sending: &Sending<'_>, key: &str) -> Attempt {
        effort::requested();
        let request = self.request(sending, key);
        let (sent, limit) = match sending.file {
            Some((_, parts)) => (self.http.send_parts(request, parts), self.limit_of(parts)),
            None => (self.http.send(request), self.limit),
        };
        let response = match select(sent, timer::sleep(limit)).await {
            Either::Left((Ok(response), _)) => response,
            Either::Left((Err(error), _)) if error.is_of_body() => {
                let failed = "The file that was to be sent could not be read to its end";
                return Attempt::Stranger(Error::new(Kind::Unavailable, failed));
            }
            Either::Left((Err(error), _)) => return Attempt::Silent(network(&error)),
            Either::Right(_) => {
                let late = "The server of these files did not answer in time";
                return Attempt::Silent(Error::new(Kind::Timeout, late));
            }
        };
        let ticket = response.header("kitbag-ticket");
        if let Some(ticket) = ticket {
            ticket.clone_into(&mut self.ticket.borrow_mut());
        }
        if response.header("kitbag-stale").is_some() {
            return Attempt::Stale;
        }
        let kind = response.header("content-type").unwrap_or_default();
        let is_answer = match kind.split(';').next().unwrap_or_default().trim() {
            LINES => sending.lines && is_ended(&response.body),
            PACKED => is_message(&response),
            // Whoever looked at the address of a short read alone, as where its header was lost, listed a directory.
            "application/json" => {
                let is_other = response.status < 300 && short(sending).is_some();
                !is_other && is_message(&response)
            }
            // A file was stored: there is nothing else to say.
            "" => {
                sending.file.is_some() && matches!(response.status, 201 | 204) && ticket.is_some()
            }
            _ => false,
        };
        if is_answer {
            // What a rule limits has a ticket: that is an answer.
            return match response.status == 429 && ticket.is_none() {
                true => Attempt::Busy(retry_after(&response)),
                false => Attempt::Answer(response),
            };
        }
        match response.status {
            200..=299 if kind.starts_with(LINES) || kind.starts_with(PACKED) => {
                Attempt::Silent(unanswered("cut its answer off"))
            }
            408 | 425 | 429 | 500..=599 => {
                Attempt::Silent(unanswered(&format!("answered {}", response.status)))
            }
            0 | 300..=399 => Attempt::Stranger(unanswered(
                "redirects to another address, which is not followed; give that one as \"url\"",
            )),
            status => Attempt::Stranger(unanswered(&format!(
                "answered {status}, and not as serveFiles does; look at the option \"url\""
            ))),
        }
    }
}

/// A read that fits into a header: a `GET`, which takes hosts less time than a request with a body.
fn short<'a>(sending: &'a Sending<'_>) -> Option<&'a str> {
    let query = sending.body.strip_suffix(b"\n")?;
    let fits = !sending.changes && query.len() <= SHORT;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    (fits && query.iter().all(is_plain)).then(|| std::str::from_utf8(query).ok())?
}

/// A path in an address: all but letters, digits and a few signs as bytes in hexadecimal.
fn encoded(path: &VPath) -> String {
    let mut address = String::with_capacity(path.as_str().len());
    for byte in path.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// Whether a body of lines has its last one.
fn is_ended(body: &Bytes) -> bool {
    let end = body.strip_suffix(b"\n").unwrap_or_default();
    let from = memchr::memrchr(b'\n', end).map_or(0, |at| at + 1);
    end.get(from..)
        .and_then(|line| std::str::from_utf8(line).ok())
        .and_then(Value::parse)
        .is_some_and(|line| line.field("end").is_some())
}

/// Whether a body is shorter than was announced.
fn is_short(response: &Response) -> bool {
    let announced = response.header("content-length");
    let length = announced.and_then(|text| text.parse::<usize>().ok());
    response.header("content-encoding").is_none()
        && length.is_some_and(|length| length > response.body.len())
}

/// Whether a body is whole: a refusal has a code, everything else is a success.
fn is_message(response: &Response) -> bool {
    let Some(message) = Message::read(&response.body).filter(|_| !is_short(response)) else {
        return false;
    };
    match response.status {
        200..=299 => true,
        _ => message.value.text_of("code").is_some(),
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.header("retry-after")?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn unanswered(what: &str) -> Error {
    Error::new(
        Kind::Unavailable,
        format!("The server of these files {what}"),
    )
}

fn network(error: &HttpError) -> Error {
    let code = error
        .code
        .as_deref()
        .map_or(String::new(), |code| format!(" ({code})"));
    let why = match (error.broken, error.cross_origin) {
        (true, _) => "broke its answer off",
        (false, true) => {
            "could not be reached, or does not allow this page: name its origin in the server's \"origins\""
        }
        (false, false) => "could not be reached",
    };
    unanswered(&format!("{why}{code}"))
}
