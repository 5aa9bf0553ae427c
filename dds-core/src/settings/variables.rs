//! Names of the environment variables. A misspelled one would otherwise be without effect and without a word.

use dds_rtps::types::similar::nearest;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment variables that a participant reads.
pub(crate) const VARIABLES: [&str; 18] = [
    "DDS_DOMAIN",
    "DDS_PROFILES",
    "DDS_SCOPE",
    "DDS_PEERS",
    "DDS_INTERFACES",
    "DDS_IP",
    "DDS_MULTICAST_TTL",
    "DDS_RECEIVE_BUFFER",
    "DDS_SEND_BUFFER",
    "DDS_DOMAIN_TAG",
    "DDS_TRANSPORTS",
    "DDS_SHARED_MEMORY",
    "DDS_BUSY_POLL",
    "DDS_TYPE_INFORMATION",
    "DDS_LATENCIES",
    "DDS_RECEIVE",
    "DDS_PRE_SHARED_KEY",
    "DDS_TAP",
];

/// Returns the variables of the environment that are probably misspelled, with those that are meant.
///
/// The first call of a process logs them.
pub(crate) fn misspelled_variables() -> Vec<(String, &'static str)> {
    // No `Once`: a child that is forked during the first call would wait for the end of it.
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    let is_first = !IS_DONE.swap(true, Ordering::Relaxed);
    let mut misspelled = Vec::new();
    for (name, _) in std::env::vars_os() {
        // The names of the variables above are ASCII.
        let Ok(name) = name.into_string() else { continue };
        let Some(meant) = meant_by(&name) else { continue };
        if is_first {
            tracing::warn!(variable = name, "this environment variable has no effect; did you mean {meant}?");
        }
        misspelled.push((name, meant));
    }
    misspelled
}

/// Returns the variable that a similar name probably means.
///
/// Other programs have variables with the same prefix, so a name that is not similar means nothing.
fn meant_by(name: &str) -> Option<&'static str> {
    if !name.starts_with(PREFIX) || VARIABLES.contains(&name) {
        return None;
    }
    let known = |(wrong, _): &&(&str, &str)| *wrong == name;
    if let Some((_, meant)) = CONFUSED.iter().find(known) {
        return Some(meant);
    }
    // Without the prefix, which would make short names similar to each other.
    let ending = |variable: &'static str| variable.strip_prefix(PREFIX).unwrap_or(variable);
    let meant = nearest(name.strip_prefix(PREFIX)?, VARIABLES.into_iter().map(ending))?;
    VARIABLES.into_iter().find(|variable| ending(variable) == meant)
}

/// Begins the name of each variable.
const PREFIX: &str = "DDS_";

/// Names that other systems or guesses suggest, with the variables that are meant.
const CONFUSED: [(&str, &str); 2] = [("DDS_DOMAIN_ID", "DDS_DOMAIN"), ("DDS_TAG", "DDS_DOMAIN_TAG")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_name_means_a_variable_and_other_names_mean_none() {
        for (name, meant) in [
            ("DDS_PEER", "DDS_PEERS"),
            ("DDS_PROFILE", "DDS_PROFILES"),
            ("DDS_DOMAIN_ID", "DDS_DOMAIN"),
            ("DDS_TAG", "DDS_DOMAIN_TAG"),
            ("DDS_DOMAINTAG", "DDS_DOMAIN_TAG"),
            ("DDS_TRANSPROT", "DDS_TRANSPORTS"),
            ("DDS_RECIEVE_BUFFER", "DDS_RECEIVE_BUFFER"),
            ("DDS_PRESHARED_KEY", "DDS_PRE_SHARED_KEY"),
        ] {
            assert_eq!(meant_by(name), Some(meant), "{name}");
        }
        for name in VARIABLES {
            assert_eq!(meant_by(name), None);
        }
        // `DDS_ROOT` is a variable of OpenDDS.
        for name in ["DDS_ROOT", "DDS_ID", "DDS_SIM_SEED", "DDS_TEST_STRICT", "ROS_DOMAIN_ID", "PEERS", "DDS_"] {
            assert_eq!(meant_by(name), None, "{name}");
        }
    }
}
