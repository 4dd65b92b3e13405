//! How requests are signed: with keys that are configured or fetched, or by a host that signs for
//! the client. Keys are renewed before they expire, once for all waiting requests.

use std::rc::Rc;
use std::time::Duration;

use super::bucket::Bucket;
use super::request::Ask;
use super::sign::{self, Credentials, Domain, Keys, Parts};
use crate::core::cell::RefCell;
use crate::core::error::Result;
use crate::core::future::Pending;
use crate::core::lock::Mutex;
use crate::core::time::Time;
use crate::env::http::Request;

/// Keys are renewed when their remaining time is shorter than this.
const MARGIN: Duration = Duration::from_secs(120);

/// A source of keys.
pub trait KeySource {
    /// Keys that are valid now.
    fn keys(&self) -> Pending<'_, Credentials>;
}

/// A host that signs requests, such as a user's own server.
pub trait Signer {
    /// Returns the URL to send a request to, and headers to add to those of the request.
    fn sign<'a>(&'a self, ask: &'a Ask) -> Pending<'a, (String, Vec<(String, String)>)>;
}

/// How requests are signed.
pub enum Access {
    /// With keys.
    Keys(KeyRing),
    /// By the host.
    Host(Box<dyn Signer>),
}

/// Keys and their source.
pub struct KeyRing {
    source: Box<dyn KeySource>,
    held: RefCell<Option<Rc<Keys>>>,
    turn: Mutex<()>,
}

impl KeyRing {
    /// Keys from a source, fetched on first use.
    pub fn new(source: Box<dyn KeySource>) -> KeyRing {
        KeyRing {
            source,
            held: RefCell::renewable(|| None),
            turn: Mutex::new(()),
        }
    }

    fn good(&self, now: Time) -> Option<Rc<Keys>> {
        let held = self.held.borrow();
        let keys = held.as_ref()?;
        let margin = i64::try_from(MARGIN.as_micros()).unwrap_or(0);
        match keys.credentials.expires {
            Some(end) if end.micros().saturating_sub(margin) <= now.micros() => None,
            _ => Some(keys.clone()),
        }
    }

    async fn keys(&self, now: Time) -> Result<Rc<Keys>> {
        if let Some(keys) = self.good(now) {
            return Ok(keys);
        }
        let _turn = self.turn.lock().await;
        if let Some(keys) = self.good(now) {
            return Ok(keys);
        }
        let keys = Rc::new(Keys::new(self.source.keys().await?));
        self.held.replace(Some(keys.clone()));
        Ok(keys)
    }
}

impl Access {
    /// The server reported that the keys have expired.
    pub fn expired(&self) {
        if let Access::Keys(ring) = self {
            ring.held.replace(None);
        }
    }

    /// A request that is ready to be sent.
    pub async fn signed(&self, bucket: &Bucket, ask: &Ask, now: Time) -> Result<Request> {
        match self {
            Access::Keys(ring) => Ok(with_keys(bucket, ask, now, &*ring.keys(now).await?)),
            Access::Host(host) => {
                let (url, more) = host.sign(ask).await?;
                let mut headers = ask.headers.clone();
                for (name, value) in more {
                    let name = name.to_ascii_lowercase();
                    headers.retain(|(known, _)| *known != name);
                    headers.push((name, value));
                }
                Ok(Request {
                    method: ask.method,
                    url,
                    headers: sendable(headers),
                    body: ask.body.clone(),
                })
            }
        }
    }
}

fn with_keys(bucket: &Bucket, ask: &Ask, now: Time, keys: &Keys) -> Request {
    let digest = sign::sha256_hex(ask.body.as_deref().unwrap_or_default());
    let mut headers = ask.headers.clone();
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    add("host", bucket.host.clone());
    add("x-amz-date", sign::stamp(now));
    add("x-amz-content-sha256", digest.clone());
    if let Some(token) = &keys.credentials.session_token {
        add("x-amz-security-token", token.clone());
    }
    let authorization = sign::authorization(
        Parts {
            method: ask.method,
            path: &bucket.path(ask.key.as_deref()),
            query: &ask.query,
            headers: &headers,
        },
        &digest,
        now,
        Domain {
            region: &bucket.region,
            service: "s3",
        },
        keys,
    );
    headers.push(("authorization".to_owned(), authorization));
    Request {
        method: ask.method,
        url: bucket.url(ask),
        headers: sendable(headers),
        body: ask.body.clone(),
    }
}

/// Hosts set these headers themselves, and some refuse to let callers set them.
fn sendable(mut headers: Vec<(String, String)>) -> Vec<(String, String)> {
    headers.retain(|(name, _)| !matches!(name.as_str(), "host" | "content-length"));
    headers
}

/// Fixed keys.
impl KeySource for Credentials {
    fn keys(&self) -> Pending<'_, Credentials> {
        crate::storage::done(Ok(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::s3::bucket::Location;
    use futures_util::future::join_all;
    use std::cell::Cell;

    struct Lent {
        calls: Rc<Cell<u32>>,
        seconds: i64,
    }

    impl KeySource for Lent {
        fn keys(&self) -> Pending<'_, Credentials> {
            Box::pin(async move {
                crate::env::timer::sleep(Duration::ZERO).await;
                let call = self.calls.get() + 1;
                self.calls.set(call);
                Ok(Credentials {
                    access_key_id: format!("id{call}"),
                    secret_access_key: "secret".into(),
                    session_token: Some("token".into()),
                    expires: Some(Time::from_micros(
                        i64::from(call) * self.seconds * 1_000_000,
                    )),
                })
            })
        }
    }

    #[test]
    fn keys_are_fetched_once_and_again_before_they_end() {
        let calls = Rc::new(Cell::new(0));
        let access = Access::Keys(KeyRing::new(Box::new(Lent {
            calls: calls.clone(),
            seconds: 1000,
        })));
        let bucket = Bucket::new(&Location {
            endpoint: Some("http://h"),
            region: "r",
            bucket: "b",
            ..Location::default()
        })
        .expect("a bucket");
        let ask = Ask::get("k", None);
        let at = |seconds: i64| Time::from_micros(seconds * 1_000_000);
        let all =
            futures_util::future::join_all((0..5).map(|_| access.signed(&bucket, &ask, at(0))));
        let requests: Vec<_> = block_on(all)
            .into_iter()
            .map(|r| r.expect("signed"))
            .collect();
        assert_eq!(calls.get(), 1);
        let header = |name: &str| {
            requests[0]
                .headers
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(header("x-amz-security-token").as_deref(), Some("token"));
        assert!(
            header("authorization")
                .expect("signed")
                .contains("Credential=id1/")
        );
        assert_eq!(header("host"), None);
        let _ = block_on(join_all([access.signed(&bucket, &ask, at(800))]));
        assert_eq!(calls.get(), 1, "still good");
        let _ = block_on(access.signed(&bucket, &ask, at(900)));
        assert_eq!(calls.get(), 2, "less than the margin left");
        if let Access::Keys(ring) = &access {
            ring.held.replace(None);
        }
        let _ = block_on(access.signed(&bucket, &ask, at(900)));
        assert_eq!(calls.get(), 3, "refused by the server");
    }

    use crate::core::testing::block_on;
}
