//! Copies of many bytes, independent of their addresses.
//!
//! C libraries copy more than about 2 KiB with `rep movsb` if the processor reports that it is fast. On AMD Zen 3
//! (family 25) it is not: most such copies take 1.5 times as long. Copies to a target 1 to 31 bytes behind the
//! source, modulo 4096, take 17 times as long: 21 µs instead of 1.3 µs for 64 KiB. This case is common: large blocks
//! start at the same offset in a page, and a field of a sample starts a few bytes behind its payload.
//!
//! Shorter copies use another path that is equally fast for all addresses, so long copies are split into parts. Above 4
//! MiB, one call is a third faster: the C library then writes past the caches.

/// Length of a part in bytes.
const PART: usize = 2 << 10;

/// Longer copies are not split, in bytes.
const HUGE: usize = 4 << 20;

/// Appends a copy, like [`Vec::extend_from_slice`].
#[doc(hidden)]
#[inline]
pub fn append<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    if size_of_val(from) <= PART {
        to.extend_from_slice(from);
    } else {
        append_long(to, from);
    }
}

/// Returns a copy, like [`slice::to_vec`].
#[doc(hidden)]
#[inline]
#[must_use]
pub fn copy_of<T: Copy>(from: &[T]) -> Vec<T> {
    let mut copy = Vec::with_capacity(from.len());
    append(&mut copy, from);
    copy
}

#[inline(never)]
fn append_long<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    // Once for all parts.
    to.reserve(from.len());
    for part in from.chunks(part_of(from)) {
        to.extend_from_slice(part);
    }
}

/// Copies like [`slice::copy_from_slice`], but at most the length of the shorter slice.
#[doc(hidden)]
#[inline]
pub fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    let len = to.len().min(from.len());
    let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) else { return };
    if size_of_val(from) <= PART {
        to.copy_from_slice(from);
    } else {
        copy_long(to, from);
    }
}

#[inline(never)]
fn copy_long<T: Copy>(to: &mut [T], from: &[T]) {
    let part = part_of(from);
    for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
        to.copy_from_slice(from);
    }
}

/// Returns the number of elements in a part.
fn part_of<T>(from: &[T]) -> usize {
    // A part has at least one element, even if elements are larger than a part or have no size.
    if size_of_val(from) > HUGE { from.len() } else { (PART / size_of::<T>().max(1)).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: usize = 4 << 10;

    /// Returns memory of `len` bytes plus a page, and the index of a page boundary in it.
    fn paged(len: usize, fill: impl Fn(usize) -> u8) -> (Vec<u8>, usize) {
        let memory: Vec<u8> = (0..len + PAGE).map(fill).collect();
        let start = memory.as_ptr().addr().wrapping_neg() % PAGE;
        (memory, start)
    }

    proptest! {
        #[test]
        fn copy_at_any_address_copies_all_bytes(len in 0..12_000_usize, from in 0..100_usize, to in 0..100_usize) {
            let (original, at) = paged(len + 100, |index| (index % 251) as u8);
            let original = &original[at + from..][..len];
            let (mut memory, at) = paged(len + 100, |_| 0xff);
            copy(&mut memory[at + to..][..len], original);
            prop_assert!(memory[at + to..][..len] == *original);
            prop_assert!(memory[..at + to].iter().chain(&memory[at + to + len..]).all(|byte| *byte == 0xff));

            let mut appended = vec![0xff; to];
            append(&mut appended, original);
            prop_assert!(copy_of(original) == original);
            prop_assert!(appended[..to].iter().all(|byte| *byte == 0xff) && appended[to..] == *original);
        }

        #[test]
        fn copy_splits_elements_of_any_size(len in 0..3_000_usize, behind in 0..9_usize) {
            let original: Vec<[u64; 3]> = (0..len as u64).map(|number| [number, !number, 7]).collect();
            let mut copied = vec![[0; 3]; behind + len];
            copy(&mut copied[behind..], &original);
            prop_assert!(copied[behind..] == original);
            let mut appended = vec![[0; 3]; behind];
            append(&mut appended, &original);
            prop_assert!(appended == copied);
        }
    }

    #[test]
    fn part_length_stays_below_the_slow_path() {
        assert_eq!(part_of(&[0_u8; 5_000]), PART);
        assert_eq!(part_of(&[[0_u64; 3]; 200]), PART / 24);
        assert_eq!(part_of(&[[0_u8; PART + 1]; 2]), 1, "a part has at least one element");
        assert_eq!(part_of(&[(); 7]), PART);
        assert_eq!(part_of(&vec![0_u8; HUGE]), PART);
        assert_eq!(part_of(&vec![0_u8; HUGE + 1]), HUGE + 1);
    }

    #[test]
    fn copy_stops_at_the_shorter_slice() {
        let mut to = [0; 3];
        copy(&mut to, &[1, 2]);
        assert_eq!(to, [1, 2, 0]);
        copy(&mut to, &[5; 9]);
        assert_eq!(to, [5; 3]);
    }
}
