//! The CryptoFooter (DDS Security 1.1, 9.5.2.5).

use super::cipher::MAC_LEN;
use super::{Audience, CryptoHeader, OpenError, SendKey};

/// Bytes of a footer without MACs for receivers.
pub(crate) const FOOTER_LEN: usize = MAC_LEN + 4;

/// Bytes that each receiver adds: key id and MAC.
pub(crate) const RECEIVER_LEN: usize = 4 + MAC_LEN;

/// A footer as it was received.
pub(crate) struct Footer<'a> {
    pub(crate) common: &'a [u8; MAC_LEN],
    /// Key id and MAC of each receiver.
    receivers: &'a [u8],
}

impl<'a> Footer<'a> {
    /// Reads a footer, and returns the bytes behind it.
    ///
    /// Its bytes bound the MACs, 3 275 in the longest datagram, and none is copied. A lower bound would shut out
    /// senders of other vendors, which may have as many receivers. To look at all of them takes less time than to check
    /// the common MAC of a message of that length.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), OpenError> {
        let (common, rest) = bytes.split_first_chunk::<MAC_LEN>().ok_or(OpenError::Malformed)?;
        let (count, rest) = rest.split_first_chunk::<4>().ok_or(OpenError::Malformed)?;
        // The sender writes the count, so the product may overflow on targets with 32 bits.
        let len = (u32::from_be_bytes(*count) as usize).checked_mul(RECEIVER_LEN).ok_or(OpenError::Malformed)?;
        let (receivers, rest) = rest.split_at_checked(len).ok_or(OpenError::Malformed)?;
        Ok((Self { common, receivers }, rest))
    }

    /// Returns the MAC for the receiver with a key id.
    pub(crate) fn mac_for(&self, id: [u8; 4]) -> Option<&'a [u8; MAC_LEN]> {
        debug_assert_eq!(self.receivers.len() % RECEIVER_LEN, 0, "`parse` takes whole entries");
        // Ids of keys are in clear, so the search need not take constant time.
        let mut entries = self.receivers.chunks_exact(RECEIVER_LEN);
        entries.find_map(|entry| entry.strip_prefix(&id[..])?.first_chunk::<MAC_LEN>())
    }
}

/// Appends a footer without MACs for receivers.
pub(crate) fn push_short_footer(out: &mut Vec<u8>, common: &[u8; MAC_LEN]) {
    out.extend_from_slice(common);
    out.extend_from_slice(&[0; 4]);
}

/// Appends a footer with a MAC for each receiver of the audience.
pub(crate) fn push_footer(
    out: &mut Vec<u8>,
    key: &SendKey,
    header: &CryptoHeader,
    common: &[u8; MAC_LEN],
    audience: Audience,
) {
    push_short_footer(out, common);
    // The count comes before the MACs, and is known behind them.
    let count_at = out.len() - 4;
    let count = key.push_receiver_macs(header, common, audience, out);
    debug_assert_eq!(out.len() - count_at - 4, count as usize * RECEIVER_LEN, "the count fits the MACs");
    if let Some(place) = out.get_mut(count_at..count_at + 4) {
        place.copy_from_slice(&count.to_be_bytes());
    }
}
