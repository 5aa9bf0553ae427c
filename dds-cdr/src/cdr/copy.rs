//! Copies of many bytes, as fast wherever they come from and go to.
//!
//! Libraries of C copy more than some 2 KiB by `rep movsb` where the processor calls itself good at it. AMD's (Zen 3, family 25) is
//! not: it takes half as long again for most places that a copy can have, and 17 times as long if it lies 1 to 31 bytes behind
//! the original modulo 4096 (21 us for 64 KiB instead of 1.3). That is no rare place: large blocks of memory begin at the same
//! distance from a page, and a field of a sample lies just those few bytes behind the beginning of its payload.
//!
//! Shorter copies take another way, which is as fast wherever they lie and however many there are. So long ones go in parts. Those
//! that no cache holds are best left to the library, which writes past the caches then: a third faster.

/// How long the parts are.
const PART: usize = 2 << 10;

/// Longer copies go as a whole.
const HUGE: usize = 4 << 20;

/// Appends a copy: [`Vec::extend_from_slice`].
#[doc(hidden)]
#[inline]
pub fn append<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    if size_of_val(from) <= PART {
        to.extend_from_slice(from);
    } else {
        append_long(to, from);
    }
}

/// A copy of its own: [`slice::to_vec`].
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
    to.reserve(from.len());
    from.chunks(part_of(from)).for_each(|part| to.extend_from_slice(part));
}

/// Copies: [`slice::copy_from_slice`] of two slices of one length. Of others, as much as both have.
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
    to.chunks_mut(part).zip(from.chunks(part)).for_each(|(to, from)| to.copy_from_slice(from));
}

/// How many elements to copy at once.
fn part_of<T>(from: &[T]) -> usize {
    if size_of_val(from) > HUGE { from.len() } else { (PART / size_of::<T>().max(1)).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAGE: usize = 4 << 10;

    /// Memory of so many bytes and one more page, and where in it a page begins.
    fn paged(len: usize, fill: impl Fn(usize) -> u8) -> (Vec<u8>, usize) {
        let memory: Vec<u8> = (0..len + PAGE).map(fill).collect();
        let start = memory.as_ptr().addr().wrapping_neg() % PAGE;
        (memory, start)
    }

    proptest! {
        #[test]
        fn copies_are_copies_wherever_they_lie(len in 0..12_000_usize, from in 0..100_usize, to in 0..100_usize) {
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
        fn parts_are_of_any_elements(len in 0..3_000_usize, behind in 0..9_usize) {
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
    fn parts_are_no_longer_than_what_is_fast() {
        assert_eq!(part_of(&[0_u8; 5_000]), PART);
        assert_eq!(part_of(&[[0_u64; 3]; 200]), PART / 24);
        assert_eq!(part_of(&[[0_u8; PART + 1]; 2]), 1, "and no shorter than an element");
        assert_eq!(part_of(&[(); 7]), PART);
        assert_eq!(part_of(&vec![0_u8; HUGE]), PART);
        assert_eq!(part_of(&vec![0_u8; HUGE + 1]), HUGE + 1);
    }

    #[test]
    fn as_much_is_copied_as_both_have() {
        let mut to = [0; 3];
        copy(&mut to, &[1, 2]);
        assert_eq!(to, [1, 2, 0]);
        copy(&mut to, &[5; 9]);
        assert_eq!(to, [5; 3]);
    }
}
