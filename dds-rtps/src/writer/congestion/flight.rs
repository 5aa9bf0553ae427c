//! Bytes in flight to one reader.
//!
//! The flight of bytes ends when the reader answers a HEARTBEAT that was sent after them, or acknowledges their change.
//! Small samples count in groups, each datagram with its cost in a receive buffer. The writer marks how many bytes it
//! had sent at certain sequence numbers. Bytes of acknowledged samples are not in flight, no matter which HEARTBEAT the
//! ACKNACK answers.

use crate::types::SequenceNumber;
use std::collections::VecDeque;

/// Marks per window.
pub(crate) const MARKS: u64 = 16;

/// Bytes that were sent to one reader, and those of them that are still in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Bytes sent since the match.
    sent: u64,
    /// Bytes of `sent` that are not in flight any more.
    settled: u64,
    /// Sequence numbers with the bytes sent up to them. Bound: [`MARKS`] per window, and one more.
    marks: VecDeque<FlightMark>,
}

/// All changes up to `number` amount to `position` bytes.
#[derive(Debug, Clone, Copy)]
struct FlightMark {
    number: SequenceNumber,
    position: u64,
}

impl Flight {
    /// Returns the bytes sent since the match.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the bytes sent since the match that are not in flight any more.
    pub(crate) fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns the bytes in flight.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        debug_assert!(self.settled <= self.sent, "only sent bytes leave the path");
        self.sent - self.settled
    }

    /// Counts `len` bytes as in flight.
    #[inline]
    pub(crate) fn note_sent(&mut self, len: usize) {
        self.sent += len as u64;
    }

    /// Marks that all bytes sent so far belong to changes up to `number`.
    pub(crate) fn mark(&mut self, number: SequenceNumber, window: u64) {
        let apart = window / MARKS;
        match self.marks.back() {
            // Keep one mark per sixteenth of a window: finer marks would only cost memory.
            Some(last) if self.sent - last.position < apart => return,
            _ => {}
        }
        if self.marks.len() as u64 > MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(FlightMark { number, position: self.sent });
    }

    /// Removes the oldest mark up to the acknowledged change `number`, and returns its position.
    pub(crate) fn take_mark(&mut self, number: SequenceNumber) -> Option<u64> {
        // Marks are in the order of their sequence numbers, so the first one decides.
        let mark = *self.marks.front()?;
        if mark.number > number {
            return None;
        }
        self.marks.pop_front();
        Some(mark.position)
    }

    /// Ends the flight of the bytes up to `position`. Returns how many they are.
    pub(crate) fn settle(&mut self, position: u64) -> u64 {
        let answered = position.saturating_sub(self.settled);
        self.settled = self.settled.max(position);
        answered
    }

    /// Ends the flight of all bytes. The marks stay.
    pub(crate) fn settle_all(&mut self) {
        self.settled = self.sent;
    }

    /// Ends the flight of all bytes and forgets the marks: the reader has all data.
    pub(crate) fn clear(&mut self) {
        self.settle_all();
        self.marks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flight_marks_are_bounded_per_window() {
        let mut flight = Flight::default();
        for number in 0..1000 {
            flight.note_sent(1 << 10);
            flight.mark(SequenceNumber(number), 128 << 10);
        }
        assert!(flight.marks.len() as u64 <= MARKS + 1);
        while let Some(position) = flight.take_mark(SequenceNumber(2000)) {
            flight.settle(position);
        }
        assert!(flight.bytes() <= (128 << 10) / MARKS);
    }
}
