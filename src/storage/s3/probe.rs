//! Finds out at the first write whether a server honours conditional requests, and which form of
//! ETags it expects. The key of the test object is not a valid path, so no listing shows it; the
//! object is removed afterwards.

use bytes::Bytes;
use futures_util::future::{join, join3};

use super::client::Client;
use super::errors::Failure;
use super::objects::{Condition, NewObject, Objects, Source, TagForm};
use crate::env::random;

/// The conditions that a server honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// `If-None-Match: *` on PUT is honoured.
    pub create: bool,
    /// `If-Match` on PUT is honoured.
    pub update: bool,
    /// `If-Match` on DELETE is honoured.
    pub delete: bool,
    /// The form of ETags in `If-Match`.
    pub form: TagForm,
}

impl Conditions {
    /// What the standard requires, except for conditional deletion, which few servers support.
    pub const STANDARD: Conditions = Conditions {
        create: true,
        update: true,
        delete: false,
        form: TagForm::Quoted,
    };
    /// No condition is honoured.
    pub const NONE: Conditions = Conditions {
        create: false,
        update: false,
        delete: false,
        form: TagForm::Quoted,
    };

    /// The warning for callers if a condition is not honoured.
    pub fn warning(&self) -> Option<&'static str> {
        (!(self.create && self.update)).then_some(
            "This S3 server ignores conditional writes (If-None-Match, If-Match). Calls of this \
             instance take turns, but changes of other writers at the same time can be lost.",
        )
    }
}

/// An ETag that no object has.
const NOBODY: &str = "00000000000000000000000000000000";

/// The result of one attempt with a condition.
enum Verdict {
    /// With the object's ETag.
    Done(Option<String>),
    Refused,
    Unknown,
}

fn verdict(answer: Result<Option<String>, Failure>) -> Result<Verdict, Failure> {
    match answer {
        Ok(tag) => Ok(Verdict::Done(tag)),
        Err(failure) if failure.is_condition() || failure.is_missing() => Ok(Verdict::Refused),
        Err(failure)
            if failure.is_unsupported() || (failure.status == 400 && !failure.transient) =>
        {
            Ok(Verdict::Unknown)
        }
        Err(failure) => Err(failure),
    }
}

/// Runs the probe. After a failed attempt it starts again with another key.
pub async fn probe(client: &Client, objects: &dyn Objects) -> Result<Conditions, Failure> {
    let mut attempt = 0;
    loop {
        match once(client, objects).await {
            Ok(conditions) => return Ok(conditions),
            Err(failure) => client.wait(attempt, failure).await?,
        }
        attempt += 1;
    }
}

async fn once(client: &Client, objects: &dyn Objects) -> Result<Conditions, Failure> {
    let key = format!("{}~/kitbag-probe-{}", client.bucket.prefix, random::id());
    let object = NewObject {
        body: Bytes::from_static(b"kitbag asks whether this server honours conditions"),
        ..blank()
    };
    let put = async |condition: Condition<'_>| {
        let about = client.about("probe conditional writes", None);
        let sent = objects.put(&key, &object, condition);
        verdict(client.attempt(about, sent).await)
    };
    let (known, tag) = match put(Condition::Absent).await? {
        Verdict::Done(tag) => (true, tag),
        // The key is new, so refusing it as existing is wrong; no condition of this server is
        // trusted.
        Verdict::Refused => (false, None),
        Verdict::Unknown => (
            false,
            match put(Condition::Always).await? {
                Verdict::Done(tag) => tag,
                _ => None,
            },
        ),
    };
    let Some(tag) = tag else {
        remove(client, objects, &key, Condition::Always).await;
        return Ok(Conditions::NONE);
    };
    let (again, wrong) = join(
        put(Condition::Absent),
        put(Condition::Matches(NOBODY, TagForm::Quoted)),
    )
    .await;
    let mut create = known && matches!(again?, Verdict::Refused);
    let refuses = matches!(wrong?, Verdict::Refused);
    let mut form = TagForm::Quoted;
    let mut update = refuses
        && matches!(
            put(Condition::Matches(&tag, TagForm::Quoted)).await?,
            Verdict::Done(_)
        );
    if refuses && !update {
        form = TagForm::Bare;
        update = matches!(
            put(Condition::Matches(NOBODY, TagForm::Bare)).await?,
            Verdict::Refused
        ) && matches!(
            put(Condition::Matches(&tag, TagForm::Bare)).await?,
            Verdict::Done(_)
        );
    }
    if known && refuses && !(create && update) {
        // Another client may have removed the object, together with everything in the bucket.
        let is_there = matches!(put(Condition::Absent).await?, Verdict::Refused);
        if create && !is_there {
            let about = client.about("probe conditional writes", None);
            return Err(about.nonsense("the test object was removed"));
        }
        create = is_there;
    }
    let delete = remove(client, objects, &key, Condition::Matches(NOBODY, form)).await;
    if delete {
        remove(client, objects, &key, Condition::Always).await;
    }
    Ok(Conditions {
        create,
        update,
        delete: delete && update,
        form,
    })
}

fn blank() -> NewObject<'static> {
    NewObject {
        body: Bytes::new(),
        source: None,
        mime: "text/plain",
        meta: "probe=1".into(),
    }
}

/// Finds out whether copies within the bucket honour the conditions of both objects, with the test
/// object as source and target.
pub async fn copies(
    client: &Client,
    objects: &dyn Objects,
    form: TagForm,
) -> Result<bool, Failure> {
    let key = format!("{}~/kitbag-probe-{}", client.bucket.prefix, random::id());
    let about = client.about("probe conditional copies", None);
    let object = blank();
    let sent = client.attempt(about, objects.put(&key, &object, Condition::Absent));
    let Some(tag) = sent.await? else {
        remove(client, objects, &key, Condition::Always).await;
        return Ok(false);
    };
    let copy = async |source: &str, condition: Condition<'_>| {
        let object = NewObject {
            source: Some(Source {
                key: &key,
                tag: source,
                form,
            }),
            ..blank()
        };
        verdict(
            client
                .attempt(about, objects.put(&key, &object, condition))
                .await,
        )
    };
    let refused = join3(
        copy(&tag, Condition::Absent),
        copy(&tag, Condition::Matches(NOBODY, form)),
        copy(NOBODY, Condition::Matches(&tag, form)),
    )
    .await;
    let done = copy(&tag, Condition::Matches(&tag, form)).await;
    remove(client, objects, &key, Condition::Always).await;
    let refuses = |answer| matches!(answer, Verdict::Refused);
    Ok(refuses(refused.0?)
        && refuses(refused.1?)
        && refuses(refused.2?)
        && matches!(done?, Verdict::Done(_)))
}

/// Removes the test object; returns whether the condition was refused.
async fn remove(
    client: &Client,
    objects: &dyn Objects,
    key: &str,
    condition: Condition<'_>,
) -> bool {
    let about = client.about("probe conditional writes", None);
    let answer = client.attempt(about, objects.delete(key, condition)).await;
    matches!(answer, Err(failure) if failure.status == 412)
}
