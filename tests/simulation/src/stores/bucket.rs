//! A bucket: the S3 server of kitbag's own tests, reached over a simulated network.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use kitbag::env::http::{Http, HttpError, Request, Response};
use kitbag::storage::s3::testing::Server;

use super::{Line, Luck};
use crate::watch::Durable;
use crate::wire::Leave;

const LUCK: &[Luck] = &[
    Luck::Lost,
    Luck::Unanswered,
    Luck::Unanswered,
    Luck::Busy,
    Luck::Executed,
    Luck::Silent(false),
    Luck::Silent(true),
    Luck::Cut,
];

/// A client's network.
pub struct Network {
    /// The server.
    pub server: Rc<Server>,
    /// The way to it.
    pub line: Line,
}

/// The bucket as a durable store.
pub struct Bucket(pub Rc<Server>);

impl Durable for Bucket {
    fn files(&self) -> Vec<(String, Bytes)> {
        let objects = self.0.objects.borrow();
        let files = objects.iter().filter(|(key, _)| !key.starts_with('~'));
        files
            .map(|(key, object)| (format!("/{key}"), object.body.clone()))
            .collect()
    }
}

fn failed(status: u16, code: &str) -> Response {
    let body = Bytes::from(format!("<Error><Code>{code}</Code></Error>"));
    Response {
        status,
        headers: vec![("content-length".into(), body.len().to_string())],
        body,
    }
}

impl Http for Network {
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
        let place = request.url.rsplit_once("/b").map_or("", |(_, place)| place);
        let place = place.split('&').next().unwrap_or_default();
        let luck = self.line.luck(&format!("{} {place}", request.method), LUCK);
        let (server, line) = (self.server.clone(), self.line.clone());
        let leave = match request.changes() {
            true => Leave::Settle,
            false => Leave::Abort,
        };
        let execute = move || {
            let answer = || {
                let answer = server.answer(&request);
                server.log.borrow_mut().clear();
                if request.changes() {
                    line.watch.changed(&line.world);
                }
                answer
            };
            let error = |broken| HttpError {
                broken,
                cross_origin: false,
                code: Some("ECONNRESET".into()),
            };
            match luck {
                Luck::Good => Ok(answer()),
                Luck::Lost => Err(error(false)),
                Luck::Busy => Ok(failed(503, "SlowDown")),
                Luck::Unanswered => {
                    answer();
                    Err(error(true))
                }
                Luck::Executed => {
                    answer();
                    Ok(failed(500, "InternalError"))
                }
                Luck::Silent(executed) => {
                    if executed {
                        answer();
                    }
                    Err(error(true))
                }
                Luck::Cut => {
                    let mut response = answer();
                    response.body = response.body.slice(..response.body.len() / 2);
                    Ok(response)
                }
            }
        };
        Box::pin(self.line.send(luck, leave, execute))
    }
}
