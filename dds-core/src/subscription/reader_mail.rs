//! Mail of a reader, for changes and submessages that arrive while its cell is occupied.

use crate::delivery::{LocalParcel, LocalPath};
use crate::subscription::SubmessageRun;
use dds_rtps::concurrent::Payload;
use dds_rtps::history::CacheChange;
use dds_rtps::reader::{InPlaceFragment, Source};
use dds_rtps::types::{Guid, SequenceNumber};
use std::sync::Arc;

/// Mail of a reader.
pub(crate) enum ReaderMail {
    /// Change of a local writer.
    Local {
        /// The change. Its payload is the writer's own slot.
        change: CacheChange,
        /// Sequence number of the change that the writer delivered before. Changes in between no longer exist.
        ///
        /// A full reader refuses changes, and later ones must not overtake them.
        previous: SequenceNumber,
        /// Path back to the writer, if both endpoints are reliable.
        path: Option<Arc<LocalPath>>,
    },
    /// Submessages that arrived while the cell was occupied.
    Packet {
        /// Datagram, shared with the receive buffer.
        packet: Payload,
        /// Position of the submessages in the datagram.
        run: SubmessageRun,
    },
    /// Fragment that was received in place while the cell was occupied.
    InPlace {
        /// Place of the fragment in its assembly.
        fragment: Option<InPlaceFragment>,
        /// Sender of the fragment.
        source: Source,
    },
}

impl ReaderMail {
    /// Creates mail from a change that the reader could not process in place.
    pub(crate) fn local(parcel: LocalParcel<'_>) -> Self {
        let LocalParcel { change, previous, path } = parcel;
        Self::Local { change: change.take(), previous, path: path.cloned() }
    }

    /// Returns the local writer of the change.
    pub(crate) fn local_writer(&self) -> Option<Guid> {
        if let Self::Local { change, .. } = self { Some(change.writer) } else { None }
    }

    /// Number of bytes that the mail counts in the inbox.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Local { change, .. } => change.payload.as_ref().map_or(0, Payload::len),
            Self::Packet { packet, .. } => packet.len(),
            Self::InPlace { fragment, .. } => fragment.as_ref().map_or(0, InPlaceFragment::len),
        }
    }
}
