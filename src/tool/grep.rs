//! `grep`: lines by content, as paths, lines or counts, up to a limit.

use std::rc::Rc;

use crate::core::error::{Error, Kind, Result};
use crate::core::visible::visible;
use crate::protocol::{Backend, BackendExt, GrepQuery, GrepResult, Matches, RowKind};
use crate::tool::input::{Input, Name, plain};
use crate::tool::ls::{capped, note_ignored};
use crate::tool::render::{counted, cut_line, units};
use crate::tool::schema::MATCHES;
use crate::tool::{Answer, OWN_CAP};

/// Maximum length of a shown line in UTF-16 units.
const WIDTH: usize = 1_000;
/// Maximum number of context lines.
const CONTEXT: usize = 100;

const GLOB: Name = Name {
    real: "glob",
    aliases: &["include", "file_pattern"],
};

const IGNORE_CASE: Name = Name {
    real: "ignore_case",
    aliases: &["case_insensitive", "ignoreCase"],
};

enum Mode {
    Files,
    Content,
    Count,
}

fn mode(input: &Input) -> Result<Mode> {
    let given = input.optional_text(&Name {
        real: "output_mode",
        aliases: &["outputMode", "mode"],
    })?;
    match given {
        None | Some("" | "files_with_matches") => Ok(Mode::Files),
        Some("content") => Ok(Mode::Content),
        Some("count") => Ok(Mode::Count),
        Some(other) => Err(Error::new(
            Kind::InvalidArgument,
            format!(
                "'output_mode' must be files_with_matches, content or count, not \"{}\"",
                cut_line(other, 40)
            ),
        )),
    }
}

/// Searches for `pattern`.
pub async fn run(backend: &dyn Backend, input: &Input) -> Result<Answer> {
    let mode = mode(input)?;
    let context = |name: &'static str| -> Result<usize> {
        Ok(input.count(&plain(name))?.unwrap_or(0).min(CONTEXT))
    };
    let max_count = input.count(&plain("max_count"))?.filter(|count| *count > 0);
    let lines = matches!(mode, Mode::Content);
    let query = GrepQuery {
        pattern: Rc::from(input.text(&plain("pattern"))?),
        path: input.path()?,
        glob: input
            .optional_text(&GLOB)?
            .filter(|glob| !glob.is_empty())
            .map(Rc::from),
        max_count: Some(max_count.unwrap_or(MATCHES)),
        max_per_file: None,
        regex: input.flag(&plain("regex"))?,
        ignore_case: input.flag(&IGNORE_CASE)?,
        before: if lines { context("before")? } else { 0 },
        after: if lines { context("after")? } else { 0 },
        stats: false,
        sieve: None,
    };
    let found = backend.grep(&query).await?;
    if found.matches.rows.is_empty() {
        let mut text = none(&query);
        note_ignored(&mut text, found.ignored);
        return Ok(Answer::text(text));
    }
    let how = "narrow the pattern, path or glob";
    let mut text = match mode {
        Mode::Files => capped(
            found
                .matches
                .paths
                .iter()
                .map(|path| visible(path.as_str()).into_owned()),
            found.matches.paths.len(),
            how,
        ),
        Mode::Count => counts(&found.matches, how),
        Mode::Content => content(&found.matches, how),
    };
    if found.truncated {
        text.push_str(&stopped(&found, how));
    }
    note_ignored(&mut text, found.ignored);
    Ok(Answer::text(text))
}

fn stopped(found: &GrepResult, how: &str) -> String {
    let count = counted(found.matches.count(), "match", "matches");
    format!(
        "\n[The search stopped after {count}; there are more. To see them, {how}, or raise max_count]"
    )
}

fn none(query: &GrepQuery) -> String {
    let mut text = format!(
        "No match for '{}' in {}",
        cut_line(&query.pattern, 200),
        visible(query.path.as_str())
    );
    if let Some(glob) = &query.glob {
        text.push_str(&format!(" (files {})", cut_line(glob, 200)));
    }
    text.push('.');
    let looks_like_regex = query.pattern.contains(['|', '\\', '^', '$'])
        || query.pattern.contains(".*")
        || query.pattern.contains(".+");
    if query.pattern.contains('\n') {
        text.push_str(" Lines are searched one by one: a pattern with a line break never matches.");
    } else if !query.regex && looks_like_regex {
        text.push_str(" The pattern was taken literally; set regex to true to use it as a regular expression.");
    }
    text
}

fn counts(matches: &Matches, how: &str) -> String {
    let mut counts = vec![0usize; matches.paths.len()];
    for row in &matches.rows {
        let Some(count) = counts.get_mut(row.file as usize) else {
            continue;
        };
        if row.kind == RowKind::Match {
            *count = count.saturating_add(1);
        }
    }
    let rows = matches.paths.iter().zip(counts);
    capped(
        rows.map(|(path, count)| format!("{}: {count}", visible(path.as_str()))),
        matches.paths.len(),
        how,
    )
}

/// Each file's path with its lines below it: `12: ` before a match, `12- ` before context.
fn content(matches: &Matches, how: &str) -> String {
    let mut out = String::new();
    let (mut shown, mut used) = (0usize, 0usize);
    let mut file = None;
    let mut last = 0u32;
    for row in matches.iter() {
        let fresh = file != Some(row.path);
        let sign = if row.kind == RowKind::Match { ':' } else { '-' };
        let text = String::from_utf8_lossy(row.text);
        let line = format!("{}{sign} {}", row.line, cut_line(&text, WIDTH));
        used = used.saturating_add(units(&line)).saturating_add(1);
        if shown > 0 && used.saturating_add(row.path.as_str().len()) > OWN_CAP {
            let more = match matches.count().saturating_sub(shown) {
                0 => "The lines that follow are".to_owned(),
                left => counted(left, "more match is", "more matches are"),
            };
            out.push_str(&format!("\n[{more} not shown: {how}]"));
            break;
        }
        if fresh {
            if file.is_some() {
                out.push_str("\n\n");
            }
            let path = visible(row.path.as_str());
            out.push_str(&format!("{path}:"));
            used = used.saturating_add(units(&path)).saturating_add(3);
            file = Some(row.path);
        } else if row.kind != RowKind::Match && row.line > last.saturating_add(1) {
            out.push_str("\n--");
        }
        out.push('\n');
        out.push_str(&line);
        last = row.line;
        if row.kind == RowKind::Match {
            shown = shown.saturating_add(1);
        }
    }
    out
}
