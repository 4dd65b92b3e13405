//! Files in a LangGraph store: any JavaScript object with `get`, `put`, `delete` and `search`, and
//! optionally `batch`. A value is `FileData`, in any of the formats that packages write.
//!
//! Stores are less strict than they look. A search by namespace also returns items of sibling and
//! nested namespaces, and some stores join the parts of a namespace, so that `["a:b"]` and `["a",
//! "b"]` collide. So a returned item is used only if its namespace is exactly the requested one,
//! and nothing is put or deleted where an item of another namespace exists.

mod codec;

use futures_util::future::LocalBoxFuture;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::{Error, Kind, Result};
use crate::core::future::{Pending, bounded};
use crate::core::order;
use crate::core::path::{ByPath, VPath};
use crate::env::host;
use crate::protocol::{Capability, Reach};
use crate::storage::{
    Batch, Cursor, Depth, Extras, File, Find, Flow, Listing, Meta, NewFile, PARALLEL, PutMode,
    Scan, Scope, Search, Storage, Version,
};

/// Number of items to request in one page. A shorter page does not end the listing.
const PAGE: usize = 500;

/// One namespace of a store.
pub struct Items {
    store: JsValue,
    namespace: Vec<String>,
    /// Whether bytes are stored unencoded, for stores that support it.
    raw_bytes: bool,
}

impl Items {
    /// The items of that namespace, whose parts were validated before.
    pub fn new(store: JsValue, namespace: Vec<String>, raw_bytes: bool) -> Items {
        Items {
            store,
            namespace,
            raw_bytes,
        }
    }

    /// The namespace as a new array, since a store may keep it.
    fn named(&self) -> JsValue {
        let parts: Array = self
            .namespace
            .iter()
            .map(|p| JsValue::from_str(p))
            .collect();
        parts.into()
    }

    fn is_ours(&self, item: &JsValue) -> bool {
        let Some(parts) = host::property(item, "namespace") else {
            return false;
        };
        let Some(parts) = parts.dyn_ref::<Array>() else {
            return false;
        };
        parts.length() as usize == self.namespace.len()
            && parts
                .iter()
                .zip(&self.namespace)
                .all(|(part, ours)| part.as_string().as_deref() == Some(ours))
    }

    /// Classifies the item at a requested key: none, ours, or one of another namespace.
    fn judged(&self, item: JsValue) -> Found {
        if !item.is_object() {
            return Found::Nothing;
        }
        // A plain object may lack the namespace; an item that was requested by key is ours then.
        if host::property(&item, "namespace").is_some() && !self.is_ours(&item) {
            return Found::Foreign;
        }
        Found::Ours(item)
    }

    async fn found(&self, path: &VPath) -> Result<Found> {
        let key = JsValue::from_str(path.as_str());
        let item = host::call_method(&self.store, "get", &[self.named(), key]).await?;
        Ok(self.judged(item))
    }

    async fn batch(&self, operations: Array) -> Option<Array> {
        host::method(&self.store, "batch")?;
        let answer = host::call_method(&self.store, "batch", &[operations.clone().into()]).await;
        let answers = answer.ok()?.dyn_into::<Array>().ok()?;
        (answers.length() == operations.length()).then_some(answers)
    }

    /// The items at many keys: in one batch, or one by one if batches are not supported.
    async fn found_many(&self, paths: &[VPath]) -> Vec<Result<Found>> {
        if paths.len() > 1 {
            let operations: Array = paths
                .iter()
                .map(|path| {
                    host::object(&[
                        ("namespace", self.named()),
                        ("key", JsValue::from_str(path.as_str())),
                    ])
                })
                .collect();
            if let Some(answers) = self.batch(operations).await {
                return answers.iter().map(|item| Ok(self.judged(item))).collect();
            }
        }
        let found = paths
            .iter()
            .map(|path| Box::pin(self.found(path)) as Pending<'_, Found>);
        bounded(PARALLEL, found).await
    }

    /// Every file of the namespace, in order.
    async fn all(&self) -> Result<ByPath<File>> {
        let mut files: ByPath<File> = ByPath::new();
        let mut last: Vec<String> = Vec::new();
        let mut offset = 0usize;
        loop {
            let page = host::object(&[
                ("limit", JsValue::from_f64(PAGE as f64)),
                ("offset", JsValue::from_f64(offset as f64)),
            ]);
            let answer = host::call_method(&self.store, "search", &[self.named(), page]).await?;
            let Ok(items) = answer.dyn_into::<Array>() else {
                return Err(Error::new(
                    Kind::Unavailable,
                    "The store's search() answered no array of items",
                ));
            };
            let mut page: Vec<String> = Vec::new();
            for item in items.iter() {
                let Some(key) = host::text_property(&item, "key") else {
                    continue;
                };
                page.push(identity(&item, &key));
                if !self.is_ours(&item) {
                    continue;
                }
                // Values that are not files and keys that are not valid paths are not shown.
                if let Some(path) = VPath::from_stored(&key).filter(|path| !path.is_root())
                    && let Ok(file) = codec::decode(&path, &item)
                {
                    files.insert(path, Box::new(file));
                }
            }
            order::sort(&mut page);
            // A store that knows no offset, or repeats its last page, has reached its end too.
            if page.is_empty() || page == last {
                return Ok(files);
            }
            last = page;
            offset = offset.saturating_add(items.length() as usize);
        }
    }

    async fn in_scope(&self, scope: &Scope) -> Result<impl Iterator<Item = (VPath, File)>> {
        let files = self.all().await?;
        let admitted = files.into_iter().filter(|(path, _)| scope.admits(path));
        Ok(admitted.map(|(path, file)| (path, *file)))
    }

    async fn store_one(&self, path: &VPath, file: &NewFile) -> Result<Meta> {
        let arguments = [
            self.named(),
            JsValue::from_str(path.as_str()),
            codec::encode(file, self.raw_bytes),
        ];
        host::call_method(&self.store, "put", &arguments).await?;
        Ok(file.meta(None))
    }

    async fn remove_one(&self, path: &VPath) -> Result<()> {
        let arguments = [self.named(), JsValue::from_str(path.as_str())];
        host::call_method(&self.store, "delete", &arguments)
            .await
            .map(drop)
    }
}

enum Found {
    Nothing,
    Ours(JsValue),
    Foreign,
}

/// Identifies an item among search results.
fn identity(item: &JsValue, key: &str) -> String {
    let mut out = String::new();
    if let Some(parts) = host::property(item, "namespace").and_then(|p| p.dyn_into::<Array>().ok())
    {
        for part in parts.iter() {
            out.push_str(&part.as_string().unwrap_or_default());
            out.push('\0');
        }
    }
    out.push('\0');
    out.push_str(key);
    out
}

fn taken(path: &VPath) -> Error {
    Error::at(
        Kind::PermissionDenied,
        "'",
        path,
        "' belongs to another namespace, which this store does not keep apart from this one. \
         Choose a namespace whose parts hold no ':' or '.'.",
    )
}

impl Storage for Items {
    fn capability(&self) -> Capability {
        Capability {
            create: Reach::Instance,
            update: Reach::Instance,
            notes: vec![
                "A LangGraph store cannot compare and swap: two processes that change the same \
                 file at once can lose a change"
                    .into(),
            ],
            ..Capability::full()
        }
    }

    fn stat<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<Meta>> {
        Box::pin(async move { Ok(self.get(path).await?.map(|file| file.meta)) })
    }

    fn get<'a>(&'a self, path: &'a VPath) -> Pending<'a, Option<File>> {
        Box::pin(async move {
            match self.found(path).await? {
                Found::Ours(item) => codec::decode(path, &item).map(Some),
                Found::Nothing | Found::Foreign => Ok(None),
            }
        })
    }

    fn put<'a>(&'a self, path: &'a VPath, file: NewFile, mode: PutMode) -> Pending<'a, Meta> {
        Box::pin(async move {
            match (self.found(path).await?, mode) {
                (Found::Foreign, _) => return Err(taken(path)),
                (Found::Ours(_), PutMode::Create) => return Err(Error::already_exists(path)),
                (_, PutMode::Update(_)) => return Err(Error::conflict(path)),
                _ => {}
            }
            self.store_one(path, &file).await
        })
    }

    fn delete<'a>(&'a self, path: &'a VPath, _: Option<Version>) -> Pending<'a, bool> {
        Box::pin(async move {
            match self.found(path).await? {
                Found::Ours(_) => self.remove_one(path).await.map(|()| true),
                Found::Nothing | Found::Foreign => Ok(false),
            }
        })
    }

    fn list<'a>(&'a self, dir: &'a VPath, depth: Depth, _: Option<Cursor>) -> Pending<'a, Listing> {
        Box::pin(async move {
            let files = self.all().await?;
            Listing::of_files(
                dir,
                depth,
                files.into_iter().map(|(path, file)| (path, file.meta)),
            )
        })
    }

    fn extras(&self) -> Extras<'_> {
        Extras {
            search: Some(self),
            batch: Some(self),
            ..Extras::NONE
        }
    }
}

impl Search for Items {
    fn walk<'a>(
        &'a self,
        find: Find<'a>,
        visit: &'a mut dyn FnMut(&VPath, &Meta) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for (path, file) in self.in_scope(find.scope).await? {
                if visit(&path, &file.meta).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// A search returns items with their values, so no further requests are needed.
    fn scan<'a>(
        &'a self,
        scan: Scan<'a>,
        visit: &'a mut dyn FnMut(&VPath, &File) -> Flow,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            for (path, file) in self.in_scope(scan.scope).await? {
                if (scan.want)(&path, &file.meta) && visit(&path, &file).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

impl Batch for Items {
    fn get_many<'a>(&'a self, paths: &'a [VPath]) -> Pending<'a, Vec<Option<File>>> {
        Box::pin(async move {
            let found = self.found_many(paths).await;
            paths
                .iter()
                .zip(found)
                .map(|(path, found)| match found? {
                    Found::Ours(item) => codec::decode(path, &item).map(Some),
                    Found::Nothing | Found::Foreign => Ok(None),
                })
                .collect()
        })
    }

    fn put_many<'a>(
        &'a self,
        files: Vec<(VPath, NewFile)>,
    ) -> LocalBoxFuture<'a, Vec<Result<Meta>>> {
        Box::pin(async move {
            let paths: Vec<VPath> = files.iter().map(|(path, _)| path.clone()).collect();
            let found = self.found_many(&paths).await;
            let refusals: Vec<Option<Error>> = paths
                .iter()
                .zip(found)
                .map(|(path, found)| match found {
                    Ok(Found::Foreign) => Some(taken(path)),
                    Ok(_) => None,
                    Err(error) => Some(error),
                })
                .collect();
            let operations: Array = files
                .iter()
                .zip(&refusals)
                .filter(|(_, refusal)| refusal.is_none())
                .map(|((path, file), _)| {
                    host::object(&[
                        ("namespace", self.named()),
                        ("key", JsValue::from_str(path.as_str())),
                        ("value", codec::encode(file, self.raw_bytes)),
                    ])
                })
                .collect();
            let done = operations.length() > 1 && self.batch(operations).await.is_some();
            let mut answers = Vec::with_capacity(files.len());
            for ((path, file), refusal) in files.iter().zip(refusals) {
                answers.push(match refusal {
                    Some(refusal) => Err(refusal),
                    None if done => Ok(file.meta(None)),
                    // Part of a failed batch may be stored; storing it again is harmless.
                    None => self.store_one(path, file).await,
                });
            }
            answers
        })
    }
}
