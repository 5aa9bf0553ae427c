//! What goes to one participant at one time goes in one datagram.
//!
//! Six endpoints speak to each participant, and when two meet all of them do, several times. Each datagram costs its sender
//! a system call and wakes a thread of its receiver, so a message that says whom it is for is appended, without its header,
//! to the one before it that goes the same way. Nothing else carries over from one to the other: a DATA of the builtin
//! writers always brings its own INFO_TIMESTAMP.

use crate::output::Datagram;
use crate::wire::{Header, Message, Submessage};

/// Longer ones are not made: what is lost with a frame should be little, and one frame of Ethernet carries it.
const BUNDLE_LEN_MAX: usize = 1400;

/// Looks one datagram ahead.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    /// What follows, once it is laid out.
    next: Datagram,
    has_next: bool,
}

impl Bundle {
    /// Lays out as many of the datagrams that `poll` gives as go together into one. `false`: there was none.
    pub(super) fn poll(&mut self, datagram: &mut Datagram, mut poll: impl FnMut(&mut Datagram) -> bool) -> bool {
        if std::mem::take(&mut self.has_next) {
            let class = datagram.traffic_class();
            std::mem::swap(datagram, &mut self.next);
            datagram.set_traffic_class(class);
        } else if !poll(datagram) {
            return false;
        }
        while poll(&mut self.next) {
            if !goes_together(datagram, &self.next) {
                self.has_next = true;
                break;
            }
            datagram.append(&mut self.next, Header::WIRE_LEN);
        }
        true
    }
}

fn goes_together(first: &Datagram, next: &Datagram) -> bool {
    // A submessage begins at a multiple of four (RTPS 2.5, 9.4.1).
    first.len() % 4 == 0
        && first.len() + next.len() - Header::WIRE_LEN <= BUNDLE_LEN_MAX
        && first.destinations() == next.destinations()
        && names_destination(next.head())
}

/// Whether a message says first whom it is for.
fn names_destination(head: &[u8]) -> bool {
    let first = Message::parse(head).ok().and_then(|message| message.submessages().next());
    matches!(first, Some(Ok(Submessage::InfoDestination(_))))
}
