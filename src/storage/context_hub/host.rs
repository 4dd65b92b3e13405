//! A Context Hub client that the host passes in: an object with `pullAgent` and `pushAgent`, like
//! the client of the `langsmith` package.

use std::rc::Rc;

use js_sys::Object;
use wasm_bindgen::{JsCast, JsValue};

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::env::host;
use crate::storage::context_hub::hub::{Changes, Hub, Pulled};

/// A repo that is reached through a client.
pub struct HostHub {
    /// The client.
    pub client: JsValue,
    /// The repo, `owner/name` or `name`.
    pub repo: String,
}

impl HostHub {
    async fn call(&self, name: &str, rest: &[JsValue]) -> Result<JsValue> {
        let Some(method) = host::method(&self.client, name) else {
            return Err(Error::new(
                Kind::Unsupported,
                format!("The client of this Context Hub has no method {name}()"),
            ));
        };
        let mut arguments = vec![JsValue::from_str(&self.repo)];
        arguments.extend_from_slice(rest);
        host::call("Hub unavailable", &method, &self.client, &arguments)
            .await
            .map_err(judged)
    }
}

/// Maps the status of a failed client call to an error kind.
fn judged(error: Error) -> Error {
    let Some(cause) = error.cause().cloned() else {
        return error;
    };
    let status = match cause.downcast_ref::<host::ForeignCause>() {
        Some(thrown) => match host::number_property(&thrown.0, "status") {
            Some(status) => status as u32,
            None => match host::name_of(&thrown.0).as_str() {
                "LangSmithNotFoundError" => 404,
                "LangSmithConflictError" => 409,
                _ => 0,
            },
        },
        None => 0,
    };
    let kind = match status {
        401 | 403 => Kind::PermissionDenied,
        404 => Kind::NotFound,
        409 | 412 => Kind::Conflict,
        413 => Kind::TooLarge,
        429 => Kind::RateLimited,
        _ => return error,
    };
    Error::new(kind, error.to_string()).caused_by(cause)
}

impl Hub for HostHub {
    fn pull(&self) -> Pending<'_, Pulled> {
        Box::pin(async {
            let answer = match self.call("pullAgent", &[]).await {
                Err(error) if error.kind() == Kind::NotFound => return Ok(Pulled::default()),
                answer => answer?,
            };
            let mut pulled = Pulled {
                commit: host::text_property(&answer, "commit_hash")
                    .filter(|commit| !commit.is_empty())
                    .map(Rc::from),
                ..Pulled::default()
            };
            let Some(files) = host::property(&answer, "files") else {
                return Ok(pulled);
            };
            let Some(files) = files.dyn_ref::<Object>() else {
                return Ok(pulled);
            };
            for pair in Object::entries(files).iter() {
                let pair: js_sys::Array = pair.unchecked_into();
                let (Some(key), entry) = (pair.get(0).as_string(), pair.get(1)) else {
                    continue;
                };
                match host::text_property(&entry, "type").as_deref() {
                    Some("file") => {
                        let text = host::text_property(&entry, "content").unwrap_or_default();
                        pulled.files.push((key, Bytes::from(text)));
                    }
                    _ => pulled.links.push(key),
                }
            }
            Ok(pulled)
        })
    }

    fn push<'a>(
        &'a self,
        changes: &'a Changes,
        parent: Option<Rc<str>>,
    ) -> Pending<'a, Option<Rc<str>>> {
        Box::pin(async move {
            let files = Object::new();
            for (key, text) in changes {
                let entry = match text {
                    Some(text) => host::object(&[
                        ("type", JsValue::from_str("file")),
                        ("content", JsValue::from_str(&String::from_utf8_lossy(text))),
                    ]),
                    None => JsValue::NULL,
                };
                define(&files, key, &entry);
            }
            let mut options = vec![("files", files.into())];
            if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
                options.push(("parentCommit", JsValue::from_str(&parent)));
            }
            let answer = self.call("pushAgent", &[host::object(&options)]).await?;
            Ok(answer.as_string().and_then(|url| commit_of(&url)))
        })
    }
}

/// Defines an own property, even if the key is `__proto__`.
fn define(object: &Object, key: &str, value: &JsValue) {
    let descriptor = host::object(&[
        ("value", value.clone()),
        ("enumerable", JsValue::TRUE),
        ("configurable", JsValue::TRUE),
        ("writable", JsValue::TRUE),
    ]);
    let descriptor: &Object = descriptor.unchecked_ref();
    Object::define_property(object, &JsValue::from_str(key), descriptor);
}

/// The commit hash at the end of the URL that a push returns: `…/context/name/0123abcd?…` or
/// `…/hub/owner/name:0123abcd`.
fn commit_of(url: &str) -> Option<Rc<str>> {
    let path = url.split(['?', '#']).next()?;
    let last = path.rsplit(['/', ':']).next()?;
    let sound = (8..=64).contains(&last.len()) && last.bytes().all(|b| b.is_ascii_hexdigit());
    sound.then(|| Rc::from(last))
}
