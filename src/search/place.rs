//! Finds where a page of text is in its file, for backends that return only content. It follows
//! from the request and the content. If that is ambiguous, the backend is called once more: for the
//! page with two more lines, or for the same page from the start of the file. Two lines, because
//! some backends split at every `\n` and return an extra empty line after the last one.

use bytes::Bytes;

use crate::search::lines::{self, LineIndex, Page, Position};

/// A page and its position; `None` for an empty file and past the end.
pub type Placed = (Bytes, Option<Position>);

/// What the content alone shows.
#[derive(Debug, PartialEq, Eq)]
pub enum First {
    /// The position is known.
    Placed(Placed),
    /// The page is not full: it is the last one, unless the backend ignores the offset.
    Last(Placed),
    /// The page is full: request two more lines.
    Full,
}

/// Number of lines: a final `\n` ends the last line and does not start another.
fn count(text: &[u8]) -> usize {
    let newlines = memchr::memchr_iter(b'\n', text).count();
    let open = !text.is_empty() && text.last() != Some(&b'\n');
    newlines.saturating_add(usize::from(open))
}

fn last(content: Bytes, page: Page) -> Placed {
    let lines = count(&content);
    if lines == 0 {
        return (content, None);
    }
    let end_line = page.offset.saturating_add(lines);
    let position = Position {
        total_lines: Some(end_line),
        start_line: page.offset.saturating_add(1),
        end_line,
        next_offset: None,
    };
    (content, Some(position))
}

/// The requested page, cut from the whole file.
pub fn of_whole(body: &Bytes, page: Page) -> Placed {
    let paged = lines::page(body, page, &LineIndex::build(body));
    (body.slice(paged.range), paged.position)
}

/// Examines the content of a page.
pub fn first(content: Bytes, page: Page) -> First {
    if page.limit == 0 {
        return First::Placed((Bytes::new(), None));
    }
    if count(&content) > page.limit {
        // More lines than requested: this backend does not support pages.
        return First::Placed(of_whole(&content, page));
    }
    let cut = memchr::memchr_iter(b'\n', &content)
        .count()
        .saturating_add(1);
    if cut >= page.limit {
        First::Full
    } else if content.is_empty() {
        First::Placed((content, None))
    } else {
        First::Last(last(content, page))
    }
}

/// The request that follows a full page.
pub fn wider(page: Page) -> Page {
    Page {
        limit: page.limit.saturating_add(2),
        ..page
    }
}

/// The request that follows a last page, to check it against the start of the file.
pub fn from_start(page: Page) -> Page {
    Page {
        offset: 0,
        ..wider(page)
    }
}

/// Places a last page, given the start of the file. Only a backend that ignores the offset returns
/// the same content for both, because a page that is not full gets shorter with a larger offset.
pub fn among(last: Placed, start: Bytes, page: Page) -> Placed {
    match page.offset > 0 && start == last.0 {
        true => of_whole(&start, page),
        false => last,
    }
}

/// Places a full page by the content of the wider one; never returns `Full`.
pub fn full(content: Bytes, page: Page) -> First {
    if count(&content) > wider(page).limit {
        return First::Placed(of_whole(&content, page));
    }
    let newline = page.limit.saturating_sub(1);
    let end = memchr::memchr_iter(b'\n', &content).nth(newline);
    match end {
        Some(end) if end.saturating_add(1) < content.len() => {
            let end_line = page.offset.saturating_add(page.limit);
            let position = Position {
                total_lines: None,
                start_line: page.offset.saturating_add(1),
                end_line,
                next_offset: Some(end_line),
            };
            First::Placed((content.slice(..end), Some(position)))
        }
        _ if content.is_empty() => First::Placed((content, None)),
        _ => First::Last(last(content, page)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How backends split a text into lines, and how they join a page.
    #[derive(Clone, Copy, Debug)]
    enum Way {
        /// At every `\n`, joined by `\n`.
        Cut,
        /// Without the empty piece after the last `\n`.
        Lines,
        /// Each line with its `\n`.
        Kept,
        /// Always the whole file.
        Whole,
    }

    fn served(text: &str, page: Page, way: Way) -> Bytes {
        let part = |lines: Vec<&str>, between: &str| {
            let shown: Vec<&str> = lines
                .into_iter()
                .skip(page.offset)
                .take(page.limit)
                .collect();
            Bytes::from(shown.join(between))
        };
        match way {
            Way::Cut => part(text.split('\n').collect(), "\n"),
            Way::Lines => part(text.lines().collect(), "\n"),
            Way::Kept => part(text.split_inclusive('\n').collect(), ""),
            Way::Whole => Bytes::from(text.to_owned()),
        }
    }

    fn placed(text: &str, page: Page, way: Way) -> Placed {
        let mut known = first(served(text, page, way), page);
        if known == First::Full {
            known = full(served(text, wider(page), way), page);
        }
        match known {
            First::Placed(placed) => placed,
            First::Full => panic!("full again"),
            First::Last(placed) => {
                let start = served(text, from_start(page), way);
                among(placed, start, page)
            }
        }
    }

    const WAYS: [Way; 4] = [Way::Cut, Way::Lines, Way::Kept, Way::Whole];

    type Seen = (String, Option<(usize, usize, Option<usize>)>);

    /// The text of a page and its position. Whether the last line keeps its `\n` depends on the way.
    fn seen((content, position): Placed) -> Seen {
        let text = String::from_utf8_lossy(&content);
        let place = position.map(|it| (it.start_line, it.end_line, it.next_offset));
        (text.trim_end_matches('\n').to_owned(), place)
    }

    fn found(text: &str, offset: usize, limit: usize, way: Way) -> Seen {
        seen(placed(text, Page { offset, limit }, way))
    }

    fn wanted(text: &str, offset: usize, limit: usize) -> Seen {
        seen(of_whole(
            &Bytes::from(text.to_owned()),
            Page { offset, limit },
        ))
    }

    #[test]
    fn a_page_that_begins_with_a_blank_line_is_placed() {
        for way in WAYS {
            assert_eq!(found("\n\na", 1, 3, way), wanted("\n\na", 1, 3), "{way:?}");
        }
    }

    proptest! {
        #[test]
        fn a_page_is_placed_as_if_the_whole_file_were_known(
            text in "([ab]{0,2}\n){0,6}[ab]{0,1}",
            offset in 0usize..8,
            limit in 1usize..9,
        ) {
            // Not every way of splitting distinguishes a blank last line from the end.
            prop_assume!(!text.ends_with("\n\n") && text != "\n");
            for way in WAYS {
                prop_assert_eq!(found(&text, offset, limit, way), wanted(&text, offset, limit), "{:?}", way);
            }
        }
    }
}
