//! A received request, which its holder answers.

use crate::infrastructure::WriteError;
use crate::publication::DataWriter;
use crate::rpc::correlation;
use dds_rtps::cdr::DdsType;
use dds_rtps::wire::SampleIdentity;
use std::fmt;

/// A received request. Answer it with [`reply`](Self::reply), from any thread.
///
/// Returned by [`Replier::next_request`](crate::rpc::Replier::next_request). Dropping it sends no reply.
pub struct Request<Q, R> {
    /// The value that the requester sent.
    pub data: Q,
    name: SampleIdentity,
    replies: DataWriter<R>,
}

impl<Q, R> Request<Q, R> {
    pub(super) fn new(data: Q, name: SampleIdentity, replies: DataWriter<R>) -> Self {
        Self { data, name, replies }
    }

    /// Returns the identity of the request, which its reply carries.
    #[must_use]
    pub fn identity(&self) -> SampleIdentity {
        self.name
    }

    /// Sends the reply.
    ///
    /// If the history is full because a requester does not acknowledge replies, the call blocks for about a second. The
    /// replier then no longer waits for that requester. It blocks for at most `max_blocking_time` (default: 3 s).
    ///
    /// # Errors
    /// As [`DataWriter::write`].
    #[doc(alias = "send_reply")]
    pub fn reply(self, reply: &R) -> Result<(), WriteError>
    where
        R: DdsType,
    {
        self.replies.write_with(reply, correlation::reply_options(self.name))
    }

    /// Sends the result of `answer` as the reply.
    ///
    /// # Errors
    /// As [`reply`](Self::reply).
    pub fn answer(self, answer: impl FnOnce(Q) -> R) -> Result<(), WriteError>
    where
        R: DdsType,
    {
        // The answer may take long, so the request is taken apart first.
        let Self { data, name, replies } = self;
        replies.write_with(&answer(data), correlation::reply_options(name))
    }
}

impl<Q: fmt::Debug, R> fmt::Debug for Request<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("data", &self.data).field("name", &self.name).finish_non_exhaustive()
    }
}
