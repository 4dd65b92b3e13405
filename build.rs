//! Writes the table of file types: what `mime_guess` knows, as lines of `extension type` sorted by
//! extension. The crate itself would bring its tables of case folding and three times the room.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

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
    Ok(())
}
