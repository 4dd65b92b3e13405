//! The dates in headers of HTTP.

use crate::core::time::Time;

/// Parses a date like `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn http_date(text: &str) -> Option<Time> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = text.split_once(',')?.1.split_ascii_whitespace();
    let day: u8 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS
        .iter()
        .position(|month| *month == name)?
        .saturating_add(1);
    let (year, clock) = (words.next()?, words.next()?);
    Time::parse(&format!("{year}-{month:02}-{day:02}T{clock}Z"))
}
