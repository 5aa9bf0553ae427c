//! Handles of a participant that the application holds.
//!
//! The participant's own threads also hold the participant while they work for it. Any of these handles may be dropped
//! last. But when the application drops its last handle, the participant must end on that thread, which may block.
//!
//! So values of the application (handles of entities, builders, wait sets) have a [`ParticipantRef`]. The state behind
//! them has none, because the participant's threads hold it, too. A handle that a listener receives for one call has
//! none either. It lives as long as the call, which may be longer than the last handle of the application.

use crate::context::ParticipantContext;
use crate::sync::{Arc, AtomicUsize, Ordering, Weak};
use std::ops::Deref;

/// A participant as values of the application hold it. Dropping the last one ends the participant.
pub(crate) struct ParticipantRef<P: ParticipantContext + ?Sized> {
    participant: Arc<P>,
    /// False if it was created from a lent handle when no other one existed.
    counts: bool,
}

/// Number of [`ParticipantRef`]s.
#[derive(Debug, Default)]
pub(crate) struct Users(AtomicUsize);

impl Users {
    fn join(&self) {
        // Relaxed: the caller holds a handle already, so the count cannot reach zero.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns `false` if no handle is left to join.
    fn join_others(&self) -> bool {
        // A count of zero is final: the participant has ended or is ending.
        let more = |users: usize| if users > 0 { Some(users + 1) } else { None };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Returns `true` for the last one.
    fn leave(&self) -> bool {
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "each handle has counted itself");
        before == 1
    }
}

impl<P: ParticipantContext + ?Sized> ParticipantRef<P> {
    /// Creates the first one.
    pub(crate) fn first(participant: Arc<P>) -> Self {
        participant.core().users().join();
        Self { participant, counts: true }
    }

    /// Creates another one. If all others are gone, the result refers to a participant that has ended and stays so.
    pub(crate) fn new(participant: &Arc<P>) -> Self {
        Self { participant: Arc::clone(participant), counts: participant.core().users().join_others() }
    }

    /// Creates another one if one still exists. A participant that has ended never revives.
    pub(crate) fn join(participant: &Arc<P>) -> Option<Self> {
        // A share that does not count would let the caller use a participant that ends.
        let share = Self::new(participant);
        if share.counts { Some(share) } else { None }
    }

    /// Like [`join`](Self::join).
    pub(crate) fn upgrade(weak: &Weak<P>) -> Option<Self> {
        Self::join(&weak.upgrade()?)
    }
}

impl<P: ParticipantContext + ?Sized> Clone for ParticipantRef<P> {
    fn clone(&self) -> Self {
        Self::new(&self.participant)
    }
}

impl<P: ParticipantContext + ?Sized> Deref for ParticipantRef<P> {
    type Target = Arc<P>;

    fn deref(&self) -> &Arc<P> {
        &self.participant
    }
}

impl<P: ParticipantContext + ?Sized> Drop for ParticipantRef<P> {
    fn drop(&mut self) {
        if self.counts && self.participant.core().users().leave() {
            // On this thread, which belongs to the application and may block.
            self.participant.end();
        }
    }
}

#[cfg(all(feature = "udp", not(dds_loom)))]
#[cfg(test)]
mod tests {
    use crate::context::ParticipantContext;
    use crate::participant::lonely;
    use std::sync::Arc;

    #[test]
    fn last_application_handle_ends_participant() {
        let participant = lonely("last-handle");
        let set = crate::condition::WaitSet::new(&participant);
        // As a thread of the participant does while it works.
        let frame = Arc::clone(participant.handle());
        let weak = participant.downgrade();
        drop(participant);
        assert!(!frame.core().is_closed() && weak.upgrade().is_some(), "the wait set is the application's");
        drop(set);
        assert!(frame.core().is_closed());
        assert!(weak.upgrade().is_none(), "an ended participant does not come back");
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use loom::thread;

    /// The last user leaves while another thread joins.
    fn a_newcomer_beside_the_last(join: fn(&Users) -> bool) {
        let users = Arc::new(Users::default());
        users.join();
        let others = Arc::clone(&users);
        let newcomer = thread::spawn(move || (join(&others), others));
        let first_ends = users.leave();
        let (joined, others) = newcomer.join().unwrap();
        let second_ends = joined && others.leave();
        assert!(first_ends != second_ends, "it ends once, with the last of them");
    }

    #[test]
    fn last_user_ends_participant() {
        loom::model(|| a_newcomer_beside_the_last(Users::join_others));
    }

    #[test]
    #[should_panic(expected = "it ends once")]
    fn mutant_late_user_joins_an_ended_participant() {
        loom::model(|| {
            a_newcomer_beside_the_last(|users| {
                users.join();
                true
            });
        });
    }
}
