//! The R2 binding of a Worker as a bucket. Conditions use the binding's `onlyIf`, and no keys are
//! needed. An exception of the binding is kept as the cause of the error.

use std::ops::Range;

use js_sys::{Array, Date, Reflect};
use wasm_bindgen::JsValue;

use super::answer::{Deleted, Listed, Page, Told};
use super::note::Note;
use super::objects::{Condition, Got, NewObject, Objects, Query, Refusal, Sent, Step, Trouble};
use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mime;
use crate::core::time::Time;
use crate::env::host;

/// The name of the kitbag note in an object's custom metadata.
const NOTE: &str = "kitbag";

/// The binding.
pub struct R2(pub JsValue);

fn text(value: &str) -> JsValue {
    JsValue::from_str(value)
}

fn refused(status: u16) -> Trouble {
    Trouble::Refused(Refusal {
        status,
        ..Refusal::default()
    })
}

/// A failed call: an exception of the binding, or a call that was not made.
fn trouble(error: Error) -> Trouble {
    match error.kind() {
        Kind::Unavailable => Trouble::Thrown(error),
        _ => Trouble::Unsent(error),
    }
}

impl R2 {
    async fn call(&self, name: &str, arguments: &[JsValue]) -> Result<JsValue, Trouble> {
        let answer = host::call_method(&self.0, name, arguments).await;
        answer.map_err(trouble)
    }

    async fn object(
        &self,
        key: &str,
        range: Option<&Range<u64>>,
        known: Option<&str>,
    ) -> Result<Got, Trouble> {
        let mut options = Vec::new();
        if let Some(tag) = known {
            let condition = headers("if-none-match", &format!("\"{tag}\""));
            options.push(("onlyIf", condition.map_err(Trouble::Unsent)?));
        }
        if let Some(range) = range {
            let length = range.end.saturating_sub(range.start);
            let range = host::object(&[
                ("offset", JsValue::from_f64(range.start as f64)),
                ("length", JsValue::from_f64(length as f64)),
            ]);
            options.push(("range", range));
        }
        let arguments = [text(key), host::object(&options)];
        let object = match (self.call("get", &arguments).await, range) {
            (Ok(object), _) => object,
            (Err(trouble), None) => return Err(trouble),
            // If a range begins after the end, R2 throws an exception that does not state this
            // reason.
            (Err(trouble), Some(range)) => {
                let head = self.call("head", &[text(key)]).await?;
                return match host::number_property(&head, "size") {
                    Some(size) if range.start as f64 >= size => Err(refused(416)),
                    _ => Err(trouble),
                };
            }
        };
        let told = described(&object)?;
        if host::property(&object, "body").is_none() {
            return Ok(Got::Same);
        }
        let body = host::call_method(&object, "arrayBuffer", &[]).await;
        let body = host::bytes_of(&body.map_err(trouble)?)
            .ok_or(Trouble::Broken("the body is not an ArrayBuffer"))?;
        Ok(match range {
            Some(_) if (body.len() as u64) < told.meta.size => Got::Part(told, body),
            _ => Got::Whole(told, body),
        })
    }

    async fn store(
        &self,
        key: &str,
        object: &NewObject<'_>,
        condition: Condition<'_>,
    ) -> Result<Option<String>, Trouble> {
        if object.source.is_some() {
            return Err(refused(501));
        }
        let mut options = described_by(object.mime, &object.meta);
        let condition = match condition {
            Condition::Always => None,
            Condition::Absent => Some(headers("if-none-match", "*")),
            Condition::Matches(tag, form) => Some(headers("if-match", &form.write(tag))),
        };
        if let Some(condition) = condition {
            options.push(("onlyIf", condition.map_err(Trouble::Unsent)?));
        }
        let body = host::array_of(&object.body);
        let arguments = [text(key), body.into(), host::object(&options)];
        let stored = self.call("put", &arguments).await?;
        if stored.is_null() || stored.is_undefined() {
            return Err(refused(412));
        }
        Ok(host::text_property(&stored, "etag"))
    }

    async fn listing(&self, query: Query<'_>) -> Result<Page, Trouble> {
        let mut options = vec![("prefix", text(query.prefix))];
        if query.one_level {
            options.push(("delimiter", text("/")));
        }
        if let Some(token) = query.token {
            options.push(("cursor", text(token)));
        } else if let Some(after) = query.after {
            options.push(("startAfter", text(after)));
        }
        let page = self.call("list", &[host::object(&options)]).await?;
        let more = host::property(&page, "truncated").is_some_and(|more| more.is_truthy());
        let next = match more {
            true => Some(host::text_property(&page, "cursor").ok_or(Trouble::Broken(
                "the listing goes on but does not say where",
            ))?),
            false => None,
        };
        let objects = items(&page, "objects");
        let [key, size, modified, tag] = host::names(["key", "size", "uploaded", "etag"]);
        let objects = objects.iter().map(|object| {
            Some(Listed {
                key: host::property_named(object, &key)?.as_string()?,
                size: host::property_named(object, &size)?.as_f64()? as u64,
                modified: time_of(host::property_named(object, &modified)),
                tag: host::property_named(object, &tag)?.as_string()?,
            })
        });
        let objects = objects.collect::<Option<Vec<Listed>>>();
        Ok(Page {
            objects: objects.ok_or(Trouble::Broken("an object of the listing is incomplete"))?,
            prefixes: host::texts_property(&page, "delimitedPrefixes"),
            next,
        })
    }
}

/// The metadata that is stored with an object.
fn described_by(mime: &str, meta: &str) -> Vec<(&'static str, JsValue)> {
    vec![
        ("httpMetadata", host::object(&[("contentType", text(mime))])),
        ("customMetadata", host::object(&[(NOTE, text(meta))])),
    ]
}

/// A part of an upload, as the binding names it.
fn part((number, tag): (u32, &String)) -> JsValue {
    let number = JsValue::from_f64(f64::from(number));
    host::object(&[("partNumber", number), ("etag", text(tag))])
}

/// A condition for `onlyIf`: a `Headers` object, since only that form supports `*`.
fn headers(name: &str, value: &str) -> Result<JsValue> {
    let given = host::object(&[(name, text(value))]);
    host::method(&js_sys::global(), "Headers")
        .and_then(|class| Reflect::construct(&class, &Array::of1(&given)).ok())
        .ok_or_else(|| Error::new(Kind::Unsupported, "This host has no class Headers"))
}

fn items(page: &JsValue, name: &str) -> Vec<JsValue> {
    host::property(page, name)
        .filter(Array::is_array)
        .map(|list| Array::from(&list).to_vec())
        .unwrap_or_default()
}

fn time_of(date: Option<JsValue>) -> Time {
    let date = date.unwrap_or(JsValue::UNDEFINED);
    Time::from_millis(Date::new(&date).get_time())
}

/// The binding's metadata of an object, which is `null` if it does not exist.
fn described(object: &JsValue) -> Result<Told, Trouble> {
    if object.is_null() || object.is_undefined() {
        return Err(refused(404));
    }
    let inside = |group: &str, name: &str| {
        host::property(object, group).and_then(|group| host::text_property(&group, name))
    };
    let tag = host::text_property(object, "etag").ok_or(Trouble::Broken("it has no ETag"))?;
    let size = host::number_property(object, "size").unwrap_or(0.0) as u64;
    let note = inside("customMetadata", NOTE).map(|note| Note::read(&note));
    let mime = inside("httpMetadata", "contentType").map(|mime| Mime::given(&mime));
    Ok(Told::new(
        tag,
        size,
        time_of(host::property(object, "uploaded")),
        note,
        mime,
    ))
}

impl Objects for R2 {
    fn head<'a>(&'a self, key: &'a str) -> Sent<'a, Told> {
        Box::pin(async move { described(&self.call("head", &[text(key)]).await?) })
    }

    fn get<'a>(
        &'a self,
        key: &'a str,
        range: Option<&'a Range<u64>>,
        known: Option<&'a str>,
    ) -> Sent<'a, Got> {
        Box::pin(self.object(key, range, known))
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        object: &'a NewObject<'a>,
        condition: Condition<'a>,
    ) -> Sent<'a, Option<String>> {
        Box::pin(self.store(key, object, condition))
    }

    fn uploads(&self) -> bool {
        host::method(&self.0, "createMultipartUpload").is_some()
    }

    fn upload<'a>(&'a self, key: &'a str, step: Step<'a>) -> Sent<'a, String> {
        Box::pin(async move {
            let (id, name, arguments) = match step {
                Step::Begin(mime, meta) => {
                    let arguments = [text(key), host::object(&described_by(mime, meta))];
                    let begun = self.call("createMultipartUpload", &arguments).await?;
                    return host::text_property(&begun, "uploadId")
                        .ok_or(Trouble::Broken("it has no uploadId"));
                }
                Step::Part(id, number, body) => {
                    let number = JsValue::from_f64(number as f64);
                    let body = host::array_of(body).into();
                    (id, "uploadPart", vec![number, body])
                }
                Step::Complete(id, tags, _) => {
                    let parts: Array = (1..).zip(tags).map(part).collect();
                    (id, "complete", vec![parts.into()])
                }
                Step::Abandon(id) => (id, "abort", Vec::new()),
            };
            let arguments_of = [text(key), text(id)];
            let upload = self.call("resumeMultipartUpload", &arguments_of).await?;
            let answer = host::call_method(&upload, name, &arguments).await;
            let answer = answer.map_err(trouble)?;
            Ok(host::text_property(&answer, "etag").unwrap_or_default())
        })
    }

    /// The binding has no conditional deletion; nobody asks for one, since R2 is not probed.
    fn delete<'a>(&'a self, key: &'a str, _: Condition<'a>) -> Sent<'a, ()> {
        Box::pin(async move { self.call("delete", &[text(key)]).await.map(drop) })
    }

    fn delete_many<'a>(&'a self, keys: &'a [&'a str]) -> Sent<'a, Deleted> {
        Box::pin(async move {
            let list: Array = keys.iter().map(|key| text(key)).collect();
            self.call("delete", &[list.into()]).await?;
            Ok(Deleted {
                gone: keys.iter().map(|key| (*key).to_owned()).collect(),
                kept: Vec::new(),
            })
        })
    }

    fn list<'a>(&'a self, query: Query<'a>) -> Sent<'a, Page> {
        Box::pin(self.listing(query))
    }
}
