//! The loop without DDS: the cost of the machine and the system. The busy thread only keeps a core busy.

use crate::control_loop::{DEPTH, Ends, PATIENCE, Stamp};
use benches::RTPS_OVERHEAD_LEN;
use std::error::Error;
use std::hint::spin_loop;
use std::net::UdpSocket;
use std::sync::mpsc::sync_channel;

const PAYLOAD_LEN: usize = 64;

/// Connects both ends by a channel or by a pair of sockets.
///
/// # Errors
///
/// Returns an error if a socket cannot be opened.
pub(crate) fn ends(udp: bool) -> Result<Ends, Box<dyn Error>> {
    if udp { sockets() } else { Ok(channel()) }
}

fn channel() -> Ends {
    let (sender, receiver) = sync_channel(DEPTH as usize);
    // A full channel loses the sample, like a full reader history.
    let write = move |stamp| {
        let _ = sender.try_send(stamp);
        Ok(())
    };
    let next = move || receiver.recv_timeout(PATIENCE).ok();
    Ends { write: Box::new(write), next: Box::new(next), observe: Box::new(spin_loop) }
}

fn sockets() -> Result<Ends, Box<dyn Error>> {
    let (from, to) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    from.connect(to.local_addr()?)?;
    to.set_read_timeout(Some(PATIENCE))?;
    let write = move |stamp: Stamp| {
        let mut datagram = [0; RTPS_OVERHEAD_LEN + PAYLOAD_LEN];
        datagram[..8].copy_from_slice(&stamp.number.to_le_bytes());
        datagram[8..16].copy_from_slice(&stamp.sent.to_le_bytes());
        from.send(&datagram).map(drop).map_err(|error| error.to_string())
    };
    let next = move || {
        let mut datagram = [0; RTPS_OVERHEAD_LEN + PAYLOAD_LEN];
        to.recv(&mut datagram).ok()?;
        let word = |at: usize| datagram[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        Some(Stamp { number: word(0)?, sent: word(8)? })
    };
    Ok(Ends { write: Box::new(write), next: Box::new(next), observe: Box::new(spin_loop) })
}
