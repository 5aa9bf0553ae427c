//! What goes to one participant at one time goes in one datagram.
//!
//! All builtin endpoints speak to each participant, and when two meet they do so several times. Each datagram costs its sender
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{GuidPrefix, Locator};
    use crate::wire::MessageBuilder;

    /// A message of so many bytes to a port, which may say for whom it is.
    fn lay_out(datagram: &mut Datagram, port: u16, names: bool, len: usize) {
        let mut builder = MessageBuilder::new(datagram.buffer());
        builder.header(GuidPrefix([1; 12]));
        if names {
            builder.info_dst(GuidPrefix([2; 12]));
        }
        datagram.buffer().resize(len, 0);
        datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), port));
    }

    /// The lengths of the datagrams that come out of these messages.
    fn bundled(messages: &[(u16, bool, usize)]) -> Vec<usize> {
        let (mut bundle, mut datagram, mut messages) = (Bundle::default(), Datagram::new(), messages.iter());
        let mut poll = |next: &mut Datagram| {
            next.clear();
            messages.next().is_some_and(|&(port, names, len)| {
                lay_out(next, port, names, len);
                true
            })
        };
        std::iter::from_fn(|| bundle.poll(&mut datagram, &mut poll).then(|| datagram.len())).collect()
    }

    #[test]
    fn what_goes_the_same_way_goes_together_without_its_header() {
        assert_eq!(bundled(&[(1, true, 100), (1, true, 60), (1, true, 40)]), [160]);
        // Somewhere else, and back.
        assert_eq!(bundled(&[(1, true, 100), (2, true, 60), (1, true, 40)]), [100, 60, 40]);
        // Whom it is for is not said again: it may be another one than before.
        assert_eq!(bundled(&[(1, true, 100), (1, false, 60)]), [100, 60]);
        assert_eq!(bundled(&[(1, true, 1000), (1, true, 420)]), [1400]);
        assert_eq!(bundled(&[(1, true, 1000), (1, true, 424), (1, true, 40)]), [1000, 444]);
        assert_eq!(bundled(&[(1, true, 101), (1, true, 60)]), [101, 60]);
    }
}
