//! One pattern of an ignore file, as git's `wildmatch` reads it. All positions of the pattern that the
//! text may have reached are followed at once, so no pattern takes long.

/// A part of a pattern.
enum Part {
    Byte(u8),
    /// `?`: any byte but `/`.
    Any,
    /// `[…]`: never `/`.
    Class(Box<[bool; 256]>),
    /// `*`: any bytes but `/`.
    Star,
    /// `**/` at the beginning or behind a `/`: any directories, or none.
    Directories,
    /// `**` at the end behind a `/`: anything.
    Rest,
    /// A broken pattern, which matches nothing.
    Never,
}

/// A pattern.
pub struct Pattern(Vec<Part>);

impl Pattern {
    /// Reads a pattern without its `!` and the `/` around it. A broken one matches nothing.
    pub fn parse(text: &[u8]) -> Pattern {
        let mut parts = Vec::new();
        let mut at = 0;
        let mut is_plain = true;
        while let Some(&byte) = text.get(at) {
            at += 1;
            let part = match byte {
                b'?' => Part::Any,
                b'*' => {
                    // git compares the text before the first wildcard by itself, so what follows it
                    // stands at the beginning.
                    let begins = is_plain || text.get(at.wrapping_sub(2)) == Some(&b'/');
                    let first = at;
                    while text.get(at) == Some(&b'*') {
                        at += 1;
                    }
                    match text.get(at) {
                        None if begins && at > first => Part::Rest,
                        Some(b'/') if begins && at > first => {
                            at += 1;
                            Part::Directories
                        }
                        _ => Part::Star,
                    }
                }
                b'[' => match class(text.get(at..).unwrap_or_default()) {
                    Some((set, length)) => {
                        at += length;
                        Part::Class(set)
                    }
                    None => Part::Never,
                },
                b'\\' => match text.get(at) {
                    Some(&next) => {
                        at += 1;
                        Part::Byte(next)
                    }
                    None => Part::Never,
                },
                byte => Part::Byte(byte),
            };
            is_plain &= !b"*?[\\".contains(&byte);
            parts.push(part);
        }
        Pattern(parts)
    }

    /// Whether it matches all of a text.
    pub fn matches(&self, text: &[u8]) -> bool {
        let mut now = vec![false; self.0.len() + 1];
        self.reach(&mut now, 0);
        for &byte in text {
            let mut next = vec![false; now.len()];
            for (at, part) in self.0.iter().enumerate() {
                if now.get(at) != Some(&true) {
                    continue;
                }
                match part {
                    Part::Byte(one) if *one == byte => self.reach(&mut next, at + 1),
                    Part::Any if byte != b'/' => self.reach(&mut next, at + 1),
                    Part::Class(set) if set.get(usize::from(byte)) == Some(&true) => {
                        self.reach(&mut next, at + 1);
                    }
                    Part::Star if byte != b'/' => self.reach(&mut next, at),
                    Part::Directories => {
                        if let Some(stays) = next.get_mut(at) {
                            *stays = true;
                        }
                        if byte == b'/' {
                            self.reach(&mut next, at + 1);
                        }
                    }
                    Part::Rest => self.reach(&mut next, at),
                    _ => {}
                }
            }
            now = next;
        }
        now.last() == Some(&true)
    }

    /// Marks a position, and those behind it that need no byte.
    fn reach(&self, marks: &mut [bool], at: usize) {
        let Some(mark) = marks.get_mut(at) else {
            return;
        };
        *mark = true;
        if matches!(
            self.0.get(at),
            Some(Part::Star | Part::Directories | Part::Rest)
        ) {
            self.reach(marks, at + 1);
        }
    }
}

/// The bytes of a class, and how much text it takes behind its `[`; `None` if it does not end.
fn class(text: &[u8]) -> Option<(Box<[bool; 256]>, usize)> {
    let mut set = Box::new([false; 256]);
    let mut at = 0;
    let negates = matches!(text.first(), Some(b'!' | b'^'));
    if negates {
        at += 1;
    }
    let mut is_first = true;
    let mut before: Option<u8> = None;
    loop {
        let byte = *text.get(at)?;
        at += 1;
        if byte == b']' && !is_first {
            break;
        }
        is_first = false;
        let ranges = byte == b'-' && before.is_some() && text.get(at) != Some(&b']');
        if let (true, Some(from)) = (ranges, before) {
            let mut to = *text.get(at)?;
            at += 1;
            if to == b'\\' {
                to = *text.get(at)?;
                at += 1;
            }
            set.iter_mut()
                .take(usize::from(to) + 1)
                .skip(usize::from(from))
                .for_each(|mark| *mark = true);
            // The end of a range begins no other one.
            before = None;
            continue;
        }
        if byte == b'[' && text.get(at) == Some(&b':') {
            let rest = text.get(at + 1..)?;
            let end = rest.iter().position(|byte| *byte == b']')?;
            // `[:` that is not closed by `:]` is an ordinary `[`.
            if let Some(name) = rest.get(..end).and_then(|name| name.strip_suffix(b":")) {
                let is = named(name)?;
                for byte in 0..=255u8 {
                    if let (true, Some(mark)) = (is(byte), set.get_mut(usize::from(byte))) {
                        *mark = true;
                    }
                }
                at += end + 2;
                before = None;
                continue;
            }
        }
        let byte = match byte {
            b'\\' => {
                let next = *text.get(at)?;
                at += 1;
                next
            }
            byte => byte,
        };
        if let Some(mark) = set.get_mut(usize::from(byte)) {
            *mark = true;
        }
        before = Some(byte);
    }
    if negates {
        set.iter_mut().for_each(|mark| *mark = !*mark);
    }
    if let Some(slash) = set.get_mut(usize::from(b'/')) {
        *slash = false;
    }
    Some((set, at))
}

fn named(name: &[u8]) -> Option<fn(u8) -> bool> {
    Some(match name {
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"blank" => |byte| byte == b' ' || byte == b'\t',
        b"cntrl" => |byte| byte.is_ascii_control(),
        b"digit" => |byte| byte.is_ascii_digit(),
        b"graph" => |byte| byte.is_ascii_graphic(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"print" => |byte| byte.is_ascii_graphic() || byte == b' ',
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
