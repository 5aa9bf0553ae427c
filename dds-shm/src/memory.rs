//! Memory that its owner writes and peers read.
//!
//! In: lengths, descriptors of peers. Out: mapped memory. Owned: the mapping and its descriptor.
//!
//! The owner maps the memory for writing and then seals it. After that no process can map it for writing, change its
//! length, or remove a seal. So a peer cannot write, and cannot cause SIGBUS in a reader by shortening the memory.
//! Memory of huge pages is refused, because its reader gets SIGBUS if the system has no free huge page.
//!
//! `vm-memory` maps and copies. Its subject is the same: memory that an untrusted guest changes during the read.

use crate::reasons::Refusal;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vm_memory::guest_memory::FileOffset;
use vm_memory::{MmapRegion, VolatileMemory};

/// File system of memory with pages of the usual length, from `linux/magic.h`.
const TMPFS_MAGIC: u64 = 0x0102_1994;

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
}

/// A mapping of shared memory.
#[derive(Debug)]
pub(crate) struct MappedMemory {
    region: MmapRegion<()>,
    /// `None` in tests over private memory.
    file: Option<Arc<File>>,
}

impl MappedMemory {
    /// Creates memory that only this process can write.
    pub(crate) fn create(len: usize) -> Result<Self, Refusal> {
        let file = Arc::new(File::from(new_memfd()?));
        rustix::fs::ftruncate(&file, len as u64).map_err(|error| Refusal::Memory(error.into()))?;
        let region = MmapRegion::from_file(FileOffset::from_arc(Arc::clone(&file), 0), len).map_err(refused_mapping)?;
        // The own mapping stays writable, because it is older than the seal.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(|error| Refusal::Seals(error.into()))?;
        Ok(Self { region, file: Some(file) })
    }

    /// Maps the memory of a peer for reading.
    pub(crate) fn open(descriptor: OwnedFd, len: usize) -> Result<Self, Refusal> {
        // Only memory has seals. So a pipe, or a file of a slow file system, fails here.
        let seals = rustix::fs::fcntl_get_seals(&descriptor).map_err(|_| Refusal::BadMemory)?;
        // Huge pages have seals too. If none is free, the first read of this process raises SIGBUS.
        let file_system = rustix::fs::fstatfs(&descriptor).map_err(|_| Refusal::BadMemory)?;
        let has_small_pages = u64::try_from(file_system.f_type).is_ok_and(|kind| kind == TMPFS_MAGIC);
        let status = rustix::fs::fstat(&descriptor).map_err(|_| Refusal::BadMemory)?;
        let is_long_enough = u64::try_from(status.st_size).is_ok_and(|size| size >= len as u64);
        if !has_small_pages || !seals.contains(SealFlags::SHRINK) || !is_long_enough {
            return Err(Refusal::BadMemory);
        }
        let file = Arc::new(File::from(descriptor));
        let offset = FileOffset::from_arc(Arc::clone(&file), 0);
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let region = MmapRegion::build(Some(offset), len, libc::PROT_READ, flags).map_err(refused_mapping)?;
        Ok(Self { region, file: Some(file) })
    }

    /// Creates memory without a descriptor, for tests. Under Miri it lies on the heap.
    #[cfg(test)]
    #[cfg(not(dds_loom))]
    pub(crate) fn private(len: usize) -> Self {
        Self { region: MmapRegion::new(len).unwrap(), file: None }
    }

    /// The descriptor to hand over to a peer.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(|file| file.as_fd())
    }

    fn word(&self, at: usize) -> Option<&AtomicU32> {
        let word = self.region.get_atomic_ref(at).ok();
        debug_assert!(word.is_some(), "word offsets are constants or masked");
        word
    }
}

impl Memory for MappedMemory {
    #[inline]
    fn load(&self, at: usize) -> u32 {
        self.word(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    #[inline]
    fn store(&self, at: usize, value: u32) {
        if let Some(word) = self.word(at) {
            word.store(value, Ordering::Release);
        }
    }

    #[inline]
    fn read(&self, mut at: usize, into: &mut [u8]) {
        let part_len = part_len(into.len());
        for part in into.chunks_mut(part_len) {
            match self.region.get_slice(at, part.len()) {
                Ok(slice) => at += slice.copy_to(part),
                Err(_) => debug_assert!(false, "callers check offsets and lengths"),
            }
        }
    }

    #[inline]
    fn write(&self, mut at: usize, from: &[u8]) {
        for part in from.chunks(part_len(from.len())) {
            match self.region.get_slice(at, part.len()) {
                Ok(slice) => slice.copy_from(part),
                Err(_) => debug_assert!(false, "callers check offsets and lengths"),
            }
            at += part.len();
        }
    }

    #[inline]
    fn fence(&self) {
        fence(Ordering::SeqCst);
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
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"dds-shm", flags),
        result => result,
    };
    created.map_err(|error| match error {
        Errno::MFILE | Errno::NFILE => Refusal::Descriptors(error.into()),
        _ => Refusal::Memory(error.into()),
    })
}

fn refused_mapping(error: vm_memory::mmap::MmapRegionError) -> Refusal {
    match error {
        vm_memory::mmap::MmapRegionError::Mmap(error) => Refusal::Memory(error),
        error => Refusal::Memory(std::io::Error::other(error.to_string())),
    }
}

#[cfg(test)]
#[cfg(all(not(miri), not(dds_loom)))]
mod tests {
    use super::*;

    fn duplicate(memory: &MappedMemory) -> OwnedFd {
        memory.descriptor().unwrap().try_clone_to_owned().unwrap()
    }

    #[test]
    fn sealed_memory_shows_later_stores_to_its_reader() {
        let own = MappedMemory::create(8192).unwrap();
        let seen = MappedMemory::open(duplicate(&own), 8192).unwrap();
        own.store(64, 7);
        own.write(4096, b"later");
        let mut bytes = [0; 5];
        seen.read(4096, &mut bytes);
        assert_eq!((seen.load(64), &bytes), (7, b"later"));
    }

    #[test]
    fn peer_can_neither_write_nor_shorten_sealed_memory() {
        let own = MappedMemory::create(8192).unwrap();
        let file = Arc::new(File::from(duplicate(&own)));
        assert!(MmapRegion::<()>::from_file(FileOffset::from_arc(Arc::clone(&file), 0), 8192).is_err());
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
        assert!(matches!(MappedMemory::open(huge, 8192), Err(Refusal::BadMemory)));
    }

    #[test]
    fn memory_without_seals_or_length_is_refused() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let unsealed = rustix::fs::memfd_create(c"unsealed", flags).unwrap();
        rustix::fs::ftruncate(&unsealed, 8192).unwrap();
        assert!(matches!(MappedMemory::open(unsealed, 8192), Err(Refusal::BadMemory)));
        let short = MappedMemory::create(4096).unwrap();
        assert!(matches!(MappedMemory::open(duplicate(&short), 8192), Err(Refusal::BadMemory)));
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(matches!(MappedMemory::open(socket.into(), 4096), Err(Refusal::BadMemory)));
    }
}
