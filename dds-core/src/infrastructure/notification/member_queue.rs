//! Events of the members of a group or participant, for one common listener.
//!
//! All members mark the same listener. Each member is in its queue at most once, and each call of the listener takes
//! one member. Calls never overlap, even if the members are busy on several threads. If marks never end, the event
//! thread continues as for any other listener. Bound of the queue: the number of members.

use crate::actor::Effects;
use crate::infrastructure::{Listener, mark};
use crate::sync::{Arc, AtomicBool, AtomicU32, Lock, LockGuard, Mutation, OnceLock, Ordering, Weak, mutated};
use std::any::Any;
use std::collections::VecDeque;

/// A reader, writer or topic with a listener of its group or participant.
pub(crate) trait ListenedEntity: Send + Sync {
    /// Reports that the listener panicked in a call about this entity.
    fn note_listener_panic(&self, message: &str);

    /// Returns the entity itself, for listeners that know its kind.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Link of one member to the listener of its group or participant.
pub(crate) struct MemberLink {
    entity: Weak<dyn ListenedEntity>,
    marks: AtomicU32,
    /// The member is in the queue.
    queued: AtomicBool,
    /// Weak, because the queue may hold this link.
    members: Weak<MemberQueue>,
}

/// Queue of the members that have marks for one listener.
#[derive(Default)]
pub(crate) struct MemberQueue {
    queue: Lock<VecDeque<Arc<MemberLink>>>,
    listener: OnceLock<Weak<Listener>>,
}

impl MemberLink {
    pub(crate) fn new(entity: Weak<dyn ListenedEntity>, members: &Arc<MemberQueue>) -> Arc<Self> {
        Arc::new(Self {
            entity,
            marks: AtomicU32::new(0),
            queued: AtomicBool::new(false),
            members: Arc::downgrade(members),
        })
    }

    pub(crate) fn mark(self: &Arc<Self>, mark: u32, effects: &mut Effects) {
        // Without the queue, the listener is gone.
        let Some(members) = self.members.upgrade() else { return };
        // Before the flag: the thread that takes the member clears the flag and then reads the marks.
        self.marks.fetch_or(mark, Ordering::AcqRel);
        if !self.queued.swap(true, Ordering::AcqRel) {
            members.queue().push_back(Arc::clone(self));
        }
        if let Some(listener) = members.listener.get().and_then(Weak::upgrade) {
            listener.mark(mark::MEMBER, effects);
        }
    }
}

impl MemberQueue {
    /// Locked for one line, also inside a member's cell.
    fn queue(&self) -> LockGuard<'_, VecDeque<Arc<MemberLink>>> {
        self.queue.lock()
    }

    /// Sets the listener, before any member uses the queue.
    pub(crate) fn attach(&self, listener: &Arc<Listener>) {
        // The listener never changes.
        let _ = self.listener.set(Arc::downgrade(listener));
    }

    /// Takes the next member and its marks. Called inside a call of the listener.
    ///
    /// The listener is called again for the other members, because their marks may have merged into one.
    pub(crate) fn take(&self) -> Option<(Weak<dyn ListenedEntity>, u32)> {
        let mut queue = self.queue();
        // The longest waiting member first, so that a busy one does not starve the others.
        let link = queue.pop_front()?;
        let others_wait = !queue.is_empty();
        // The listener's queue has a lock of its own, and no thread takes it inside of this one.
        drop(queue);
        if others_wait {
            if let Some(listener) = self.listener.get().and_then(Weak::upgrade) {
                listener.leave(mark::MEMBER);
            }
        }
        if mutated(Mutation::TakeBeforeRelease) {
            let marks = link.marks.swap(0, Ordering::AcqRel);
            link.queued.swap(false, Ordering::AcqRel);
            return Some((Weak::clone(&link.entity), marks));
        }
        // Clear the flag first, so that a later mark queues the member again.
        link.queued.swap(false, Ordering::AcqRel);
        let marks = link.marks.swap(0, Ordering::AcqRel);
        Some((Weak::clone(&link.entity), marks))
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::mutate;
    use loom::thread;

    /// A member is marked twice while its queue is emptied. Each mark is taken, now or later.
    struct NoEntity;

    impl ListenedEntity for NoEntity {
        fn note_listener_panic(&self, _message: &str) {}

        fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
            self
        }
    }

    fn marks_beside_a_take() {
        let members = Arc::new(MemberQueue::default());
        let link = MemberLink::new(Weak::<NoEntity>::new(), &members);
        let marking = {
            let link = Arc::clone(&link);
            thread::spawn(move || Effects::scope(|effects| [1, 2].map(|mark| link.mark(mark, effects))))
        };
        let early = members.take().map_or(0, |(_, marks)| marks);
        marking.join().unwrap();
        let late = std::iter::from_fn(|| members.take()).fold(0, |all, (_, marks)| all | marks);
        assert_eq!(early | late, 0b11, "a mark is lost");
    }

    #[test]
    fn no_mark_is_lost() {
        loom::model(marks_beside_a_take);
    }

    #[test]
    #[should_panic(expected = "a mark is lost")]
    fn mutant_marks_taken_before_release_are_lost() {
        loom::model(|| {
            mutate(Mutation::TakeBeforeRelease);
            marks_beside_a_take();
        });
    }
}
