//! Records of several parts, each behind its length. A record is text if its parts are, since some
//! storages keep only that.

use bytes::Bytes;

/// A record that is being written.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Adds a part; `None` is a part, too.
    pub fn part(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.0.extend(bytes.len().to_string().into_bytes()),
            None => self.0.push(b'-'),
        }
        self.0.push(b'\n');
        self.0.extend(bytes.unwrap_or_default());
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.part(Some(text.as_bytes()));
    }

    /// Adds a number.
    pub fn number(&mut self, number: impl ToString) {
        self.text(&number.to_string());
    }

    /// Adds a number, or none.
    pub fn optional(&mut self, number: Option<impl ToString>) {
        let text = number.map(|number| number.to_string());
        self.part(text.as_deref().map(str::as_bytes));
    }

    /// The record.
    pub fn finish(self) -> Bytes {
        Bytes::from(self.0)
    }
}

/// A record that is being read. Everything is `None` at the end, and where the bytes are no record.
pub struct Reader(Bytes);

impl Reader {
    /// Reads a record.
    pub fn new(bytes: &Bytes) -> Reader {
        Reader(bytes.clone())
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next part.
    pub fn part(&mut self) -> Option<Option<Bytes>> {
        let end = memchr::memchr(b'\n', &self.0)?;
        let head = self.0.split_to(end + 1);
        let length = match head.as_ref() {
            b"-\n" => return Some(None),
            _ => usize::try_from(digits(head.strip_suffix(b"\n")?)?).ok()?,
        };
        (length <= self.0.len()).then(|| Some(self.0.split_to(length)))
    }

    /// The next part, a text.
    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.part()??.to_vec()).ok()
    }

    /// The next part, a number.
    pub fn number<T: TryFrom<u128>>(&mut self) -> Option<T> {
        T::try_from(digits(&self.part()??)?).ok()
    }

    /// The next part, a number or none.
    pub fn optional<T: std::str::FromStr>(&mut self) -> Option<Option<T>> {
        match self.part()? {
            Some(part) => std::str::from_utf8(&part).ok()?.parse().ok().map(Some),
            None => Some(None),
        }
    }
}

/// A number; compiled once for numbers of all sizes.
#[inline(never)]
fn digits(text: &[u8]) -> Option<u128> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
