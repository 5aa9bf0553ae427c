//! Durations in configuration files: `"infinite"`, or a whole number and a unit, `"100ms"`.
//!
//! Units: `ns`, `us`, `ms`, `s`. Output uses the largest unit that is exact, so values survive a round trip.

use super::Duration;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const INFINITE: &str = "infinite";

/// The units from largest to smallest. Output uses the first one that divides the value.
const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_infinite() {
            return serializer.serialize_str(INFINITE);
        }
        let nanos = self.as_nanos();
        let (name, unit) = UNITS.into_iter().find(|(_, unit)| nanos % unit == 0).unwrap_or(("ns", 1));
        serializer.collect_str(&format_args!("{}{name}", nanos / unit))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"infinite\", or a whole number with the unit s, ms, us or ns")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

fn parse(text: &str) -> Option<Duration> {
    if text == INFINITE {
        return Some(Duration::INFINITE);
    }
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (count, name) = text.split_at_checked(digits)?;
    let count: i64 = count.parse().ok()?;
    let (_, unit) = UNITS.into_iter().find(|&(known, _)| known == name.trim_start())?;
    count.checked_mul(unit).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_in_the_largest_exact_unit() {
        for (duration, text) in [
            (Duration::INFINITE, "\"infinite\""),
            (Duration::ZERO, "\"0s\""),
            (Duration::from_secs(20), "\"20s\""),
            (Duration::from_millis(1_500), "\"1500ms\""),
            (Duration::from_nanos(1_001), "\"1001ns\""),
        ] {
            assert_eq!(serde_json::to_string(&duration).unwrap(), text);
            assert_eq!(serde_json::from_str::<Duration>(text).unwrap(), duration);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["\"\"", "\"5\"", "\"ms\"", "\"-1s\"", "\"5 weeks\"", "5", "\"99999999999999999999s\""] {
            assert!(serde_json::from_str::<Duration>(text).is_err(), "{text}");
        }
    }
}
