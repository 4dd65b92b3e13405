//! The R2 binding of a Worker behind the interface of an S3 server: it takes the same requests and
//! returns the same responses, so that retries, the cache, lost responses and listings share one
//! implementation. Conditions use the binding's `onlyIf`, and no keys are needed.

use futures_util::future::LocalBoxFuture;
use js_sys::{Array, Date, Reflect};
use wasm_bindgen::JsValue;

use super::access::{Trouble, Wire};
use super::request::{Ask, META};
use super::xml;
use crate::core::error::{Error, Kind, Result};
use crate::core::time::Time;
use crate::env::host;
use crate::env::http::{HttpError, Response};

/// The name of the kitbag note in an object's custom metadata.
const NOTE: &str = "kitbag";

/// The binding.
pub struct R2(pub JsValue);

fn text(value: &str) -> JsValue {
    JsValue::from_str(value)
}

impl R2 {
    async fn call(&self, name: &str, arguments: &[JsValue]) -> Result<JsValue> {
        host::call_method(&self.0, name, arguments).await
    }

    async fn answer(&self, ask: &Ask) -> Result<Response> {
        match (ask.method, ask.key.as_deref()) {
            ("HEAD", Some(key)) => self.head(key).await,
            ("GET", Some(key)) => self.get(ask, key).await,
            ("PUT", Some(key)) => self.put(ask, key).await,
            ("DELETE", Some(key)) => {
                self.call("delete", &[text(key)]).await?;
                Ok(plain(204))
            }
            ("GET", None) => self.list(ask).await,
            ("POST", None) => self.delete_many(ask).await,
            _ => Err(Error::internal("R2 was asked something unknown")),
        }
    }

    async fn head(&self, key: &str) -> Result<Response> {
        let object = self.call("head", &[text(key)]).await?;
        if object.is_null() || object.is_undefined() {
            return Ok(plain(404));
        }
        let mut response = described(&object, 200);
        let size = host::number_property(&object, "size").unwrap_or(0.0);
        response
            .headers
            .push(("content-length".into(), format!("{size}")));
        Ok(response)
    }

    async fn get(&self, ask: &Ask, key: &str) -> Result<Response> {
        let mut options = Vec::new();
        if let Some(condition) = condition(ask)? {
            options.push(("onlyIf", condition));
        }
        let range = header(ask, "range").and_then(|range| {
            let (start, last) = range.strip_prefix("bytes=")?.split_once('-')?;
            let (start, last): (u64, u64) = (start.parse().ok()?, last.parse().ok()?);
            Some((start, last.saturating_sub(start).saturating_add(1)))
        });
        if let Some((start, length)) = range {
            let range = host::object(&[
                ("offset", JsValue::from_f64(start as f64)),
                ("length", JsValue::from_f64(length as f64)),
            ]);
            options.push(("range", range));
        }
        let arguments = [text(key), host::object(&options)];
        let object = match (self.call("get", &arguments).await, range) {
            (Ok(object), _) => object,
            (Err(error), None) => return Err(error),
            // If a range begins after the end, R2 throws an exception that does not state this
            // reason.
            (Err(error), Some((start, _))) => {
                let head = self.call("head", &[text(key)]).await?;
                return match host::number_property(&head, "size") {
                    Some(size) if start as f64 >= size => Ok(plain(416)),
                    _ => Err(error),
                };
            }
        };
        if object.is_null() || object.is_undefined() {
            return Ok(plain(404));
        }
        if host::property(&object, "body").is_none() {
            return Ok(described(&object, 304));
        }
        let body = host::call_method(&object, "arrayBuffer", &[]).await?;
        let body = host::bytes_of(&body)
            .ok_or_else(|| Error::new(Kind::Unavailable, "R2 gave a body that is no bytes"))?;
        let mut response = described(&object, if range.is_some() { 206 } else { 200 });
        if let Some((start, _)) = range {
            let size = host::number_property(&object, "size").unwrap_or(0.0);
            let last = start.saturating_add(body.len() as u64).saturating_sub(1);
            let range = format!("bytes {start}-{last}/{size}");
            response.headers.push(("content-range".into(), range));
        }
        response.body = body;
        Ok(response)
    }

    async fn put(&self, ask: &Ask, key: &str) -> Result<Response> {
        let given = |name| text(header(ask, name).unwrap_or_default());
        let mut options = vec![
            (
                "httpMetadata",
                host::object(&[("contentType", given("content-type"))]),
            ),
            ("customMetadata", host::object(&[(NOTE, given(META))])),
        ];
        if let Some(condition) = condition(ask)? {
            options.push(("onlyIf", condition));
        }
        let body = host::array_of(ask.body.as_deref().unwrap_or_default());
        let arguments = [text(key), body.into(), host::object(&options)];
        let object = self.call("put", &arguments).await?;
        if object.is_null() || object.is_undefined() {
            return Ok(plain(412));
        }
        Ok(described(&object, 200))
    }

    async fn list(&self, ask: &Ask) -> Result<Response> {
        let mut options = Vec::new();
        for (name, value) in &ask.query {
            match name.as_str() {
                "prefix" => options.push(("prefix", text(value))),
                "delimiter" => options.push(("delimiter", text(value))),
                "continuation-token" => options.push(("cursor", text(value))),
                _ => {}
            }
        }
        let page = self.call("list", &[host::object(&options)]).await?;
        let mut out = String::from("<ListBucketResult>");
        let mut put = |name: &str, value: &str| {
            out.push_str(&format!("<{name}>{}</{name}>", xml::escape(value)));
        };
        let truncated = host::property(&page, "truncated").is_some_and(|more| more.is_truthy());
        put("IsTruncated", if truncated { "true" } else { "false" });
        if let Some(cursor) = host::text_property(&page, "cursor").filter(|_| truncated) {
            put("NextContinuationToken", &cursor);
        }
        for prefix in items(&page, "delimitedPrefixes") {
            let prefix = xml::escape(&prefix.as_string().unwrap_or_default());
            out.push_str(&format!(
                "<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"
            ));
        }
        for object in items(&page, "objects") {
            out.push_str(&format!(
                "<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag><LastModified>{}\
                 </LastModified></Contents>",
                xml::escape(&host::text_property(&object, "key").unwrap_or_default()),
                host::number_property(&object, "size").unwrap_or(0.0),
                xml::escape(&host::text_property(&object, "etag").unwrap_or_default()),
                uploaded(&object)
            ));
        }
        Ok(document(out + "</ListBucketResult>"))
    }

    async fn delete_many(&self, ask: &Ask) -> Result<Response> {
        let root = xml::parse(ask.body.as_deref().unwrap_or_default())
            .map_err(|broken| Error::internal(broken.0))?;
        let keys = Array::new();
        let mut out = String::from("<DeleteResult>");
        for key in root
            .all("Object")
            .filter_map(|object| object.text_of("Key"))
        {
            keys.push(&text(key));
            out.push_str(&format!(
                "<Deleted><Key>{}</Key></Deleted>",
                xml::escape(key)
            ));
        }
        self.call("delete", &[keys.into()]).await?;
        Ok(document(out + "</DeleteResult>"))
    }
}

fn header<'a>(ask: &'a Ask, name: &str) -> Option<&'a str> {
    let found = ask.headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// The conditions of a request for `onlyIf`: a `Headers` object, since only that form supports `*`.
fn condition(ask: &Ask) -> Result<Option<JsValue>> {
    let given: Vec<(&str, JsValue)> = ["if-match", "if-none-match"]
        .into_iter()
        .filter_map(|name| Some((name, text(header(ask, name)?))))
        .collect();
    if given.is_empty() {
        return Ok(None);
    }
    let class = host::method(&js_sys::global(), "Headers");
    class
        .and_then(|class| Reflect::construct(&class, &Array::of1(&host::object(&given))).ok())
        .map(Some)
        .ok_or_else(|| Error::new(Kind::Unsupported, "This host has no class Headers"))
}

fn items(page: &JsValue, name: &str) -> Vec<JsValue> {
    host::property(page, name)
        .filter(Array::is_array)
        .map(|list| Array::from(&list).to_vec())
        .unwrap_or_default()
}

fn uploaded(object: &JsValue) -> Time {
    let date = host::property(object, "uploaded").unwrap_or(JsValue::UNDEFINED);
    Time::from_millis(Date::new(&date).get_time())
}

fn plain(status: u16) -> Response {
    Response {
        status,
        ..Response::default()
    }
}

fn document(body: String) -> Response {
    Response {
        body: body.into(),
        ..plain(200)
    }
}

/// A response whose headers contain the binding's metadata of an object.
fn described(object: &JsValue, status: u16) -> Response {
    let mut response = plain(status);
    let inside = |group: &str, name: &str| {
        host::property(object, group).and_then(|group| host::text_property(&group, name))
    };
    let date = host::property(object, "uploaded").unwrap_or(JsValue::UNDEFINED);
    for (name, value) in [
        ("etag", host::text_property(object, "etag")),
        ("content-type", inside("httpMetadata", "contentType")),
        (META, inside("customMetadata", NOTE)),
        (
            "last-modified",
            Date::new(&date).to_utc_string().as_string(),
        ),
    ] {
        if let Some(value) = value {
            response.headers.push((name.to_owned(), value));
        }
    }
    response
}

impl Wire for R2 {
    fn send<'a>(
        &'a self,
        ask: &'a Ask,
        _: Time,
    ) -> LocalBoxFuture<'a, std::result::Result<Response, Trouble>> {
        Box::pin(async move {
            self.answer(ask).await.map_err(|error| match error.kind() {
                // An exception of the binding; R2 appends a code in parentheses to its messages.
                Kind::Unavailable => Trouble::Network(HttpError {
                    broken: true,
                    cross_origin: false,
                    code: code_of(&error.to_string()),
                }),
                _ => Trouble::Unsent(error),
            })
        })
    }
}

fn code_of(message: &str) -> Option<String> {
    let (_, code) = message.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let digits = !code.is_empty() && code.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| code.to_owned())
}
