//! The arguments of a tool call, in JSON as a model gives them. As in the npm package: an empty text and
//! `null` are no arguments, and some models send the object as a string of JSON.

use std::rc::Rc;

use json_event_parser::{JsonEvent, SliceJsonParser};
use kitbag::core::error::{Error, Kind, Result};
use kitbag::tool::input::{Input, Value};

/// The arguments of a call.
pub fn parsed(json: &str) -> Result<Input> {
    let none = || Ok(Input(Vec::new()));
    if json.trim().is_empty() {
        return none();
    }
    match document(json)? {
        Document::Members(members) => Ok(Input(members)),
        Document::Value(Value::Null) => none(),
        Document::Value(Value::Text(text)) if text.trim().is_empty() => none(),
        Document::Value(Value::Text(text)) => match document(&text) {
            Ok(Document::Members(members)) => Ok(Input(members)),
            Ok(Document::Value(Value::Array)) => Err(no_object("an array")),
            _ => Err(no_object("a string")),
        },
        Document::Value(value) => Err(no_object(value.kind())),
    }
}

fn refusal(message: String) -> Error {
    Error::new(Kind::InvalidArgument, message)
}

fn no_object(what: &str) -> Error {
    refusal(format!(
        "The input must be a JSON object with the tool's parameters, not {what}"
    ))
}

/// A document of JSON: an object, or something else.
enum Document {
    Members(Vec<(Rc<str>, Value)>),
    Value(Value),
}

/// Reads all of a text, so that one with a mistake anywhere is refused. What is inside of the values is
/// passed over.
fn document(json: &str) -> Result<Document> {
    let mut parser = SliceJsonParser::new(json.as_bytes());
    let mut document = None;
    let mut members: Vec<(Rc<str>, Value)> = Vec::new();
    let mut key: Option<Rc<str>> = None;
    let mut depth = 0usize;
    loop {
        let event = parser
            .parse_next()
            .map_err(|error| refusal(format!("The input is not valid JSON: {error}")))?;
        let value = match event {
            JsonEvent::Eof => break,
            JsonEvent::ObjectKey(name) if depth == 1 => {
                key = Some(Rc::from(&*name));
                continue;
            }
            JsonEvent::ObjectKey(_) => continue,
            JsonEvent::EndObject | JsonEvent::EndArray => {
                depth = depth.saturating_sub(1);
                continue;
            }
            JsonEvent::StartObject => Value::Object,
            JsonEvent::StartArray => Value::Array,
            JsonEvent::Null => Value::Null,
            JsonEvent::Boolean(is) => Value::Bool(is),
            JsonEvent::Number(number) => match amount(&number) {
                amount if amount.is_finite() => Value::Number(amount),
                // As in JavaScript, where it is infinite.
                _ => Value::Null,
            },
            JsonEvent::String(text) => Value::Text(Rc::from(&*text)),
        };
        let opens = matches!(value, Value::Object | Value::Array);
        match depth {
            0 => document = Some(value),
            1 => members.extend(key.take().map(|key| (key, value))),
            _ => {}
        }
        if opens {
            depth += 1;
        }
    }
    Ok(match document {
        Some(Value::Object) => Document::Members(members),
        Some(value) => Document::Value(value),
        None => Document::Value(Value::Null),
    })
}

/// The value of a number of JSON: exact for whole numbers up to 2^53, and about right for others, which
/// are rounded to lines or seconds. The parser of the standard library has 14 KB.
fn amount(number: &str) -> f64 {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    let digits = digits.filter(u8::is_ascii_digit);
    let value = digits.fold(0.0, |value: f64, digit| {
        value * 10.0 + f64::from(digit - b'0')
    });
    let beyond = match exponent.starts_with('-') {
        true => i32::MIN,
        false => i32::MAX,
    };
    let places = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let exponent = exponent.parse().unwrap_or(beyond).saturating_sub(places);
    // After so many steps it is zero or infinite.
    let steps = 0..exponent.unsigned_abs().min(700);
    let value = match exponent < 0 {
        true => steps.fold(value, |value, _| value / 10.0),
        false => steps.fold(value, |value, _| value * 10.0),
    };
    match number.starts_with('-') {
        true => -value,
        false => value,
    }
}
