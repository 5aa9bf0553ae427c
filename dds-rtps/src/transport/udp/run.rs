//! Sends runs: datagrams of equal length to the same destinations.
//!
//! One system call accepts a run, and the system segments it as late as it can (`UDP_SEGMENT`, Linux since 4.18).

use super::control::Control;
use crate::output::Datagram;
use crate::types::TrafficClass;
use smallvec::SmallVec;
use socket2::{MsgHdr, SockAddr, Socket};
use std::io::{self, IoSlice};

/// Most bytes of a run: the payload of a UDP datagram over either version of IP.
const RUN_LEN_MAX: usize = 65_000;

/// Most datagrams of a run that every Linux accepts.
const DATAGRAMS_MAX: usize = 64;

/// Returns the datagrams at the front that form a run: all but the last have the same length, and none is longer.
pub(super) fn run_of(datagrams: &[Datagram]) -> &[Datagram] {
    let Some((first, rest)) = datagrams.split_first() else { return datagrams };
    let each = first.len();
    let limit = RUN_LEN_MAX.checked_div(each).unwrap_or(1).min(DATAGRAMS_MAX);
    let mut count = 1;
    for datagram in rest {
        let has_same_target = datagram.traffic_class() == first.traffic_class()
            && datagram.remaining_destinations() == first.remaining_destinations();
        // The system cannot segment an empty datagram out of a run.
        if count >= limit || !has_same_target || datagram.is_empty() || datagram.len() > each {
            break;
        }
        count += 1;
        // The system cuts the run into equal parts, so only its last one may be shorter.
        if datagram.len() < each {
            break;
        }
    }
    debug_assert!(count <= DATAGRAMS_MAX, "a run is bounded");
    &datagrams[..count]
}

/// Returns the segments of all datagrams of a run, in order.
pub(super) fn pieces(run: &[Datagram]) -> SmallVec<[IoSlice<'_>; 64]> {
    run.iter().flat_map(Datagram::segments).map(IoSlice::new).collect()
}

/// Whether the socket accepts runs.
#[cfg(target_os = "linux")]
pub(super) fn is_supported(socket: &Socket) -> bool {
    nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::UdpGsoSegment).is_ok()
}

/// Whether the socket accepts runs.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_supported(_: &Socket) -> bool {
    false
}

/// Sends a run whose datagrams have the length `each`. Requires that the socket accepts runs ([`is_supported`]).
pub(super) fn send(
    socket: &Socket,
    pieces: &[IoSlice<'_>],
    each: u16,
    class: TrafficClass,
    address: &SockAddr,
) -> io::Result<usize> {
    let mut control = Control::new();
    control.segment(each);
    control.class(class, address);
    socket.sendmsg(&MsgHdr::new().with_addr(address).with_buffers(pieces).with_control(control.bytes()), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Locator;
    use proptest::prelude::*;

    fn datagrams(lens: &[usize]) -> Vec<Datagram> {
        let of_len = |&len: &usize| {
            let mut datagram = Datagram::new();
            datagram.buffer().resize(len, 0);
            datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), 7411));
            datagram
        };
        lens.iter().map(of_len).collect()
    }

    #[test]
    fn run_ends_at_a_different_length() {
        let run_len = |lens: &[usize]| run_of(&datagrams(lens)).len();
        assert_eq!(run_len(&[]), 0);
        assert_eq!(run_len(&[1400]), 1);
        assert_eq!(run_len(&[1400, 1400, 1400]), 3);
        assert_eq!(run_len(&[1400, 1400, 9, 9]), 3);
        assert_eq!(run_len(&[1400, 1400, 1401]), 2);
        assert_eq!(run_len(&[1400, 0]), 1);
        assert_eq!(run_len(&[0, 0]), 1);
        assert_eq!(run_len(&[40_000, 40_000]), 1);
        let mut elsewhere = datagrams(&[1400, 1400, 1400]);
        elsewhere[1].add_destination(Locator::udp_v4([127, 0, 0, 1].into(), 7413));
        assert_eq!(run_of(&elsewhere).len(), 1);
    }

    proptest! {
        #[test]
        fn run_fits_one_system_call(lens in proptest::collection::vec(prop_oneof![Just(1), Just(700), Just(1400), 0..70_000_usize], 1..100)) {
            let datagrams = datagrams(&lens);
            let run = run_of(&datagrams);
            let (last, others) = run.split_last().unwrap();
            prop_assert!(run.len() <= DATAGRAMS_MAX);
            prop_assert!(others.iter().all(|datagram| datagram.len() == run[0].len()));
            prop_assert!(last.len() <= run[0].len());
            prop_assert!(run.len() == 1 || run.iter().map(Datagram::len).sum::<usize>() <= RUN_LEN_MAX);
            prop_assert!(run.len() == 1 || run.iter().all(|datagram| !datagram.is_empty()));
        }
    }
}
