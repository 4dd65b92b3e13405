//! `uploadFiles` of one file whose bytes come in parts. Its chunk is loaded by the backends that store such
//! a file without having all of it in memory.

use std::any::Any;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;

use crate::boundary::operations::StreamArguments;
use crate::boundary::read;
use crate::core::error::{Error, Kind};
use crate::core::future::Pending;
use crate::core::links;
use crate::core::parts::Parts;
use crate::env::host;
use crate::protocol::{BackendExt, OfParts, Operation};
use crate::wasm::batch::{allowed, answers, report_refused};
use crate::wasm::chunk::chunk;
use crate::wasm::reply::{Reply, reply_done};
use crate::wasm::task::Begun;
use crate::wasm::{handles, task};

struct Functions {
    upload: fn(u32, usize, f64, JsValue) -> Begun,
}

chunk!("parts", Functions = Functions { upload });

/// Starts the call; `object` has the bytes.
#[wasm_bindgen]
pub fn upload_parts(handle: u32, len: usize, limit: f64, object: JsValue) -> Begun {
    (chunk().upload)(handle, len, limit, object)
}

fn upload(handle: u32, len: usize, limit: f64, object: JsValue) -> Begun {
    reply_done();
    let given = read::<StreamArguments>(len);
    let backend = handles::backend(handle);
    let uploaded = async move {
        let (given, backend) = (given?, backend?);
        let file = OfParts(ObjectParts {
            object,
            // Casts saturate.
            size: given.size as u64,
            most: given.most as u64,
        });
        let path = allowed(&*backend, given.path, given.only_files).await;
        report_refused(handle, Operation::UploadFiles, std::slice::from_ref(&path));
        backend.stream(&path?, &file).await
    };
    let replying = async move { answers(vec![Ok(())], vec![uploaded.await], |_, ()| ()) };
    let replying: LocalBoxFuture<'static, Reply> = match handles::refuses_links(handle) {
        true => Box::pin(links::refusing(Box::pin(replying))),
        false => Box::pin(replying),
    };
    task::start_as(Some(Operation::UploadFiles.name()), limit, replying)
}

/// The bytes of a file, as an object of JavaScript gives them (`ts/core/parts.ts`).
struct ObjectParts {
    object: JsValue,
    size: u64,
    most: u64,
}

impl Parts for ObjectParts {
    fn size(&self) -> u64 {
        self.size
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn is_new(&self) -> bool {
        host::property(&self.object, "isNew").is_some_and(|is| is.is_truthy())
    }

    fn next(&self) -> Pending<'_, Option<Bytes>> {
        Box::pin(async move {
            let failed = || Error::internal("The parts of a file have no next()");
            let next = host::method(&self.object, "next").ok_or_else(failed)?;
            // What it throws says all.
            let failed = |thrown| Error::new(Kind::Unavailable, host::message_of(&thrown));
            let part = JsFuture::from(Promise::from(next.call0(&self.object).map_err(failed)?));
            let part = part.await.map_err(failed)?;
            Ok(host::bytes_of(&part))
        })
    }

    fn object(&self) -> &dyn Any {
        &self.object
    }
}
