//! Memory that its owner writes and peers read.
//!
//! In: lengths, descriptors of peers. Out: mapped memory. Owned: the mapping.
//!
//! The owner maps the memory for writing and then seals it. After that no process can map it for writing, change its
//! length, or remove a seal. So a peer cannot write, and cannot cause SIGBUS in a reader by shortening the memory.
//! Memory of huge pages is refused, because its reader gets SIGBUS if the system has no free huge page.
//!
//! A process that writes a page for which the system has no memory would get SIGBUS. So the owner reserves pages before
//! it writes them, and does without if the system refuses.

mod mapping;
mod process_id;

pub(crate) use self::process_id::{prepare_process_id, process_id};
use crate::reasons::Refusal;
pub(crate) use mapping::OwnRange;
use mapping::{Access, Mapping};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};

/// File system of memory with pages of the usual length, from `linux/magic.h`.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// Bytes that are reserved when memory is created: the words of an outbox.
const FIRST_LEN: usize = 4 << 10;

/// Access to shared memory. Models replace it by atomics that loom observes.
///
/// Offsets lie inside of the memory: callers mask or check each received number first.
pub(crate) trait Memory {
    /// Loads a word with acquire ordering.
    fn load(&self, at: usize) -> u32;
    /// Stores a word with release ordering.
    fn store(&self, at: usize, value: u32);
    /// Copies bytes out.
    fn read(&self, at: usize, into: &mut [u8]);
    /// Copies bytes in.
    fn write(&self, at: usize, from: &[u8]);
    /// Orders the stores before it before the loads after it.
    fn fence(&self);
    /// Takes memory for bytes that were never written. Returns false if the system has none.
    fn reserve(&self, at: usize, len: usize) -> bool;
}

/// A mapping of shared memory.
#[derive(Debug)]
pub(crate) struct MappedMemory {
    mapping: Mapping,
    /// All pages are reserved, because this kernel cannot reserve some of them later.
    is_whole: bool,
}

impl MappedMemory {
    /// Creates memory that only this process can write. Returns the descriptor to hand over to peers.
    ///
    /// Its first page is reserved.
    pub(crate) fn create(len: usize) -> Result<(Self, OwnedFd), Refusal> {
        // The system ends a process that makes a file longer than its limit.
        let longest = getrlimit(Resource::Fsize).current;
        match longest {
            Some(longest) if longest < len as u64 => return Err(Refusal::memory(Errno::FBIG)),
            _ => {}
        }
        let file = new_memfd()?;
        rustix::fs::ftruncate(&file, len as u64).map_err(Refusal::memory)?;
        let mapping = Mapping::new(file.as_fd(), len, Access::Write).map_err(Refusal::Memory)?;
        // The own mapping stays writable, because it is older than the seal.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(|error| Refusal::Seals(error.into()))?;
        let is_whole = match mapping.populate(0, len.min(FIRST_LEN)) {
            Ok(()) => false,
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                // Linux before 5.14 cannot reserve pages of a mapping, so the whole file is reserved now.
                rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, len as u64).map_err(Refusal::memory)?;
                true
            }
            Err(error) => return Err(Refusal::Memory(error)),
        };
        Ok((Self { mapping, is_whole }, file))
    }

    /// Maps the memory of a peer for reading.
    pub(crate) fn open(descriptor: BorrowedFd<'_>, len: usize) -> Result<Self, Refusal> {
        Self::open_for(descriptor, len, Access::Read)
    }

    /// Maps the memory of a trusted peer for reading, also in place.
    pub(crate) fn open_trusted(descriptor: BorrowedFd<'_>, len: usize) -> Result<Self, Refusal> {
        Self::open_for(descriptor, len, Access::Trust)
    }

    fn open_for(descriptor: BorrowedFd<'_>, len: usize, access: Access) -> Result<Self, Refusal> {
        // Only memory has seals. So a pipe, or a file of a slow file system, fails here.
        let seals = rustix::fs::fcntl_get_seals(descriptor).map_err(|_| Refusal::BadMemory)?;
        // Huge pages have seals too. If none is free, the first read of this process raises SIGBUS.
        let file_system = rustix::fs::fstatfs(descriptor).map_err(|_| Refusal::BadMemory)?;
        let has_small_pages = u64::try_from(file_system.f_type).is_ok_and(|kind| kind == TMPFS_MAGIC);
        let status = rustix::fs::fstat(descriptor).map_err(|_| Refusal::BadMemory)?;
        let is_long_enough = u64::try_from(status.st_size).is_ok_and(|size| size >= len as u64);
        if !has_small_pages || !seals.contains(SealFlags::SHRINK) || !is_long_enough {
            return Err(Refusal::BadMemory);
        }
        let mapping = Mapping::new(descriptor, len, access).map_err(Refusal::Memory)?;
        Ok(Self { mapping, is_whole: true })
    }

    /// Returns bytes of a trusted peer in place. The caller holds the block in which they lie.
    pub(crate) fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        self.mapping.bytes(at, len)
    }

    /// Returns bytes of the own memory in place.
    pub(crate) fn own_bytes<'a>(&'a self, range: &'a OwnRange) -> Option<&'a [u8]> {
        self.mapping.own_bytes(range)
    }

    /// Returns bytes of the own memory to write in place.
    #[allow(clippy::mut_from_ref, reason = "the unique borrow is that of the range")]
    pub(crate) fn own_bytes_mut<'a>(&'a self, range: &'a mut OwnRange) -> Option<&'a mut [u8]> {
        self.mapping.own_bytes_mut(range)
    }

    /// Whether [`bytes`](Self::bytes) returns bytes.
    pub(crate) fn is_trusted(&self) -> bool {
        self.mapping.is_trusted()
    }

    /// Creates memory without a descriptor, for tests.
    #[cfg(test)]
    #[cfg(not(dds_loom))]
    pub(crate) fn private(len: usize) -> Self {
        Self { mapping: Mapping::on_heap(len), is_whole: false }
    }
}

impl Memory for MappedMemory {
    #[inline]
    fn load(&self, at: usize) -> u32 {
        let word = self.mapping.word(at);
        debug_assert!(word.is_some(), "word offsets are constants or masked");
        word.map_or(0, |word| word.load(Ordering::Acquire))
    }

    #[inline]
    fn store(&self, at: usize, value: u32) {
        let word = self.mapping.writable_word(at);
        debug_assert!(word.is_some(), "word offsets are constants or masked");
        if let Some(word) = word {
            word.store(value, Ordering::Release);
        }
    }

    #[inline]
    fn read(&self, mut at: usize, into: &mut [u8]) {
        for part in into.chunks_mut(part_len(into.len())) {
            let is_inside = self.mapping.read(at, part);
            debug_assert!(is_inside, "callers check offsets and lengths");
            at += part.len();
        }
    }

    #[inline]
    fn write(&self, mut at: usize, from: &[u8]) {
        for part in from.chunks(part_len(from.len())) {
            let is_inside = self.mapping.write(at, part);
            debug_assert!(is_inside, "callers check offsets and lengths");
            at += part.len();
        }
    }

    #[inline]
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn reserve(&self, at: usize, len: usize) -> bool {
        self.is_whole || self.mapping.populate(at, len).is_ok()
    }
}

/// Length of the parts in which `len` bytes are copied.
///
/// A block starts at the start of a page. Long copies depend on that on AMD Zen 3: if the target lies shortly behind
/// its source, modulo a page, one copy takes up to 17 times as long as short parts. Above 4 MiB one call is faster,
/// because it writes past the caches.
fn part_len(len: usize) -> usize {
    if len <= 4 << 20 { 2 << 10 } else { len }
}

/// Creates an empty sealable file in memory. Newer kernels can forbid executable ones, older ones do not know the flag.
fn new_memfd() -> Result<OwnedFd, Refusal> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let created = match rustix::fs::memfd_create(c"dds-shm", flags | MemfdFlags::NOEXEC_SEAL) {
        // Linux before 6.3 does not know the last flag.
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"dds-shm", flags),
        result => result,
    };
    created.map_err(|error| match error {
        Errno::MFILE | Errno::NFILE => Refusal::Descriptors(error.into()),
        _ => Refusal::Memory(error.into()),
    })
}

#[cfg(test)]
#[cfg(all(not(miri), not(dds_loom)))]
mod tests {
    use super::*;

    #[test]
    fn sealed_memory_shows_later_stores_to_its_reader() {
        let (own, file) = MappedMemory::create(8192).unwrap();
        let seen = MappedMemory::open(file.as_fd(), 8192).unwrap();
        own.store(64, 7);
        assert!(own.reserve(4096, 4096));
        own.write(4096, b"later");
        let mut bytes = [0; 5];
        seen.read(4096, &mut bytes);
        assert_eq!((seen.load(64), &bytes), (7, b"later"));
    }

    #[test]
    fn peer_can_neither_write_nor_shorten_sealed_memory() {
        let (_own, file) = MappedMemory::create(8192).unwrap();
        assert!(Mapping::new(file.as_fd(), 8192, Access::Write).is_err());
        assert_eq!(rustix::fs::ftruncate(&file, 0), Err(Errno::PERM));
        assert_eq!(rustix::io::write(&file, b"x"), Err(Errno::PERM));
    }

    #[test]
    fn memory_of_huge_pages_is_refused() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
        let Ok(huge) = rustix::fs::memfd_create(c"huge", flags) else {
            return crate::skip::skip("huge pages");
        };
        rustix::fs::ftruncate(&huge, 1 << 30).unwrap();
        rustix::fs::fcntl_add_seals(&huge, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).unwrap();
        assert!(matches!(MappedMemory::open(huge.as_fd(), 8192), Err(Refusal::BadMemory)));
    }

    #[test]
    fn memory_without_seals_or_length_is_refused() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let unsealed = rustix::fs::memfd_create(c"unsealed", flags).unwrap();
        rustix::fs::ftruncate(&unsealed, 8192).unwrap();
        assert!(matches!(MappedMemory::open(unsealed.as_fd(), 8192), Err(Refusal::BadMemory)));
        let (_short, file) = MappedMemory::create(4096).unwrap();
        assert!(matches!(MappedMemory::open(file.as_fd(), 8192), Err(Refusal::BadMemory)));
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(matches!(MappedMemory::open(socket.as_fd(), 4096), Err(Refusal::BadMemory)));
    }

    /// A write behind the end of the file raises SIGBUS, as one without memory does.
    #[test]
    fn memory_that_the_system_lacks_is_not_reserved() {
        let file = rustix::fs::memfd_create(c"short", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 4096).unwrap();
        let mapping = Mapping::new(file.as_fd(), 1 << 20, Access::Write).unwrap();
        let memory = MappedMemory { mapping, is_whole: false };
        assert!(memory.reserve(0, 4096) && !memory.reserve(512 << 10, 4096));
    }

    /// Only reserved pages take memory: the rest of a long pool costs nothing.
    #[test]
    fn reserved_pages_take_memory_and_others_do_not() {
        let (own, file) = MappedMemory::create(1 << 20).unwrap();
        let taken = |file: &OwnedFd| 512 * rustix::fs::fstat(file).unwrap().st_blocks;
        assert_eq!(taken(&file), 4096);
        assert!(own.reserve(512 << 10, 64 << 10));
        assert_eq!(taken(&file), 4096 + (64 << 10));
        assert!(!own.reserve(1 << 20, 1), "it lies outside");
    }
}
