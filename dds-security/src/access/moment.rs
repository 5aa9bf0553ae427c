//! Times of validity: `xsd:dateTime` as seconds since 1970.

/// Reads a time such as `2026-01-31T12:00:00`, with or without `Z`, an offset, or fractions. Default: UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (time, offset) = split_offset(time)?;
    let time = time.split_once('.').map_or(time, |(seconds, _)| seconds);
    let mut parts = time.splitn(3, ':');
    let (hour, minute, second) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    // UTC has leap seconds, so a minute may have a second 60.
    let is_time = hour < 24 && minute < 60 && second < 61;
    if !is_time || !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

/// Writes a time such as `2026-01-31T12:00:00Z`, which [`parse`] reads.
#[cfg(feature = "keystore")]
pub(crate) fn format(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // 400 years have 146 097 days, so the first guess is at most one year late or early.
    let mut year = 1970 + days * 400 / 146_097;
    while days_since_1970(year, 1, 1) > days {
        year -= 1;
    }
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 12;
    while days_since_1970(year, month, 1) > days {
        month -= 1;
    }
    let day = days - days_since_1970(year, month, 1) + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Splits off `Z` or an offset such as `+01:30`, in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix('Z') {
        return Some((time, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Some((time, 0)) };
    let (time, offset) = time.split_at(at);
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let seconds = digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60;
    Some((time, if offset.starts_with('-') { -seconds } else { seconds }))
}

fn digits(text: &str, len: usize) -> Option<i64> {
    let is_number = text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Leap days before this year, counted from the year 0.
    let before = |year: i64| (year - 1).div_euclid(4) - (year - 1).div_euclid(100) + (year - 1).div_euclid(400);
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    (year - 1970) * 365 + before(year) - before(1970) + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_seconds() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00", 0),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2013-10-26T00:00:00", 1_382_745_600),
            ("2024-02-29T23:59:59.5Z", 1_709_251_199),
            ("1970-01-01T01:30:00+01:30", 0),
            ("1969-12-31T23:00:00-01:00", 0),
            ("2038-01-19T03:14:08Z", 2_147_483_648),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
    }

    #[cfg(feature = "keystore")]
    #[test]
    fn written_times_are_read_again() {
        assert_eq!(format(1_709_251_199), "2024-02-29T23:59:59Z");
        for seconds in (-10_000_000_000..100_000_000_000).step_by(86_399 * 17) {
            assert_eq!(parse(&format(seconds)), Some(seconds));
        }
    }

    #[test]
    fn faulty_times_are_refused() {
        for text in
            ["", "2020-01-01", "2021-02-29T00:00:00", "2020-13-01T00:00:00", "2020-01-01T24:00:00", "2020-1-1T0:0:0"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
