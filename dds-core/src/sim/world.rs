//! Chooses the next event of a simulation and its time.

use super::passing::{Intercept, Passing};
use super::thread::SimThread;
use super::trace::Trace;
use super::{Interference, InterferenceCounters};
use crate::actor::{Effects, Poke, RunQueue, Signals};
use crate::driver::{Packet, Receive, Role, Socket, Timers, UNREAD_SENDER, as_role};
use dds_rtps::concurrent::SlotPool;
use dds_rtps::link::Random;
use dds_rtps::sim::{Conditions, HostId, SocketId, VirtualNetwork};
use dds_rtps::types::{Duration, Instant, Locator, Now, Time, TrafficClass};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The real time at the beginning: noon of January 1, 2026, UTC.
const EPOCH: i64 = 1_767_268_800_000_000_000;

/// The monotonic time at the beginning. It is not zero, because too much code takes zero for "never".
const BEGINNING: Instant = Instant::from_nanos(1_000_000_000);

/// Time that one reading of the clock takes. Without it, a program that polls for an instant would never see it pass.
const LOOK: Duration = Duration::from_nanos(20);

/// Time that one step of the world takes.
const STEP: Duration = Duration::from_nanos(200);

/// A timer that fires later than this counts as late. Other events at the same time take less.
const LATE: Duration = Duration::from_micros(10);

/// How far time advances when no event is left.
const IDLE: Duration = Duration::from_secs(1);

/// The state that all drivers of a simulation share.
pub(super) struct World {
    state: Mutex<State>,
    /// Held during a step. Two waiting threads take turns at running the world.
    stepping: Mutex<()>,
}

pub(super) struct State {
    now: Instant,
    pub(super) network: VirtualNetwork,
    pub(super) random: Random,
    pub(super) interference: Interference,
    pub(super) interfered: InterferenceCounters,
    pub(super) hosts: Vec<SimHost>,
    members: Vec<Weak<WorldMember>>,
    inboxes: BTreeMap<SocketId, SimInbox>,
    threads: Vec<Arc<SimThread>>,
    /// Cells that wait for a writable socket, with their host. The instant is when the socket becomes writable.
    blocked: Vec<(Instant, HostId, Weak<dyn Poke>)>,
    /// Discovery sockets that receive a burst, and when it ends.
    bursts: Vec<(Instant, SocketId, SimInbox)>,
    trace: Trace,
    pub(super) intercept: Option<Intercept>,
    pub(super) wait_limit: Duration,
}

/// A host and its clocks.
#[derive(Debug)]
pub(super) struct SimHost {
    pub(super) name: String,
    pub(super) id: HostId,
    pub(super) is_up: bool,
    /// Real-time clock minus the time of the world, in nanoseconds.
    pub(super) clock_offset: i64,
    /// How much faster the real-time clock runs, in millionths, and since when.
    pub(super) drift: (i64, Instant),
    /// Total duration of its past sleeps.
    slept: Duration,
    /// The current sleep.
    sleep: Option<Sleep>,
    /// When its frozen programs continue. `None` if they run.
    frozen_until: Option<Instant>,
}

/// The part of a driver that the world uses.
pub(super) struct WorldMember {
    pub(super) host: HostId,
    pub(super) timers: Arc<Timers>,
    pub(super) run_queue: Arc<RunQueue>,
    /// The due time of the next timer by the host's clock, and its firing time in the world.
    plan: Mutex<Option<(Instant, Instant)>>,
    /// Its host has crashed. The world performs no more work and fires no more timers for it.
    is_dead: std::sync::atomic::AtomicBool,
}

/// The receiver of a socket.
#[derive(Clone)]
pub(super) struct SimInbox {
    pub(super) host: HostId,
    pub(super) socket: Socket,
    pub(super) receive: Arc<dyn Receive>,
    pub(super) pool: Arc<SlotPool>,
}

/// An event that can occur now.
enum Action {
    Turn(Arc<WorldMember>),
    Timers(Arc<WorldMember>, Instant),
    StrayTimer(Arc<WorldMember>, u64),
    Arrival(SimInbox, IpAddr, Arc<[u8]>),
    /// As `Arrival`, and other packets may follow until `BurstEnd`.
    BurstBegin(SimInbox, IpAddr, Arc<[u8]>),
    BurstEnd(SimInbox),
    Thread(Arc<SimThread>),
    Room(Arc<dyn Poke>),
    /// A host woke up, or a datagram reached no receiver.
    Nothing,
}

/// A candidate for the next [`Action`], before one of them is drawn: the place where it is found.
#[derive(Clone, Copy)]
enum Ready {
    Turn(usize),
    Timers(usize),
    Thread(usize),
    Network,
    BurstEnd(usize),
    Room(usize),
}

/// A time in which nothing on a host runs, not even its monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Sleep {
    since: Instant,
    until: Instant,
}

/// Members that are neither dead nor asleep nor frozen.
type RunningMembers = SmallVec<[Arc<WorldMember>; 8]>;

impl WorldMember {
    pub(super) fn new(host: HostId, timers: Arc<Timers>, run_queue: Arc<RunQueue>) -> Arc<Self> {
        Arc::new(Self { host, timers, run_queue, plan: Mutex::default(), is_dead: false.into() })
    }

    fn is_dead(&self) -> bool {
        self.is_dead.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn plan(&self) -> MutexGuard<'_, Option<(Instant, Instant)>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    pub(super) fn new(seed: u64, interference: Interference) -> Arc<Self> {
        // One generator for all draws: the seed alone decides the run.
        let mut random = Random::new(seed);
        let state = State {
            now: BEGINNING,
            network: VirtualNetwork::new(random.draw(), Conditions::ethernet()),
            random,
            interference,
            interfered: InterferenceCounters::default(),
            hosts: Vec::new(),
            members: Vec::new(),
            inboxes: BTreeMap::new(),
            threads: Vec::new(),
            blocked: Vec::new(),
            bursts: Vec::new(),
            trace: Trace::default(),
            intercept: None,
            wait_limit: Duration::from_secs(3600),
        };
        Arc::new(Self { state: Mutex::new(state), stepping: Mutex::new(()) })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the clocks of a host. Reading them takes time.
    pub(super) fn look(&self, host: HostId) -> Now {
        let mut state = self.state();
        // Each look takes time, so that a loop that waits for the clock ends.
        state.now = later(state.now, LOOK);
        state.clocks(host)
    }

    /// Performs events until `done` holds or the world reaches `until`. Returns whether `done` holds.
    pub(super) fn run(&self, until: Option<Instant>, mut done: impl FnMut() -> bool) -> bool {
        loop {
            if done() {
                return true;
            }
            // The last event may have satisfied the condition even if time is up.
            if !self.step(until) {
                return done();
            }
        }
    }

    /// Performs one event that occurs not later than `until`.
    ///
    /// Returns `false` if there is no such event. The time is `until` then.
    fn step(&self, until: Option<Instant>) -> bool {
        let turn = self.stepping.lock().unwrap_or_else(PoisonError::into_inner);
        // The state is locked only while the event is chosen, because performing the event uses the world.
        let action = self.state().next_action(until);
        let happened = action.is_some();
        if let Some(action) = action {
            action.perform(self);
        }
        drop(turn);
        happened
    }
}

impl Action {
    fn perform(self, world: &World) {
        match self {
            Self::Turn(member) => as_role(Role::Driver, || _ = member.run_queue.run_one()),
            Self::Timers(member, now) => {
                let mut late = 0;
                let fires = |due| late += u64::from(now.since(due) > LATE);
                as_role(Role::Driver, || _ = member.timers.fire_each(now, fires));
                world.state().interfered.late_timers += late;
            }
            Self::StrayTimer(member, which) => {
                let fired = as_role(Role::Driver, || member.timers.fire_stray(which));
                let counters = &mut world.state().interfered;
                counters.stray_timers += u64::from(fired == Some(false));
                counters.double_timers += u64::from(fired == Some(true));
            }
            Self::Arrival(inbox, sender, bytes) => inbox.take(sender, &bytes),
            Self::BurstBegin(inbox, sender, bytes) => {
                as_role(Role::Driver, || inbox.receive.begin_burst());
                inbox.take(sender, &bytes);
            }
            Self::BurstEnd(inbox) => as_role(Role::Driver, || inbox.receive.end_burst()),
            Self::Thread(thread) => thread.resume(),
            Self::Room(cell) => as_role(Role::Driver, || {
                cell.signal(Signals::WRITABLE);
                Effects::scope(|effects| cell.poke(effects));
            }),
            Self::Nothing => {}
        }
    }
}

impl SimInbox {
    fn take(&self, sender: IpAddr, bytes: &[u8]) {
        let mut slot = self.pool.acquire();
        slot.buffer().clear();
        // A copy, because the participant may keep the slot longer than the network its bytes.
        slot.buffer().extend_from_slice(bytes);
        let mut packet = Packet::new(self.pool.freeze(slot), self.socket, Arc::clone(&self.pool));
        let is_read = self.socket != Socket::UserUnicast;
        packet.sender = Some(if is_read { sender } else { UNREAD_SENDER });
        // User data has a receive thread in a real participant. The driver thread serves all other sockets.
        let role = if self.socket == Socket::UserUnicast { Role::Receive } else { Role::Driver };
        as_role(role, || self.receive.receive(&packet, None));
    }
}

impl State {
    pub(super) fn now(&self) -> Instant {
        self.now
    }

    pub(super) fn add_host(&mut self, name: &str) -> Option<HostId> {
        // A host is created when it is first named.
        if let Some(known) = self.hosts.iter().find(|host| host.name == name) {
            return Some(known.id);
        }
        let id = self.network.add_host()?;
        self.hosts.push(SimHost {
            name: name.to_owned(),
            id,
            is_up: true,
            clock_offset: 0,
            drift: (0, self.now),
            slept: Duration::ZERO,
            sleep: None,
            frozen_until: None,
        });
        Some(id)
    }

    pub(super) fn add_member(&mut self, member: &Arc<WorldMember>) {
        // Participants that are gone leave a dead reference behind.
        self.members.retain(|member| member.strong_count() > 0);
        self.members.push(Arc::downgrade(member));
    }

    pub(super) fn add_thread(&mut self, thread: Arc<SimThread>) {
        self.threads.retain(|thread| !thread.has_ended());
        self.threads.push(thread);
    }

    pub(super) fn add_inbox(&mut self, socket: SocketId, inbox: SimInbox) {
        self.inboxes.insert(socket, inbox);
    }

    /// Closes a port. Returns its receiver, which the caller must drop while the world is not locked.
    #[must_use]
    pub(super) fn close_socket(&mut self, socket: SocketId) -> Option<SimInbox> {
        self.network.close(socket);
        self.inboxes.remove(&socket)
    }

    /// Sends a datagram from a host.
    pub(super) fn send(
        &mut self,
        from: HostId,
        loopback_only: bool,
        to: Locator,
        class: TrafficClass,
        bytes: &Arc<[u8]>,
    ) {
        let now = self.now;
        if !class.is_default() {
            self.trace.note(class.octet().into());
        }
        let Some(destination) = to.to_socket_addr() else { return };
        // Taken out for the call, so a panic in it leaves a world without an interceptor.
        let Some(mut intercept) = self.intercept.take() else {
            return self.network.send(now, from, loopback_only, to, bytes);
        };
        let (sent_at, from_address) = (self.true_time(), VirtualNetwork::address(from));
        let dscp = class.codepoint();
        let mut passing = Passing { sent_at, from: from_address, to: destination, dscp, bytes: bytes.to_vec() };
        let passes = intercept(&mut passing);
        self.intercept = Some(intercept);
        if passes {
            self.network.send(now, from, loopback_only, to, &passing.bytes.into());
        }
    }

    /// Signals `cell` after a drawn time that its socket is writable.
    pub(super) fn tell_of_room(&mut self, host: HostId, cell: Weak<dyn Poke>) {
        // Random, so that room comes before and after other events of the cell.
        let at = later(self.now, self.random.up_to(Duration::from_micros(500)));
        self.blocked.push((at, host, cell));
    }

    pub(super) fn trace_hash(&self) -> u64 {
        self.trace.hash()
    }

    pub(super) fn host_mut(&mut self, id: HostId) -> Option<&mut SimHost> {
        self.hosts.iter_mut().find(|host| host.id == id)
    }

    pub(super) fn host(&self, id: HostId) -> Option<&SimHost> {
        self.hosts.iter().find(|host| host.id == id)
    }

    /// Ends all activity of a host, its sleep included, without an announcement to its peers.
    pub(super) fn is_up(&self, id: HostId) -> bool {
        match self.host(id) {
            Some(host) => host.is_up,
            None => false,
        }
    }

    pub(super) fn crash(&mut self, host: HostId) {
        let now = self.now;
        // Datagrams under way to it are lost, as at a real crash.
        self.network.set_up(host, false);
        self.network.set_frozen(host, now);
        if let Some(host) = self.host_mut(host) {
            host.is_up = false;
            host.frozen_until = None;
            host.wake(now);
        }
        // The members stay in the list while their handles live, but they never run again.
        for member in self.members.iter().filter_map(Weak::upgrade) {
            if member.host == host {
                member.is_dead.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
        for (&socket, inbox) in &self.inboxes {
            if inbox.host == host {
                self.network.close(socket);
            }
        }
    }

    /// Restores the power of a host. Its former participants do not return.
    ///
    /// A host that has power is left unchanged, even if it sleeps.
    pub(super) fn restart(&mut self, host: HostId) {
        // A sleeping host is up. Its network must stay down until it wakes.
        let Some(restarted) = self.host_mut(host) else { return };
        if !std::mem::replace(&mut restarted.is_up, true) {
            self.network.set_up(host, true);
        }
    }

    /// Suspends a host: its monotonic clock, its timers and its network stop.
    ///
    /// A host that already sleeps wakes when both sleeps are over. A host without power stays off.
    pub(super) fn sleep(&mut self, id: HostId, duration: Duration) {
        let now = self.now;
        let Some(host) = self.host_mut(id) else { return };
        if !host.is_up {
            return;
        }
        // A sleeping host keeps the beginning of its sleep, because its monotonic clock stopped then.
        let Sleep { since, until } = host.sleep.unwrap_or(Sleep { since: now, until: now });
        host.sleep = Some(Sleep { since, until: until.max(later(now, duration)) });
        // A sleeping host receives no datagrams. They are lost, as with a real network interface.
        self.network.set_up(id, false);
    }

    /// Stops the programs of a host. Its clocks continue, and its receive buffers fill.
    ///
    /// If the host is already frozen, the later end counts, as in [`sleep`](Self::sleep).
    pub(super) fn freeze(&mut self, id: HostId, duration: Duration) {
        let until = later(self.now, duration);
        let Some(host) = self.host_mut(id) else { return };
        if !host.is_up {
            return;
        }
        // The longer of two pauses counts.
        let until = until.max(host.frozen_until.unwrap_or(until));
        host.frozen_until = Some(until);
        self.network.set_frozen(id, until);
    }

    /// Returns the time of a correct clock.
    pub(super) fn true_time(&self) -> Time {
        Time::from_unix_nanos(EPOCH + self.now.since(BEGINNING).as_nanos())
    }

    pub(super) fn clocks(&self, host: HostId) -> Now {
        let Some(host) = self.host(host) else {
            return Now { instant: self.now, time: Time::from_unix_nanos(EPOCH) };
        };
        Now { instant: host.instant(self.now), time: host.time(self.now) }
    }

    /// Returns the next event that occurs not later than `until`, and advances the clock to it.
    ///
    /// Returns `None` if there is no such event. The clock shows `until` then.
    fn next_action(&mut self, until: Option<Instant>) -> Option<Action> {
        loop {
            self.wake_hosts();
            let running: RunningMembers = self.running_members().collect();
            if let Some(action) = self.ready_action(&running) {
                self.now = later(self.now, STEP);
                return Some(action);
            }
            // Nothing is ready now. Advance to the next event, or to `until` if that is earlier.
            match (self.next_moment(&running), until) {
                (Some(next), until) if until.is_none_or(|until| next <= until) => self.now = self.now.max(next),
                (_, Some(until)) => {
                    self.now = self.now.max(until);
                    return None;
                }
                (_, None) => {
                    // No event is left. Time passes, so that a caller that waits again makes progress.
                    self.now = later(self.now, IDLE);
                    return None;
                }
            }
        }
    }

    /// Draws one of the events that can occur now.
    fn ready_action(&mut self, running: &RunningMembers) -> Option<Action> {
        // Drawn first at each step, so a stray timer may fire although no event is ready.
        if let Some(stray) = self.stray_timer(running) {
            return Some(stray);
        }
        let mut ready: SmallVec<[Ready; 8]> = SmallVec::new();
        for (index, member) in running.iter().enumerate() {
            if !member.run_queue.is_empty() {
                ready.push(Ready::Turn(index));
            }
            match self.fires_at(member) {
                Some(at) if at <= self.now => ready.push(Ready::Timers(index)),
                _ => {}
            }
        }
        for (index, thread) in self.threads.iter().enumerate() {
            if self.runs(thread.host) && thread.is_ready(self.clocks(thread.host).instant) {
                ready.push(Ready::Thread(index));
            }
        }
        match self.network.next() {
            Some(next) if next <= self.now => ready.push(Ready::Network),
            _ => {}
        }
        if let Some(index) = self.bursts.iter().position(|(at, _, inbox)| *at <= self.now && self.runs(inbox.host)) {
            ready.push(Ready::BurstEnd(index));
        }
        if let Some(index) = self.blocked.iter().position(|(at, host, _)| *at <= self.now && self.runs(*host)) {
            ready.push(Ready::Room(index));
        }
        if ready.is_empty() {
            return None;
        }
        // The seed decides the order, as a scheduler does among real threads.
        let drawn = self.random.below(ready.len() as u64);
        self.trace.note(self.now.as_nanos());
        self.trace.note(drawn);
        Some(match *ready.get(drawn as usize)? {
            Ready::Turn(index) => Action::Turn(Arc::clone(running.get(index)?)),
            Ready::Timers(index) => {
                let member = running.get(index)?;
                Action::Timers(Arc::clone(member), self.clocks(member.host).instant)
            }
            Ready::Thread(index) => Action::Thread(Arc::clone(self.threads.get(index)?)),
            Ready::Network => self.arrival(),
            Ready::BurstEnd(index) => Action::BurstEnd(self.bursts.swap_remove(index).2),
            Ready::Room(index) => {
                let (_, _, cell) = self.blocked.swap_remove(index);
                cell.upgrade().map_or(Action::Nothing, Action::Room)
            }
        })
    }

    fn arrival(&mut self) -> Action {
        let Some(arrival) = self.network.poll(self.now) else { return Action::Nothing };
        // Noted on arrival, so two runs with different payloads have different hashes.
        self.trace.note_bytes(&arrival.bytes);
        let Some(inbox) = self.inboxes.get(&arrival.socket).cloned() else { return Action::Nothing };
        // The receive thread answers each packet at once, and needs no bursts.
        let may_begin = inbox.socket != Socket::UserUnicast && self.interference.burst > Duration::ZERO;
        if !may_begin || self.bursts.iter().any(|(_, socket, _)| *socket == arrival.socket) {
            return Action::Arrival(inbox, arrival.sender, arrival.bytes);
        }
        let ends = later(self.now, self.random.up_to(self.interference.burst));
        self.bursts.push((ends, arrival.socket, inbox.clone()));
        self.interfered.bursts += 1;
        Action::BurstBegin(inbox, arrival.sender, arrival.bytes)
    }

    fn stray_timer(&mut self, members: &RunningMembers) -> Option<Action> {
        if !self.random.happens(self.interference.stray_timer) {
            return None;
        }
        let member = members.get(self.random.below(members.len() as u64) as usize)?;
        Some(Action::StrayTimer(Arc::clone(member), self.random.draw()))
    }

    /// Returns when the next event becomes ready.
    fn next_moment(&mut self, running: &RunningMembers) -> Option<Instant> {
        let mut moments: SmallVec<[Instant; 8]> = SmallVec::new();
        for member in running {
            moments.extend(self.fires_at(member));
        }
        for thread in &self.threads {
            // The thread gave its limit by the clock of its host.
            if let (true, Some(until)) = (self.runs(thread.host), thread.until()) {
                moments.push(self.world_time(thread.host, until));
            }
        }
        for (at, host, _) in &self.blocked {
            if self.runs(*host) {
                moments.push(*at);
            }
        }
        for (at, _, inbox) in &self.bursts {
            if self.runs(inbox.host) {
                moments.push(*at);
            }
        }
        // The end of a pause is an event: timers that were due in it fire then.
        moments.extend(self.hosts.iter().filter_map(SimHost::pause_ends));
        moments.extend(self.network.next());
        moments.into_iter().min()
    }

    fn world_time(&self, host: HostId, instant: Instant) -> Instant {
        match self.host(host) {
            Some(host) => host.world_time(instant),
            None => instant,
        }
    }

    fn running_members(&self) -> impl Iterator<Item = Arc<WorldMember>> {
        let members = self.members.iter().filter_map(Weak::upgrade);
        members.filter(|member| !member.is_dead() && self.runs(member.host))
    }

    /// Returns whether a host neither sleeps nor is frozen.
    fn runs(&self, host: HostId) -> bool {
        match self.host(host) {
            Some(host) => host.pause_ends().is_none(),
            None => true,
        }
    }

    /// Returns when the timers of a member fire, by the time of the world.
    ///
    /// That is the due time of the first timer plus a drawn delay.
    fn fires_at(&mut self, member: &WorldMember) -> Option<Instant> {
        let Some(due) = member.timers.next() else {
            *member.plan() = None;
            return None;
        };
        let mut plan = member.plan();
        // A planned timer keeps its delay. Drawing again at each query would make every timer late.
        match *plan {
            Some((planned, at)) if planned == due => Some(at),
            _ => {
                let lateness = self.random.up_to(self.interference.late_timer);
                let world_time = self.world_time(member.host, due);
                let at = later(world_time.max(self.now), lateness);
                *plan = Some((due, at));
                Some(at)
            }
        }
    }

    fn wake_hosts(&mut self) {
        let now = self.now;
        let mut due: SmallVec<[HostId; 4]> = SmallVec::new();
        for host in &mut self.hosts {
            match host.pause_ends() {
                Some(end) if end <= now => due.push(host.id),
                _ => continue,
            }
            host.frozen_until.take_if(|until| *until <= now);
            if let Some(sleep) = host.sleep {
                if sleep.until <= now {
                    host.wake(now);
                    self.network.set_up(host.id, true);
                }
            }
        }
        for id in due {
            for member in self.running_members() {
                // The clock by which these times were planned has stopped in between.
                if member.host == id {
                    *member.plan() = None;
                }
            }
        }
    }
}

impl SimHost {
    /// Returns the monotonic clock.
    fn instant(&self, now: Instant) -> Instant {
        // The monotonic clock of a sleeping host stands still (CLOCK_MONOTONIC on Linux).
        let now = match self.sleep {
            Some(sleep) => sleep.since,
            None => now,
        };
        Instant::from_nanos(now.since(Instant::ZERO).as_nanos().saturating_sub(self.slept.as_nanos()) as u64)
    }

    /// Converts a time of the monotonic clock into the time of the world.
    fn world_time(&self, instant: Instant) -> Instant {
        let awake = later(instant, self.slept);
        match self.sleep {
            Some(sleep) => later(awake, sleep.until.since(sleep.since)),
            None => awake,
        }
    }

    /// Returns the real-time clock.
    fn time(&self, now: Instant) -> Time {
        let (millionths, since) = self.drift;
        // Divides before and after the multiplication, which would overflow otherwise.
        let drifted = now.since(since).as_nanos() / 1000 * millionths / 1000;
        let elapsed = now.since(BEGINNING).as_nanos();
        Time::from_unix_nanos(EPOCH + elapsed + self.clock_offset + drifted)
    }

    /// Changes the drift of the real-time clock from now on.
    pub(super) fn set_drift(&mut self, now: Instant, millionths: i64) {
        // The offset compensates for the change, so that the clock does not jump.
        let shown = self.time(now);
        self.drift = (millionths, now);
        self.clock_offset += shown.as_unix_nanos() - self.time(now).as_unix_nanos();
    }

    /// Returns when the host wakes or its programs continue, whichever is first. `None` while it runs.
    fn pause_ends(&self) -> Option<Instant> {
        [self.sleep.map(|sleep| sleep.until), self.frozen_until].into_iter().flatten().min()
    }

    /// Ends the sleep of the host, if it sleeps.
    fn wake(&mut self, now: Instant) {
        if let Some(sleep) = self.sleep.take() {
            self.slept = self.slept + sleep.until.min(now).since(sleep.since);
        }
    }
}

/// Returns `instant + duration`, or the end of time if the sum overflows.
pub(super) fn later(instant: Instant, duration: Duration) -> Instant {
    instant.after(duration).unwrap_or(Instant::from_nanos(u64::MAX / 2))
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}
