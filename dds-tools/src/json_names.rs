//! Names in JSON and YAML that are no members of a type. A member has no `$` in its name.

use dds_core::InstanceState;

/// The entry of an object with the discriminator of a union.
pub(crate) const DISCRIMINATOR: &str = "$discriminator";
/// The entry of an object with the state of an instance that has ended.
pub(crate) const INSTANCE_STATE: &str = "$instance_state";
/// The entry of an object with the key of an instance that has ended.
pub(crate) const KEY: &str = "key";

/// Returns the name of a state.
pub(crate) const fn state_name(state: InstanceState) -> &'static str {
    match state {
        InstanceState::Alive => "alive",
        InstanceState::NotAliveDisposed => "disposed",
        InstanceState::NotAliveNoWriters => "no writers",
    }
}

/// Returns the state of an instance that has ended, by its name.
pub(crate) fn ended_state(name: &str) -> Option<InstanceState> {
    let states = [InstanceState::NotAliveDisposed, InstanceState::NotAliveNoWriters];
    states.into_iter().find(|state| state_name(*state) == name)
}
