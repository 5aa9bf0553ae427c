//! How a reply names its request: by the inline QoS `related_sample_identity` (RTPS 2.5, 9.6.4.8; DDS-RPC 1.0,
//! 7.5.1.1.1).
//!
//! The only place that knows the wire format. A mapping with a header in the payload replaces these functions.
//!
//! A request carries the parameter as well, with the GUID of the requester's reader and no sequence number. Fast DDS
//! does the same. The replier then knows which reader waits for the reply. Repliers of Fast DDS name a request by that
//! reader, and others by the writer of the request. A requester accepts both.

use crate::publication::WriteOptions;
use dds_rtps::types::{Guid, SequenceNumber};
use dds_rtps::wire::SampleIdentity;

/// Options of a request whose reply `reader` receives.
pub(super) fn request_options(reader: Guid) -> WriteOptions {
    WriteOptions::new().related_sample(SampleIdentity { writer: reader, sequence_number: SequenceNumber::UNKNOWN })
}

/// The name of a received request, which its reply carries. `related` is the parameter of the request.
pub(super) fn request_name(request: SampleIdentity, related: Option<SampleIdentity>) -> SampleIdentity {
    match reply_reader(related) {
        Some(reader) => SampleIdentity { writer: reader, ..request },
        None => request,
    }
}

/// The reader that receives the reply, if the request names it.
pub(super) fn reply_reader(related: Option<SampleIdentity>) -> Option<Guid> {
    let named = related?.writer;
    if named == Guid::UNKNOWN { None } else { Some(named) }
}

/// Options of the reply to a request with this name.
pub(super) fn reply_options(request: SampleIdentity) -> WriteOptions {
    WriteOptions::new().related_sample(request)
}

/// The number of the request that a received sample replies to. `None` if another requester sent the request.
///
/// `related` is the parameter of the reply, and `own` are the endpoints of the requester.
pub(super) fn replied_request(related: Option<SampleIdentity>, own: [Guid; 2]) -> Option<SequenceNumber> {
    let request = related?;
    if own.contains(&request.writer) { Some(request.sequence_number) } else { None }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    fn guid(byte: u8) -> Guid {
        Guid::from_bytes([byte; 16])
    }

    fn writer() -> Guid {
        guid(1)
    }

    fn reader() -> Guid {
        guid(2)
    }

    fn identity(writer: Guid, number: i64) -> SampleIdentity {
        SampleIdentity { writer, sequence_number: SequenceNumber(number) }
    }

    #[test]
    fn request_with_reader_is_named_by_it() {
        let related = request_options(reader()).related_sample;
        assert_eq!(related, Some(SampleIdentity { writer: reader(), sequence_number: SequenceNumber::UNKNOWN }));
        assert_eq!(reply_reader(related), Some(reader()));
        assert_eq!(request_name(identity(writer(), 7), related), identity(reader(), 7));
    }

    #[test]
    fn request_without_reader_is_named_by_writer() {
        assert_eq!(reply_reader(None), None);
        assert_eq!(request_name(identity(writer(), 7), None), identity(writer(), 7));
    }

    #[test]
    fn replies_to_writer_and_reader_are_own() {
        for name in [writer(), reader()] {
            let reply = reply_options(identity(name, 7)).related_sample;
            assert_eq!(replied_request(reply, [writer(), reader()]), Some(SequenceNumber(7)));
        }
    }

    #[test]
    fn replies_to_others_are_not_own() {
        let foreign = reply_options(identity(guid(3), 7)).related_sample;
        assert_eq!(replied_request(foreign, [writer(), reader()]), None);
        assert_eq!(replied_request(None, [writer(), reader()]), None);
    }
}
