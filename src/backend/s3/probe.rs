//! Finds out what a server does with conditions, at the first write: whether it honours them at
//! all, and how it wants ETags written. The object it tries on has a key that no path can name,
//! so no listing shows it; it is removed again.

use bytes::Bytes;
use futures_util::future::join;

use super::answer::tag_of;
use super::client::Client;
use super::errors::Failure;
use super::request::{Ask, Condition, TagForm};
use crate::env::http::Response;
use crate::env::random;

/// What a server does with conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// `If-None-Match: *` on PUT is honoured.
    pub create: bool,
    /// `If-Match` on PUT is honoured.
    pub update: bool,
    /// `If-Match` on DELETE is honoured.
    pub delete: bool,
    /// How ETags are written in `If-Match`.
    pub form: TagForm,
}

impl Conditions {
    /// What the standard says, deletion apart, which few servers know.
    pub const STANDARD: Conditions = Conditions {
        create: true,
        update: true,
        delete: false,
        form: TagForm::Quoted,
    };
    /// Nothing is honoured.
    pub const NONE: Conditions = Conditions {
        create: false,
        update: false,
        delete: false,
        form: TagForm::Quoted,
    };

    /// What a caller should know, where not everything is honoured.
    pub fn warning(&self) -> Option<&'static str> {
        (!(self.create && self.update)).then_some(
            "This S3 server ignores conditional writes (If-None-Match, If-Match). Calls of this \
             instance take turns, but changes of other writers at the same time can be lost.",
        )
    }
}

/// An ETag that no object has.
const NOBODY: &str = "00000000000000000000000000000000";

/// What one try on a condition told.
enum Verdict {
    Done(Response),
    Refused,
    Unknown,
}

fn verdict(answer: Result<Response, Failure>) -> Result<Verdict, Failure> {
    match answer {
        Ok(response) => Ok(Verdict::Done(response)),
        Err(failure) if failure.is_condition() || failure.is_missing() => Ok(Verdict::Refused),
        Err(failure)
            if failure.is_unsupported() || (failure.status == 400 && !failure.transient) =>
        {
            Ok(Verdict::Unknown)
        }
        Err(failure) => Err(failure),
    }
}

/// Asks the server. A disturbed try is begun anew with another key.
pub async fn probe(client: &Client) -> Result<Conditions, Failure> {
    let mut attempt = 0;
    loop {
        match once(client).await {
            Ok(conditions) => return Ok(conditions),
            Err(failure) => client.wait(attempt, failure).await?,
        }
        attempt += 1;
    }
}

async fn once(client: &Client) -> Result<Conditions, Failure> {
    let key = format!("{}~/kitbag-probe-{}", client.bucket.prefix, random::id());
    let put = |condition: Condition<'_>| {
        let body = Bytes::from_static(b"kitbag asks whether this server honours conditions");
        let ask = Ask::put(&key, body, "text/plain", "probe=1", &condition);
        async move {
            let about = client.about("probe conditional writes", None);
            verdict(client.attempt(about, &ask).await)
        }
    };
    let (known, response) = match put(Condition::Absent).await? {
        Verdict::Done(response) => (true, Some(response)),
        // A new key that is refused as an existing one makes no sense, so nothing is relied on.
        Verdict::Refused => (false, None),
        Verdict::Unknown => (
            false,
            match put(Condition::Always).await? {
                Verdict::Done(response) => Some(response),
                _ => None,
            },
        ),
    };
    let Some(tag) = response.as_ref().and_then(tag_of) else {
        remove(client, &key, &Condition::Always).await;
        return Ok(Conditions::NONE);
    };
    let (again, wrong) = join(
        put(Condition::Absent),
        put(Condition::Matches(NOBODY, TagForm::Quoted)),
    )
    .await;
    let create = known && matches!(again?, Verdict::Refused);
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
    let delete = remove(client, &key, &Condition::Matches(NOBODY, form)).await;
    if delete {
        remove(client, &key, &Condition::Always).await;
    }
    Ok(Conditions {
        create,
        update,
        delete: delete && update,
        form,
    })
}

/// Removes the object tried on; `true` where the condition was refused.
async fn remove(client: &Client, key: &str, condition: &Condition<'_>) -> bool {
    let about = client.about("probe conditional writes", None);
    let answer = client.attempt(about, &Ask::delete(key, condition)).await;
    matches!(answer, Err(failure) if failure.status == 412)
}
