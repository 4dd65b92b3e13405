//! Files whose bytes come in parts. An object of the host is read by the host itself; other parts are handed over
//! one by one (`disk/fed.ts`).

use futures_util::future::{Either, select};
use wasm_bindgen::JsValue;

use super::HostDisk;
use crate::core::error::{Error, Result};
use crate::core::future::Pending;
use crate::core::parts::{Expected, Parts, expected, mode};
use crate::core::path::VPath;
use crate::env::host;
use crate::storage::Streams;

/// What the host reads parts from, of which no more come if the call is given up.
struct Fed(JsValue);

impl Drop for Fed {
    fn drop(&mut self) {
        self.fail();
    }
}

impl Fed {
    /// No more parts come.
    fn fail(&self) {
        if let Some(fail) = host::method(&self.0, "fail") {
            let _ = fail.call0(&self.0);
        }
    }

    async fn add(&self, part: JsValue) -> Result<()> {
        host::call_method(&self.0, "add", &[part]).await.map(drop)
    }

    /// Hands over all parts.
    async fn feed(&self, parts: &dyn Parts) -> Result<()> {
        while let Some(part) = parts.next().await? {
            self.add(host::array_of(&part).into()).await?;
        }
        self.add(JsValue::NULL).await
    }
}

impl HostDisk {
    /// Stores parts that are read here.
    async fn put_fed(&self, path: &VPath, parts: &dyn Parts) -> Result<JsValue> {
        let version = match expected(parts) {
            Expected::Version(version) => JsValue::from_str(version),
            Expected::Anything | Expected::Nothing => JsValue::UNDEFINED,
        };
        let is_new = matches!(expected(parts), Expected::Nothing);
        let bits = mode(parts).map(|mode| f64::from(mode.bits()));
        let mode = bits.map_or(JsValue::UNDEFINED, JsValue::from_f64);
        let fed = Fed(self.call("fed", &[is_new.into(), version, mode]).await?);
        let object = [fed.0.clone()];
        let storing = self.inner().ask("putParts", path, &object);
        let feeding = Box::pin(fed.feed(parts));
        match select(Box::pin(storing), feeding).await {
            Either::Left((stored, _)) => stored,
            Either::Right((Ok(()), storing)) => storing.await,
            Either::Right((Err(error), storing)) => {
                fed.fail();
                // The host removes what it wrote.
                let _ = storing.await;
                Err(error)
            }
        }
    }
}

impl Streams for HostDisk {
    fn put_parts<'a>(&'a self, path: &'a VPath, parts: &'a dyn Parts) -> Pending<'a, ()> {
        Box::pin(async move {
            let stored = match parts.object().downcast_ref::<JsValue>() {
                // The host reads its own object: its bytes do not come here.
                Some(object) => {
                    let arguments = std::slice::from_ref(object);
                    self.inner().ask("putParts", path, arguments).await?
                }
                None => self.put_fed(path, parts).await?,
            };
            match stored.is_truthy() {
                true => Ok(()),
                false => Err(match expected(parts) {
                    Expected::Version(_) => Error::conflict(path),
                    Expected::Anything | Expected::Nothing => Error::already_exists(path),
                }),
            }
        })
    }
}
