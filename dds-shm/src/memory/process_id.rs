//! The ID of this process, for checks on the path of a message.
//!
//! In: nothing. Out: the ID. Owned: a page that the system clears in each forked child, so that the child asks again.

use super::mapping::Mapping;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// `None` inside before Linux 4.14, which clears no page.
static PAGE: OnceLock<Option<Mapping>> = OnceLock::new();

/// Creates the page, when a host is created. A child that is forked during this call must not create a host.
pub(crate) fn prepare_process_id() {
    PAGE.get_or_init(|| Mapping::wiped_on_fork().ok());
}

/// The ID of this process. It waits for no other thread: a forked child has none that could go on.
///
/// Costs a system call at the first call of a process only. Without the page, each call costs one: before
/// [`prepare_process_id`], and before Linux 4.14.
#[inline]
pub(crate) fn process_id() -> u32 {
    let page = PAGE.get().and_then(Option::as_ref);
    let Some(known) = page.and_then(|page| page.writable_word(0)) else { return std::process::id() };
    match known.load(Ordering::Relaxed) {
        0 => {
            let id = std::process::id();
            known.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}
