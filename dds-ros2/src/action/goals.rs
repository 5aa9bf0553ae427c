//! The goals of a server as data.
//!
//! Life cycle of a goal: [`accept`](Goals::accept), changes, [`end`](Goals::end), [`expire`](Goals::expire). Bounds:
//! [`ENDED_MAX`] ended goals, and [`ASKED_MAX`] requests for results of goals that have not ended. A goal keeps the
//! last [`CLIENT_MAX`] of each client. The program bounds the goals that have not ended, because it accepts each one.

use super::state::{GoalEvent, GoalId, GoalState};
use crate::{Error, Result};
use dds_core::{Guid, Time};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Ended goals whose results are kept. A client could otherwise fill the memory with short goals.
pub(super) const ENDED_MAX: usize = 1024;

/// Requests for results that wait. A client could otherwise fill the memory with requests for one goal.
pub(super) const ASKED_MAX: usize = 4096;

/// Requests of one client for the result of one goal. A client that asks again needs one answer.
pub(super) const CLIENT_MAX: usize = 16;

/// Return codes of `action_msgs/srv/CancelGoal`.
pub(super) const CANCEL_NONE: i8 = 0;
pub(super) const CANCEL_REJECTED: i8 = 1;
pub(super) const CANCEL_UNKNOWN: i8 = 2;
pub(super) const CANCEL_TERMINATED: i8 = 3;

/// Goals with results `R`, and requests for results `W`.
pub(super) struct Goals<R, W> {
    next: u64,
    /// In the order of acceptance.
    goals: BTreeMap<u64, Goal<R, W>>,
    by_id: BTreeMap<GoalId, u64>,
    /// Ended goals in the order of their ends.
    ended: VecDeque<(Instant, GoalId)>,
    /// Requests that wait.
    asked: usize,
    /// How long a result is kept. `None`: until there are too many.
    keep: Option<Duration>,
}

struct Goal<R, W> {
    id: GoalId,
    stamp: Time,
    state: GoalState,
    /// Whether the program allows a client to cancel.
    is_cancelable: bool,
    result: Option<R>,
    /// With their clients, in the order of arrival.
    asked: VecDeque<(Guid, W)>,
}

/// Outcome of a request for a result.
pub(super) enum Asked<R, W> {
    /// It waits for the end of the goal.
    Waits,
    /// The answer.
    Answer(W, GoalState, R),
}

/// Outcome of a request to cancel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cancellation {
    pub(super) code: i8,
    /// The goals that are canceling now.
    pub(super) goals: Vec<(GoalId, Time)>,
}

impl<R: Clone + Default, W> Goals<R, W> {
    pub(super) fn new(keep: Option<Duration>) -> Self {
        let (goals, by_id, ended) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        Self { next: 0, goals, by_id, ended, asked: 0, keep }
    }

    pub(super) fn contains(&self, id: GoalId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Adds a goal in its first state. Returns `false` if its id is in use.
    pub(super) fn accept(&mut self, id: GoalId, stamp: Time, state: GoalState) -> bool {
        if self.contains(id) {
            return false;
        }
        self.next += 1;
        self.by_id.insert(id, self.next);
        let goal = Goal { id, stamp, state, is_cancelable: true, result: None, asked: VecDeque::new() };
        self.goals.insert(self.next, goal);
        true
    }

    /// Removes a goal whose acceptance was not sent.
    pub(super) fn retract(&mut self, id: GoalId) {
        if let Some(goal) = self.by_id.remove(&id).and_then(|number| self.goals.remove(&number)) {
            self.asked -= goal.asked.len();
        }
    }

    pub(super) fn state(&self, id: GoalId) -> GoalState {
        self.get(id).map_or(GoalState::Unknown, |goal| goal.state)
    }

    fn get(&self, id: GoalId) -> Option<&Goal<R, W>> {
        self.goals.get(self.by_id.get(&id)?)
    }

    fn get_mut(&mut self, id: GoalId) -> Option<&mut Goal<R, W>> {
        self.goals.get_mut(self.by_id.get(&id)?)
    }

    /// Allows or forbids clients to cancel a goal.
    pub(super) fn set_cancelable(&mut self, id: GoalId, is_cancelable: bool) {
        if let Some(goal) = self.get_mut(id) {
            goal.is_cancelable = is_cancelable;
        }
    }

    /// Changes the state of a goal. Use `end` for events that end it.
    pub(super) fn change(&mut self, id: GoalId, event: GoalEvent) -> Result<()> {
        let state = self.state(id);
        let after = state.after(event).ok_or(Error::GoalTransition { state, event })?;
        if let Some(goal) = self.get_mut(id) {
            goal.state = after;
        }
        Ok(())
    }

    /// Ends a goal. Returns its state, and the requests for its result.
    pub(super) fn end(&mut self, id: GoalId, event: GoalEvent, result: R, now: Instant) -> Result<(GoalState, Vec<W>)> {
        self.change(id, event)?;
        let Some(goal) = self.get_mut(id) else { return Ok((GoalState::Unknown, Vec::new())) };
        goal.result = Some(result);
        let (state, asked) = (goal.state, std::mem::take(&mut goal.asked));
        self.asked -= asked.len();
        self.ended.push_back((now, id));
        Ok((state, asked.into_iter().map(|(_, request)| request).collect()))
    }

    /// Handles a request of a client for a result. If it [`is_crowded`](Self::is_crowded) then, call `evict`.
    pub(super) fn ask(&mut self, id: GoalId, client: Guid, request: W) -> Asked<R, W> {
        let Some(goal) = self.get_mut(id) else { return Asked::Answer(request, GoalState::Unknown, R::default()) };
        if let Some(result) = &goal.result {
            return Asked::Answer(request, goal.state, result.clone());
        }
        let is_own = |(asking, _): &&(Guid, W)| *asking == client;
        let replaced = if goal.asked.iter().filter(is_own).count() >= CLIENT_MAX {
            goal.asked.iter().position(|(asking, _)| *asking == client)
        } else {
            None
        };
        if let Some(oldest) = replaced {
            goal.asked.remove(oldest);
        }
        goal.asked.push_back((client, request));
        if replaced.is_none() {
            self.asked += 1;
        }
        Asked::Waits
    }

    /// Returns whether too many requests for results wait.
    pub(super) fn is_crowded(&self) -> bool {
        self.asked > ASKED_MAX
    }

    /// Drops the requests of clients that have left. If too many remain, drops the oldest of the client with the most.
    pub(super) fn evict(&mut self, is_there: impl Fn(Guid) -> bool) {
        for goal in self.goals.values_mut() {
            goal.asked.retain(|(client, _)| is_there(*client));
        }
        self.asked = self.goals.values().map(|goal| goal.asked.len()).sum();
        while self.is_crowded() {
            let mut counts: BTreeMap<Guid, usize> = BTreeMap::new();
            for (client, _) in self.goals.values().flat_map(|goal| &goal.asked) {
                *counts.entry(*client).or_default() += 1;
            }
            let Some((client, _)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return };
            for goal in self.goals.values_mut() {
                if let Some(oldest) = goal.asked.iter().position(|(asking, _)| *asking == client) {
                    goal.asked.remove(oldest);
                    self.asked -= 1;
                    break;
                }
            }
        }
    }

    /// Handles a request to cancel. An id or a stamp of zero counts as not given.
    ///
    /// Without both, it means all goals. With a stamp, it means all goals accepted until then, and the named one.
    pub(super) fn cancel(&mut self, id: GoalId, stamp: Time) -> Cancellation {
        let has_stamp = stamp.as_unix_nanos() != 0;
        if id != GoalId::NONE && !has_stamp {
            return self.cancel_one(id);
        }
        let mut is_refused = false;
        let mut goals = Vec::new();
        for goal in self.goals.values_mut() {
            let is_meant = goal.id == id || !has_stamp || goal.stamp.as_unix_nanos() <= stamp.as_unix_nanos();
            let (Some(after), true) = (goal.state.after(GoalEvent::CancelGoal), is_meant) else { continue };
            if goal.is_cancelable {
                goal.state = after;
                goals.push((goal.id, goal.stamp));
            } else {
                is_refused = true;
            }
        }
        let code = if is_refused && goals.is_empty() { CANCEL_REJECTED } else { CANCEL_NONE };
        Cancellation { code, goals }
    }

    fn cancel_one(&mut self, id: GoalId) -> Cancellation {
        let Some(goal) = self.get_mut(id) else { return Cancellation { code: CANCEL_UNKNOWN, goals: Vec::new() } };
        let Some(after) = goal.state.after(GoalEvent::CancelGoal) else {
            return Cancellation { code: CANCEL_TERMINATED, goals: Vec::new() };
        };
        if !goal.is_cancelable {
            return Cancellation { code: CANCEL_REJECTED, goals: Vec::new() };
        }
        goal.state = after;
        Cancellation { code: CANCEL_NONE, goals: vec![(id, goal.stamp)] }
    }

    /// Removes ended goals that are too old or too many. Returns whether there were any.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        let mut is_changed = false;
        while let Some((ended, id)) = self.ended.front().copied() {
            let is_old = self.keep.is_some_and(|keep| now.saturating_duration_since(ended) >= keep);
            if !is_old && self.ended.len() <= ENDED_MAX {
                break;
            }
            self.ended.pop_front();
            if let Some(number) = self.by_id.remove(&id) {
                self.goals.remove(&number);
            }
            is_changed = true;
        }
        is_changed
    }

    /// When the next goal expires.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.ended.front().and_then(|(ended, _)| ended.checked_add(self.keep?))
    }

    /// All goals in the order of acceptance.
    pub(super) fn statuses(&self) -> impl Iterator<Item = (GoalId, Time, GoalState)> {
        self.goals.values().map(|goal| (goal.id, goal.stamp, goal.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u8) -> GoalId {
        GoalId::from_bytes([number; 16])
    }

    fn client(number: u8) -> Guid {
        Guid::from_bytes([number; 16])
    }

    fn at(seconds: i64) -> Time {
        Time::from_unix_nanos(seconds * 1_000_000_000)
    }

    fn goals(count: u8) -> Goals<u8, u8> {
        let mut goals = Goals::new(Some(Duration::from_secs(10)));
        for number in 1..=count {
            assert!(goals.accept(id(number), at(number.into()), GoalState::Accepted));
        }
        goals
    }

    fn canceled(cancellation: &Cancellation) -> (i8, Vec<GoalId>) {
        (cancellation.code, cancellation.goals.iter().map(|(id, _)| *id).collect())
    }

    #[test]
    fn cancel_selects_by_id_and_by_stamp() {
        assert_eq!(canceled(&goals(3).cancel(id(2), at(0))), (CANCEL_NONE, vec![id(2)]));
        assert_eq!(canceled(&goals(3).cancel(GoalId::NONE, at(2))), (CANCEL_NONE, vec![id(1), id(2)]));
        assert_eq!(canceled(&goals(3).cancel(id(3), at(1))), (CANCEL_NONE, vec![id(1), id(3)]));
        assert_eq!(canceled(&goals(2).cancel(GoalId::NONE, at(0))), (CANCEL_NONE, vec![id(1), id(2)]));
        assert_eq!(canceled(&goals(0).cancel(GoalId::NONE, at(0))), (CANCEL_NONE, vec![]));
    }

    #[test]
    fn cancel_that_reaches_no_goal_has_its_code() {
        let mut goals = goals(2);
        assert_eq!(goals.cancel(id(9), at(0)).code, CANCEL_UNKNOWN);
        goals.set_cancelable(id(1), false);
        assert_eq!(goals.cancel(id(1), at(0)).code, CANCEL_REJECTED);
        assert_eq!(goals.cancel(GoalId::NONE, at(1)).code, CANCEL_REJECTED);
        goals.change(id(2), GoalEvent::Execute).unwrap();
        goals.end(id(2), GoalEvent::Succeed, 7, Instant::now()).unwrap();
        assert_eq!(goals.cancel(id(2), at(0)).code, CANCEL_TERMINATED);
    }

    #[test]
    fn result_is_answered_once_the_goal_ends_and_until_it_expires() {
        let start = Instant::now();
        let mut goals = goals(1);
        assert!(matches!(goals.ask(id(1), client(1), 50), Asked::Waits));
        assert!(matches!(goals.ask(id(2), client(1), 51), Asked::Answer(51, GoalState::Unknown, 0)));
        goals.change(id(1), GoalEvent::Execute).unwrap();
        assert_eq!(goals.end(id(1), GoalEvent::Abort, 7, start).unwrap(), (GoalState::Aborted, vec![50]));
        assert!(matches!(goals.ask(id(1), client(1), 52), Asked::Answer(52, GoalState::Aborted, 7)));
        let end = goals.next_expiry().unwrap();
        assert_eq!(end, start + Duration::from_secs(10));
        assert!(!goals.expire(start) && goals.expire(end));
        assert_eq!((goals.statuses().count(), goals.asked), (0, 0));
        assert!(matches!(goals.ask(id(1), client(1), 53), Asked::Answer(53, GoalState::Unknown, 0)));
    }

    #[test]
    fn results_are_bounded() {
        let now = Instant::now();
        let mut goals = Goals::<u8, u8>::new(None);
        for number in 0..=ENDED_MAX {
            let mut bytes = [9; 16];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            let id = GoalId::from_bytes(bytes);
            goals.accept(id, at(2), GoalState::Executing);
            goals.end(id, GoalEvent::Succeed, 0, now).unwrap();
            goals.expire(now);
        }
        assert_eq!(goals.statuses().count(), ENDED_MAX);
    }

    #[test]
    fn requests_of_a_client_do_not_push_out_those_of_others() {
        let mut goals = goals(2);
        assert!(matches!(goals.ask(id(1), client(1), 77), Asked::Waits));
        for number in 0..=50 {
            assert!(matches!(goals.ask(id(1), client(2), number), Asked::Waits));
        }
        assert_eq!(goals.asked, 1 + CLIENT_MAX);
        goals.change(id(1), GoalEvent::Execute).unwrap();
        let (_, asked) = goals.end(id(1), GoalEvent::Succeed, 7, Instant::now()).unwrap();
        assert_eq!(asked, std::iter::once(77).chain(35..=50).collect::<Vec<u8>>());
        assert_eq!(goals.asked, 0);
    }

    #[test]
    fn requests_of_clients_that_left_make_room() {
        let mut goals = Goals::<u8, u8>::new(None);
        let mut number = 0_usize;
        while !goals.is_crowded() {
            let mut bytes = [9; 16];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            let id = GoalId::from_bytes(bytes);
            assert!(goals.accept(id, at(1), GoalState::Executing));
            for asking in [2, 2, 3] {
                assert!(matches!(goals.ask(id, client(asking), asking), Asked::Waits));
            }
            number += 1;
        }
        goals.evict(|_| true);
        assert_eq!(goals.asked, ASKED_MAX);
        goals.evict(|asking| asking != client(2));
        assert_eq!(goals.asked, number);
    }

    /// The transitions of `rcl_action`: state, event, next state.
    const TRANSITIONS: [(GoalState, GoalEvent, GoalState); 8] = [
        (GoalState::Accepted, GoalEvent::Execute, GoalState::Executing),
        (GoalState::Accepted, GoalEvent::CancelGoal, GoalState::Canceling),
        (GoalState::Executing, GoalEvent::CancelGoal, GoalState::Canceling),
        (GoalState::Executing, GoalEvent::Succeed, GoalState::Succeeded),
        (GoalState::Executing, GoalEvent::Abort, GoalState::Aborted),
        (GoalState::Canceling, GoalEvent::Succeed, GoalState::Succeeded),
        (GoalState::Canceling, GoalEvent::Abort, GoalState::Aborted),
        (GoalState::Canceling, GoalEvent::Canceled, GoalState::Canceled),
    ];

    fn events() -> impl Strategy<Value = Vec<(u8, GoalEvent)>> {
        let event = prop_oneof![
            Just(GoalEvent::Execute),
            Just(GoalEvent::CancelGoal),
            Just(GoalEvent::Succeed),
            Just(GoalEvent::Abort),
            Just(GoalEvent::Canceled),
        ];
        prop::collection::vec((1_u8..5, event), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Any series of events follows the table, and each request for a result has exactly one answer.
        #[test]
        fn goals_follow_the_standard_transitions(events in events()) {
            let now = Instant::now();
            let mut goals = goals(4);
            let mut expected = [GoalState::Accepted; 5];
            let mut answers = 0;
            for number in 1..5 {
                prop_assert!(matches!(goals.ask(id(number), client(1), number), Asked::Waits));
            }
            for (number, event) in events {
                let state = &mut expected[usize::from(number)];
                let next = TRANSITIONS.iter().find(|(from, by, _)| from == state && *by == event).map(|row| row.2);
                let is_end = next.is_some_and(GoalState::is_terminal);
                let changed = if event == GoalEvent::CancelGoal {
                    let code = goals.cancel(id(number), at(0)).code;
                    prop_assert!(code == CANCEL_NONE || code == CANCEL_TERMINATED);
                    code == CANCEL_NONE
                } else if matches!(event, GoalEvent::Execute) {
                    goals.change(id(number), event).is_ok()
                } else {
                    let ended = goals.end(id(number), event, number, now);
                    answers += ended.as_ref().map_or(0, |(_, asked)| asked.len());
                    prop_assert_eq!(ended.is_ok(), is_end);
                    ended.is_ok()
                };
                prop_assert_eq!(changed, next.is_some());
                *state = next.unwrap_or(*state);
                prop_assert_eq!(goals.state(id(number)), *state);
            }
            let ended = expected.iter().filter(|state| state.is_terminal()).count();
            prop_assert_eq!((answers, goals.asked, goals.ended.len()), (ended, 4 - ended, ended));
            goals.expire(now + Duration::from_secs(10));
            prop_assert_eq!(goals.statuses().count(), 4 - ended);
        }
    }
}
