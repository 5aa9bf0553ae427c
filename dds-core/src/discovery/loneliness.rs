//! Log line of a participant that finds no other one.

use crate::actor::{Deferred, Effects};
use crate::context::ParticipantCore;
use dds_rtps::types::{Duration, Instant};
use std::sync::Arc;

/// A participant that is alone for longer says so once. Peers on a working network answer within a second.
const ALONE_MAX: Duration = Duration::from_secs(5);

/// Whether a participant has found another one since its start.
pub(super) enum Loneliness {
    NotStarted,
    Since(Instant),
    /// It has found one, or has said that it is alone.
    Over,
}

impl Loneliness {
    /// Returns whether it is time to say that the participant is alone. Returns `true` at most once.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        match *self {
            Self::Since(start) if now.since(start) >= ALONE_MAX => {
                *self = Self::Over;
                true
            }
            _ => false,
        }
    }
}

/// The log line. It is written outside of all cells, because a log layer is code of the application.
pub(super) struct LonelinessLog {
    pub(super) core: Arc<ParticipantCore>,
}

impl Deferred for LonelinessLog {
    fn run(self: Arc<Self>, _: u32, _effects: &mut Effects) {
        let config = self.core.config();
        // Not the configured interfaces alone: the line shows which of them work.
        let locators = self.core.network().locators();
        tracing::info!(
            parent: self.core.span(),
            domain = config.domain_id,
            domain_tag = config.domain_tag,
            scope = ?config.scope,
            multicast = ?locators.metatraffic_multicast,
            interfaces = ?config.interfaces,
            peers = ?config.peers,
            refused = config.transform().explain(),
            "no other participant found after {ALONE_MAX}; if others run in this domain and the network drops \
             multicast, set DDS_PEERS to their hosts"
        );
    }
}
