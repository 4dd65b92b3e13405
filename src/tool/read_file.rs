//! `read_file`: a page of numbered text, media that a model can process, or a message about a file
//! that it cannot.

use bytes::Bytes;

use crate::core::error::{Error, Kind, Result};
use crate::core::file::Mime;
use crate::core::path::VPath;
use crate::core::visible::visible;
use crate::protocol::{Backend, BackendExt, Page, Position};
use crate::search::lines::LineIndex;
use crate::tool::input::{Input, Name, plain};
use crate::tool::render::{Room, Stop, counted, numbered, size};
use crate::tool::schema::LINES;
use crate::tool::{Answer, Block, OWN_CAP, ToolSet, offload, page_of};

/// The largest file that is returned as media.
const MAX_MEDIA: usize = 10 << 20;

/// The documents that are returned as a file: a PDF, and presentations in both of their forms.
const DOCUMENTS: [&str; 3] = [
    "application/pdf",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
];

struct Shown {
    content: Bytes,
    text: bool,
    mime: Option<Mime>,
    position: Option<Position>,
    empty: bool,
}

/// Reads `file_path`.
pub async fn run(set: &ToolSet, backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let path = input.file_path()?;
    let offset = Name {
        real: "offset",
        aliases: &["start", "skip"],
    };
    // Some models give every parameter; zero is none.
    let given = |name: Name| -> Result<Option<usize>> {
        Ok(input.count(&name)?.filter(|count| *count > 0))
    };
    let (skipped, tail) = (given(offset)?, given(plain("tail"))?);
    if tail.is_some() && skipped.is_some() {
        return Err(Error::new(
            Kind::InvalidArgument,
            "'offset' counts from the first line and 'tail' from the last; give one of them",
        ));
    }
    let page = Page {
        offset: skipped.unwrap_or(0),
        limit: given(plain("limit"))?.or(tail).unwrap_or(LINES),
    };
    let column = input.count(&plain("column"))?.unwrap_or(0);
    let shown = match tail {
        Some(tail) => last(set, backend, &path, page, tail).await?,
        None => shown(set, backend, &path, page).await?,
    };
    if !shown.text {
        return Ok(binary(&path, &shown));
    }
    if shown.empty {
        let path = visible(path.as_str());
        return Ok(Answer::text(format!("[{path} exists but is empty]")));
    }
    let Some(position) = shown.position else {
        return Ok(past_the_end(set, backend, &path, page).await);
    };
    let room = Room {
        rows: page.limit,
        units: set
            .options
            .result_tokens
            .map_or(OWN_CAP, |tokens| tokens.saturating_mul(offload::TOKEN)),
    };
    Ok(Answer::text(text(&shown.content, position, column, room)))
}

/// The page of the last `tail` lines. It is found in the whole file, so that its place and its text are
/// of one moment.
async fn last(
    set: &ToolSet,
    backend: &dyn Backend,
    path: &VPath,
    page: Page,
    tail: usize,
) -> Result<Shown> {
    let all = Page {
        limit: usize::MAX,
        ..page
    };
    let mut shown = match whole(set, backend, path, all).await? {
        Some(shown) => shown,
        None => read(backend, path, all).await?,
    };
    if shown.text {
        let total = LineIndex::build(&shown.content).total_lines();
        let offset = total.saturating_sub(tail);
        (shown.content, shown.position) = page_of(&shown.content, Page { offset, ..page });
    }
    Ok(shown)
}

async fn shown(set: &ToolSet, backend: &dyn Backend, path: &VPath, page: Page) -> Result<Shown> {
    // The whole file is needed to recognise it later, and it contains the page.
    if set.options.read_before_edit
        && let Some(shown) = whole(set, backend, path, page).await?
    {
        return Ok(shown);
    }
    read(backend, path, page).await
}

/// A page of a file that is read whole; none if the backend has no way to.
async fn whole(
    set: &ToolSet,
    backend: &dyn Backend,
    path: &VPath,
    page: Page,
) -> Result<Option<Shown>> {
    let file = match backend.read_raw(path).await {
        Err(error) if error.kind() == Kind::Unsupported => return Ok(None),
        file => file?,
    };
    if set.options.read_before_edit {
        set.seen.borrow_mut().note(path, &file.body);
    }
    let text = file.is_text || file.mime.is_text();
    let (content, position) = if text {
        page_of(&file.body, page)
    } else {
        (file.body.clone(), None)
    };
    Ok(Some(Shown {
        content,
        text,
        mime: Some(file.mime),
        position,
        empty: file.body.is_empty(),
    }))
}

async fn read(backend: &dyn Backend, path: &VPath, page: Page) -> Result<Shown> {
    let read = backend.read(path, page).await?;
    let empty =
        read.is_text && read.position.is_none() && read.content.is_empty() && page.offset == 0;
    Ok(Shown {
        content: read.content,
        text: read.is_text,
        mime: read.mime,
        position: read.position,
        empty,
    })
}

fn text(content: &[u8], position: Position, column: usize, room: Room) -> String {
    let content = String::from_utf8_lossy(content);
    let count = position
        .end_line
        .saturating_add(1)
        .saturating_sub(position.start_line);
    let lines = content.split('\n').take(count);
    let (mut out, stop) = numbered(lines, position.start_line, column, room);
    if out.is_empty() && column > 0 {
        let line = position.start_line;
        out = format!("[Line {line} ends before column={column}]");
    }
    let total = position.total_lines;
    match stop {
        Some(Stop { line, column }) if column > 0 => {
            let offset = line.saturating_sub(1);
            let of = total.map_or(String::new(), |total| format!(" of {total}"));
            out.push_str(&format!(
                "\n[Line {line}{of} goes on. Read on with offset={offset}, column={column}]"
            ));
        }
        Some(Stop { line, .. }) => out.push_str(&left(total, line.saturating_sub(1))),
        None => {
            if let Some(next) = position.next_offset {
                out.push_str(&left(total, next));
            }
        }
    }
    out
}

fn left(total: Option<usize>, next: usize) -> String {
    let Some(total) = total else {
        return format!("\n[More lines follow. Read on with offset={next}]");
    };
    let left = counted(total.saturating_sub(next), "line is", "lines are");
    format!("\n[{left} left of {total}. Read on with offset={next}]")
}

async fn past_the_end(set: &ToolSet, backend: &dyn Backend, path: &VPath, page: Page) -> Answer {
    let start = Page {
        offset: 0,
        limit: 1,
    };
    let total = match shown(set, backend, path, start).await {
        Ok(Shown {
            position:
                Some(Position {
                    total_lines: Some(total),
                    ..
                }),
            ..
        }) => counted(total, "line", "lines"),
        _ => String::from("fewer lines"),
    };
    let path = visible(path.as_str());
    Answer::failure(format!(
        "{path} has {total}; offset={} is past the end.",
        page.offset
    ))
}

fn binary(path: &VPath, shown: &Shown) -> Answer {
    let mime = shown.mime.clone().unwrap_or(Mime::BYTES);
    let mime = mime.as_str();
    let path = visible(path.as_str());
    let bytes = shown.content.len();
    let kind = match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        _ if DOCUMENTS.contains(&mime) => "file",
        _ => {
            return Answer::text(format!(
                "{path} is a binary file ({mime}, {}) that cannot be shown.",
                size(bytes as u64)
            ));
        }
    };
    if bytes > MAX_MEDIA {
        return Answer::failure(format!(
            "{path} ({mime}) is {}, too large to show: the limit is {}.",
            size(bytes as u64),
            size(MAX_MEDIA as u64)
        ));
    }
    if bytes == 0 {
        return Answer::text(format!("[{path} exists but is empty]"));
    }
    let mut answer = Answer::text(format!("{path} ({mime}, {})", size(bytes as u64)));
    answer.blocks.push(Block::Media {
        kind,
        mime: mime.to_owned(),
        body: shown.content.clone(),
    });
    answer
}
