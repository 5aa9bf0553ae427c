//! The fence between a thread's own writes and its next reads of shared state.

/// A sequentially consistent fence.
///
/// Call it right after a read-modify-write or an unlock of the calling thread, and before it reads the writes of other
/// threads.
///
/// On x86-64 every locked instruction is a full fence by itself. The unlock of a standard lock on Linux is such an
/// instruction, an exchange. So there this function only keeps the compiler from reordering. For a sample within the
/// process, cells are left and checked again about ten times, and a fence costs as much as a lock. Models and all other
/// machines use the fence itself.
#[inline(always)]
pub(crate) fn full_fence() {
    #[cfg(dds_loom)]
    loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    #[cfg(all(not(dds_loom), target_arch = "x86_64", target_os = "linux"))]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    #[cfg(all(not(dds_loom), not(all(target_arch = "x86_64", target_os = "linux"))))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
