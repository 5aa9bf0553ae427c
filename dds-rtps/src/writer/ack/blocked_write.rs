//! A write that waits for room in the history.

/// Whether a write was refused for lack of room, and whether room has appeared since.
#[derive(Debug, Default)]
pub(crate) struct BlockedWrite {
    /// A write was refused, and no room has appeared since.
    is_waiting: bool,
    /// Room has appeared, and the event has not been polled yet.
    freed_event: bool,
}

impl BlockedWrite {
    /// Returns whether a refused write waits for room.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Returns whether a write waits, or an event is to be polled.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.is_waiting || self.freed_event
    }

    /// Notes a write that was refused for lack of room.
    pub(crate) fn refuse(&mut self) {
        self.is_waiting = true;
    }

    /// Notes that there is room again.
    pub(crate) fn free(&mut self) {
        self.is_waiting = false;
        self.freed_event = true;
    }

    /// Returns whether room has appeared since the last call.
    pub(crate) fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.freed_event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_space_is_reported_once_also_while_another_write_waits() {
        let mut blocked = BlockedWrite::default();
        blocked.refuse();
        blocked.free();
        blocked.refuse();
        assert!(blocked.is_waiting() && blocked.take_event());
        assert!(blocked.is_pending() && !blocked.take_event());
    }
}
