//! The bytes behind a payload that its DATA or DATA_FRAG does not contain itself.

/// End of a payload: padding up to the next submessage, or the end of the message.
///
/// octetsToNextHeader counts the padding, so it must be present even if nothing follows. Pass this value to
/// [`MessageBuilder::end_payload`](super::MessageBuilder::end_payload) once the payload is copied or gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the length of the submessage includes the padding"]
pub struct PayloadEnd {
    padding_len: usize,
    must_be_last: bool,
}

impl PayloadEnd {
    /// Returns the bytes between the payload and the next submessage, 0 to 3.
    #[must_use]
    pub const fn padding_len(self) -> usize {
        self.padding_len
    }

    /// Whether no submessage may follow: this one is longer than 65535 bytes, so its length means "to the end".
    #[must_use]
    pub const fn must_be_last(self) -> bool {
        self.must_be_last
    }

    /// Completes the header of the submessage at `start`.
    ///
    /// The submessage contains the rest of `buffer` and a payload of `payload_len` bytes. `flags` are added to its
    /// flags.
    pub(super) fn close(buffer: &mut [u8], start: usize, flags: u8, payload_len: usize) -> Self {
        let body_len = buffer.len() - start - HEADER_LEN + payload_len;
        // Submessages begin at multiples of four (RTPS 2.5, 9.4.1).
        let padding_len = body_len.wrapping_neg() % 4;
        let octets_to_next_header = u16::try_from(body_len + padding_len).ok();
        let header = buffer.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<HEADER_LEN>);
        debug_assert!(header.is_some(), "the header precedes the payload");
        if let Some([_, flags_field, length @ ..]) = header {
            *flags_field |= flags;
            // 0 means "to the end of the message".
            *length = octets_to_next_header.unwrap_or(0).to_le_bytes();
        }
        match octets_to_next_header {
            Some(_) => Self { padding_len, must_be_last: false },
            // Nothing may follow this submessage, so nothing needs an alignment.
            None => Self { padding_len: 0, must_be_last: true },
        }
    }
}

/// Bytes of a submessage header.
const HEADER_LEN: usize = 4;
