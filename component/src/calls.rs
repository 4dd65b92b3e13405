//! The operations of a backend: parse, call, convert.

use std::time::Duration;

use bytes::Bytes;
use kitbag::core::error::{Error, Result};
use kitbag::core::path::VPath;
use kitbag::protocol::{
    Backend, BackendExt, Edit, ExecuteOptions, Page, Transfer, may_create, too_few,
};

use crate::bindings::exports::kitbag::files::backends as wit;
use crate::bindings::kitbag::files::types;
use crate::run::run;
use crate::{answers, given};

type Answer<T> = Result<T, types::Error>;

/// `ls`
pub fn ls(backend: &dyn Backend, path: &str) -> Answer<Vec<wit::FileInfo>> {
    let answer = run("ls", async {
        let path = VPath::parse(path)?;
        backend.ls(&path).await
    });
    answer.map(answers::infos).map_err(answers::error)
}

/// `read`
pub fn read(
    backend: &dyn Backend,
    path: &str,
    offset: Option<u32>,
    limit: Option<u32>,
) -> Answer<wit::Page> {
    let answer = run("read", async {
        let path = VPath::parse_file(path)?;
        let usual = Page::default();
        let page = Page {
            offset: offset.map_or(usual.offset, given::count),
            limit: limit.map_or(usual.limit, given::count),
        };
        backend.read(&path, page).await
    });
    answer.map(answers::page).map_err(answers::error)
}

/// `readRaw`
pub fn read_raw(backend: &dyn Backend, path: &str) -> Answer<wit::RawFile> {
    let answer = run("readRaw", async {
        let path = VPath::parse_file(path)?;
        backend.read_raw(&path).await
    });
    answer.map(answers::raw).map_err(answers::error)
}

/// `grep`
pub fn grep(backend: &dyn Backend, query: wit::GrepQuery) -> Answer<wit::GrepResult> {
    let answer = run("grep", async {
        let query = given::grep(query)?;
        backend.grep(&query).await
    });
    answer.map(answers::found).map_err(answers::error)
}

/// `glob`
pub fn glob(
    backend: &dyn Backend,
    pattern: String,
    path: Option<String>,
) -> Answer<wit::GlobResult> {
    let answer = run("glob", async {
        let query = given::glob(pattern, path)?;
        backend.glob(&query).await
    });
    answer
        .map(|found| wit::GlobResult {
            truncated: found.truncated,
            ignored: answers::count(found.ignored),
            files: answers::infos(found.files),
        })
        .map_err(answers::error)
}

/// A change of one file, which answers its path.
fn changed(called: &'static str, call: impl Future<Output = Result<VPath>>) -> Answer<String> {
    run(called, call)
        .map(|path| path.as_str().to_owned())
        .map_err(answers::error)
}

/// `write`
pub fn write(backend: &dyn Backend, path: &str, content: types::Content) -> Answer<String> {
    changed("write", async {
        let path = VPath::parse_file(path)?;
        may_create(backend, &path)?;
        backend.write(&path, given::content(content)).await?;
        Ok(path)
    })
}

/// `edit`
pub fn edit(
    backend: &dyn Backend,
    path: &str,
    old: String,
    new: String,
    replace_all: bool,
) -> Answer<wit::Edited> {
    let answer = run("edit", async {
        let edit = Edit {
            old: Bytes::from(old),
            new: Bytes::from(new),
            replace_all,
            whole: false,
            appends: false,
        };
        let path = VPath::parse_file(path)?;
        let edited = backend.edit(&path, &edit).await?;
        Ok(wit::Edited {
            path: path.as_str().to_owned(),
            occurrences: answers::count(edited.occurrences),
            crlf: edited.crlf,
        })
    });
    answer.map_err(answers::error)
}

/// `append`
pub fn append(backend: &dyn Backend, path: &str, text: String) -> Answer<String> {
    changed("append", async {
        let edit = Edit {
            old: Bytes::new(),
            new: Bytes::from(text),
            replace_all: false,
            whole: false,
            appends: true,
        };
        let path = VPath::parse_file(path)?;
        backend.edit(&path, &edit).await?;
        Ok(path)
    })
}

/// `delete`
pub fn delete(backend: &dyn Backend, path: &str) -> Answer<String> {
    changed("delete", async {
        let path = VPath::parse_file(path)?;
        backend.delete(&path, None).await?;
        Ok(path)
    })
}

/// `move` and `copy`
pub fn transfer(
    backend: &dyn Backend,
    from: &str,
    to: &str,
    keeps: bool,
    overwrite: bool,
) -> Answer<String> {
    changed(if keeps { "copy" } else { "move" }, async {
        let asked = Transfer {
            from: VPath::parse_file(from)?,
            to: VPath::parse_file(to)?,
            keeps,
            overwrite,
        };
        may_create(backend, &asked.to)?;
        backend.transfer(&asked).await?;
        Ok(asked.to)
    })
}

/// The path of a file of a batch as answers show it: canonical, or as it was given.
fn shown(given: String, path: &Result<VPath>) -> String {
    match path {
        Ok(path) => path.as_str().to_owned(),
        Err(_) => given,
    }
}

/// `uploadFiles`. A file whose path is refused does not keep the others from being stored.
pub fn upload(backend: &dyn Backend, files: Vec<(String, Vec<u8>)>) -> Vec<wit::Uploaded> {
    let mut accepted = Vec::new();
    let mut answers: Vec<(String, Result<()>)> = Vec::new();
    for (given, body) in files {
        let path = VPath::parse_file(&given).map_err(Error::from);
        let shown = shown(given, &path);
        let path = path.and_then(|path| may_create(backend, &path).map(|()| path));
        answers.push((
            shown,
            path.map(|path| accepted.push((path, Bytes::from(body)))),
        ));
    }
    let stored = match accepted.is_empty() {
        true => Ok(Vec::new()),
        false => run("uploadFiles", async { Ok(backend.upload(accepted).await) }),
    };
    merged(answers, stored)
        .into_iter()
        .map(|(path, answer)| wit::Uploaded {
            path,
            error: answer.err().map(answers::error),
        })
        .collect()
}

/// `downloadFiles`
pub fn download(backend: &dyn Backend, paths: Vec<String>) -> Vec<wit::Downloaded> {
    let mut accepted = Vec::new();
    let mut answers: Vec<(String, Result<()>)> = Vec::new();
    for given in paths {
        let path = VPath::parse_file(&given).map_err(Error::from);
        answers.push((shown(given, &path), path.map(|path| accepted.push(path))));
    }
    let fetched = match accepted.is_empty() {
        true => Ok(Vec::new()),
        false => run("downloadFiles", async {
            Ok(backend.download(&accepted).await)
        }),
    };
    merged(answers, fetched)
        .into_iter()
        .map(|(path, answer)| wit::Downloaded {
            path,
            body: answer.map(Vec::from).map_err(answers::error),
        })
        .collect()
}

/// The answers of a batch for all its files, from those of the files that were passed on.
fn merged<T>(
    files: Vec<(String, Result<()>)>,
    passed_on: Result<Vec<Result<T>>>,
) -> Vec<(String, Result<T>)> {
    let (mut passed_on, failed) = match passed_on {
        Ok(answers) => (answers.into_iter(), None),
        Err(error) => (Vec::new().into_iter(), Some(error)),
    };
    let mut answer = |file: Result<()>| -> Result<T> {
        file?;
        match (&failed, passed_on.next()) {
            (_, Some(answer)) => answer,
            (Some(error), None) => Err(error.clone()),
            (None, None) => Err(too_few()),
        }
    };
    files
        .into_iter()
        .map(|(path, file)| (path, answer(file)))
        .collect()
}

/// `execute`
pub fn execute(
    backend: &dyn Backend,
    command: &str,
    timeout_ms: Option<u64>,
) -> Answer<types::Execution> {
    let answer = run("execute", async {
        let options = ExecuteOptions {
            timeout: timeout_ms.map(Duration::from_millis),
        };
        backend.execute(command, options).await
    });
    answer.map(answers::execution).map_err(answers::error)
}
