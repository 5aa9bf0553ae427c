//! A mapped file, or a private page: the only unsafe code of this crate.
//!
//! In: descriptors of files in memory, offsets, private buffers. Out: atomic words and copies. Owned: the mapping.
//!
//! The bytes belong to no Rust object. Another process may write those of a file at any time, and the system clears a
//! private page in a forked child. The rules of this file:
//!
//! - No reference to the bytes exists, except to atomic words, to bytes of a trusted owner ([`Access::Trust`]), and to
//!   own bytes with one owner ([`OwnRange`]).
//! - Each access checks its bounds against the length of the mapping, which never changes.
//! - A copy reads or writes each shared byte once. Code outside of this file sees the private copy only, except for a
//!   trusted owner.
//! - The file cannot become shorter. [`MappedMemory`](super::MappedMemory) checks its seal, so no access raises SIGBUS.

#![allow(unsafe_code, reason = "no crate maps memory safely with fewer than four crates of its own; this is the door")]

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

/// Longest page of any processor. The system populates from the start of a page.
const PAGE_MAX: usize = 64 << 10;

/// Bytes of a word.
const WORD_LEN: usize = size_of::<u32>();

/// A range of mapped bytes.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Aligned to a page.
    start: NonNull<u8>,
    len: usize,
    access: Access,
    #[cfg(test)]
    is_on_heap: bool,
}

/// What the owner of a mapping may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    /// Read, and look at bytes in place.
    ///
    /// The process that maps the memory trusts its owner: the owner does not change bytes that it has handed over,
    /// until they are returned. A process of the same user that this one can see has other ways to harm it.
    Trust,
    Write,
}

/// Bytes of the own memory that one owner fills and reads in place.
///
/// Each byte belongs to at most one range at a time, and is written only through that range. The caller of
/// [`OwnRange::new`] promises it. Peers only read the memory, because it is sealed.
#[derive(Debug)]
pub(crate) struct OwnRange {
    at: usize,
    len: usize,
}

impl OwnRange {
    /// The caller has allocated the bytes, and frees them after it has dropped the range.
    pub(crate) const fn new(at: usize, len: usize) -> Self {
        Self { at, len }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Gives up the bytes behind the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) const fn end(&self) -> usize {
        self.at + self.len
    }
}

// SAFETY: the mapping belongs to the process and not to a thread. Only `drop` ends it.
unsafe impl Send for Mapping {}
// SAFETY: `word` gives out atomics. `read` and `write` copy between shared bytes and a private buffer. Two threads may
// copy the same bytes at once, as two processes may: see `read`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of a file.
    ///
    /// The memory takes pages when they are first used. That also holds for a process that locks all its memory.
    pub(super) fn new(file: BorrowedFd<'_>, len: usize, access: Access) -> io::Result<Self> {
        let (protection, flags) = match access {
            Access::Read | Access::Trust => (MprotectFlags::READ, MapFlags::SHARED | MapFlags::NORESERVE),
            Access::Write => (MprotectFlags::READ | MprotectFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE),
        };
        // SAFETY: without a fixed address the system chooses one that no mapping uses. It refuses a length of zero.
        let start = unsafe { rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::empty(), flags, file, 0)? };
        let Some(start) = NonNull::new(start.cast::<u8>()) else { return Err(io::ErrorKind::OutOfMemory.into()) };
        let mapping = Self {
            start,
            len,
            access,
            #[cfg(test)]
            is_on_heap: false,
        };
        // After `mlockall` the system would take every page of the file at once, when the protection permits access.
        // SAFETY: the range is the new mapping, which no other code knows. Neither call changes its bytes.
        unsafe {
            rustix::mm::munlock(start.as_ptr().cast(), len)?;
            rustix::mm::mprotect(start.as_ptr().cast(), len, protection)?;
        }
        Ok(mapping)
    }

    /// Maps a private page, which is zero in each forked child.
    ///
    /// # Errors
    /// Linux before 4.14 returns `InvalidInput`.
    pub(super) fn wiped_on_fork() -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: as in `new`.
        let start = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), PAGE_MAX, protection, flags)? };
        let Some(start) = NonNull::new(start.cast::<u8>()) else { return Err(io::ErrorKind::OutOfMemory.into()) };
        let mapping = Self {
            start,
            len: PAGE_MAX,
            access: Access::Write,
            #[cfg(test)]
            is_on_heap: false,
        };
        // SAFETY: the range is the new mapping. The call changes no byte of this process.
        unsafe { rustix::mm::madvise(start.as_ptr().cast(), PAGE_MAX, Advice::LinuxWipeOnFork)? };
        Ok(mapping)
    }

    /// Memory of the heap, for tests.
    #[cfg(test)]
    pub(super) fn on_heap(len: usize) -> Self {
        let layout = heap_layout(len);
        // SAFETY: the layout has a positive size. The memory is valid for all accesses, like a mapping.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).unwrap();
        Self { start, len, access: Access::Write, is_on_heap: true }
    }

    /// Takes the pages of a range now. Fails if the system has no memory for them, where a write would raise SIGBUS.
    ///
    /// # Errors
    /// Linux before 5.14 returns `InvalidInput`.
    pub(super) fn populate(&self, at: usize, len: usize) -> io::Result<()> {
        #[cfg(test)]
        if self.is_on_heap {
            return Ok(());
        }
        let from = at - at % PAGE_MAX;
        let Some(start) = self.range(from, len.saturating_add(at - from)) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // SAFETY: the range lies within the mapping. The call takes pages and changes no byte.
        unsafe { rustix::mm::madvise(start.as_ptr().cast(), len + (at - from), Advice::LinuxPopulateWrite)? };
        Ok(())
    }

    /// Returns the word at an offset, unless it lies outside or has no alignment.
    #[inline]
    pub(super) fn word(&self, at: usize) -> Option<&AtomicU32> {
        if at % WORD_LEN != 0 {
            return None;
        }
        let word = self.range(at, WORD_LEN)?;
        // SAFETY: the four bytes are mapped as long as `self` lives, and aligned because `start` is. All accesses of
        // this process to a word are atomic: words and copied bytes never overlap (`ring`). Those of another process
        // are loads and stores of its processor, as if by a thread with atomics.
        Some(unsafe { AtomicU32::from_ptr(word.as_ptr().cast()) })
    }

    /// Returns the word at an offset, unless this mapping is for reading only.
    #[inline]
    pub(super) fn writable_word(&self, at: usize) -> Option<&AtomicU32> {
        if self.access == Access::Write { self.word(at) } else { None }
    }

    /// Copies bytes out. Returns false, and copies nothing, if they lie outside.
    #[inline]
    #[must_use]
    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(from) = self.range(at, into.len()) else { return false };
        // The two barriers make the copy a step of its own: the compiler must assume that other code changes the shared
        // bytes before and after it. So it cannot read a byte twice, or replace later reads of `into` by reads of it.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: `from` is valid for `into.len()` bytes, and `into` is private memory, so they do not overlap. Another
        // process may write during the copy, outside of the rules of the language, which knows one process. The copy
        // then has old or new bytes, in any mixture: each is a legal `u8`, and the caller checks them in the copy.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        compiler_fence(Ordering::SeqCst);
        true
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.access == Access::Trust
    }

    /// Returns bytes in place. `None` if they lie outside, or if the owner of the memory is not trusted.
    ///
    /// The caller holds the block in which they lie, and does not return it as long as it uses the slice.
    #[inline]
    pub(super) fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        if self.access != Access::Trust {
            return None;
        }
        let start = self.range(at, len)?;
        // SAFETY: the bytes are mapped and initialized as long as `self` lives: a file in memory begins with zeros. A
        // slice must not change while it is in use. This process cannot write them, because the mapping is for reading
        // and has no words. The only other writer is the owner, which keeps a block unchanged until it is returned
        // (`pool`), and is trusted to do so: see `Access::Trust`.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
    }

    /// Returns own bytes in place. `None` if they lie outside, or if the memory belongs to a peer.
    #[inline]
    pub(super) fn own_bytes<'a>(&'a self, range: &'a OwnRange) -> Option<&'a [u8]> {
        let start = self.own_start(range)?;
        // SAFETY: the bytes are mapped and initialized as long as `self` lives. They change only through a unique
        // borrow of the range, which this borrow excludes: see `OwnRange`.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), range.len) })
    }

    /// Returns own bytes to write in place. `None` if they lie outside, or if the memory belongs to a peer.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the unique borrow is that of the range")]
    pub(super) fn own_bytes_mut<'a>(&'a self, range: &'a mut OwnRange) -> Option<&'a mut [u8]> {
        let start = self.own_start(range)?;
        // SAFETY: as in `own_bytes`. The borrow of the range is unique, and no other range has these bytes. A peer may
        // read them at any time, as another process outside of the rules of the language. It cannot write them.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), range.len) })
    }

    fn own_start(&self, range: &OwnRange) -> Option<NonNull<u8>> {
        if self.access == Access::Write { self.range(range.at, range.len) } else { None }
    }

    /// Copies bytes in. Returns false, and copies nothing, if they lie outside or the mapping is for reading.
    #[inline]
    #[must_use]
    pub(super) fn write(&self, at: usize, from: &[u8]) -> bool {
        if self.access != Access::Write {
            return false;
        }
        let Some(into) = self.range(at, from.len()) else { return false };
        compiler_fence(Ordering::SeqCst);
        // SAFETY: as in `read`, in the other direction. The mapping permits writes.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), into.as_ptr(), from.len()) };
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// The start of a range that lies within the mapping.
    #[inline]
    fn range(&self, at: usize, len: usize) -> Option<NonNull<u8>> {
        let is_inside = at.checked_add(len).is_some_and(|end| end <= self.len);
        // SAFETY: `at` is at most the length of the mapping, so the result points into it or right behind it.
        is_inside.then(|| unsafe { self.start.add(at) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        #[cfg(test)]
        if self.is_on_heap {
            // SAFETY: `on_heap` allocated the memory with the same layout.
            return unsafe { std::alloc::dealloc(self.start.as_ptr(), heap_layout(self.len)) };
        }
        // SAFETY: the range is that of `new` or `wiped_on_fork`. Every reference to its words borrows from `self`.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "the range is a whole mapping");
    }
}

#[cfg(test)]
fn heap_layout(len: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(len.max(1), 4096).unwrap()
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEN: usize = 4096 + 24;

    #[test]
    fn access_outside_is_refused() {
        let mapping = Mapping::on_heap(LEN);
        for (at, len) in [(LEN, 1), (LEN - 4, 5), (0, LEN + 1), (usize::MAX, 1), (usize::MAX - 3, 4), (1, usize::MAX)] {
            assert!(mapping.range(at, len).is_none(), "{at} {len}");
        }
        assert!(mapping.read(LEN, &mut []) && mapping.write(LEN, &[]));
        assert!(!mapping.read(LEN - 4, &mut [0; 5]) && !mapping.write(LEN - 4, &[1; 5]));
        let mut rest = [9; 4];
        assert!(mapping.read(LEN - 4, &mut rest));
        assert_eq!(rest, [0; 4], "a refused write changes nothing");
    }

    #[test]
    fn words_need_alignment_and_room() {
        let mapping = Mapping::on_heap(LEN);
        for at in [1, 2, 3, LEN, LEN - 2, usize::MAX - 3] {
            assert!(mapping.word(at).is_none(), "{at}");
        }
        mapping.writable_word(LEN - 4).unwrap().store(7, Ordering::Release);
        let mut bytes = [0; 4];
        assert!(mapping.read(LEN - 4, &mut bytes));
        assert_eq!(u32::from_ne_bytes(bytes), 7);
    }

    #[test]
    fn ranges_of_own_bytes_are_filled_in_place() {
        let mapping = Mapping::on_heap(LEN);
        let (mut first, mut second) = (OwnRange::new(8, 4), OwnRange::new(12, 3));
        let (one, two) = (mapping.own_bytes_mut(&mut first).unwrap(), mapping.own_bytes_mut(&mut second).unwrap());
        one.copy_from_slice(b"abcd");
        two.copy_from_slice(b"efg");
        assert_eq!((mapping.own_bytes(&first), mapping.own_bytes(&second)), (Some(&b"abcd"[..]), Some(&b"efg"[..])));
        let mut bytes = [0; 9];
        assert!(mapping.read(7, &mut bytes) && &bytes == b"\0abcdefg\0");
        assert!(mapping.own_bytes_mut(&mut OwnRange::new(LEN - 2, 3)).is_none());
    }

    #[cfg(not(miri))]
    #[test]
    fn mapping_for_reading_is_not_written() {
        let file = rustix::fs::memfd_create(c"test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 8192).unwrap();
        use std::os::fd::AsFd;
        let (written, read) = (
            Mapping::new(file.as_fd(), 8192, Access::Write).unwrap(),
            Mapping::new(file.as_fd(), 8192, Access::Read).unwrap(),
        );
        assert!(read.writable_word(0).is_none() && !read.write(0, &[1]));
        assert!(
            read.own_bytes_mut(&mut OwnRange::new(0, 1)).is_none() && read.own_bytes(&OwnRange::new(0, 1)).is_none()
        );
        assert!(written.write(5000, b"seen"));
        let mut bytes = [0; 4];
        assert!(read.read(5000, &mut bytes));
        assert_eq!(&bytes, b"seen");
        assert!(Mapping::new(file.as_fd(), 0, Access::Read).is_err());
    }

    #[cfg(not(miri))]
    #[test]
    fn forked_child_has_its_own_process_id() {
        use crate::memory::{prepare_process_id, process_id};
        unsafe extern "C" {
            fn fork() -> i32;
            fn _exit(status: i32) -> !;
            fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        }
        prepare_process_id();
        assert_eq!(process_id(), std::process::id());
        // SAFETY: the child allocates nothing, takes no lock, and ends at once.
        let child = unsafe { fork() };
        if child == 0 {
            let is_own = process_id() == std::process::id();
            // SAFETY: no code runs after it.
            unsafe { _exit(if is_own { 7 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the status is a variable of this function.
        assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 7 << 8, "the exit status of the child");
        assert_eq!(process_id(), std::process::id());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 128 }, failure_persistence: None, ..ProptestConfig::default() })]

        /// The same as a vector, for any sequence of copies.
        #[test]
        fn copies_behave_like_those_of_a_vector(
            steps in prop::collection::vec((0..LEN + 40, prop::collection::vec(any::<u8>(), 0..300)), 1..20),
        ) {
            let (mapping, mut model) = (Mapping::on_heap(LEN), vec![0; LEN]);
            for (at, bytes) in steps {
                let place = model.get_mut(at..at + bytes.len());
                prop_assert_eq!(mapping.write(at, &bytes), place.is_some());
                if let Some(place) = place {
                    place.copy_from_slice(&bytes);
                }
                let mut all = vec![1; LEN];
                prop_assert!(mapping.read(0, &mut all));
                prop_assert_eq!(&all, &model);
            }
        }
    }
}
