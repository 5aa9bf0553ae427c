//! Plausible networks.

use super::dice::Dice;
use dds_core::Duration;
use dds_core::sim::{Burst, Conditions, Host, Interference};

pub(crate) fn network(dice: &mut Dice) -> Conditions {
    let mut conditions = match dice.below(5) {
        0 => Conditions::perfect(),
        1 => Conditions::ethernet(),
        2 => Conditions::office_wifi(),
        3 => Conditions::hall_wifi(),
        // Like LTE, but with multicast, because no participant here has initial peers.
        _ => Conditions { multicast_loss: 0.3, ..Conditions::lte() },
    };
    if dice.falls(30) {
        conditions = conditions.lossy(*dice.pick(&[0.01, 0.1, 0.3]));
    }
    if dice.falls(30) {
        conditions = conditions.duplicating(0.1).reordering(0.2);
    }
    if dice.falls(15) {
        let (every, lasting) = (Duration::from_secs(2), Duration::from_secs(1));
        conditions.burst = Some(Burst { every, lasting, loss: 1.0 });
    }
    conditions.mtu = *dice.pick(&[conditions.mtu, conditions.mtu, 548, 8972]);
    conditions
}

/// A host with room for a few datagrams, and a processing time for each of them.
pub(crate) struct Weakness {
    receive_buffer: Option<usize>,
    handling: Option<Duration>,
}

impl Weakness {
    /// The weakest host: two datagrams, and a millisecond for each.
    pub(crate) const MOST: Self = Self { receive_buffer: Some(3 << 10), handling: Some(Duration::from_millis(1)) };

    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let receive_buffer = dice.falls(30).then(|| match dice.below(4) {
            0 => 3 << 10,
            _ => (16 + dice.below(49)) << 10,
        });
        let handling = dice.falls(30).then(|| Duration::from_micros(1 + dice.below(1000) as u64));
        Self { receive_buffer, handling }
    }

    pub(crate) fn afflict(&self, host: &Host) {
        self.receive_buffer.into_iter().for_each(|bytes| host.set_receive_buffer(bytes));
        self.handling.into_iter().for_each(|handling| host.set_handling(handling));
    }
}

/// Amount of interference by simulated other threads.
pub(crate) fn interference(dice: &mut Dice) -> Interference {
    match dice.below(4) {
        0 => Interference { occupied: 0.5, hasty: 0.5, blocked: 0.1, small_inbox: 0.5, ..Interference::default() },
        1 => Interference {
            late_timer: Duration::from_millis(*dice.pick(&[10, 200])),
            stray_timer: 0.05,
            ..Interference::default()
        },
        _ => Interference::default(),
    }
}
