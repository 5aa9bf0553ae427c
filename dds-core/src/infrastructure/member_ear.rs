//! What the listener of a group or a participant hears of one of its members.
//!
//! All members mark the one listener, and each stands at most once in its post, from which the listener takes one in each
//! call. So calls never overlap, whichever threads the members are busy on, and who is called without end by them goes on
//! elsewhere as any other listener does. Bound of the post: the members.

use crate::actor::Effects;
use crate::infrastructure::{Listener, mark};
use crate::sync::{Arc, AtomicBool, AtomicU32, Lock, LockGuard, Mutation, OnceLock, Ordering, Weak, mutated};
use std::any::Any;
use std::collections::VecDeque;

/// A reader, writer or topic that a listener of its group or participant is told about.
pub(crate) trait ListenedEntity: Send + Sync {
    /// Reports that the listener panicked in a call about this entity.
    fn note_listener_panic(&self, message: &str);

    /// The entity itself, for listeners that know its kind.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// One member's line to the listener of its group or participant.
pub(crate) struct MemberEar {
    entity: Weak<dyn ListenedEntity>,
    marks: AtomicU32,
    /// It stands in the post.
    posted: AtomicBool,
    /// Weak, for the post may hold this.
    post: Weak<Post>,
}

/// The members that have something to tell to one listener.
#[derive(Default)]
pub(crate) struct Post {
    queue: Lock<VecDeque<Arc<MemberEar>>>,
    listener: OnceLock<Weak<Listener>>,
}

impl MemberEar {
    pub(crate) fn new(entity: Weak<dyn ListenedEntity>, post: &Arc<Post>) -> Arc<Self> {
        Arc::new(Self { entity, marks: AtomicU32::new(0), posted: AtomicBool::new(false), post: Arc::downgrade(post) })
    }

    pub(crate) fn mark(self: &Arc<Self>, mark: u32, effects: &mut Effects) {
        // Without a post, the listener is gone.
        let Some(post) = self.post.upgrade() else { return };
        self.marks.fetch_or(mark, Ordering::AcqRel);
        if !self.posted.swap(true, Ordering::AcqRel) {
            post.queue().push_back(Arc::clone(self));
        }
        if let Some(listener) = post.listener.get().and_then(Weak::upgrade) {
            listener.mark(mark::MEMBER, effects);
        }
    }
}

impl Post {
    /// Held for one line, inside of a member's cell as well.
    fn queue(&self) -> LockGuard<'_, VecDeque<Arc<MemberEar>>> {
        self.queue.lock()
    }

    /// Tells the post whose it is, before any member has it.
    pub(crate) fn attach(&self, listener: &Arc<Listener>) {
        // It has one listener for life.
        let _ = self.listener.set(Arc::downgrade(listener));
    }

    /// The next member, and what has happened to it. To be taken in a call of the listener, which is called again for the
    /// others: several may have marked it as one.
    pub(crate) fn take(&self) -> Option<(Weak<dyn ListenedEntity>, u32)> {
        let mut queue = self.queue();
        let ear = queue.pop_front()?;
        let others_wait = !queue.is_empty();
        drop(queue);
        if let Some(listener) = self.listener.get().and_then(Weak::upgrade).filter(|_| others_wait) {
            listener.leave(mark::MEMBER);
        }
        if mutated(Mutation::TakeBeforeRelease) {
            let marks = ear.marks.swap(0, Ordering::AcqRel);
            ear.posted.swap(false, Ordering::AcqRel);
            return Some((Weak::clone(&ear.entity), marks));
        }
        // First, so that whoever marks it from now on posts it again.
        ear.posted.swap(false, Ordering::AcqRel);
        let marks = ear.marks.swap(0, Ordering::AcqRel);
        Some((Weak::clone(&ear.entity), marks))
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::mutate;
    use loom::thread;

    /// A member is marked twice while its post is emptied: whatever was marked is taken, now or later.
    struct NoEntity;

    impl ListenedEntity for NoEntity {
        fn note_listener_panic(&self, _message: &str) {}

        fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
            self
        }
    }

    fn marks_beside_a_take() {
        let post = Arc::new(Post::default());
        let ear = MemberEar::new(Weak::<NoEntity>::new(), &post);
        let marking = {
            let ear = Arc::clone(&ear);
            thread::spawn(move || Effects::scope(|effects| [1, 2].map(|mark| ear.mark(mark, effects))))
        };
        let early = post.take().map_or(0, |(_, marks)| marks);
        marking.join().unwrap();
        let late = std::iter::from_fn(|| post.take()).fold(0, |all, (_, marks)| all | marks);
        assert_eq!(early | late, 0b11, "a mark is lost");
    }

    #[test]
    fn no_mark_is_lost() {
        loom::model(marks_beside_a_take);
    }

    #[test]
    #[should_panic(expected = "a mark is lost")]
    fn mutant_marks_are_taken_before_the_member_can_be_posted_again() {
        loom::model(|| {
            mutate(Mutation::TakeBeforeRelease);
            marks_beside_a_take();
        });
    }
}
