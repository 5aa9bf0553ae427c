//! `chrono`: times in UTC and durations, as those of the standard library.

use super::encoded_as;
use super::structs::Seconds;
use super::time::NANOS;
use ::chrono::{DateTime, TimeDelta, Utc};

encoded_as! {
    DateTime<Utc> => Seconds,
        // A leap second has more than a second of nanoseconds. The wire has no leap seconds.
        |value| Seconds::new(value.timestamp(), value.timestamp_subsec_nanos().min(NANOS - 1)),
        |wire| {
            let (sec, nanosec) = wire.parts()?;
            Self::from_timestamp(sec.into(), nanosec)
        };
    TimeDelta => Seconds,
        |value| {
            // The nanoseconds always count forward, also in a negative duration.
            let nanos = value.subsec_nanos().rem_euclid(NANOS as i32);
            let seconds = value.num_seconds() - i64::from(value.subsec_nanos() < 0);
            Seconds::new(seconds, nanos.unsigned_abs())
        },
        |wire| {
            let (sec, nanosec) = wire.parts()?;
            Self::new(sec.into(), nanosec)
        };
}
