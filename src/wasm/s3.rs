//! `S3Backend` and `R2Backend`: created from options that TypeScript has validated. Calls the
//! host's functions (keys, signer, binding, warning callback).

use std::rc::Rc;
use std::time::Duration;

use js_sys::{Date, Function};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind};
use crate::core::future::Pending;
use crate::core::time::Time;
use crate::env::host;
use crate::env::http::Fetch;
use crate::files::Files;
use crate::storage::s3::access::{Access, KeyRing, KeySource, Signer};
use crate::storage::s3::bucket::{Bucket, Location};
use crate::storage::s3::client::Retry;
use crate::storage::s3::http::Signed;
use crate::storage::s3::objects::Objects;
use crate::storage::s3::r2::R2;
use crate::storage::s3::request::Ask;
use crate::storage::s3::sign::{Credentials, Keys};
use crate::storage::s3::{S3, S3Options, Trust};
use crate::wasm::chunk::chunk;
use crate::wasm::handles;
use crate::wasm::options::files_options;

type Made = std::result::Result<u32, JsValue>;

struct Functions {
    new: fn(Given<'_>) -> Made,
    new_r2: fn(&JsValue, JsValue, bool) -> Made,
    presign: fn(&JsValue, &JsValue, &Presigned<'_>) -> std::result::Result<String, JsValue>,
    #[cfg(feature = "testing")]
    signing_examples: fn() -> String,
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

/// The arguments for a backend.
struct Given<'a> {
    options: &'a JsValue,
    keys: &'a JsValue,
    sign: Option<Function>,
    overwrite: bool,
    warn: Option<Function>,
    send: Function,
}

/// The arguments for a presigned URL.
struct Presigned<'a> {
    method: &'a str,
    key: &'a str,
    query: &'a js_sys::Object,
    headers: &'a js_sys::Object,
    seconds: u32,
}

/// Parses the location of a bucket. An invalid option throws its name and what it must be, on
/// separate lines.
fn place(options: &JsValue, service: &'static str) -> std::result::Result<Bucket, JsValue> {
    let text = |name| host::text_property(options, name);
    let bucket = Bucket::new(&Location {
        endpoint: text("endpoint").as_deref(),
        region: &text("region").unwrap_or_default(),
        bucket: &text("bucket").unwrap_or_default(),
        prefix: &text("prefix").unwrap_or_default(),
        path_style: host::property(options, "pathStyle").and_then(|style| style.as_bool()),
    });
    match bucket {
        Ok(bucket) => Ok(Bucket { service, ..bucket }),
        Err((option, wanted)) => Err(JsValue::from_str(&format!("{option}\n{wanted}"))),
    }
}

/// Parses the usage options; absent ones have defaults.
fn usage(options: &JsValue) -> S3Options {
    let number = |name| host::number_property(options, name).filter(|number| *number >= 0.0);
    let default = S3Options::default();
    let retry = default.retry;
    // A float-to-integer cast saturates.
    let count = |name, otherwise: usize| number(name).map_or(otherwise, |given| given as usize);
    let wait = |name, otherwise: Duration| {
        number(name).map_or(otherwise, |given| Duration::from_millis(given as u64))
    };
    S3Options {
        concurrency: count("concurrency", default.concurrency),
        cache_bytes: count("cacheBytes", default.cache_bytes),
        retry: Retry {
            attempts: number("attempts").map_or(retry.attempts, |given| given as u32),
            base: wait("baseMs", retry.base),
            longest: wait("maxMs", retry.longest),
            limit: wait("timeoutMs", retry.limit),
        },
        trust: match host::text_property(options, "conditions").as_deref() {
            Some("trust") => Trust::Standard,
            Some("ignore") => Trust::Nothing,
            _ => Trust::Probe,
        },
    }
}

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
    options: S3Options,
    overwrite: bool,
    warn: Option<Function>,
) -> u32 {
    let warn = move |text: &str| {
        if let Some(warn) = &warn {
            // Ignores exceptions of the listener.
            let _ = warn.call1(&JsValue::UNDEFINED, &JsValue::from_str(text));
        }
    };
    let storage = S3::new(bucket, objects, options, Box::new(warn));
    handles::hold(Rc::new(Files::new(
        storage,
        files_options(overwrite, false, -1.0),
    )))
}

/// Creates a backend over a bucket. `keys` is an object, or a function that provides them; `send`
/// sends one request.
#[wasm_bindgen]
pub fn s3_new(
    options: &JsValue,
    keys: &JsValue,
    sign: Option<Function>,
    overwrite: bool,
    warn: Option<Function>,
    send: Function,
) -> Made {
    (chunk().new)(Given {
        options,
        keys,
        sign,
        overwrite,
        warn,
        send,
    })
}

fn new(given: Given<'_>) -> Made {
    let Given {
        options,
        keys,
        sign,
        overwrite,
        warn,
        send,
    } = given;
    let access = match (sign, keys.dyn_ref::<Function>(), credentials(keys)) {
        (Some(sign), ..) => Access::Host(Box::new(HostSigner(sign))),
        (None, Some(lend), _) => Access::Keys(KeyRing::new(Box::new(HostKeys(lend.clone())))),
        (None, None, Some(keys)) => Access::Keys(KeyRing::new(Box::new(keys))),
        (None, None, None) => {
            return Err(JsValue::from_str(
                "credentials\n{ accessKeyId, secretAccessKey, sessionToken? }, or a function that answers such",
            ));
        }
    };
    let bucket = place(options, "S3")?;
    let objects = Rc::new(Signed::new(bucket.clone(), Rc::new(Fetch(send)), access));
    Ok(hold(bucket, objects, usage(options), overwrite, warn))
}

/// Creates a backend over an R2 binding of a Worker.
#[wasm_bindgen]
pub fn r2_new(options: &JsValue, binding: JsValue, overwrite: bool) -> Made {
    (chunk().new_r2)(options, binding, overwrite)
}

fn new_r2(options: &JsValue, binding: JsValue, overwrite: bool) -> Made {
    let bucket = place(options, "R2")?;
    let objects = Rc::new(R2(binding));
    Ok(hold(bucket, objects, usage(options), overwrite, None))
}

/// A presigned URL, for hosts that sign on behalf of pages.
#[wasm_bindgen]
pub fn s3_presign(
    options: &JsValue,
    keys: &JsValue,
    method: &str,
    key: &str,
    query: &js_sys::Object,
    headers: &js_sys::Object,
    seconds: u32,
) -> std::result::Result<String, JsValue> {
    let request = Presigned {
        method,
        key,
        query,
        headers,
        seconds,
    };
    (chunk().presign)(options, keys, &request)
}

fn presign(
    options: &JsValue,
    keys: &JsValue,
    request: &Presigned<'_>,
) -> std::result::Result<String, JsValue> {
    let Presigned {
        method,
        key,
        query,
        headers,
        seconds,
    } = *request;
    let keys = credentials(keys).ok_or_else(|| {
        JsValue::from_str("credentials\n{ accessKeyId, secretAccessKey, sessionToken? }")
    })?;
    let pairs = |object: &js_sys::Object| -> Vec<(String, String)> {
        js_sys::Object::keys(object)
            .iter()
            .filter_map(|name| {
                let name = name.as_string()?;
                let value = host::text_property(object, &name).unwrap_or_default();
                Some((name, value))
            })
            .collect()
    };
    let headers = pairs(headers);
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value));
    let key = (!key.is_empty()).then_some(key);
    Ok(place(options, "S3")?.presigned(
        method,
        key,
        &pairs(query),
        headers.collect(),
        seconds,
        crate::env::clock::now(),
        &Keys::new(keys),
    ))
}

/// Results for the published signing examples: lines of `name made published`.
#[cfg(feature = "testing")]
#[wasm_bindgen]
pub fn s3_signing_examples() -> String {
    (chunk().signing_examples)()
}

#[cfg(feature = "testing")]
fn signing_examples() -> String {
    let lines = crate::storage::s3::sign::examples::all();
    let lines = lines
        .iter()
        .map(|one| format!("{}\t{}\t{}", one.name, one.made, one.published));
    lines.collect::<Vec<_>>().join("\n")
}
