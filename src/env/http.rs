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
    use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;

    /// Requests by the host's `fetch`: window, worker, workerd, Node, Deno, Bun.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Fetch;

    /// Gives the request up when it is dropped before its answer is there.
    struct Abort {
        controller: Option<JsValue>,
    }

    impl Drop for Abort {
        fn drop(&mut self) {
            if let Some(controller) = self.controller.take() {
                let _ = call(&controller, "abort", &[]);
            }
        }
    }

    fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
        Reflect::get(object, &JsValue::from_str(name))
    }

    fn call(object: &JsValue, name: &str, arguments: &[&JsValue]) -> Result<JsValue, JsValue> {
        let function: Function = get(object, name)?.dyn_into()?;
        let list = Array::new();
        for argument in arguments {
            list.push(argument);
        }
        function.apply(object, &list)
    }

    /// Whether this is a browser, which caches answers and adds cookies unless told otherwise.
    /// Some Workers refuse to be told, and the other hosts do neither.
    fn is_browser(global: &JsValue) -> bool {
        get(global, "navigator")
            .and_then(|navigator| get(&navigator, "userAgent"))
            .ok()
            .and_then(|agent| agent.as_string())
            .is_some_and(|agent| agent.starts_with("Mozilla/"))
    }

    fn is_cross_origin(global: &JsValue, url: &str) -> bool {
        let origin = get(global, "location")
            .and_then(|location| get(&location, "origin"))
            .ok()
            .and_then(|origin| origin.as_string());
        match origin {
            Some(origin) => url
                .strip_prefix(origin.as_str())
                .is_none_or(|rest| !rest.is_empty() && !rest.starts_with(['/', '?'])),
            None => false,
        }
    }

    /// The code of a failure or of its cause, if it looks like a code.
    fn code_of(error: &JsValue) -> Option<String> {
        let own = |value: &JsValue| {
            get(value, "code")
                .ok()
                .and_then(|code| code.as_string())
                .filter(|code| {
                    code.len() <= 40 && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                })
        };
        own(error).or_else(|| get(error, "cause").ok().and_then(|cause| own(&cause)))
    }

    async fn run(request: &Request, abort: &mut Abort) -> Result<Response, (bool, JsValue)> {
        let early = |error| (false, error);
        let late = |error| (true, error);
        let global: JsValue = js_sys::global().into();
        let init = Object::new();
        let set = |name: &str, value: &JsValue| {
            let _ = Reflect::set(&init, &JsValue::from_str(name), value);
        };
        set("method", &JsValue::from_str(request.method));
        set("redirect", &JsValue::from_str("manual"));
        let headers = Object::new();
        for (name, value) in &request.headers {
            Reflect::set(
                &headers,
                &JsValue::from_str(name),
                &JsValue::from_str(value),
            )
            .map_err(early)?;
        }
        set("headers", &headers);
        if let Some(body) = &request.body {
            set("body", &Uint8Array::from(body.as_ref()));
        }
        if is_browser(&global) {
            set("cache", &JsValue::from_str("no-store"));
            set("credentials", &JsValue::from_str("omit"));
        }
        if let Ok(class) = get(&global, "AbortController").and_then(|class| class.dyn_into()) {
            let class: Function = class;
            let controller = Reflect::construct(&class, &Array::new()).map_err(early)?;
            set("signal", &get(&controller, "signal").map_err(early)?);
            abort.controller = Some(controller);
        }
        let url = JsValue::from_str(&request.url);
        let promise: Promise = call(&global, "fetch", &[&url, &init])
            .and_then(|answer| answer.dyn_into())
            .map_err(early)?;
        let response = JsFuture::from(promise).await.map_err(early)?;
        let mut headers = Vec::new();
        let entries =
            call(&get(&response, "headers").map_err(late)?, "entries", &[]).map_err(late)?;
        for entry in js_sys::try_iter(&entries)
            .map_err(late)?
            .into_iter()
            .flatten()
        {
            let entry: Array = entry.map_err(late)?.unchecked_into();
            if let (Some(name), Some(value)) = (entry.get(0).as_string(), entry.get(1).as_string())
            {
                headers.push((name.to_ascii_lowercase(), value));
            }
        }
        let status = get(&response, "status")
            .map_err(late)?
            .as_f64()
            .unwrap_or(0.0) as u16;
        let promise: Promise = call(&response, "arrayBuffer", &[])
            .and_then(|answer| answer.dyn_into())
            .map_err(late)?;
        let body = JsFuture::from(promise).await.map_err(late)?;
        abort.controller = None;
        Ok(Response {
            status,
            headers,
            body: Bytes::from(Uint8Array::new(&body).to_vec()),
        })
    }

    impl Http for Fetch {
        fn send<'a>(&'a self, request: Request) -> LocalBoxFuture<'a, Result<Response, HttpError>> {
            Box::pin(async move {
                let mut abort = Abort { controller: None };
                run(&request, &mut abort)
                    .await
                    .map_err(|(broken, error)| HttpError {
                        broken,
                        cross_origin: !broken
                            && is_cross_origin(&js_sys::global().into(), &request.url),
                        code: code_of(&error),
                    })
            })
        }
    }
}
