//! Changes whose answer was lost and cannot be looked up any more, because the server was restarted or has
//! dropped it. They are never repeated blindly: the files tell whether such a change was made, or that it
//! can be made again because its condition still holds. Where they do not tell, the caller learns that.

use bytes::Bytes;

use super::Remote;
use crate::core::error::{Error, Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{
    Answer, BackendExt, Content, DeleteResult, EditResult, Replacement, Request, WriteResult,
};

/// What the files say of a change.
pub enum Found {
    /// It was made.
    Made(Answer),
    /// It was not made, and will not be: it can be made now.
    Open,
    /// They do not say.
    Unknown(Error),
}

/// The error for a change about which nothing is known.
pub fn unknown(paths: &[VPath]) -> Error {
    const LOST: &str = "It is not known whether ";
    const READ: &str = "' was changed: the server's answer was lost. Read it before you try again";
    match paths {
        [path, ..] => Error::at(Kind::Unavailable, format!("{LOST}'"), path, READ),
        [] => Error::new(Kind::Unavailable, format!("{LOST}files were changed")),
    }
}

/// What a file holds; `None` without a file.
async fn now(at: &Remote, path: &VPath) -> Result<Option<Bytes>> {
    match at.fetch(path).await {
        Ok(body) => Ok(Some(body)),
        Err(error) if error.is_no_file() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at the files. `never`: the server will not make the change any more.
pub async fn look(at: &Remote, request: &Request<'_>, never: bool) -> Found {
    match looked(at, request, never).await {
        Ok(found) => found,
        Err(_) => Found::Unknown(unknown(&request.paths())),
    }
}

async fn looked(at: &Remote, request: &Request<'_>, never: bool) -> Result<Found> {
    let unknown = || Found::Unknown(unknown(&request.paths()));
    // It has the content that was wanted, whoever wrote it; or the condition holds as before.
    let compared = |now: Option<Bytes>, before: Option<&Bytes>, after: Option<&Bytes>, made| {
        if now.as_ref() == after {
            Found::Made(made)
        } else if now.as_ref() == before && never {
            Found::Open
        } else {
            unknown()
        }
    };
    Ok(match request {
        Request::Write(path, Content::New(body, _)) => {
            let made = Answer::Write(WriteResult::default());
            compared(now(at, path).await?, None, Some(body), made)
        }
        Request::Write(path, Content::Raw(body, _)) => match now(at, path).await? {
            Some(stored) if stored == *body => Found::Made(Answer::Write(WriteResult::default())),
            Some(_) | None => unknown(),
        },
        Request::Edit(path, edit) if edit.whole => {
            let made = Answer::Edit(EditResult {
                occurrences: 1,
                ..EditResult::default()
            });
            compared(now(at, path).await?, Some(&edit.old), Some(&edit.new), made)
        }
        Request::Delete(path, unchanged) => {
            let made = Answer::Delete(DeleteResult::default());
            match (now(at, path).await?, unchanged) {
                (now, Some(before)) => compared(now, Some(before), None, made),
                // A directory is no file either.
                (None, None) if at.ls(path).await?.is_empty() => Found::Made(made),
                (_, None) => unknown(),
            }
        }
        Request::Upload(files) => {
            let mut answers = Vec::with_capacity(files.len());
            for (path, body) in files {
                let is_stored = now(at, path)
                    .await
                    .is_ok_and(|now| now.as_ref() == Some(body));
                answers.push(match is_stored {
                    true => Ok(()),
                    false => Err(self::unknown(std::slice::from_ref(path))),
                });
            }
            Found::Made(Answer::Upload(answers))
        }
        Request::Ls(_)
        | Request::Read(..)
        | Request::ReadRaw(..)
        | Request::Grep(_)
        | Request::Glob(_)
        | Request::Download(_)
        | Request::Write(_, Content::Text(_))
        | Request::Edit(..)
        | Request::Transfer(_)
        | Request::Stream(..)
        | Request::Execute(..) => unknown(),
    })
}

/// The same for changes that are made together: those files that hold what they must hold.
pub async fn look_at_all(at: &Remote, files: &[Replacement], never: bool) -> Result<bool> {
    let (mut made, mut open) = (true, never);
    for file in files {
        let now = now(at, &file.path).await?;
        made &= now == file.after;
        open &= now == file.before;
    }
    match (made, open) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => {
            let paths: Vec<VPath> = files.iter().map(|file| file.path.clone()).collect();
            Err(unknown(&paths))
        }
    }
}
