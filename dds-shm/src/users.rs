//! The users of peers.
//!
//! In: user IDs from the kernel. Out: whether the policy accepts them.
//!
//! In a user namespace the kernel reports one number, the overflow user ID, for all users that the namespace does not
//! map. So a process with that user ID cannot tell its own user from unknown ones.

use crate::config::UserPolicy;
use crate::reasons::Refusal;
use rustix::process::Pid;
use std::fs;

/// The overflow user ID of Linux, unless the administrator has set another one.
const OVERFLOW_USER: u32 = 65_534;

/// Checks the user of a peer. `overflow` is the user ID that stands for unknown users.
pub(crate) fn check_user(policy: &UserPolicy, own: u32, user: u32, overflow: Option<u32>) -> Result<(), Refusal> {
    let is_allowed = match policy {
        UserPolicy::Any => true,
        _ if overflow == Some(user) => false,
        UserPolicy::SameUser => user == own,
        UserPolicy::List(users) => user == own || users.contains(&user),
    };
    if is_allowed { Ok(()) } else { Err(Refusal::UserRefused { user }) }
}

/// Whether this process trusts a peer of `user` to leave memory unchanged while it is read in place.
///
/// Only a process of the same user and the same PID namespace, which no container separates from this one. It could
/// attach a debugger as well.
pub(crate) fn is_trusted(own: u32, user: u32, process: Option<Pid>, overflow: Option<u32>) -> bool {
    user == own && overflow != Some(user) && process.is_some_and(is_in_own_namespace)
}

/// Whether a process lives in the PID namespace of this one. `false` if the system does not tell.
fn is_in_own_namespace(process: Pid) -> bool {
    // `/proc` may be that of another namespace, whose numbers mean other processes.
    let shows_own =
        fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str());
    let namespace_of = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid"));
    match (namespace_of("self"), namespace_of(&process.as_raw_nonzero().to_string())) {
        (Ok(own), Ok(peer)) => shows_own && own == peer,
        _ => false,
    }
}

/// The user ID that stands for all unknown users. `None` if this process knows every user.
pub(crate) fn overflow_user() -> Option<u32> {
    // Without `/proc` nothing is known about the namespace.
    let knows_all = fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| maps_every_user(&map));
    if knows_all {
        return None;
    }
    let number = fs::read_to_string("/proc/sys/kernel/overflowuid").ok();
    Some(number.and_then(|number| number.trim().parse().ok()).unwrap_or(OVERFLOW_USER))
}

/// Whether a map of user IDs gives every user its own number, as in the first namespace.
fn maps_every_user(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    #[test]
    fn policy_accepts_own_user_and_listed_users() {
        let list = UserPolicy::List(vec![7]);
        let cases = [
            (&UserPolicy::SameUser, 1, true),
            (&UserPolicy::SameUser, 7, false),
            (&UserPolicy::Any, 8, true),
            (&list, 1, true),
            (&list, 7, true),
            (&list, 8, false),
        ];
        for (policy, user, is_allowed) in cases {
            assert_eq!(check_user(policy, 1, user, None).is_ok(), is_allowed, "{policy:?} {user}");
        }
    }

    #[test]
    fn overflow_user_is_refused_although_it_is_the_own_one() {
        for policy in [UserPolicy::SameUser, UserPolicy::List(vec![65_534])] {
            assert!(check_user(&policy, 65_534, 65_534, Some(65_534)).is_err());
            assert!(check_user(&policy, 65_534, 65_534, None).is_ok());
            assert!(check_user(&policy, 5, 5, Some(65_534)).is_ok());
        }
        assert!(check_user(&UserPolicy::Any, 5, 65_534, Some(65_534)).is_ok());
    }

    #[cfg(not(miri))]
    #[test]
    fn only_visible_processes_of_the_own_user_are_trusted() {
        let own = Some(rustix::process::getpid());
        assert!(is_trusted(1, 1, own, None) && is_trusted(1, 1, own, Some(65_534)));
        assert!(!is_trusted(1, 2, own, None), "another user");
        assert!(!is_trusted(1, 1, None, None), "a process that this one cannot see");
        assert!(!is_trusted(1, 1, Pid::from_raw(i32::MAX), None), "no such process");
        assert!(!is_trusted(65_534, 65_534, own, Some(65_534)), "an unknown user");
    }

    #[test]
    fn only_the_first_namespace_maps_every_user() {
        assert!(maps_every_user("         0          0 4294967295\n"));
        for map in ["", "0 1000 1\n", "0 100000 65536\n", "0 0 65534\n", "0 0 1\n1 1 4294967294\n"] {
            assert!(!maps_every_user(map), "{map}");
        }
    }
}
