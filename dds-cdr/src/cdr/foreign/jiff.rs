//! `jiff`: timestamps and durations, as those of the standard library.

use super::encoded_as;
use super::structs::Seconds;
use super::time::NANOS;
use crate::cdr::EncodeError;
use ::jiff::{SignedDuration, Timestamp};

/// Creates the wire value. The parts have the same sign; on the wire, nanoseconds count forward.
fn seconds(sec: i64, nanos: i32) -> Result<Seconds, EncodeError> {
    let borrow = i64::from(nanos < 0);
    Seconds::new(sec.saturating_sub(borrow), nanos.rem_euclid(NANOS as i32).unsigned_abs())
}

encoded_as! {
    Timestamp => Seconds,
        |value| seconds(value.as_second(), value.subsec_nanosecond()),
        |wire| {
            let (sec, nanosec) = wire.parts()?;
            Self::new(sec.into(), nanosec as i32).ok()
        };
    SignedDuration => Seconds,
        |value| seconds(value.as_secs(), value.subsec_nanos()),
        |wire| {
            let (sec, nanosec) = wire.parts()?;
            Some(Self::new(sec.into(), nanosec as i32))
        };
}
