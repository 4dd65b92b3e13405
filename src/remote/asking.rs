//! Requests as the server reads them.

use bytes::Bytes;

use super::message::Writer;
use crate::core::parts::Parts;
use crate::core::path::VPath;
use crate::protocol::{Content, Edit, GrepQuery, Replacement, Request};

/// A request on its way.
pub struct Sending<'a> {
    /// Its body.
    pub body: Bytes,
    /// A file that is sent in parts, instead of the body.
    pub file: Option<(&'a VPath, &'a dyn Parts)>,
    /// Whether it changes files.
    pub changes: bool,
    /// Whether its answer comes line by line.
    pub lines: bool,
}

impl<'a> Sending<'a> {
    /// One that reads.
    pub fn reads(writer: Writer) -> Sending<'a> {
        Sending {
            body: writer.body(),
            file: None,
            changes: false,
            lines: false,
        }
    }

    fn lines(writer: Writer) -> Sending<'a> {
        Sending {
            lines: true,
            ..Sending::reads(writer)
        }
    }

    fn changes(writer: Writer) -> Sending<'a> {
        Sending {
            changes: true,
            ..Sending::reads(writer)
        }
    }
}

fn about(operation: &str, path: &VPath) -> Writer {
    Writer::new(operation).text("path", path.as_str())
}

/// A text as text, bytes as bytes.
fn content(writer: Writer, name: &str, content: &Bytes, is_text: bool) -> Writer {
    match std::str::from_utf8(content) {
        Ok(text) if is_text => writer.text(name, text),
        Ok(_) | Err(_) => writer.bytes(name, content),
    }
}

fn write(path: &VPath, given: &Content) -> Writer {
    let is_text = matches!(given, Content::Text(_));
    let writer = content(about("write", path), "content", given.bytes(), is_text);
    writer.flag("ifAbsent", matches!(given, Content::New(..)))
}

fn edit(path: &VPath, edit: &Edit) -> Writer {
    if edit.appends {
        return about("append", path).bytes("content", &edit.new);
    }
    let writer = content(about("edit", path), "oldString", &edit.old, !edit.whole);
    content(writer, "newString", &edit.new, !edit.whole).flag("replaceAll", edit.replace_all)
}

fn grep(query: &GrepQuery) -> Writer {
    let writer = about("grep", &query.path).text("pattern", &query.pattern);
    let writer = match &query.glob {
        Some(glob) => writer.text("glob", glob),
        None => writer,
    };
    writer
        .count("maxCount", query.max_count)
        .count("maxPerFile", query.max_per_file)
        .flag("regex", query.regex)
        .flag("ignoreCase", query.ignore_case)
        .count("before", Some(query.before).filter(|lines| *lines > 0))
        .count("after", Some(query.after).filter(|lines| *lines > 0))
        .flag("stats", query.stats)
}

/// A page of a listing, behind an entry.
pub fn listing<'a>(path: &VPath, after: Option<&str>) -> Sending<'a> {
    let writer = about("ls", path);
    Sending::reads(match after {
        Some(after) => writer.text("after", after),
        None => writer,
    })
}

/// Several changes together.
pub fn commit<'a>(files: &[Replacement]) -> Sending<'a> {
    let writer = Writer::new("commit").list("files", files, |out, file| {
        let sides = [
            ("before", file.before.as_deref()),
            ("after", file.after.as_deref()),
        ];
        out.file(file.path.as_str(), &sides);
    });
    Sending::changes(writer)
}

/// Any request; `None` for a command, which a server does not run.
pub fn sending<'a>(request: &Request<'a>) -> Option<Sending<'a>> {
    Some(match request {
        Request::Ls(path) => listing(path, None),
        Request::Read(path, page) => {
            let writer = about("read", path).count("offset", Some(page.offset));
            Sending::reads(writer.count("limit", Some(page.limit)))
        }
        Request::ReadRaw(path, None) => Sending::reads(about("readRaw", path)),
        Request::ReadRaw(path, Some(range)) => {
            let writer = about("readRaw", path).number("start", range.start);
            Sending::reads(writer.number("end", range.end))
        }
        Request::Grep(query) => Sending::lines(grep(query)),
        Request::Glob(query) => {
            Sending::lines(about("glob", &query.path).text("pattern", &query.pattern))
        }
        Request::Write(path, given) => Sending::changes(write(path, given)),
        Request::Edit(path, given) => Sending::changes(edit(path, given)),
        Request::Delete(path, unchanged) => {
            let writer = about("delete", path);
            Sending::changes(match unchanged {
                Some(body) => writer.bytes("unchanged", body),
                None => writer,
            })
        }
        Request::Transfer(asked) => {
            let writer = Writer::new(asked.operation().name());
            let writer = writer.text("from", asked.from.as_str());
            let writer = writer.text("to", asked.to.as_str());
            Sending::changes(writer.flag("overwrite", asked.overwrite))
        }
        Request::Upload(files) => {
            let writer = Writer::new("uploadFiles").list("files", files, |out, (path, body)| {
                out.file(path.as_str(), &[("content", Some(&body[..]))]);
            });
            Sending::changes(writer)
        }
        Request::Stream(path, file) => Sending {
            body: Bytes::new(),
            file: Some((*path, file.parts())),
            changes: true,
            lines: false,
        },
        Request::Download(paths) => {
            let writer = Writer::new("downloadFiles").list("paths", paths, |out, path: &VPath| {
                out.element(path.as_str());
            });
            Sending::reads(writer)
        }
        Request::Execute(..) => return None,
    })
}
