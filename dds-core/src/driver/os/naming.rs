//! Peers that are configured by name. Their names are resolved again periodically.
//!
//! A peer may not have an address yet when this participant starts, and addresses change.
//!
//! In: the time, every few seconds. Out: addresses, if they have changed. A query may block for any time, so it runs on
//! a separate thread that no other thread waits for. Bound: one query at a time.

use crate::driver::Resolve;
use crate::sync::{Arc, Lock};
use dds_rtps::types::{Duration, Instant};
use std::net::SocketAddr;

/// First and longest pause before the next query while some names have no address. The pause doubles each time.
const RETRY_FIRST: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Pause when all names have an address. Addresses that are leased for an hour change rarely.
const REFRESH: Duration = Duration::from_secs(60);

/// Addresses of each name.
type Found = Vec<Vec<SocketAddr>>;

/// The names of a participant's peers, and their addresses.
pub(super) struct Naming {
    names: Arc<[String]>,
    resolve: Resolve,
    found: Found,
    pause: Duration,
    next: Instant,
    /// Receives the result of the running query.
    search: Option<Arc<Lock<Option<Found>>>>,
}

impl Naming {
    /// Starts with names that were just resolved, and the results.
    pub(super) fn new(names: &[(String, Vec<SocketAddr>)], resolve: Resolve, now: Instant) -> Self {
        let (names, found): (Vec<String>, Found) = names.iter().cloned().unzip();
        Self {
            names: names.into(),
            resolve,
            found,
            pause: RETRY_FIRST,
            next: now.after(RETRY_FIRST).unwrap_or(now),
            search: None,
        }
    }

    /// Whether there are no names.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Addresses of all names.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.found.iter().flatten().copied().collect()
    }

    /// Names without an address.
    pub(super) fn unresolved(&self) -> Vec<String> {
        let known = self.names.iter().zip(&self.found);
        known.filter(|(_, found)| found.is_empty()).map(|(name, _)| name.clone()).collect()
    }

    /// Starts a query if it is due, and accepts the result of an earlier one. Returns true if addresses have changed.
    pub(super) fn look(&mut self, now: Instant, spawn: impl FnOnce(Box<dyn FnOnce() + Send>)) -> bool {
        if let Some(search) = &self.search {
            let found = search.lock().take();
            if let Some(found) = found {
                self.search = None;
                return self.take_over(found, now);
            }
        }
        // A query that never returns blocks later ones, which bounds the number of threads.
        if self.names.is_empty() || self.search.is_some() || now < self.next {
            return false;
        }
        let search = Arc::new(Lock::default());
        let (names, resolve, result) = (Arc::clone(&self.names), self.resolve, Arc::clone(&search));
        self.search = Some(search);
        spawn(Box::new(move || {
            let mut found = Vec::new();
            for name in &*names {
                found.push(resolve(name));
            }
            // All names at once: the lock is never held during a query.
            *result.lock() = Some(found);
        }));
        false
    }

    fn take_over(&mut self, found: Found, now: Instant) -> bool {
        let pause = if found.iter().any(Vec::is_empty) {
            self.pause = self.pause.scale(2, 1).min(RETRY_MAX);
            self.pause
        } else {
            // All resolved: the next failure starts with the shortest pause again.
            self.pause = RETRY_FIRST;
            REFRESH
        };
        // From the end of the query, so that a slow resolver is not asked without a pause.
        self.next = now.after(pause).unwrap_or(now);
        let mut has_changed = false;
        for (known, mut found) in self.found.iter_mut().zip(found) {
            // A resolver returns addresses in any order, so a new order is no change. A name that cannot be resolved
            // now keeps its addresses.
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

#[cfg(not(dds_loom))]
#[cfg(test)]
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

    /// Seconds at which names are resolved, if `look` is called every two seconds.
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
    fn unresolved_name_is_retried_at_growing_intervals() {
        let mut naming = Naming::new(&[("unknown".to_owned(), Vec::new())], known, at(0));
        assert_eq!(searches(&mut naming, 200), [2, 8, 18, 36, 70, 132, 194]);
        assert!(naming.addresses().is_empty());
    }

    #[test]
    fn resolved_name_is_checked_periodically() {
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
