//! What the listener of a group or a participant hears of one of its members.
//!
//! All members mark the one listener, and each stands at most once in its post, from which the listener takes one after the
//! other. So calls never overlap, whichever threads the members are busy on. Bound of the post: the members.

use crate::actor::Effects;
use crate::infrastructure::{Listener, mark};
use crate::publication::WriterHandle;
use crate::subscription::ReaderHandle;
use crate::topic::TopicHandle;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Who has something to tell; not kept alive by that.
#[derive(Clone)]
pub(crate) enum Teller {
    Reader(Weak<ReaderHandle>),
    Writer(Weak<WriterHandle>),
    Topic(Weak<TopicHandle>),
}

/// One member's line to the listener of its group or participant.
pub(crate) struct MemberEar {
    teller: Teller,
    marks: AtomicU32,
    /// It stands in the post.
    posted: AtomicBool,
    /// Weak, for the post may hold this.
    post: Weak<Post>,
}

/// The members that have something to tell to one listener.
#[derive(Default)]
pub(crate) struct Post {
    queue: Mutex<VecDeque<Arc<MemberEar>>>,
    listener: OnceLock<Weak<Listener>>,
}

impl Teller {
    /// The listener that was told of it has panicked.
    pub(crate) fn note_panic(this: Option<Self>, message: &str) {
        match this {
            Some(Self::Reader(reader)) => {
                if let Some(reader) = reader.upgrade() {
                    reader.note_listener_panic(message);
                }
            }
            Some(Self::Writer(writer)) => {
                if let Some(writer) = writer.upgrade() {
                    writer.note_listener_panic(message);
                }
            }
            // A topic has no events; the log has it.
            Some(Self::Topic(_)) | None => {}
        }
    }
}

impl MemberEar {
    pub(crate) fn new(teller: Teller, post: &Arc<Post>) -> Arc<Self> {
        Arc::new(Self { teller, marks: AtomicU32::new(0), posted: AtomicBool::new(false), post: Arc::downgrade(post) })
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
    fn queue(&self) -> MutexGuard<'_, VecDeque<Arc<MemberEar>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the post whose it is, before any member has it.
    pub(crate) fn attach(&self, listener: &Arc<Listener>) {
        // It has one listener for life.
        let _ = self.listener.set(Arc::downgrade(listener));
    }

    /// The next member, and what has happened to it.
    pub(crate) fn take(&self) -> Option<(Teller, u32)> {
        let ear = self.queue().pop_front()?;
        // First, so that whoever marks it from now on posts it again.
        ear.posted.swap(false, Ordering::AcqRel);
        let marks = ear.marks.swap(0, Ordering::AcqRel);
        Some((ear.teller.clone(), marks))
    }
}
