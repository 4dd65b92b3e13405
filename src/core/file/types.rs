//! The types of many extensions as one text: lines of `extension type`, sorted by bytes. The text
//! is searched in place, because any index would double its size.

use std::cmp::Ordering;

use memchr::{memchr, memrchr};

static TYPES: &str = include_str!(concat!(env!("OUT_DIR"), "/types.txt"));

/// The type of an extension in lower case.
pub(super) fn of(extension: &str) -> Option<&'static str> {
    let bytes = TYPES.as_bytes();
    // Both are always at the start of a line, or at the end of the text.
    let (mut low, mut high) = (0usize, bytes.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = memrchr(b'\n', bytes.get(low..middle)?).map_or(low, |at| low + at + 1);
        let end = start + memchr(b'\n', bytes.get(start..)?)?;
        let (known, mime) = TYPES.get(start..end)?.split_once(' ')?;
        match known.cmp(extension) {
            Ordering::Equal => return Some(mime),
            Ordering::Less => low = end + 1,
            Ordering::Greater => high = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_has_the_type_that_the_database_gives_it() {
        let mut count = 0;
        for line in TYPES.lines() {
            let (extension, mime) = line.split_once(' ').expect("two words");
            assert_eq!(of(extension), Some(mime));
            assert_eq!(mime_guess::from_ext(extension).first_raw(), Some(mime));
            count += 1;
        }
        assert!(count > 1000, "{count}");
    }

    #[test]
    fn others_have_none() {
        for extension in ["", " ", "0", "zzzz", "png ", "\n", "é", "text/plain"] {
            assert_eq!(of(extension), None, "{extension:?}");
        }
    }
}
