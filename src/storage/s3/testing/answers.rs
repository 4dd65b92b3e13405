//! How the server answers.

use bytes::Bytes;
use md5::{Digest, Md5};

use crate::env::http::Response;

pub fn tag(body: &[u8]) -> String {
    Md5::digest(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let hex = std::str::from_utf8(&bytes[at + 1..at + 3]).expect("hex");
            out.push(u8::from_str_radix(hex, 16).expect("hex"));
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).expect("text")
}

pub fn document(body: String) -> Response {
    Response {
        status: 200,
        headers: vec![("content-length".into(), body.len().to_string())],
        body: Bytes::from(body),
    }
}

pub fn status(status: u16, code: &str) -> Response {
    let body = match code {
        "" => String::new(),
        code => format!("<Error><Code>{code}</Code><Message>AKIDSECRET</Message></Error>"),
    };
    Response {
        status,
        ..document(body)
    }
}
