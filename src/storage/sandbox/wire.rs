//! Encoding for transfer through a shell: arguments cannot become syntax, because they are base64,
//! and output is enclosed in markers, because shells may print greetings, warnings and echoes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::env::random;

/// Bytes as a word without special characters for a shell.
pub fn word(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes base64 that may contain line breaks.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let packed: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    STANDARD.decode(packed).ok()
}

/// The markers around one result.
pub struct Frame(String);

impl Frame {
    /// Creates unique markers.
    pub fn new() -> Frame {
        Frame(random::id())
    }

    /// Wraps a script so that it prints its result between the markers. The script contains each
    /// marker in two pieces, so that a shell that echoes its input does not print a marker.
    pub fn around(&self, script: &str) -> String {
        let (head, tail) = self.0.split_at(8);
        format!(
            "m() {{ printf '\\n%s%s%s\\n' {head} {tail} \"$1\"; }}\nm '<'\n{{\n{script}\n}} 2>/dev/null\nm '>'\n"
        )
    }

    /// The text between the markers; `None` if one of them is missing.
    pub fn within<'a>(&self, output: &'a str) -> Option<&'a str> {
        let (_, rest) = output.split_once(&format!("{}<", self.0))?;
        let (answer, _) = rest.rsplit_once(&format!("{}>", self.0))?;
        Some(answer.trim_matches(['\r', '\n']))
    }
}

/// The SHA-256 of some bytes in hexadecimal, as the scripts compute it too.
pub fn checksum(body: &[u8]) -> String {
    Sha256::digest(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_among_greetings() {
        let frame = Frame(String::from("0123456789abcdef"));
        let output = "Welcome!\n\n0123456789abcdef<\nF 3\r\nYWJj\n\n0123456789abcdef>\nbye";
        assert_eq!(frame.within(output), Some("F 3\r\nYWJj"));
        assert_eq!(frame.within("Welcome!"), None);
        assert!(!frame.around("true").contains("0123456789abcdef"));
    }
}
