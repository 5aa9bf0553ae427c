//! Networks that somebody may have.

use crate::dice::Dice;
use dds_core::Duration;
use dds_core::sim::{Burst, Conditions};

pub(crate) fn network(dice: &mut Dice) -> Conditions {
    let mut conditions = match dice.below(5) {
        0 => Conditions::perfect(),
        1 => Conditions::ethernet(),
        2 => Conditions::office_wifi(),
        3 => Conditions::hall_wifi(),
        // Like LTE, but with multicast: nobody here has peers.
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
    conditions
}
