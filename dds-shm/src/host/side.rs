//! The memory that one side of a path owns, and its transfer.

use crate::handshake::{HANDSHAKE_LEN, HandshakeMessage, RefusalCode};
use crate::memory::MappedMemory;
use crate::reasons::Refusal;
use crate::ring::{outbox_len, prepare};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Outbox of this side, before it is offered to the peer.
#[derive(Debug)]
pub(super) struct OwnSide {
    pub(super) outbox: Arc<MappedMemory>,
    descriptor: OwnedFd,
}

/// The descriptors of a peer, unchecked.
#[derive(Debug)]
pub(super) struct PeerDescriptors {
    pub(super) outbox: OwnedFd,
    pub(super) pool: OwnedFd,
}

impl OwnSide {
    pub(super) fn new(ring_len: u32) -> Result<Self, Refusal> {
        let (outbox, descriptor) = MappedMemory::create(outbox_len(ring_len))?;
        prepare(&outbox);
        Ok(Self { outbox: Arc::new(outbox), descriptor })
    }

    /// Sends the handshake and the descriptors of this side.
    pub(super) fn send_hello(
        &self,
        socket: &OwnedFd,
        hello: &HandshakeMessage,
        pool: BorrowedFd<'_>,
    ) -> Result<(), Refusal> {
        let descriptors = [self.descriptor.as_fd(), pool];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let has_room = control.push(SendAncillaryMessage::ScmRights(&descriptors));
        debug_assert!(has_room, "the space is computed for two descriptors");
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match rustix::net::sendmsg(socket, &[IoSlice::new(&hello.encode())], &mut control, flags) {
            Ok(_) => Ok(()),
            Err(Errno::PIPE | Errno::CONNRESET) => Err(reason_of_end(socket)),
            Err(error) => Err(Refusal::Descriptors(error.into())),
        }
    }
}

/// Returns why the peer has closed the connection. A peer that refuses has sent its reason before.
fn reason_of_end(socket: &OwnedFd) -> Refusal {
    match receive_handshake(socket) {
        Ok(Some((HandshakeMessage::Refusal(code), _))) => code.reason(),
        Ok(_) => Refusal::PeerLeft,
        Err(refusal) => refusal,
    }
}

/// Tells the peer why this side refuses. A peer that has left does not need it.
pub(super) fn send_refusal(socket: &OwnedFd, refusal: &Refusal) {
    let bytes = HandshakeMessage::Refusal(RefusalCode::of(refusal)).encode();
    let _ = rustix::net::send(socket, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Receives a handshake message. Returns `None` if nothing has arrived.
pub(super) fn receive_handshake(
    socket: &OwnedFd,
) -> Result<Option<(HandshakeMessage, Option<PeerDescriptors>)>, Refusal> {
    // Longer, because later versions may add fields.
    let mut bytes = [0; 4 * HANDSHAKE_LEN];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let mut receive = || rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags);
    let received = match receive() {
        // A peer that refuses closes without reading. The system reports that first, and then its refusal.
        Err(Errno::CONNRESET) => receive(),
        result => result,
    };
    let len = match received {
        Ok(message) if message.bytes > 0 => message.bytes,
        Ok(_) | Err(Errno::CONNRESET) => return Err(Refusal::PeerLeft),
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(error) => return Err(Refusal::Descriptors(error.into())),
    };
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    let message = HandshakeMessage::parse(bytes.get(..len).unwrap_or_default())?;
    // Descriptors beyond the first two are closed with the iterator.
    let mut descriptors = descriptors.into_iter();
    let taken = match (descriptors.next(), descriptors.next()) {
        (Some(outbox), Some(pool)) => Some(PeerDescriptors { outbox, pool }),
        _ => None,
    };
    Ok(Some((message, taken)))
}
