//! Names the host, and writes tables. Properties of characters for regular expressions, and which are alike but for
//! their case: what `regex-syntax` knows of them, in a third of the bytes of its own tables. File types: what
//! `mime_guess` knows, as lines of `extension type` sorted by extension; the crate itself would bring its tables of
//! case folding and three times the room. For names with letters beyond ASCII: what `unicode-normalization` knows of
//! decompositions, in a seventh of its bytes, and the lower case of characters that change in upper case.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Vendors' types are kept where the name of one of these is in them. The others are those of
/// long-gone or very special programs, and their files are told apart by content.
const VENDORS: [&str; 13] = [
    "adobe",
    "android",
    "apple",
    "debian",
    "google-earth",
    "mozilla",
    "ms-",
    "oasis",
    "openxml",
    "rar",
    "sqlite",
    "tcpdump",
    "visio",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    name_host();
    let known = mime_guess::get_extensions("*", "*").unwrap_or_default();
    let mut types = BTreeMap::new();
    for extension in known {
        let Some(mime) = mime_guess::from_ext(extension).first_raw() else {
            continue;
        };
        let vendors = mime.strip_prefix("application/vnd.");
        if vendors.is_none_or(|rest| VENDORS.iter().any(|vendor| rest.contains(vendor))) {
            types.insert(extension.to_ascii_lowercase(), mime);
        }
    }
    let lines: Vec<String> = types
        .iter()
        .map(|(extension, mime)| format!("{extension} {mime}\n"))
        .collect();
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("types.txt"), lines.concat())?;
    std::fs::write(Path::new(&out).join("decompositions.bin"), decompositions())?;
    std::fs::write(Path::new(&out).join("classes.bin"), classes())?;
    std::fs::write(Path::new(&out).join("caseless.bin"), caseless())?;
    println!("cargo:rerun-if-changed={PROPERTIES}");
    let names = std::fs::read_to_string(PROPERTIES)?;
    std::fs::write(Path::new(&out).join("properties.bin"), properties(&names)?)?;
    std::fs::write(Path::new(&out).join("alike.bin"), alike())?;
    Ok(())
}

/// Sets `cfg(host = "…")`: WebAssembly is for JavaScript, or without the feature `javascript` a component.
fn name_host() {
    let set = |name| std::env::var_os(name).is_some();
    let is_wasm = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let host = match is_wasm {
        true if set("CARGO_FEATURE_JAVASCRIPT") => "javascript",
        true => "component",
        false => "native",
    };
    println!(r#"cargo:rustc-check-cfg=cfg(host, values("component", "javascript", "native"))"#);
    println!(r#"cargo:rustc-cfg=host="{host}""#);
}

/// The names of properties and their values; its format is told where it is read (`properties.rs` beside it).
const PROPERTIES: &str = "src/search/regex/properties.txt";

/// The ranges of an expression for one character.
fn ranges(expression: &str) -> Result<Vec<(u32, u32)>, Box<dyn Error>> {
    match regex_syntax::parse(expression)?.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let range =
                |range: &ClassUnicodeRange| (u32::from(range.start()), u32::from(range.end()));
            Ok(class.iter().map(range).collect())
        }
        HirKind::Literal(one) => {
            let text = std::str::from_utf8(&one.0)?;
            Ok(text.chars().map(|c| (u32::from(c), u32::from(c))).collect())
        }
        _ => Err(format!("{expression} is for no character").into()),
    }
}

/// For each line of the names the ranges of its set, after their length in bytes: the distance from the one before,
/// and how long each is. A group of categories is made of those in it, and each age of what is new in it.
fn properties(names: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    let mut older = Vec::new();
    for line in names.lines() {
        let mut words = line.split(' ');
        let (Some(kind), Some(name)) = (words.next(), words.next()) else {
            return Err(format!("a line without a name: {line}").into());
        };
        match kind {
            "g" if name.len() == 1 => put_ranges(&mut bytes, &[]),
            "g" => put_ranges(&mut bytes, &ranges(&format!(r"[\p{{gc={name}}}]"))?),
            "s" => {
                put_ranges(&mut bytes, &ranges(&format!(r"[\p{{sc={name}}}]"))?);
                put_ranges(&mut bytes, &ranges(&format!(r"[\p{{scx={name}}}]"))?);
            }
            "a" => {
                let older_too = format!(r"\p{{age={name}}}");
                let new = format!(r"[{older_too}--[\P{{any}}{}]]", older.concat());
                put_ranges(&mut bytes, &ranges(&new)?);
                older.push(older_too);
            }
            "c" => put_ranges(&mut bytes, &ranges(&format!(r"[\p{{gcb={name}}}]"))?),
            "w" => put_ranges(&mut bytes, &ranges(&format!(r"[\p{{wb={name}}}]"))?),
            "b" => put_ranges(&mut bytes, &ranges(&format!(r"[\p{{sb={name}}}]"))?),
            "p" => put_ranges(&mut bytes, &ranges(&format!(r"[\p{{{name}}}]"))?),
            _ => return Err(format!("a line of no kind: {line}").into()),
        }
    }
    Ok(bytes)
}

fn put_ranges(bytes: &mut Vec<u8>, ranges: &[(u32, u32)]) {
    let mut packed = Vec::new();
    let mut next = 0;
    for (first, last) in ranges {
        put(&mut packed, first - next);
        put(&mut packed, last - first);
        next = last + 1;
    }
    put(bytes, packed.len() as u32);
    bytes.append(&mut packed);
}

/// Runs of characters that are as far from the one that stands for all that are alike: the distance from the last of
/// the run before it, how many follow the first one, with a bit for whether they are every second one, and how far
/// the other is, with a bit for the direction.
fn alike() -> Vec<u8> {
    let mut runs: Vec<(u32, u32, u32, i64)> = Vec::new();
    let has_cases = |c: &char| !c.to_lowercase().eq([*c]) || !c.to_uppercase().eq([*c]);
    for c in ('\0'..=char::MAX).filter(has_cases) {
        let at = u32::from(c);
        let far = i64::from(u32::from(form(c))) - i64::from(at);
        match runs.last_mut() {
            _ if far == 0 => {}
            Some((_, last, step, of)) if *of == far && at - *last == *step => *last = at,
            Some((first, last, step, of)) if *of == far && *first == *last && at - *last == 2 => {
                (*last, *step) = (at, 2);
            }
            _ => runs.push((at, at, 1, far)),
        }
    }
    let mut bytes = Vec::new();
    let mut before = 0;
    for (first, last, step, far) in runs {
        put(&mut bytes, first - before);
        put(&mut bytes, (last - first) / step * 2 + (step - 1));
        put(
            &mut bytes,
            far.unsigned_abs() as u32 * 2 + u32::from(far < 0),
        );
        before = last;
    }
    bytes
}

/// Of the characters that are alike to this one, the lower case of another; the first one if there is none.
fn form(c: char) -> char {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    class.case_fold_simple();
    let ranges = class.iter();
    let all: Vec<char> = ranges
        .flat_map(|range| range.start()..=range.end())
        .collect();
    let lower = |c: &char| match (c.to_lowercase().next(), c.to_lowercase().nth(1)) {
        (Some(small), None) if small != *c && all.contains(&small) => Some(small),
        _ => None,
    };
    let first = all.first().copied().unwrap_or(c);
    all.iter().find_map(lower).unwrap_or(first)
}

/// Appends a number, seven bits in each byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Each character that is decomposed, as its distance from the one before it; then how many characters it
/// becomes, and these. Syllables of Hangul are left out, because they are computed.
fn decompositions() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for c in ('\0'..=char::MAX).filter(|c| !('\u{ac00}'..='\u{d7a3}').contains(c)) {
        let parts: Vec<char> = std::iter::once(c).nfd().collect();
        if parts == [c] {
            continue;
        }
        put_entry(&mut bytes, &mut last, c, &parts);
    }
    bytes
}

/// Packs a character, and what it becomes.
fn put_entry(bytes: &mut Vec<u8>, last: &mut u32, c: char, parts: &[char]) {
    put(bytes, u32::from(c) - *last);
    *last = u32::from(c);
    put(bytes, parts.len() as u32);
    for part in parts {
        put(bytes, u32::from(*part));
    }
}

/// Characters whose lower case is another one after upper case: `ſ` becomes `s`, and `ß` `ss`. There is
/// only one sigma, because its form at the end of a word depends on its neighbours.
fn caseless() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for c in '\0'..=char::MAX {
        let lower = || c.to_lowercase();
        let upper = lower().flat_map(char::to_uppercase);
        let caseless = upper.flat_map(char::to_lowercase);
        let parts: Vec<char> = caseless.map(|c| if c == 'ς' { 'σ' } else { c }).collect();
        if !lower().eq(parts.iter().copied()) {
            put_entry(&mut bytes, &mut last, c, &parts);
        }
    }
    bytes
}

/// Runs of characters with the same combining class, other than none: the distance from the end of the
/// run before it, its length, and the class.
fn classes() -> Vec<u8> {
    let mut runs: Vec<(u32, u32, u8)> = Vec::new();
    for c in '\0'..=char::MAX {
        let class = canonical_combining_class(c);
        let at = u32::from(c);
        match runs.last_mut() {
            _ if class == 0 => {}
            Some((_, end, of)) if *end == at && *of == class => *end = at + 1,
            _ => runs.push((at, at + 1, class)),
        }
    }
    let mut bytes = Vec::new();
    let mut last = 0;
    for (start, end, class) in runs {
        put(&mut bytes, start - last);
        put(&mut bytes, end - start);
        bytes.push(class);
        last = end;
    }
    bytes
}
