//! Where a page of text stands in its file, for backends that answer nothing but content. It follows
//! from what was asked and what came. Where that leaves two readings, the backend is asked once
//! more: for two lines beyond the page, or for the same page from the start. Two, since some cut a
//! text at every `\n` and show one more, empty line behind the last.

use bytes::Bytes;

use crate::protocol::{Page, Position};
use crate::search::lines::{self, LineIndex};

/// A page and where it stands; `None` for an empty file and past the end.
pub type Placed = (Bytes, Option<Position>);

/// What the content alone tells.
#[derive(Debug, PartialEq, Eq)]
pub enum First {
    /// All there is to know.
    Placed(Placed),
    /// The page is not full: it is the last, unless the backend knows no offset.
    Last(Placed),
    /// The page is full: ask for two lines more.
    Full,
}

/// Lines of a text: a final `\n` ends the last one and starts none.
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

/// The page of a text that is the whole file, whatever was asked.
pub fn of_whole(body: &Bytes, page: Page) -> Placed {
    let paged = lines::page(body, page, &LineIndex::build(body));
    (body.slice(paged.range), paged.position)
}

/// Looks at the content of a page.
pub fn first(content: Bytes, page: Page) -> First {
    if page.limit == 0 {
        return First::Placed((Bytes::new(), None));
    }
    if count(&content) > page.limit {
        // More than was asked for: this backend knows no pages.
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

/// The page that [`wider`] asks for in place of a full one.
pub fn wider(page: Page) -> Page {
    Page {
        limit: page.limit.saturating_add(2),
        ..page
    }
}

/// The page that [`among`] asks for beside a last one.
pub fn from_start(page: Page) -> Page {
    Page {
        offset: 0,
        ..wider(page)
    }
}

/// Places a last page beside the file's start. Only a backend that knows no offset answers the same
/// to both: a page that is not full is shorter the later it begins.
pub fn among(last: Placed, start: Bytes, page: Page) -> Placed {
    match page.offset > 0 && start == last.0 {
        true => of_whole(&start, page),
        false => last,
    }
}

/// Places a full page by the content of the wider one; never full again.
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

    /// How backends cut a text into lines, and how they put a page together.
    #[derive(Clone, Copy, Debug)]
    enum Way {
        /// At every `\n`, joined by `\n`.
        Cut,
        /// Without the empty piece behind the last `\n`.
        Lines,
        /// Each line with its `\n`.
        Kept,
        /// The whole file, whatever was asked.
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

    proptest! {
        #[test]
        fn a_page_is_placed_as_if_the_whole_file_were_known(
            text in "([ab]{0,2}\n){0,6}[ab]{0,1}",
            offset in 0usize..8,
            limit in 1usize..9,
        ) {
            // A last line that is blank cannot be told from the end by all ways of cutting.
            prop_assume!(!text.ends_with("\n\n") && text != "\n");
            let page = Page { offset, limit };
            let (shown, position) = of_whole(&Bytes::from(text.clone()), page);
            for way in [Way::Cut, Way::Lines, Way::Kept, Way::Whole] {
                // The same bytes at two offsets are a periodic file or one that was given whole.
                let (content, found) = placed(&text, page, way);
                let trim = |bytes: &Bytes| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
                prop_assert_eq!(trim(&content), trim(&shown), "{:?}", way);
                prop_assert_eq!(found.map(|it| (it.start_line, it.end_line, it.next_offset)),
                    position.map(|it| (it.start_line, it.end_line, it.next_offset)), "{:?}", way);
            }
        }
    }
}
