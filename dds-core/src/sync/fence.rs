//! The fence between what a thread has done and what it looks at next.

/// A sequentially consistent fence, to be called right after a read-modify-write or an unlock of the calling thread, and
/// before it looks at what others have written.
///
/// On x86-64 every locked instruction is a full fence by itself, and so is the unlock of a standard lock on Linux, which is
/// an exchange: there it only keeps the compiler from reordering. A cell is left and looked at again about ten times for a
/// sample within the process, and a fence costs as much as a lock. Models and all other machines have the fence itself.
#[inline(always)]
pub(crate) fn full_fence() {
    #[cfg(dds_loom)]
    loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    #[cfg(all(not(dds_loom), target_arch = "x86_64", target_os = "linux"))]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    #[cfg(all(not(dds_loom), not(all(target_arch = "x86_64", target_os = "linux"))))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
