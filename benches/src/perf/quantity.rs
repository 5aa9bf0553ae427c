//! Sizes, rates and times with units: `64`, `1k`, `64..1M`, `10k`, `500ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Payload sizes in bytes, in the order of measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<usize>);

/// Samples (or round trips) per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(pub f64);

/// A span of time with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

/// Default factor of a range of sizes.
const RANGE_FACTOR: usize = 2;
/// Most sizes of a range.
const SIZES_MAX: usize = 100;

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',').map(str::trim) {
            match part.split_once("..") {
                None => sizes.push(size(part)?),
                Some((from, to)) => extend_by_range(&mut sizes, from, to)?,
            }
            if sizes.len() > SIZES_MAX {
                return Err(format!("expected at most {SIZES_MAX} sizes: use a larger factor, as in `64..1M*4`"));
            }
        }
        Ok(Self(sizes))
    }
}

/// `from..to` doubles, `from..to*4` quadruples; `to` is among them.
fn extend_by_range(sizes: &mut Vec<usize>, from: &str, to: &str) -> Result<(), String> {
    let (to, factor) = match to.split_once('*') {
        None => (to, RANGE_FACTOR),
        Some((to, factor)) => {
            (to, factor.parse().map_err(|_| format!("expected a factor of a range, found `{factor}`"))?)
        }
    };
    let (from, to) = (size(from)?, size(to)?);
    if factor < 2 || from == 0 || from > to {
        return Err("expected FROM..TO or FROM..TO*FACTOR, with FROM at most TO and FACTOR at least 2".into());
    }
    let mut next = from;
    while next < to && sizes.len() <= SIZES_MAX {
        sizes.push(next);
        next = next.saturating_mul(factor);
    }
    sizes.push(to);
    Ok(())
}

/// Bytes; `k`, `M` and `G` are powers of 1024.
pub fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let factor: usize = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 1,
        "k" | "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(format!("expected bytes, or a number with k, M or G (powers of 1024), found `{text}`")),
    };
    let number: usize =
        number.parse().map_err(|_| format!("expected a size such as `64`, `1k` or `1M`, found `{text}`"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large"))
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text);
        let factor = match unit.trim_end_matches("/s").trim_end_matches("Hz") {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            _ => return Err(format!("expected samples per second, such as `1000` or `10k`, found `{text}`")),
        };
        let rate =
            number.parse::<f64>().map_err(|_| format!("expected a rate such as `1000` or `10k`, found `{text}`"))?
                * factor;
        if rate.is_finite() && rate > 0.0 { Ok(Self(rate)) } else { Err("expected a rate above 0".into()) }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split(text);
        let seconds = match unit {
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            "m" | "min" => 60.0,
            "" if number == "0" => 0.0,
            _ => return Err(format!("expected a time with a unit, such as `10s`, `500ms` or `100us`, found `{text}`")),
        };
        let number: f64 =
            number.parse().map_err(|_| format!("expected a time such as `10s` or `500ms`, found `{text}`"))?;
        Duration::try_from_secs_f64(number * seconds).map(Self).map_err(|_| format!("`{text}` is too long"))
    }
}

/// The form that `parse` accepts.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0.as_nanos())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

/// Splits a text into its number and its unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// A number of bytes as text, such as `64 B` or `64 KiB`.
#[must_use]
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        _ if bytes % 1024 == 0 && bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Nanoseconds as microseconds with significant digits only.
#[must_use]
pub fn micros_text(nanoseconds: u64) -> String {
    let micros = nanoseconds as f64 / 1000.0;
    match micros {
        ..100.0 => format!("{micros:.2}"),
        ..10_000.0 => format!("{micros:.1}"),
        _ => format!("{micros:.0}"),
    }
}

/// A number with groups of thousands.
#[must_use]
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_lists_and_ranges() {
        let sizes = |text: &str| text.parse::<Sizes>().unwrap().0;
        assert_eq!(sizes("64"), [64]);
        assert_eq!(sizes("64,1k,1M"), [64, 1024, 1 << 20]);
        assert_eq!(sizes("64..512"), [64, 128, 256, 512]);
        assert_eq!(sizes("64..1k*4"), [64, 256, 1024]);
        assert_eq!(sizes("100..150"), [100, 150]);
        assert_eq!(sizes("2MiB"), [2 << 20]);
        for wrong in ["", "x", "1x", "9..1", "1..9*1", "1..9*x", "99999999999999999999", "-1"] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rate_must_be_decimal_and_positive() {
        assert_eq!("10k".parse(), Ok(Rate(10_000.0)));
        assert_eq!("0.5Hz".parse(), Ok(Rate(0.5)));
        assert!("0".parse::<Rate>().is_err() && "fast".parse::<Rate>().is_err());
    }

    #[test]
    fn time_needs_a_unit_and_round_trips() {
        assert_eq!("500ms".parse(), Ok(Span(Duration::from_millis(500))));
        assert_eq!("0".parse(), Ok(Span(Duration::ZERO)));
        assert_eq!("1.5s".parse(), Ok(Span(Duration::from_millis(1500))));
        assert!("5".parse::<Span>().is_err() && "5h".parse::<Span>().is_err());
        let span: Span = "120us".parse().unwrap();
        assert_eq!(span.to_string().parse(), Ok(span));
    }

    #[test]
    fn numbers_have_units_and_groups() {
        assert_eq!(
            [64, 1000, 1024, 1500, 1 << 20, 1_500_000].map(bytes_text),
            ["64 B", "1000 B", "1 KiB", "1.5 KiB", "1 MiB", "1.4 MiB"]
        );
        assert_eq!([12_345, 123_456, 12_345_678].map(micros_text), ["12.35", "123.5", "12346"]);
        assert_eq!([7, 1234, 1_234_567].map(count_text), ["7", "1 234", "1 234 567"]);
    }
}
