//! Timestamps: ISO 8601 text in the protocol, microseconds since 1970 internally, so that a listing
//! sorts by integers and a time written by another package is preserved exactly. The calendar
//! arithmetic is two dozen lines, so no date library is needed.

use std::fmt;
use std::time::Duration;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// The latest time with a four-digit year.
const LATEST: i64 = 253_402_300_799_999_999;
/// The earliest one.
const EARLIEST: i64 = -62_167_219_200_000_000;

/// A duration in whole milliseconds. `Duration::as_millis` has 128 bits, whose formatting is large.
pub fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Time {
    /// From microseconds since 1970; clamped to the years 0000 to 9999.
    pub fn from_micros(micros: i64) -> Time {
        Time(micros.clamp(EARLIEST, LATEST))
    }

    /// From milliseconds since 1970, as in JavaScript.
    pub fn from_millis(millis: f64) -> Time {
        // A float-to-integer cast saturates, and NaN becomes 0.
        Time::from_micros((millis * 1000.0) as i64)
    }

    /// Microseconds since 1970.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since 1970, as in JavaScript.
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Parses `2026-01-31T12:00:00`, with or without a fraction, with `Z`, `+hh:mm` or no offset
    /// (which means UTC), and optionally a space in place of `T`.
    pub fn parse(text: &str) -> Option<Time> {
        let bytes = text.trim().as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = bytes.get(from..to)?;
            digits.iter().try_fold(0i64, |sum, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| sum * 10 + i64::from(digit - b'0'))
            })
        };
        let is = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|b| wanted.contains(b));
        if !(is(4, b"-") && is(7, b"-")) {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let mut micros = days_from_civil(year, month, day) * 86_400_000_000;
        let mut at = 10;
        if bytes.len() > 10 {
            if !(is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
                return None;
            }
            let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
            if hour > 24 || minute > 59 || second > 60 {
                return None;
            }
            micros += ((hour * 60 + minute) * 60 + second) * 1_000_000;
            at = 19;
            if is(at, b".,") {
                at += 1;
                let mut unit = 100_000;
                while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
                    micros += i64::from(digit - b'0') * unit;
                    unit /= 10;
                    at += 1;
                }
            }
            micros -= match bytes.get(at..) {
                Some(b"" | b"Z" | b"z") => 0,
                Some([sign @ (b'+' | b'-'), rest @ ..]) => {
                    let colon = usize::from(rest.get(2) == Some(&b':'));
                    if rest.len() != 4 + colon {
                        return None;
                    }
                    let minutes =
                        number(at + 1, at + 3)? * 60 + number(at + 3 + colon, at + 5 + colon)?;
                    minutes * 60_000_000 * if *sign == b'-' { -1 } else { 1 }
                }
                _ => return None,
            };
        }
        let _ = at;
        Some(Time::from_micros(micros))
    }
}

/// `2026-01-31T12:00:00.000Z`; six fractional digits if milliseconds are not precise enough.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400_000_000);
        let rest = self.0.rem_euclid(86_400_000_000);
        let (year, month, day) = civil_from_days(days);
        let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}."
        )?;
        if fraction % 1000 == 0 {
            write!(f, "{:03}Z", fraction / 1000)
        } else {
            write!(f, "{fraction:06}Z")
        }
    }
}

/// Days from 1970 to a date in the Gregorian calendar. Years begin in March, so that the leap day
/// comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = (shifted + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_instants_read_and_write_alike() {
        for (text, micros) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:34:56.789Z", 951_827_696_789_000),
            ("2024-12-31T23:59:59.999999Z", 1_735_689_599_999_999),
            ("1969-12-31T23:59:59.999Z", -1000),
        ] {
            assert_eq!(Time::parse(text), Some(Time(micros)), "{text}");
            assert_eq!(Time(micros).to_string(), text);
        }
    }

    #[test]
    fn other_spellings_are_understood() {
        let noon = Time::parse("2024-05-01T12:00:00.5Z");
        assert!(noon.is_some());
        for text in [
            "2024-05-01T14:00:00.5+02:00",
            "2024-05-01T14:00:00.500000+0200",
            "2024-05-01 12:00:00.5",
            "2024-05-01T07:00:00.5-05:00",
        ] {
            assert_eq!(Time::parse(text), noon, "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2024",
            "2024-13-01",
            "2024-05-01T1",
            "2024-05-01T12:00:00+2",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_instant_survives_its_text(micros in EARLIEST..=LATEST) {
            let time = Time::from_micros(micros);
            prop_assert_eq!(Time::parse(&time.to_string()), Some(time));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = Time::parse(&text);
        }
    }
}
