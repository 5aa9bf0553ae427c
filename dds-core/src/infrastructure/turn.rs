//! Giving up the turn: who always finds something must let the others of its executor run.

use std::task::{Context, Poll, ready};
use tokio::task::coop;

/// How much a stream hands out in a row where nobody else counts: twice as much as tokio lets a task do in one turn, so that
/// within tokio it is tokio that decides.
const IN_A_ROW_MAX: u16 = 256;

/// Polls for something that counts against what a task of tokio may do in one turn, together with everything else that the task
/// does there. When that is used up, the task is woken again once timers and sockets have been looked at. Elsewhere nothing
/// counts: a future that is polled by hand has no turn.
pub(crate) fn poll_within_turn<T>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    let turn = ready!(coop::poll_proceed(context));
    let found = ready!(poll(context));
    turn.made_progress();
    Poll::Ready(found)
}

/// The same for a stream, which counts by itself as well, for executors that do not.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    in_a_row: u16,
}

impl Turn {
    pub(crate) fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if self.in_a_row == IN_A_ROW_MAX {
            self.in_a_row = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let found = poll_within_turn(context, poll);
        self.in_a_row = if found.is_ready() { self.in_a_row + 1 } else { 0 };
        found
    }
}
