//! A share of a participant that the application holds.
//!
//! The participant's own threads hold it too, for as long as they work for it. Which of all these handles is dropped last is
//! chance; but when the application's last one goes, the participant is to end, on that thread, which may wait for it.
//!
//! So what the application holds (handles of entities, builders, wait sets) has a [`ParticipantRef`]; what these share does not,
//! for it is also held by whoever works for it or tells a listener of it. A handle that is lent to a listener's call has none
//! either: it is there for as long as the call, which may outlast the application's interest.

use crate::context::ParticipantContext;
use crate::sync::{Arc, AtomicUsize, Ordering, Weak};
use std::ops::Deref;

/// A participant as the application's own values hold it. The last one dropped ends the participant.
pub(crate) struct ParticipantRef<P: ParticipantContext + ?Sized> {
    participant: Arc<P>,
    /// Not if it was made when there was no other any more, of something that had been lent.
    counts: bool,
}

/// How many [`ParticipantRef`]s there are.
#[derive(Debug, Default)]
pub(crate) struct Users(AtomicUsize);

impl Users {
    fn join(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// `false`: there is none left to join.
    fn join_others(&self) -> bool {
        let more = |users: usize| (users > 0).then_some(users + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// `true`: that was the last one.
    fn leave(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl<P: ParticipantContext + ?Sized> ParticipantRef<P> {
    /// The first one.
    pub(crate) fn first(participant: Arc<P>) -> Self {
        participant.core().users().join();
        Self { participant, counts: true }
    }

    /// Another one. If there is none any more, it leads to a participant that has ended and stays so.
    pub(crate) fn new(participant: &Arc<P>) -> Self {
        Self { participant: Arc::clone(participant), counts: participant.core().users().join_others() }
    }

    /// Another one, if there is one still: what has ended does not come back while a thread of its own holds it.
    pub(crate) fn join(participant: &Arc<P>) -> Option<Self> {
        let share = Self::new(participant);
        share.counts.then_some(share)
    }

    /// As [`join`](Self::join).
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
            self.participant.end();
        }
    }
}

#[cfg(test)]
#[cfg(all(feature = "udp", not(dds_loom)))]
mod tests {
    use crate::context::ParticipantContext;
    use crate::participant::lonely;
    use std::sync::Arc;

    #[test]
    fn the_applications_last_handle_ends_the_participant_whoever_else_holds_it() {
        let participant = lonely("last-handle");
        let set = crate::WaitSet::new(&participant);
        // As a thread of the participant does while it works.
        let frame = Arc::clone(participant.handle());
        let weak = participant.downgrade();
        drop(participant);
        assert!(!frame.core().is_closed() && weak.upgrade().is_some(), "the wait set is the application's");
        drop(set);
        assert!(frame.core().is_closed());
        assert!(weak.upgrade().is_none(), "what has ended does not come back");
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use loom::thread;

    /// The last user leaves while somebody wants to become one.
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
    fn who_ends_is_the_last() {
        loom::model(|| a_newcomer_beside_the_last(Users::join_others));
    }

    #[test]
    #[should_panic(expected = "it ends once")]
    fn mutant_who_comes_too_late_joins_all_the_same() {
        loom::model(|| {
            a_newcomer_beside_the_last(|users| {
                users.join();
                true
            });
        });
    }
}
