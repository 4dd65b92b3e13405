//! Calls the host's `query(sql, params)` and converts the results of various drivers. One function
//! supports them all, since only this module handles their differences: rows as an array or inside
//! `rows` or `results`; bytes as any kind of buffer, as numbers or as text; 64-bit integers as a
//! number, a string or a BigInt.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::effort;
use crate::core::error::{Error, Kind, Result};
use crate::core::future::Pending;
use crate::env::host::{self, ForeignCause};
use crate::storage::sql::rows::is_refusal;
use crate::storage::sql::statement::{Statement, Value};
use crate::storage::sql::{Column, Database, Rows};

/// A function of the host, used as a database.
pub struct HostDatabase(pub Function);

impl Database for HostDatabase {
    fn query<'a>(&'a self, statement: Statement, columns: &'a [Column]) -> Pending<'a, Rows> {
        Box::pin(async move {
            let values: Array = statement.values.iter().map(parameter).collect();
            let arguments = [JsValue::from_str(&statement.sql), values.into()];
            effort::requested();
            let what = "The database refused or failed";
            let answer = host::call(what, &self.0, &JsValue::UNDEFINED, &arguments)
                .await
                .map_err(explained)?;
            rows_of(&answer, columns)
        })
    }

    fn refused(&self, error: &Error) -> bool {
        let message = thrown(error).map(host::message_of);
        message.is_some_and(|message| is_refusal(&code_of(error), &message))
    }

    fn lost_race(&self, error: &Error) -> bool {
        ["23505", "40001", "40P01"].contains(&code_of(error).as_str())
    }
}

fn thrown(error: &Error) -> Option<&JsValue> {
    let cause = error.cause()?.downcast_ref::<ForeignCause>()?;
    Some(&cause.0)
}

fn code_of(error: &Error) -> String {
    let code = thrown(error).and_then(|thrown| host::text_property(thrown, "code"));
    code.unwrap_or_default()
}

fn parameter(value: &Value) -> JsValue {
    match value {
        Value::Text(text) => JsValue::from_str(text),
        Value::Bytes(bytes) => host::array_of(bytes).into(),
        // All integers of kitbag stay below 2^53.
        Value::Number(number) => JsValue::from_f64(*number as f64),
    }
}

/// Adds a suggestion to an error whose cause is known.
fn explained(error: Error) -> Error {
    let said = error.to_string();
    // Matches `relation "files" does not exist` (but not a missing role or database) and `no such
    // table: files`.
    let no_table = said.contains("no such table")
        || (said.contains("relation ") && said.contains(" does not exist"));
    if !no_table {
        return error;
    }
    let told = Error::new(
        Kind::Unavailable,
        format!("{said}. Call migrate() once, or pass migrate: true, to make the table."),
    );
    match error.cause() {
        Some(cause) => told.caused_by(cause.clone()),
        None => told,
    }
}

fn rows_of(answer: &JsValue, columns: &[Column]) -> Result<Rows> {
    if columns.is_empty() {
        return Ok(Rows::new());
    }
    let list = if Array::is_array(answer) {
        Some(answer.clone())
    } else {
        host::property(answer, "rows").or_else(|| host::property(answer, "results"))
    };
    let Some(list) = list.and_then(|list| list.dyn_into::<Array>().ok()) else {
        return Err(Error::new(
            Kind::Unavailable,
            "query() must answer an array of rows, or an object with `rows` or `results`",
        ));
    };
    let names: Vec<JsValue> = columns
        .iter()
        .map(|column| match column {
            Column::Text(name) | Column::Number(name) | Column::Bytes(name) => {
                JsValue::from_str(name)
            }
        })
        .collect();
    let mut rows = Rows::with_capacity(list.length() as usize);
    for row in list.iter() {
        let mut values = Vec::with_capacity(columns.len());
        for (column, name) in columns.iter().zip(&names) {
            let cell = Reflect::get(&row, name)
                .map_err(|exception| host::thrown("A row could not be read", exception))?;
            values.push(cell_of(*column, &cell)?);
        }
        rows.push(values);
    }
    Ok(rows)
}

fn cell_of(column: Column, cell: &JsValue) -> Result<Option<Value>> {
    if cell.is_null() || cell.is_undefined() {
        return Ok(None);
    }
    let value = match column {
        Column::Text(_) => cell.as_string().map(|text| Value::from(text.as_str())),
        Column::Number(_) => number_of(cell).map(Value::Number),
        Column::Bytes(_) => bytes_of(cell).map(Value::Bytes),
    };
    value.map(Some).ok_or_else(|| {
        let (Column::Text(name) | Column::Number(name) | Column::Bytes(name)) = column;
        Error::new(
            Kind::Unavailable,
            format!("query() answered a row whose column {name} cannot be understood"),
        )
    })
}

fn number_of(cell: &JsValue) -> Option<i64> {
    if let Some(number) = cell.as_f64() {
        // A float-to-integer cast saturates.
        return Some(number as i64);
    }
    if let Some(text) = cell.as_string() {
        return text.parse().ok();
    }
    i64::try_from(cell.clone().dyn_into::<js_sys::BigInt>().ok()?).ok()
}

/// Bytes as drivers return them: any kind of buffer, an array of numbers (D1), `\x…` in hexadecimal
/// (PostgreSQL over JSON), base64, or a buffer that was serialised as JSON.
fn bytes_of(cell: &JsValue) -> Option<Bytes> {
    if let Some(bytes) = host::bytes_of(cell) {
        return Some(bytes);
    }
    if let Some(text) = cell.as_string() {
        return match text.strip_prefix("\\x") {
            Some(hex) => unhex(hex),
            None => STANDARD.decode(text).ok().map(Bytes::from),
        };
    }
    if !Array::is_array(cell) {
        return bytes_of(&host::property(cell, "data").filter(Array::is_array)?);
    }
    let byte = |item: JsValue| {
        let number = item.as_f64()?;
        (0.0..=255.0).contains(&number).then_some(number as u8)
    };
    let array: &Array = cell.unchecked_ref();
    array
        .iter()
        .map(byte)
        .collect::<Option<Vec<u8>>>()
        .map(Bytes::from)
}

fn unhex(text: &str) -> Option<Bytes> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()
        .map(Bytes::from)
}
