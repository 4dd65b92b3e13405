//! What goes over a shell: arguments that can never become syntax, because they travel as base64,
//! and answers between two marks, because shells greet, warn and echo as they like.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::env::random;

/// Bytes as a word that no shell reads anything into.
pub fn word(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes behind base64, whatever line breaks came with it.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let packed: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    STANDARD.decode(packed).ok()
}

/// The marks around one answer.
pub struct Frame(String);

impl Frame {
    /// Marks that no other answer has.
    pub fn new() -> Frame {
        Frame(random::id())
    }

    /// A script that prints its answer between the marks. The marks stand in it in two pieces,
    /// so that a shell that echoes its input does not print one.
    pub fn around(&self, script: &str) -> String {
        let (head, tail) = self.0.split_at(8);
        format!(
            "m() {{ printf '\\n%s%s%s\\n' {head} {tail} \"$1\"; }}\nm '<'\n{{\n{script}\n}} 2>/dev/null\nm '>'\n"
        )
    }

    /// What stands between the marks; `None` where one of them is missing.
    pub fn within<'a>(&self, output: &'a str) -> Option<&'a str> {
        let (_, rest) = output.split_once(&format!("{}<", self.0))?;
        let (answer, _) = rest.rsplit_once(&format!("{}>", self.0))?;
        Some(answer.trim_matches(['\r', '\n']))
    }
}

/// What POSIX `cksum` prints of some bytes, which both ends can tell: a checksum and a length.
pub fn checksum(body: &[u8]) -> String {
    let mut crc = 0u32;
    let mut take = |byte: u8| {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            let carry = crc & 0x8000_0000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x04c1_1db7;
            }
        }
    };
    for byte in body {
        take(*byte);
    }
    let mut length = body.len();
    while length > 0 {
        take((length & 0xff) as u8);
        length >>= 8;
    }
    format!("{}-{}", !crc, body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_posix_defines() {
        assert_eq!(checksum(b""), "4294967295-0");
        assert_eq!(checksum(b"hello\n"), "3015617425-6");
    }

    #[test]
    fn an_answer_is_found_among_greetings() {
        let frame = Frame(String::from("0123456789abcdef"));
        let output = "Welcome!\n\n0123456789abcdef<\nF 3\r\nYWJj\n\n0123456789abcdef>\nbye";
        assert_eq!(frame.within(output), Some("F 3\r\nYWJj"));
        assert_eq!(frame.within("Welcome!"), None);
        assert!(!frame.around("true").contains("0123456789abcdef"));
    }
}
