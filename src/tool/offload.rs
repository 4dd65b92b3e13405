//! Moves large results out of the conversation: the whole text goes into a file, and the model gets
//! a note with its path, its first lines and its last lines. If the file cannot be written, the
//! result is truncated, and the note says so and gives the reason.

use bytes::Bytes;

use crate::core::error::{Kind, Result};
use crate::core::path::VPath;
use crate::protocol::{Backend, BackendExt, Content, FilesUpdate, WriteResult};
use crate::tool::render::{counted, cut_line, last_units, split_units, units};

/// Characters per token.
pub const TOKEN: usize = 4;
/// Number of lines from each end.
const LINES: usize = 5;
/// Maximum length of these lines in UTF-16 units.
const WIDTH: usize = 1_000;
/// Maximum length of all lines from one end: both with the note stay below 2,000 tokens.
const PART: usize = 3_500;
/// How many names are tried if files with the name exist.
const TRIES: u32 = 32;

/// The kind of text that is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The result of a tool.
    Result,
    /// A message from the user.
    Message,
}

impl What {
    fn path(self, id: &str, attempt: u32) -> Option<VPath> {
        let again = match attempt {
            0 => String::new(),
            n => format!("_{}", n.saturating_add(1)),
        };
        let path = match self {
            What::Result => format!("/large_tool_results/{id}{again}"),
            What::Message => format!("/conversation_history/{id}{again}.md"),
        };
        VPath::parse_file(&path).ok()
    }
}

/// The replacement of a large text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The text for the model.
    pub text: String,
    /// Only from a backend over state that the caller owns.
    pub update: FilesUpdate,
}

/// Letters, digits, `-` and `_` of a call id; other characters become `_`. At most 200 characters.
pub fn sanitised(id: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    id.chars()
        .take(200)
        .map(|letter| if fits(letter) { letter } else { '_' })
        .collect()
}

/// Moves a text into a new file.
pub async fn offload(
    backend: &dyn Backend,
    text: &str,
    id: &str,
    what: What,
    room: usize,
) -> Moved {
    // A NUL would make the file binary, and the model could not read it back.
    let kept: String = text.replace('\0', "\u{2400}");
    let body = Bytes::from(kept);
    let mut refusal = String::from("no free name was found");
    for attempt in 0..TRIES {
        let Some(path) = what.path(id, attempt) else {
            break;
        };
        match created(backend, &path, &body).await {
            Ok(written) => {
                return Moved {
                    text: note(text, &path, what),
                    update: written.files_update.unwrap_or_default(),
                };
            }
            // The same message is sent to the model repeatedly: reuse the file from the first time.
            Err(error) if error.kind() == Kind::AlreadyExists => {
                if holds(backend, &path, &body).await {
                    return Moved {
                        text: note(text, &path, what),
                        update: FilesUpdate::new(),
                    };
                }
            }
            Err(error) => {
                refusal = error.to_string();
                break;
            }
        }
    }
    Moved {
        text: cut(text, &refusal, room),
        update: FilesUpdate::new(),
    }
}

/// Creates a file, and replaces none. Objects that are not kitbag's may not know the condition.
async fn created(backend: &dyn Backend, path: &VPath, body: &Bytes) -> Result<WriteResult> {
    match backend.write(path, Content::New(body.clone(), None)).await {
        Err(error) if error.kind() == Kind::Unsupported => {
            backend.write(path, Content::Text(body.clone())).await
        }
        answer => answer,
    }
}

/// Whether a file exists with exactly these bytes.
async fn holds(backend: &dyn Backend, path: &VPath, body: &Bytes) -> bool {
    matches!(backend.read_raw(path).await, Ok(file) if file.body == *body)
}

fn note(text: &str, path: &VPath, what: What) -> String {
    let lines = text.lines().count();
    let subject = match what {
        What::Result => "This result",
        What::Message => "This message",
    };
    let (head, head_lines) = head(text);
    let (tail, tail_lines) = tail(text, lines.saturating_sub(head_lines));
    let mut out = format!(
        "{subject} is too large to show ({}, {} characters). It was saved whole to {path}\n\
         Read it in pages with read_file (offset, limit), or search it with grep.\n\nBegins:\n{head}",
        counted(lines, "line", "lines"),
        units(text)
    );
    let hidden = lines.saturating_sub(head_lines).saturating_sub(tail_lines);
    if hidden > 0 {
        out.push_str(&format!("\n\n[… {} …]", counted(hidden, "line", "lines")));
    }
    if tail_lines > 0 {
        out.push_str(&format!("\n\nEnds:\n{tail}"));
    }
    out
}

fn head(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut count = 0usize;
    for line in text.lines().take(LINES) {
        let shown = cut_line(line, WIDTH);
        let used = units(&out).saturating_add(units(&shown));
        if count > 0 && used > PART {
            break;
        }
        if count > 0 {
            out.push('\n');
        }
        out.push_str(&shown);
        count = count.saturating_add(1);
    }
    (out, count)
}

fn tail(text: &str, available: usize) -> (String, usize) {
    let mut shown: Vec<String> = Vec::new();
    let mut used = 0usize;
    for line in text.lines().rev().take(LINES.min(available)) {
        let cut = cut_line(line, WIDTH);
        used = used.saturating_add(units(&cut));
        if !shown.is_empty() && used > PART {
            break;
        }
        shown.push(cut);
    }
    shown.reverse();
    (shown.join("\n"), shown.len())
}

fn cut(text: &str, refusal: &str, room: usize) -> String {
    let half = room / 2;
    let (begin, _) = split_units(text, half);
    let end = last_units(text, half);
    let missing = units(text)
        .saturating_sub(units(begin))
        .saturating_sub(units(end));
    format!(
        "{begin}\n\n[{missing} characters were cut here: the text was too large to show, and saving it \
         to a file failed: {refusal}]\n\n{end}"
    )
}
