//! Bounds of DER, which hold before any decoder sees the bytes.

/// Most elements of a set. Decoders sort sets, in a time that grows with the square of the number.
const SET_MAX: usize = 16;

/// Most constructed values inside of each other.
const DEPTH_MAX: usize = 24;

const SET: u8 = 0x31;
const CONSTRUCTED: u8 = 0x20;
const CLASS: u8 = 0xc0;
const CONTEXT: u8 = 0x80;

/// Whether bytes are values of DER whose sets are small.
///
/// A value with a tag of its context may be a set too, so it has the same bound.
pub(super) fn is_bounded(bytes: &[u8]) -> bool {
    values_are_bounded(bytes, usize::MAX, DEPTH_MAX)
}

fn values_are_bounded(mut bytes: &[u8], count_max: usize, depth_left: usize) -> bool {
    // This function recurses as the decoder does, so the limit protects both.
    if depth_left == 0 {
        return false;
    }
    let mut count = 0;
    while !bytes.is_empty() {
        let Some((tag, content, rest)) = split_value(bytes) else { return false };
        count += 1;
        if count > count_max {
            return false;
        }
        let is_set = tag == SET || tag & CLASS == CONTEXT;
        let count_max = if is_set { SET_MAX } else { usize::MAX };
        if tag & CONSTRUCTED != 0 && !values_are_bounded(content, count_max, depth_left - 1) {
            return false;
        }
        bytes = rest;
    }
    true
}

/// Returns the tag of the first value, its content, and the bytes behind it.
pub(super) fn split_value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |len, digit| len << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a value whose length has two bytes.
    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        let len = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82], &len[..], content].concat()
    }

    #[test]
    fn sets_are_small() {
        let elements = |count| [5, 0].repeat(count);
        for tag in [SET, 0xa0] {
            assert!(is_bounded(&value(0x30, &value(tag, &elements(SET_MAX)))));
            assert!(!is_bounded(&value(0x30, &value(tag, &elements(SET_MAX + 1)))));
        }
        assert!(is_bounded(&value(0x30, &elements(1000))), "decoders do not sort sequences");
        assert!(is_bounded(&value(4, &value(SET, &elements(1000)))), "decoders do not open octets");
    }

    #[test]
    fn depth_and_lengths_have_bounds() {
        let nested = |depth| (0..depth).fold(Vec::new(), |inner, _| value(0x30, &inner));
        assert!(is_bounded(&nested(DEPTH_MAX - 1)));
        assert!(!is_bounded(&nested(DEPTH_MAX)));
        assert!(!is_bounded(&nested(10_000)));
        for faulty in [&[0x30][..], &[0x30, 0x80, 0, 0], &[4, 2, 0], &[4, 0x85, 0, 0, 0, 0, 0], &[4, 0x82, 1]] {
            assert!(!is_bounded(faulty), "{faulty:?}");
        }
    }
}
