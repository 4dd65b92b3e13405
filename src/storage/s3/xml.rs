//! A parser for the subset of XML that S3 uses: elements and text, without significant attributes
//! or document types. A general XML crate is larger than this whole backend. Truncated, badly
//! nested or trailing content is an error, so that a truncated listing is never taken for a short
//! one.

use std::borrow::Cow;
use std::fmt;

/// Why a document is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken(pub &'static str);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An element with its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The name without a namespace prefix.
    pub name: String,
    /// The direct text with entities resolved.
    pub text: String,
    /// The child elements, in order.
    pub children: Vec<Element>,
}

impl Element {
    /// The first child element with that name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All child elements with that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child element with that name.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }
}

/// The maximum nesting depth; S3 uses five.
const DEEPEST: usize = 32;

/// Parses a complete document.
pub fn parse(bytes: &[u8]) -> Result<Element, Broken> {
    let text = std::str::from_utf8(bytes).map_err(|_| Broken("it is not UTF-8"))?;
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    while !rest.is_empty() {
        let (before, tag) = match rest.split_once('<') {
            Some((before, tag)) => (before, Some(tag)),
            None => (rest, None),
        };
        match open.last_mut() {
            Some(element) => element.text.push_str(&resolve(before)?),
            None if before.trim().is_empty() => {}
            None => return Err(Broken("there is text outside the document")),
        }
        let Some(tag) = tag else { break };
        if let Some(after) = tag.strip_prefix("?") {
            rest = past(after, "?>")?.1;
            continue;
        }
        if let Some(after) = tag.strip_prefix("!--") {
            rest = past(after, "-->")?.1;
            continue;
        }
        if let Some(after) = tag.strip_prefix("![CDATA[") {
            let (data, after) = past(after, "]]>")?;
            match open.last_mut() {
                Some(element) => element.text.push_str(data),
                None => return Err(Broken("there is text outside the document")),
            }
            rest = after;
            continue;
        }
        if tag.starts_with('!') {
            return Err(Broken("it declares a document type"));
        }
        let (inside, after) = past(tag, ">")?;
        rest = after;
        let closed = if let Some(name) = inside.strip_prefix('/') {
            let Some(element) = open.pop() else {
                return Err(Broken("an element ends that never began"));
            };
            if element.name != local(name.trim_end()) {
                return Err(Broken("elements overlap"));
            }
            Some(element)
        } else {
            if root.is_some() {
                return Err(Broken("there is more than one document"));
            }
            let (inside, empty) = match inside.strip_suffix('/') {
                Some(inside) => (inside, true),
                None => (inside, false),
            };
            let name = inside
                .split(|c: char| c.is_ascii_whitespace())
                .next()
                .unwrap_or_default();
            if name.is_empty() || name.contains(['<', '&', '"', '\'']) {
                return Err(Broken("an element has no proper name"));
            }
            let element = Element {
                name: local(name).to_owned(),
                ..Element::default()
            };
            if empty {
                Some(element)
            } else if open.len() >= DEEPEST {
                return Err(Broken("it is nested too deeply"));
            } else {
                open.push(element);
                None
            }
        };
        if let Some(element) = closed {
            match open.last_mut() {
                Some(parent) => parent.children.push(element),
                None => root = Some(element),
            }
        }
    }
    match (open.is_empty(), root) {
        (true, Some(root)) => Ok(root),
        (true, None) => Err(Broken("it is empty")),
        (false, _) => Err(Broken("it was cut short")),
    }
}

fn past<'a>(text: &'a str, end: &str) -> Result<(&'a str, &'a str), Broken> {
    text.split_once(end).ok_or(Broken("it was cut short"))
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Text with entities resolved. Control characters are allowed, since a key may contain any.
fn resolve(text: &str) -> Result<Cow<'_, str>, Broken> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (name, after) = after
            .split_once(';')
            .ok_or(Broken("an entity has no end"))?;
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => numbered(name).ok_or(Broken("it has an unknown entity"))?,
        });
        rest = after;
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

fn numbered(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code)
}

/// Escapes text for use inside an element.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if c.is_control() => out.push_str(&format!("&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOC: &str = "<?xml version=\"1.0\"?>\n<!-- hi --><s:R xmlns:s=\"x\"> <a>1 &amp; &#50;&#x33;</a><b/>\
        <c><![CDATA[<&>]]></c><a>é</a></s:R>\n";

    #[test]
    fn elements_text_and_entities_are_read() {
        let root = parse(DOC.as_bytes()).expect("a document");
        assert_eq!(root.name, "R");
        assert_eq!(root.text_of("a"), Some("1 & 23"));
        assert_eq!(root.text_of("b"), Some(""));
        assert_eq!(root.text_of("c"), Some("<&>"));
        assert_eq!(root.all("a").count(), 2);
    }

    #[test]
    fn a_document_of_a_megabyte_takes_no_time() {
        let started = std::time::Instant::now();
        for piece in [
            "<a>",
            "<a></a>",
            "<",
            "&amp;",
            "<a/>",
            "<!--",
            "<![CDATA[",
            "]]>",
            "<a b='",
            ">",
        ] {
            let many = piece.repeat((1 << 20) / piece.len());
            assert!(parse(many.as_bytes()).is_err(), "{piece}");
            let _ = parse(format!("<r>{many}</r>").as_bytes());
        }
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let whole = DOC.trim_end().as_bytes();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for bad in [
            "",
            "hello",
            "<a></b>",
            "<a/><b/>",
            "</a>",
            "<a>&nbsp;</a>",
            "<a>&amp</a>",
            "<a></a>x",
            "<!DOCTYPE x><a/>",
            "<>x</>",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse("<a>".repeat(100).as_bytes()).is_err());
        assert!(parse(b"<a>\xff</a>").is_err());
    }

    proptest! {
        #[test]
        fn what_was_escaped_is_read_back(text in "\\PC{0,40}|[\\x00-\\x7f]{0,20}") {
            let doc = format!("<a>{}</a>", escape(&text));
            prop_assert_eq!(parse(doc.as_bytes()).map(|root| root.text), Ok(text));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&bytes);
        }
    }
}
