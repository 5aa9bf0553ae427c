//! The ID of this process, for checks on the path of a message.
//!
//! In: nothing. Out: the ID. Owned: a page that the system clears in each forked child, so that the child asks again.

use super::mapping::Mapping;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// `None` if the system clears no page.
static PAGE: OnceLock<Option<Mapping>> = OnceLock::new();

/// The ID of this process. Costs a system call at the first call of a process only.
#[inline]
pub(crate) fn process_id() -> u32 {
    let page = PAGE.get_or_init(|| Mapping::wiped_on_fork().ok());
    let Some(known) = page.as_ref().and_then(|page| page.writable_word(0)) else { return std::process::id() };
    match known.load(Ordering::Relaxed) {
        0 => {
            let id = std::process::id();
            known.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}
