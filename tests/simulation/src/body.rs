//! The contents of simulated files. Every body names itself in its first line, and every byte after
//! that follows from it, so that a body that was torn, doubled or mixed is told from a whole one. The
//! last line of a text collects the marks of edits: it shows which edits are in it, and in which
//! order.

use std::collections::HashMap;
use std::io::Write;

use bytes::Bytes;

/// The end of a text: what an edit replaces.
pub const END: &str = " .END\n";

/// A state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// There is no file.
    Absent,
    /// The file is empty.
    Empty,
    /// The content with that number.
    Body(u32),
}

/// What a content consists of: a base, and the marks of the edits since, in order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Content {
    base: u32,
    marks: Vec<u32>,
}

/// Every content of one history.
#[derive(Default)]
pub struct Bodies {
    /// Whether each base is text, and all of its bytes.
    bases: Vec<(bool, Bytes)>,
    contents: Vec<Content>,
    known: HashMap<Content, u32>,
}

impl Bodies {
    /// A new content of about that many bytes.
    pub fn make(&mut self, size: usize, is_text: bool) -> (Value, Bytes) {
        if size == 0 {
            return (Value::Empty, Bytes::new());
        }
        let base = self.bases.len() as u32;
        let mut text = Vec::with_capacity(size + 100);
        let _ = writeln!(text, "base {base}");
        let end: &[u8] = if is_text { END.as_bytes() } else { &[0, 0xff] };
        let mut line = 0u32;
        while text.len() + end.len() < size {
            if is_text {
                let start = text.len();
                let _ = write!(text, "{base}:{line} ");
                let width = 20 + (base.wrapping_mul(31).wrapping_add(line * 7) % 60) as usize;
                text.resize(text.len().max(start + width), b'x');
                text.push(b'\n');
            } else {
                text.extend_from_slice(&base.to_le_bytes());
                text.extend_from_slice(&line.to_le_bytes());
                text.push(0xfe);
            }
            line += 1;
        }
        if is_text {
            // A line may not be cut, but the size may be exact.
            while text.len() + end.len() > size && text.len() > 16 {
                text.pop();
            }
            if text.last() != Some(&b'\n') {
                text.pop();
                text.push(b'\n');
            }
        }
        text.extend_from_slice(end);
        let body = Bytes::from(text);
        self.bases.push((is_text, body.clone()));
        (Value::Body(self.intern(base, Vec::new())), body)
    }

    fn intern(&mut self, base: u32, marks: Vec<u32>) -> u32 {
        let content = Content { base, marks };
        if let Some(number) = self.known.get(&content) {
            return *number;
        }
        let number = self.contents.len() as u32;
        self.contents.push(content.clone());
        self.known.insert(content, number);
        number
    }

    /// The state after an edit that appends a mark; `None` if the edit would be refused there.
    pub fn appended(&mut self, value: Value, mark: u32) -> Option<Value> {
        let Value::Body(number) = value else {
            return None;
        };
        let Content { base, mut marks } = self.contents[number as usize].clone();
        if !self.bases[base as usize].0 {
            return None;
        }
        marks.push(mark);
        Some(Value::Body(self.intern(base, marks)))
    }

    /// What an edit that appends that mark puts in place of [`END`].
    pub fn mark(mark: u32) -> String {
        format!(" +{mark}{END}")
    }

    /// Whether that content is text.
    pub fn is_text(&self, value: Value) -> bool {
        match value {
            Value::Body(number) => self.bases[self.contents[number as usize].base as usize].0,
            Value::Empty | Value::Absent => true,
        }
    }

    /// The bytes of a state.
    pub fn bytes(&self, value: Value) -> Bytes {
        let Value::Body(number) = value else {
            return Bytes::new();
        };
        let Content { base, marks } = &self.contents[number as usize];
        let body = &self.bases[*base as usize].1;
        if marks.is_empty() {
            return body.clone();
        }
        let mut text = body[..body.len() - END.len()].to_vec();
        for mark in marks {
            text.extend_from_slice(format!(" +{mark}").as_bytes());
        }
        text.extend_from_slice(END.as_bytes());
        Bytes::from(text)
    }

    /// The size of a state in bytes.
    pub fn size(&self, value: Value) -> u64 {
        let Value::Body(number) = value else { return 0 };
        let Content { base, marks } = &self.contents[number as usize];
        let digits: usize = marks.iter().map(|mark| format!(" +{mark}").len()).sum();
        (self.bases[*base as usize].1.len() + digits) as u64
    }

    /// The state that these bytes are, or what is wrong with them.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Value, String> {
        if bytes.is_empty() {
            return Ok(Value::Empty);
        }
        let head = &bytes[..bytes.len().min(24)];
        let torn = || {
            format!(
                "torn or foreign content: {:?}",
                String::from_utf8_lossy(head)
            )
        };
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let base: u32 = std::str::from_utf8(first)
            .ok()
            .and_then(|line| line.strip_prefix("base "))
            .and_then(|number| number.parse().ok())
            .ok_or_else(torn)?;
        let (is_text, body) = self.bases.get(base as usize).cloned().ok_or_else(torn)?;
        if !is_text {
            return match body == bytes {
                true => Ok(Value::Body(self.intern(base, Vec::new()))),
                false => Err(torn()),
            };
        }
        let stem = body.len() - END.len();
        if bytes.len() < body.len() || bytes[..stem] != body[..stem] {
            return Err(format!(
                "torn content of base {base}: {} bytes",
                bytes.len()
            ));
        }
        let tail = std::str::from_utf8(&bytes[stem..]).ok();
        let marks = tail
            .and_then(|tail| tail.strip_suffix(END))
            .ok_or_else(torn)?;
        let marks: Option<Vec<u32>> = marks
            .split_terminator(" +")
            .filter(|mark| !mark.is_empty())
            .map(|mark| mark.parse().ok())
            .collect();
        let marks = marks.ok_or_else(|| format!("mixed marks in base {base}"))?;
        Ok(Value::Body(self.intern(base, marks)))
    }

    /// Whether a state has that mark.
    pub fn has_mark(&self, value: Value, mark: u32) -> bool {
        match value {
            Value::Body(number) => self.contents[number as usize].marks.contains(&mark),
            Value::Empty | Value::Absent => false,
        }
    }

    /// How a state is shown.
    pub fn name(&self, value: Value) -> String {
        match value {
            Value::Absent => "nothing".into(),
            Value::Empty => "empty".into(),
            Value::Body(number) => {
                let Content { base, marks } = &self.contents[number as usize];
                let marks: String = marks.iter().map(|mark| format!("+{mark}")).collect();
                format!("#{base}{marks}")
            }
        }
    }
}
