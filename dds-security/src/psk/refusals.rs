//! Counts of refused datagrams, and texts about them.

use crate::crypto::OpenError;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A datagram was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PskRefusal {
    /// Why.
    pub reason: OpenError,
    /// GUID prefix that the datagram claims. `None` if it has no message header.
    pub claimed: Option<[u8; 12]>,
    /// Whether it is the first refusal for this reason, so that the log should mention it. False for replays: each
    /// copy of a multicast message is one.
    pub is_first: bool,
}

/// Datagrams that were refused, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RefusalCounts {
    /// Without protection.
    pub not_protected: u64,
    /// With a key of another passphrase id, domain or domain tag.
    pub unknown_key: u64,
    /// With a wrong authentication code.
    pub forged: u64,
    /// Repeated, or too old to know. A participant with several links gets a copy of a multicast message on each.
    pub replayed: u64,
    /// With a protection that breaks the layout.
    pub malformed: u64,
}

impl RefusalCounts {
    /// Datagrams that were refused, for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.without_replays() + self.replayed
    }

    /// Datagrams that no participant with the key sealed. Copies of authentic ones do not count.
    #[must_use]
    pub fn without_replays(&self) -> u64 {
        let Self { not_protected, unknown_key, forged, replayed: _, malformed } = *self;
        not_protected + unknown_key + forged + malformed
    }
}

/// The reasons, in the order of the counters.
const REASONS: [OpenError; 5] =
    [OpenError::NotProtected, OpenError::UnknownKey, OpenError::Forged, OpenError::Replayed, OpenError::Malformed];

/// The counters of one participant.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    counts: [AtomicU64; REASONS.len()],
    /// The GUID prefix that the last refused datagram claims, by reason.
    last: Mutex<[Option<[u8; 12]>; REASONS.len()]>,
}

impl Refusals {
    /// Counts a refused datagram.
    pub(super) fn note(&self, reason: OpenError, datagram: &[u8]) -> PskRefusal {
        // Nothing proves this prefix. It only helps the user to find the sender.
        let claimed = datagram.strip_prefix(b"RTPS").and_then(|rest| rest.get(4..)?.first_chunk::<12>().copied());
        debug_assert!(reason != OpenError::NotForThisReceiver, "a pre-shared key has no MACs for receivers");
        let at = REASONS.iter().position(|known| *known == reason).unwrap_or(REASONS.len() - 1);
        let before = self.counts[at].fetch_add(1, Ordering::Relaxed);
        if claimed.is_some() {
            self.last.lock().unwrap_or_else(PoisonError::into_inner)[at] = claimed;
        }
        PskRefusal { reason, claimed, is_first: before == 0 && reason != OpenError::Replayed }
    }

    pub(super) fn counts(&self) -> RefusalCounts {
        let [not_protected, unknown_key, forged, replayed, malformed] =
            [0, 1, 2, 3, 4].map(|at: usize| self.counts[at].load(Ordering::Relaxed));
        RefusalCounts { not_protected, unknown_key, forged, replayed, malformed }
    }

    /// Returns a text on the refused datagrams other than replays. Empty if there are none.
    pub(super) fn explain(&self) -> String {
        use fmt::Write;
        let mut text = String::new();
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, reason) in REASONS.into_iter().enumerate() {
            let count = self.counts[at].load(Ordering::Relaxed);
            // Replays keep no participants apart: the first copy was opened.
            if count == 0 || reason == OpenError::Replayed {
                continue;
            }
            let separator = if text.is_empty() { "" } else { "; " };
            let noun = if count == 1 { "datagram was" } else { "datagrams were" };
            let refusal = PskRefusal { reason, claimed: last[at], is_first: false };
            // Writing to a string does not fail.
            let _ = write!(text, "{separator}{count} {noun} refused, the last one {refusal}");
        }
        text
    }
}

impl PskRefusal {
    /// Returns what to do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self.reason {
            OpenError::NotProtected => "give that participant the pre-shared key (DDS_PRE_SHARED_KEY)",
            OpenError::UnknownKey => "compare passphrase id, domain and domain tag on both sides",
            OpenError::Forged => "compare the passphrases; if they are equal, the datagram was changed or forged",
            OpenError::Replayed => "a network repeats datagrams, or an attacker does",
            _ => "a program sends other data to this port, or an attacker does",
        }
    }
}

impl fmt::Display for PskRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.claimed {
            None => f.write_str("from an unknown sender")?,
            Some([a, b, c, d, e, g, h, i, j, k, l, m]) => write!(
                f,
                "in the name of participant {a:02x}{b:02x}{c:02x}{d:02x}:{e:02x}{g:02x}{h:02x}{i:02x}:\
                 {j:02x}{k:02x}{l:02x}{m:02x}"
            )?,
        }
        write!(f, ": {} ({})", self.reason, self.next_step())
    }
}
