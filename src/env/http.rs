//! One HTTP request and its answer as plain data, and the seam they go through. What a request
//! means, whether it is repeated and what its answer says is not known here. Dropping the future
//! gives the request up.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;

/// What is sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `PUT` and so on.
    pub method: &'static str,
    /// The whole address. It may hold a signature, so it is never shown.
    pub url: String,
    /// Names in small letters, and values. They may hold secrets, so they are never shown.
    pub headers: Vec<(String, String)>,
    /// The body, where there is one.
    pub body: Option<Bytes>,
}

/// What came back, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status; 0 where the host would not tell, as browsers do for redirects.
    pub status: u16,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// The value of a header, whose name is given in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer. The host's own sentence is left out on purpose: some hosts put the
/// whole signed address into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    /// Whether the answer began and then broke off.
    pub broken: bool,
    /// Whether a page asked another origin, so that CORS may be the cause.
    pub cross_origin: bool,
    /// The host's code for it, such as `ECONNREFUSED`.
    pub code: Option<String>,
}

/// A way to send requests.
pub trait Http {
    /// Sends one request and gathers its answer.
    fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>>;
}

#[cfg(target_arch = "wasm32")]
pub use fetch::Fetch;

#[cfg(target_arch = "wasm32")]
mod fetch {
    use super::*;
    use crate::env::abort::AbortOnDrop;
    use crate::env::host;
    use js_sys::{Array, Function, Promise, Uint8Array};
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;

    /// Requests by the host's `fetch`: window, worker, workerd, Node, Deno, Bun. The function is
    /// `send` of `pkg-template/src/core/http.ts`, which does in JavaScript what would otherwise
    /// cross the boundary a hundred times.
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

    impl Http for Fetch {
        fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
            Box::pin(async move {
                let body = match &request.body {
                    Some(body) => Uint8Array::from(body.as_ref()).into(),
                    None => JsValue::UNDEFINED,
                };
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
                let abort = AbortOnDrop::of(sent.get(1).unchecked_into());
                let promise: Promise = sent.get(0).unchecked_into();
                let answer = JsFuture::from(promise).await;
                abort.finished();
                match answer.map(JsCast::dyn_into::<Array>) {
                    Ok(Ok(answer)) => Ok(response(&answer)),
                    Ok(Err(answer)) | Err(answer) => Err(failure(&answer)),
                }
            })
        }
    }
}
