//! An HTTP request and its response as plain data, and the trait that sends them. The meaning of
//! requests, retries and the interpretation of responses are the caller's. Dropping the future
//! aborts a request that reads. One that changes something may have arrived, so it goes on as
//! [unsettled](crate::core::unsettled) work, since nobody could say what became of it otherwise.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

use crate::core::parts::{Parts, gathered};

/// An HTTP request.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `PUT` and so on. `QUERY` is a `POST` that changes nothing, and is sent as one: hosts and
    /// proxies do not know the method yet.
    pub method: &'static str,
    /// The full URL. It may contain a signature, so it is never shown.
    pub url: String,
    /// Names in lower case, and values. They may contain secrets, so they are never shown.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Bytes>,
}

impl Request {
    /// Whether it may change something.
    pub fn changes(&self) -> bool {
        !matches!(self.method, "GET" | "HEAD" | "QUERY")
    }
}

/// A complete HTTP response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status; 0 if the host hides it, as browsers do for redirects.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// The value of a header; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no response. The host's own message is left out on purpose: some hosts include the
/// whole signed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    /// Whether the response began and was then interrupted.
    pub broken: bool,
    /// Whether a page made a cross-origin request, so that CORS may be the cause.
    pub cross_origin: bool,
    /// The host's error code, such as `ECONNREFUSED`.
    pub code: Option<String>,
}

/// The code of a body that could not be read to its end.
const BODY_FAILED: &str = "BODY_FAILED";

impl HttpError {
    /// There was no body to send.
    fn of_body() -> HttpError {
        HttpError {
            broken: false,
            cross_origin: false,
            code: Some(BODY_FAILED.to_owned()),
        }
    }

    /// Whether the parts of a body could not be read: the server is not to blame.
    pub fn is_of_body(&self) -> bool {
        self.code.as_deref() == Some(BODY_FAILED)
    }
}

/// Sends HTTP requests.
pub trait Http {
    /// Sends one request and reads its whole response.
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>>;

    /// The same with a body that comes in parts. A host that cannot send one so has it in memory.
    fn send_parts<'a>(
        &'a self,
        request: Request,
        parts: &'a dyn Parts,
    ) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
        Box::pin(async move {
            let Ok(body) = gathered(parts).await else {
                return Err(HttpError::of_body());
            };
            let body = Some(body);
            self.send(Request { body, ..request }).await
        })
    }
}

#[cfg(host = "javascript")]
pub use fetch::Fetch;

#[cfg(host = "javascript")]
mod fetch {
    use super::*;
    use crate::env::abort::AbortOnDrop;
    use crate::env::host::{self, Awaited};
    use js_sys::{Array, Function, Promise, Uint8Array};
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;

    /// Requests with the host's `fetch`: window, worker, workerd, Node, Deno, Bun. The function is
    /// `send` of `ts/core/http.ts`, which does in JavaScript what would otherwise
    /// need a hundred calls across the boundary.
    #[derive(Clone, Debug)]
    pub struct Fetch(pub Function);

    const SEPARATOR: char = '\0';

    fn flat(headers: &[(String, String)]) -> String {
        let mut out = String::new();
        for (name, value) in headers {
            out.push_str(name);
            out.push(SEPARATOR);
            out.push_str(value);
            out.push(SEPARATOR);
        }
        out
    }

    fn response(answer: &Array) -> Response {
        let flat = answer.get(1).as_string().unwrap_or_default();
        let mut parts = flat.split(SEPARATOR);
        let mut headers = Vec::new();
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            headers.push((name.to_owned(), value.to_owned()));
        }
        Response {
            status: answer.get(0).as_f64().unwrap_or(0.0) as u16,
            headers,
            body: Bytes::from(answer.get(2).unchecked_into::<Uint8Array>().to_vec()),
        }
    }

    fn failure(answer: &JsValue) -> HttpError {
        let is = |name| host::property(answer, name).is_some_and(|value| value.is_truthy());
        HttpError {
            broken: is("broken"),
            cross_origin: is("crossOrigin"),
            code: host::text_property(answer, "code"),
        }
    }

    impl Fetch {
        fn sent(
            &self,
            request: Request,
            body: JsValue,
        ) -> LocalBoxFuture<'_, Result<Response, HttpError>> {
            Box::pin(async move {
                let sent = self.0.call4(
                    &JsValue::UNDEFINED,
                    &JsValue::from_str(request.method),
                    &JsValue::from_str(&request.url),
                    &JsValue::from_str(&flat(&request.headers)),
                    &body,
                );
                let sent: Array = match sent {
                    Ok(sent) => sent.unchecked_into(),
                    Err(thrown) => return Err(failure(&thrown)),
                };
                let promise: Promise = sent.get(0).unchecked_into();
                let abort = AbortOnDrop::of(sent.get(1).unchecked_into());
                let awaited = Awaited(request.changes().then(|| promise.clone()));
                let answer = JsFuture::from(promise).await;
                awaited.settled();
                abort.finished();
                match answer.map(JsCast::dyn_into::<Array>) {
                    Ok(Ok(answer)) => Ok(response(&answer)),
                    Ok(Err(answer)) | Err(answer) => Err(failure(&answer)),
                }
            })
        }
    }

    impl Http for Fetch {
        fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
            let body = match &request.body {
                Some(body) => Uint8Array::from(body.as_ref()).into(),
                None => JsValue::UNDEFINED,
            };
            self.sent(request, body)
        }

        fn send_parts<'a>(
            &'a self,
            request: Request,
            parts: &'a dyn Parts,
        ) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
            match parts.object().downcast_ref::<JsValue>() {
                Some(object) => self.sent(request, object.clone()),
                None => Box::pin(std::future::ready(Err(HttpError::of_body()))),
            }
        }
    }
}
