//! What must stand behind a payload that its DATA or DATA_FRAG does not hold itself.

/// Says how a payload ends: with padding up to the next submessage, or with the message.
///
/// octetsToNextHeader counts the padding, so it must be there even if nothing follows: give this to
/// [`MessageBuilder::end_payload`](super::MessageBuilder::end_payload) once the payload has been copied or gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the length of the submessage counts on the padding"]
pub struct PayloadEnd {
    padding_len: usize,
    must_be_last: bool,
}

impl PayloadEnd {
    /// Bytes between the payload and the next submessage: 0 to 3.
    #[must_use]
    pub const fn padding_len(self) -> usize {
        self.padding_len
    }

    /// Whether nothing may follow: the submessage is longer than 65535 bytes, so its length says "to the end".
    #[must_use]
    pub const fn must_be_last(self) -> bool {
        self.must_be_last
    }

    /// Completes the header of the submessage that begins at `start`: what `buffer` holds behind it, and a payload of
    /// `payload_len` bytes, belong to it. `flags` are added to those that it has.
    pub(super) fn close(buffer: &mut [u8], start: usize, flags: u8, payload_len: usize) -> Self {
        let body_len = buffer.len() - start - HEADER_LEN + payload_len;
        let padding_len = body_len.wrapping_neg() % 4;
        let octets_to_next_header = u16::try_from(body_len + padding_len).ok();
        let header = buffer.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<HEADER_LEN>);
        if let Some([_, flags_field, length @ ..]) = header {
            *flags_field |= flags;
            *length = octets_to_next_header.unwrap_or(0).to_le_bytes();
        }
        match octets_to_next_header {
            Some(_) => Self { padding_len, must_be_last: false },
            None => Self { padding_len: 0, must_be_last: true },
        }
    }
}

/// Bytes of a submessage's header.
const HEADER_LEN: usize = 4;
