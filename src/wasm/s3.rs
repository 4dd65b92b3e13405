//! `S3Backend`, `R2Backend` and `presignS3`. Calls the host's functions (keys, signer, binding, warning
//! callback).

use std::rc::Rc;

use js_sys::{Array, Date, Function};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::boundary::files::files_options;
use crate::boundary::read;
use crate::boundary::s3::{BucketUse, Pair, PresignGiven, R2Given, S3Given, S3Place};
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::core::time::Time;
use crate::env::http::Fetch;
use crate::env::{clock, host};
use crate::files::Files;
use crate::storage::s3::access::{Access, KeyRing, KeySource, Signer};
use crate::storage::s3::bucket::Bucket;
use crate::storage::s3::http::Signed;
use crate::storage::s3::objects::Objects;
use crate::storage::s3::r2::R2;
use crate::storage::s3::request::Ask;
use crate::storage::s3::sign::{Credentials, Keys};
use crate::storage::s3::{S3, Trust};
use crate::wasm::call::answered;
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::{Hosts, made};

struct Functions {
    new: fn(usize, Hosts) -> Result<u32>,
    new_r2: fn(usize, Hosts) -> Result<u32>,
    presign: fn(usize) -> Result<String>,
    #[cfg(feature = "testing")]
    signing_examples: fn() -> Vec<String>,
}

chunk!(
    "s3",
    Functions = Functions {
        new,
        new_r2,
        presign,
        #[cfg(feature = "testing")]
        signing_examples,
    }
);

/// The host's function that provides keys.
struct HostKeys(Function);

/// A failure of the host's function. Its message stays in the cause, because it may contain
/// secrets.
fn host_failed(what: &str, error: &Error) -> Error {
    let told = Error::new(
        Kind::Unavailable,
        format!("The function `{what}` of this backend's options failed; see the cause"),
    );
    match error.cause() {
        Some(cause) => told.caused_by(cause.clone()),
        None => told,
    }
}

fn expiry(value: &JsValue) -> Option<Time> {
    if value.is_undefined() || value.is_null() {
        return None;
    }
    let millis = Date::new(value).get_time();
    millis.is_finite().then(|| Time::from_millis(millis))
}

fn credentials(object: &JsValue) -> Option<Credentials> {
    let text = |name| host::text_property(object, name).filter(|text| !text.is_empty());
    Some(Credentials {
        access_key_id: text("accessKeyId")?,
        secret_access_key: text("secretAccessKey")?,
        session_token: text("sessionToken"),
        expires: host::property(object, "expiration").and_then(|at| expiry(&at)),
    })
}

impl KeySource for HostKeys {
    fn keys(&self) -> Pending<'_, Credentials> {
        Box::pin(async move {
            let answer = host::call("credentials", &self.0, &JsValue::UNDEFINED, &[]).await;
            let answer = answer.map_err(|error| host_failed("credentials", &error))?;
            credentials(&answer).ok_or_else(|| {
                Error::new(
                    Kind::PermissionDenied,
                    "The function `credentials` of this backend's options must answer \
                     { accessKeyId, secretAccessKey, sessionToken?, expiration? }",
                )
            })
        })
    }
}

/// The host's function that signs requests.
struct HostSigner(Function);

fn record(pairs: &[(String, String)]) -> JsValue {
    let pairs: Vec<(&str, JsValue)> = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), JsValue::from_str(value)))
        .collect();
    host::object(&pairs)
}

impl Signer for HostSigner {
    fn sign<'a>(&'a self, ask: &'a Ask) -> Pending<'a, (String, Vec<(String, String)>)> {
        Box::pin(async move {
            let question = host::object(&[
                ("method", JsValue::from_str(ask.method)),
                (
                    "key",
                    JsValue::from_str(ask.key.as_deref().unwrap_or_default()),
                ),
                ("query", record(&ask.query)),
                ("headers", record(&ask.headers)),
            ]);
            let answer = host::call("sign", &self.0, &JsValue::UNDEFINED, &[question]).await;
            let answer = answer.map_err(|error| host_failed("sign", &error))?;
            let url = host::text_property(&answer, "url").ok_or_else(|| {
                Error::new(
                    Kind::PermissionDenied,
                    "The function `sign` of this backend's options must answer { url, headers? }",
                )
            })?;
            let mut headers = Vec::new();
            if let Some(given) = host::property(&answer, "headers") {
                for name in js_sys::Object::keys(given.unchecked_ref::<js_sys::Object>()).iter() {
                    if let Some(name) = name.as_string()
                        && let Some(value) = host::text_property(&given, &name)
                    {
                        headers.push((name, value));
                    }
                }
            }
            Ok((url, headers))
        })
    }
}

fn hold(
    bucket: Bucket,
    objects: Rc<dyn Objects>,
    usage: &BucketUse,
    trust: Trust,
    warn: Option<Function>,
) -> u32 {
    let warn = move |text: &str| {
        if let Some(warn) = &warn {
            // Ignores exceptions of the listener.
            let _ = warn.call1(&JsValue::UNDEFINED, &JsValue::from_str(text));
        }
    };
    let storage = S3::new(bucket, objects, usage.options(trust), Box::new(warn));
    let options = files_options(usage.write_mode);
    handles::hold(Rc::new(Files::new(storage, options)))
}

/// Creates a backend over a bucket; replies with its handle.
#[wasm_bindgen]
pub fn s3_new(len: usize, hosts: Array) {
    made((chunk().new)(len, Hosts::new(hosts)));
}

fn new(len: usize, hosts: Hosts) -> Result<u32> {
    let given: S3Given = read(len)?;
    let bucket = given.place.bucket(&given.usage.prefix)?;
    let sign = hosts.maybe(given.sign);
    let keys_by = hosts.maybe(given.keys_by);
    let access = match (sign, keys_by, given.credentials) {
        (Some(sign), ..) => Access::Host(Box::new(HostSigner(sign))),
        (None, Some(lend), _) => Access::Keys(KeyRing::new(Box::new(HostKeys(lend)))),
        (None, None, Some(keys)) => Access::Keys(KeyRing::new(Box::new(keys.credentials()))),
        (None, None, None) => return Err(Error::internal("There are no keys")),
    };
    let send = Rc::new(Fetch(hosts.function(given.send)));
    let objects = Rc::new(Signed::new(bucket.clone(), send, access));
    let warn = hosts.maybe(given.on_warning);
    Ok(hold(bucket, objects, &given.usage, given.conditions, warn))
}

/// Creates a backend over an R2 binding of a Worker; replies with its handle.
#[wasm_bindgen]
pub fn r2_new(len: usize, hosts: Array) {
    made((chunk().new_r2)(len, Hosts::new(hosts)));
}

fn new_r2(len: usize, hosts: Hosts) -> Result<u32> {
    let given: R2Given = read(len)?;
    // The binding knows where its bucket is.
    let place = S3Place {
        endpoint: None,
        region: "auto".into(),
        bucket: "r2-binding".into(),
        force_path_style: None,
    };
    let bucket = Bucket {
        service: "R2",
        ..place.bucket(&given.usage.prefix)?
    };
    let objects = Rc::new(R2(hosts.value(given.bucket)));
    Ok(hold(bucket, objects, &given.usage, Trust::Standard, None))
}

/// Replies with a presigned URL, for hosts that sign on behalf of pages.
#[wasm_bindgen]
pub fn s3_presign(len: usize) {
    answered((chunk().presign)(len), |reply, url| reply.str(&url)).send();
}

fn presign(len: usize) -> Result<String> {
    let given: PresignGiven = read(len)?;
    let pairs = |pairs: Vec<Pair>| -> Vec<(String, String)> {
        let pairs = pairs.into_iter();
        pairs.map(|pair| (pair.name, pair.value)).collect()
    };
    let key = Some(given.key.as_str()).filter(|key| !key.is_empty());
    Ok(given.place.bucket("")?.presigned(
        &given.method,
        key,
        &pairs(given.query),
        pairs(given.headers),
        u32::try_from(given.seconds).unwrap_or(u32::MAX),
        clock::now(),
        &Keys::new(given.credentials.credentials()),
    ))
}

/// Results for the published signing examples: of each its name, what was made, what was published.
#[cfg(feature = "testing")]
#[wasm_bindgen]
pub fn s3_signing_examples() -> Vec<String> {
    (chunk().signing_examples)()
}

#[cfg(feature = "testing")]
fn signing_examples() -> Vec<String> {
    let all = crate::storage::s3::sign::examples::all();
    let parts = all.into_iter().flat_map(|one| {
        [
            one.name.to_string(),
            one.made.to_string(),
            one.published.to_string(),
        ]
    });
    parts.collect()
}
