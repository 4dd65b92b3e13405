//! A bucket over HTTP: signed requests, and responses in XML. If the server reports that the local
//! clock is wrong, later requests are signed with the server's time.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use super::access::Access;
use super::answer::{self, Deleted, Page, Told, tag_of};
use super::bucket::Bucket;
use super::errors::refusal;
use super::objects::{Condition, Got, NewObject, Objects, Query, Sent, Step, Trouble};
use super::request::Ask;
use crate::core::bugs::{Bug, has};
use crate::core::time::Time;
use crate::env::clock;
use crate::env::http::{Http, Response};

/// Signed requests over HTTP.
pub struct Signed {
    bucket: Bucket,
    http: Rc<dyn Http>,
    access: Access,
    /// The offset of the server's clock from the local clock in microseconds.
    skew: Cell<i64>,
}

impl Signed {
    /// Requests to `bucket`, sent by `http`.
    pub fn new(bucket: Bucket, http: Rc<dyn Http>, access: Access) -> Signed {
        Signed {
            bucket,
            http,
            access,
            skew: Cell::new(0),
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(clock::now().micros().saturating_add(self.skew.get()))
    }

    /// The refusal in a response whose status was sent before it was known.
    fn failed_late(&self, response: Response) -> Trouble {
        let failed = Response {
            status: 500,
            ..response
        };
        Trouble::Refused(refusal(&failed, self.now()))
    }

    /// Sends one request. A status of 2xx or 304 is success.
    async fn send(&self, ask: Ask) -> Result<Response, Trouble> {
        let request = self.access.signed(&self.bucket, &ask, self.now()).await;
        let request = request.map_err(Trouble::Unsent)?;
        let response = self.http.send(request).await.map_err(Trouble::Network)?;
        if ask.method != "HEAD" && is_short(&response) {
            return Err(Trouble::Broken("its body is shorter than announced"));
        }
        if matches!(response.status, 200..=299 | 304) {
            return Ok(response);
        }
        let refusal = refusal(&response, self.now());
        if refusal.code == "ExpiredToken" {
            self.access.expired();
        }
        if let Some(server) = refusal.server_time {
            let ours = clock::now().micros();
            self.skew.set(server.micros().saturating_sub(ours));
        }
        Err(Trouble::Refused(refusal))
    }
}

/// Whether a body is shorter than its `Content-Length`.
fn is_short(response: &Response) -> bool {
    if response.status == 304 || response.header("content-encoding").is_some() {
        return false;
    }
    response
        .header("content-length")
        .and_then(|length| length.trim().parse::<usize>().ok())
        .is_some_and(|length| response.body.len() < length)
}

/// Parses the response to a GET.
fn got(response: Response, range: Option<&Range<u64>>) -> Result<Got, Trouble> {
    if response.status == 304 {
        return Ok(Got::Same);
    }
    if let (206, Some(range)) = (response.status, range) {
        let Some(size) = answer::whole_size(&response) else {
            return Ok(Got::Unnamed);
        };
        let wanted = range.end.min(size).saturating_sub(range.start);
        let length = response.body.len() as u64;
        // Pages may not see that header, but the length shows the same.
        if response.header("content-encoding").is_some() || length > wanted {
            return Ok(Got::Packed);
        }
        if length < wanted {
            return Err(Trouble::Broken("it is not the part that was asked for"));
        }
        if wanted < size {
            return Ok(Got::Part(answer::told(&response, size)?, response.body));
        }
    }
    let told = answer::told(&response, response.body.len() as u64)?;
    Ok(Got::Whole(told, response.body))
}

impl Objects for Signed {
    fn head<'a>(&'a self, key: &'a str) -> Sent<'a, Told> {
        Box::pin(async move {
            let response = self.send(Ask::head(key)).await?;
            let size = response
                .header("content-length")
                .and_then(|size| size.trim().parse().ok())
                .unwrap_or(0);
            Ok(answer::told(&response, size)?)
        })
    }

    fn get<'a>(
        &'a self,
        key: &'a str,
        range: Option<&'a Range<u64>>,
        known: Option<&'a str>,
    ) -> Sent<'a, Got> {
        Box::pin(async move {
            let ask = match range {
                Some(range) => Ask::get_range(key, range.start, range.end, known),
                None => Ask::get(key, known),
            };
            got(self.send(ask).await?, range)
        })
    }

    /// A host that signs is not asked for copies: it would have to judge both keys.
    fn copies(&self) -> bool {
        matches!(self.access, Access::Keys(_))
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        object: &'a NewObject<'a>,
        condition: Condition<'a>,
    ) -> Sent<'a, Option<String>> {
        Box::pin(async move {
            let condition = match condition {
                Condition::Matches(..) if has(Bug::ConditionDropped) => Condition::Always,
                condition => condition,
            };
            let ask = Ask::put(key, object, &condition);
            let Some(source) = object.source else {
                return Ok(tag_of(&self.send(ask).await?));
            };
            let response = self.send(ask.copying(&self.bucket.name, source)).await?;
            // A copy that fails after its status was sent is an error in a successful response.
            match answer::copied(&response.body)? {
                Some(tag) => Ok(Some(tag).filter(|tag| !tag.is_empty())),
                None => Err(self.failed_late(response)),
            }
        })
    }

    /// A host that signs is not asked for requests of other kinds.
    fn uploads(&self) -> bool {
        matches!(self.access, Access::Keys(_))
    }

    fn upload<'a>(&'a self, key: &'a str, step: Step<'a>) -> Sent<'a, String> {
        Box::pin(async move {
            let response = self.send(Ask::upload(key, step)).await?;
            match step {
                Step::Begin(..) => Ok(answer::begun(&response.body)?),
                Step::Part(..) => tag_of(&response).ok_or(Trouble::Broken(
                    "a part has no ETag (in a page, the bucket's CORS rules must expose the header ETag)",
                )),
                Step::Complete(..) if !answer::completed(&response.body)? => {
                    Err(self.failed_late(response))
                }
                Step::Complete(..) | Step::Abandon(_) => Ok(String::new()),
            }
        })
    }

    fn delete<'a>(&'a self, key: &'a str, condition: Condition<'a>) -> Sent<'a, ()> {
        Box::pin(async move {
            self.send(Ask::delete(key, &condition)).await?;
            Ok(())
        })
    }

    fn delete_many<'a>(&'a self, keys: &'a [&'a str]) -> Sent<'a, Deleted> {
        Box::pin(async move {
            let response = self.send(Ask::delete_many(keys)).await?;
            Ok(answer::deleted(&response.body)?)
        })
    }

    fn list<'a>(&'a self, query: Query<'a>) -> Sent<'a, Page> {
        Box::pin(async move {
            let response = self.send(Ask::list(query)).await?;
            Ok(answer::page(&response.body)?)
        })
    }
}
