//! Peers that are given by name: their names are looked up again and again, for a robot may be started before the other one
//! has an address, and addresses change.
//!
//! In: the time, every few seconds. Out: addresses, if they are others than before. A look-up blocks for as long as it likes,
//! on a thread of its own that nobody waits for. Bound: one look-up at a time.

use crate::driver::Resolve;
use crate::sync::{Arc, Lock};
use dds_rtps::types::{Duration, Instant};
use std::net::SocketAddr;

/// How long to wait before names are looked up again of which some have no address yet: at first, and at most. The pause
/// doubles each time.
const RETRY_FIRST: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// How long to wait when all have one: addresses that are handed out for an hour change rarely.
const REFRESH: Duration = Duration::from_secs(60);

/// The addresses of each name.
type Found = Vec<Vec<SocketAddr>>;

/// The names of a participant's peers, and what they stand for.
pub(super) struct Naming {
    names: Arc<[String]>,
    resolve: Resolve,
    found: Found,
    pause: Duration,
    next: Instant,
    /// Where the look-up that is under way leaves what it has found.
    search: Option<Arc<Lock<Option<Found>>>>,
}

impl Naming {
    /// Names that have been looked up just now, with what was found.
    pub(super) fn new(names: &[(String, Vec<SocketAddr>)], resolve: Resolve, now: Instant) -> Self {
        Self {
            names: names.iter().map(|(name, _)| name.clone()).collect(),
            resolve,
            found: names.iter().map(|(_, addresses)| addresses.clone()).collect(),
            pause: RETRY_FIRST,
            next: now.after(RETRY_FIRST).unwrap_or(now),
            search: None,
        }
    }

    /// Whether there is nothing to look after.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The addresses of all names.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.found.iter().flatten().copied().collect()
    }

    /// Begins a look-up if it is time, and takes over what an earlier one has found. True if that is something new.
    pub(super) fn look(&mut self, now: Instant, spawn: impl FnOnce(Box<dyn FnOnce() + Send>)) -> bool {
        let found = self.search.as_ref().and_then(|search| search.lock().take());
        if let Some(found) = found {
            self.search = None;
            return self.take_over(found, now);
        }
        if self.names.is_empty() || self.search.is_some() || now < self.next {
            return false;
        }
        let search = Arc::new(Lock::default());
        let (names, resolve, result) = (Arc::clone(&self.names), self.resolve, Arc::clone(&search));
        self.search = Some(search);
        spawn(Box::new(move || {
            let found = names.iter().map(|name| resolve(name)).collect();
            *result.lock() = Some(found);
        }));
        false
    }

    fn take_over(&mut self, found: Found, now: Instant) -> bool {
        let is_complete = found.iter().all(|addresses| !addresses.is_empty());
        self.pause = match is_complete {
            true => RETRY_FIRST,
            false => self.pause.scale(2, 1).min(RETRY_MAX),
        };
        let pause = if is_complete { REFRESH } else { self.pause };
        self.next = now.after(pause).unwrap_or(now);
        let mut has_changed = false;
        for (known, mut found) in self.found.iter_mut().zip(found) {
            // In no particular order, which must not look like a change. A name that cannot be looked up at the moment stands
            // for what it stood for.
            found.sort_unstable();
            known.sort_unstable();
            if !found.is_empty() && *known != found {
                *known = found;
                has_changed = true;
            }
        }
        has_changed
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn known(name: &str) -> Vec<SocketAddr> {
        if name == "robot" { vec![address("192.0.2.7:0"), address("192.0.2.6:0")] } else { Vec::new() }
    }

    /// The seconds after which names are looked up, if looks come every two.
    fn searches(naming: &mut Naming, seconds: u64) -> Vec<u64> {
        let mut searches = Vec::new();
        for second in (2..=seconds).step_by(2) {
            naming.look(at(second), |search| {
                searches.push(second);
                search();
            });
        }
        searches
    }

    #[test]
    fn what_has_no_address_is_looked_up_ever_more_rarely() {
        let mut naming = Naming::new(&[("nobody".to_owned(), Vec::new())], known, at(0));
        assert_eq!(searches(&mut naming, 200), [2, 8, 18, 36, 70, 132, 194]);
        assert!(naming.addresses().is_empty());
    }

    #[test]
    fn what_has_one_is_looked_up_now_and_then() {
        let mut naming = Naming::new(&[("robot".to_owned(), Vec::new())], known, at(0));
        assert_eq!(searches(&mut naming, 130), [2, 64, 126]);
        assert_eq!(naming.addresses(), [address("192.0.2.6:0"), address("192.0.2.7:0")]);
    }

    #[test]
    fn a_change_is_told_once_and_a_failure_changes_nothing() {
        let old = vec![address("192.0.2.9:0")];
        let names = [("robot".to_owned(), known("robot")), ("nobody".to_owned(), old.clone())];
        let mut naming = Naming::new(&names, known, at(0));
        assert_eq!(naming.addresses().len(), 3);
        let look = |naming: &mut Naming, second| naming.look(at(second), |search| search());
        assert!(!look(&mut naming, 2) && !look(&mut naming, 4), "the same, in another order");
        assert!(naming.addresses().contains(&old[0]));
        let mut naming = Naming::new(&[("robot".to_owned(), old)], known, at(0));
        assert!(!look(&mut naming, 2), "it is being looked up");
        assert!(look(&mut naming, 4) && !look(&mut naming, 6));
        assert_eq!(naming.addresses().len(), 2);
    }

    #[test]
    fn one_look_up_at_a_time() {
        let mut naming = Naming::new(&[("robot".to_owned(), Vec::new())], known, at(0));
        let mut slow = None;
        for second in [2, 60, 1000] {
            naming.look(at(second), |search| {
                assert!(slow.replace(search).is_none());
            });
        }
        slow.unwrap()();
        assert!(naming.look(at(1002), |_| unreachable!()));
    }
}
