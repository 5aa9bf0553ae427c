//! The thread of a service. It follows writers and moves their changes to the database and to readers.
//!
//! One round has four parts:
//!
//! 1. Read the announcements of writers.
//! 2. Take a batch of each group's changes, and decide which are stored and which are removed for them.
//! 3. Commit one transaction of the database.
//! 4. Publish the stored changes.
//!
//! If the transaction fails, the batch waits and is retried every second. The service accepts no persistent changes
//! until the retry succeeds.

use crate::change::RelayedChange;
use crate::database::{Database, DatabaseStep, StoredGroup};
use crate::error::DurabilityError;
use crate::kept::{Gone, NotKept};
use crate::key::{GroupKey, reading_partition};
use crate::service::{DurabilityServiceBuilder, ServiceShared};
use crate::stand_in::{BATCH_MAX, StandIn, StandInInput};
use dds_core::__private::cdr::TypeDescription;
use dds_core::builtin::{BuiltinTopic, PublicationBuiltinTopicData};
use dds_core::condition::WaitSet;
use dds_core::condition::{Condition, GuardCondition, ReadCondition};
use dds_core::error::{ReadError, WaitErrorKind, WriteError};
use dds_core::qos::{DataReaderQos, Durability, Preset};
use dds_core::reader::States;
use dds_core::relay::{HistorySample, Instant, Now, driver};
use dds_core::{DataReader, DomainParticipant, Duration, Guid, InstanceState};
use std::collections::HashMap;
use std::sync::Arc;

/// How long a failed transaction waits for its retry.
const RETRY: Duration = Duration::from_secs(1);

/// The result of a round, first for the database and then for the readers.
#[derive(Default)]
struct RoundResult {
    steps: Vec<DatabaseStep>,
    /// Changes to publish: number of the group, change and order. `gone` has the changes that are removed for them.
    kept: Vec<(u64, RelayedChange, u64)>,
    gone: Vec<(u64, Gone)>,
    /// More changes may wait.
    is_full: bool,
}

/// The participant is closed, so the thread ends without a request.
struct Over;

impl From<ReadError> for Over {
    fn from(_: ReadError) -> Self {
        Self
    }
}

impl From<WriteError> for Over {
    fn from(_: WriteError) -> Self {
        Self
    }
}

pub(crate) struct Worker {
    participant: DomainParticipant,
    types: HashMap<&'static str, &'static TypeDescription>,
    memory: usize,
    groups_max: usize,
    database: Option<Database>,
    shared: Arc<ServiceShared>,
    stop: GuardCondition,
    wait_set: WaitSet,
    stop_set: WaitSet,
    announcements: DataReader<PublicationBuiltinTopicData>,
    announced: ReadCondition,
    groups: HashMap<u64, StandIn>,
    by_key: HashMap<GroupKey, u64>,
    /// The group of each live writer.
    group_of: HashMap<Guid, u64>,
    next_group: u64,
    next_order: u64,
    /// The batch that the database refused, and when to retry.
    stalled: Option<(RoundResult, Instant)>,
    warned: Warned,
}

/// Warnings that are in the log already. Each appears once.
#[derive(Default)]
struct Warned {
    of_unknown_instance: bool,
    refused: bool,
}

impl Worker {
    pub(crate) fn new(
        participant: &DomainParticipant,
        settings: &DurabilityServiceBuilder,
        database: Option<Database>,
        shared: Arc<ServiceShared>,
        stop: GuardCondition,
    ) -> Result<Self, DurabilityError> {
        let qos: DataReaderQos = Preset::State.reader();
        let announcements = participant.reader_builder(&BuiltinTopic::PUBLICATION).qos(qos).build()?;
        let announced = announcements.read_condition(States::NOT_READ);
        let wait_set = WaitSet::new(participant);
        let stop_set = WaitSet::new(participant);
        wait_set.attach(&stop);
        stop_set.attach(&stop);
        wait_set.attach(&announced);
        let mut worker = Self {
            participant: participant.clone(),
            types: settings.types.clone(),
            memory: settings.memory,
            groups_max: settings.groups_max,
            database,
            shared,
            stop,
            wait_set,
            stop_set,
            announcements,
            announced,
            groups: HashMap::new(),
            by_key: HashMap::new(),
            group_of: HashMap::new(),
            next_group: 1,
            next_order: 1,
            stalled: None,
            warned: Warned::default(),
        };
        worker.load()?;
        Ok(worker)
    }

    /// Restores the content of the database.
    fn load(&mut self) -> Result<(), DurabilityError> {
        let Some(database) = &self.database else { return Ok(()) };
        let path = database.path().to_owned();
        let stored = match database.load() {
            Ok(stored) => stored,
            Err(problem) => return Err(DurabilityError::database(&path, problem)),
        };
        let mut superfluous = Vec::new();
        for StoredGroup { id, key, changes } in stored {
            // New numbers follow those of the file, so a new record never replaces a stored one.
            self.next_group = self.next_group.max(id + 1);
            self.add_group(id, key)?;
            for (order, change) in changes {
                self.next_order = self.next_order.max(order + 1);
                self.restore(id, order, change, &mut superfluous);
            }
        }
        self.report();
        let Some(database) = &mut self.database else { return Ok(()) };
        if superfluous.is_empty() {
            return Ok(());
        }
        // Removed in one transaction after all groups are restored.
        match database.commit(&superfluous) {
            Ok(()) => Ok(()),
            Err(problem) => Err(DurabilityError::database(&path, problem)),
        }
    }

    /// Publishes a stored change again.
    ///
    /// The change is removed if it has expired or does not fit into the limits any more.
    fn restore(&mut self, id: u64, order: u64, mut change: RelayedChange, superfluous: &mut Vec<DatabaseStep>) {
        let now = self.now();
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.is_named = true;
        group.hide_key(&mut change);
        // The memory limit does not apply to changes that were accepted before.
        match group.kept.take_in(now, &change, order, usize::MAX) {
            Ok(gone) => {
                for (order, _) in &gone.changes {
                    superfluous.push(DatabaseStep::Remove(id, *order));
                }
                let mut restored = group.publish(change, order);
                if restored.is_ok() {
                    restored = group.withdraw(&gone);
                }
                if let Err(error) = restored {
                    tracing::error!(%error, topic = group.topic_name(), "a stored sample could not be published");
                }
            }
            // It expired while the service was down, or the group's limits are lower than before.
            Err(_) => superfluous.push(DatabaseStep::Remove(id, order)),
        }
    }

    fn now(&self) -> Now {
        driver(&self.participant).now()
    }

    /// Runs until the service is dropped or the participant is closed.
    pub(crate) fn run(mut self) {
        tracing::info!(groups = self.groups.len(), "durability service started");
        while !Condition::is_triggered(&self.stop) {
            match self.round() {
                Ok(true) => {}
                Ok(false) if self.wait() => {}
                _ => break,
            }
        }
        tracing::info!("durability service ended");
    }

    /// Waits for work. Returns `false` if the wait fails and the thread must end.
    fn wait(&self) -> bool {
        let due = match &self.stalled {
            Some((_, at)) => Some(*at),
            None => self.groups.values().filter_map(StandIn::due).min(),
        };
        // New changes cannot be accepted while the database fails, so only the end of the service wakes the thread.
        let wait_set = if self.stalled.is_some() { &self.stop_set } else { &self.wait_set };
        let waited = match due {
            Some(due) => wait_set.wait().block_for(due.since(self.now().instant)),
            None => wait_set.wait().block(),
        };
        match waited {
            Ok(_) => true,
            Err(error) => matches!(error.kind(), WaitErrorKind::Timeout { .. }),
        }
    }

    /// Returns whether more work may wait already.
    fn round(&mut self) -> Result<bool, Over> {
        self.follow_announcements()?;
        let mut batch = RoundResult::default();
        // The failed batch goes first, because a new batch may remove its changes.
        if let Some((stalled, at)) = self.stalled.take() {
            if self.now().instant < at {
                self.stalled = Some((stalled, at));
            } else {
                self.finish(stalled)?;
            }
        }
        self.collect(&mut batch)?;
        self.pass_time(&mut batch);
        let is_full = batch.is_full;
        self.finish(batch)?;
        self.report();
        Ok(is_full)
    }

    /// Reads announcements of writers that appeared, changed or disappeared.
    fn follow_announcements(&mut self) -> Result<(), Over> {
        if !Condition::is_triggered(&self.announced) {
            return Ok(());
        }
        for sample in self.announcements.take()? {
            let state = sample.info.instance_state;
            let writer = sample.info.instance_handle.as_bytes().copied().map(Guid::from_bytes);
            if let Some(announced) = sample.data {
                self.follow(&announced);
            }
            // A writer may have appeared and disappeared since the last round. Its samples still count.
            if let (Some(writer), true) = (writer, state != InstanceState::Alive) {
                self.lose(writer);
            }
        }
        Ok(())
    }

    fn follow(&mut self, writer: &PublicationBuiltinTopicData) {
        // A writer may have announced a higher durability before.
        if writer.qos.durability < Durability::Transient {
            return self.lose(writer.key);
        }
        if reading_partition(&writer.partition).is_none() {
            self.leave_out(writer, "no partition name matches one of its patterns");
            return;
        }
        let key = GroupKey::of(writer);
        if let Some(id) = self.group_of.get(&writer.key) {
            // The writer moved to another partition.
            if self.by_key.get(&key) != Some(id) {
                self.lose(writer.key);
            }
        }
        let id = match self.by_key.get(&key) {
            Some(&id) => id,
            None if self.groups.len() >= self.groups_max => {
                return self.leave_out(writer, "the limit of groups is reached (`groups_max`)");
            }
            None => {
                let id = self.next_group;
                self.next_group += 1;
                if let Err(error) = self.add_group(id, key) {
                    return self.leave_out(writer, &error.to_string());
                }
                id
            }
        };
        if let Some(group) = self.groups.get_mut(&id) {
            group.join(writer.key, writer.qos.lifespan);
            self.group_of.insert(writer.key, id);
        }
    }

    fn leave_out(&self, writer: &PublicationBuiltinTopicData, why: &str) {
        self.shared.status().writers_left_out += 1;
        tracing::warn!(writer = %writer.key, topic = writer.topic_name, "the service does not store the samples of this writer: {why}");
    }

    fn lose(&mut self, writer: Guid) {
        let now = self.now();
        let Some(id) = self.group_of.remove(&writer) else { return };
        if let Some(group) = self.groups.get_mut(&id) {
            group.leave(now, writer);
        }
    }

    fn add_group(&mut self, id: u64, key: GroupKey) -> Result<(), DurabilityError> {
        // The service created this key, or validated it when it read the database.
        let announced = key.decode();
        debug_assert!(announced.is_some(), "a key is validated before it is used: {key:?}");
        let Some(announced) = announced else { return Ok(()) };
        let ty = self.types.get(&*announced.endpoint.type_name).copied();
        let group = StandIn::new(&self.participant, id, key.clone(), &announced, self.database.is_some(), ty)?;
        if announced.qos.durability == Durability::Persistent && !group.is_persistent {
            tracing::warn!(
                topic = group.topic_name(),
                "persistent samples are only in memory; set a database to keep them across restarts"
            );
        }
        self.wait_set.attach(group.condition());
        self.by_key.insert(key, id);
        self.groups.insert(id, group);
        Ok(())
    }

    /// Takes a batch of each group's changes.
    fn collect(&mut self, batch: &mut RoundResult) -> Result<(), Over> {
        let mut list = Vec::new();
        let ids: Vec<u64> = self.groups.keys().copied().collect();
        for id in ids {
            let Some(group) = self.groups.get_mut(&id) else { continue };
            if self.stalled.is_some() && group.is_persistent {
                continue;
            }
            group.take(&mut list)?;
            batch.is_full |= list.len() == BATCH_MAX;
            if list.is_empty() {
                continue;
            }
            // The writers of these changes were announced before, so this finds all of them.
            self.follow_announcements()?;
            self.sort(id, &mut list, batch);
        }
        Ok(())
    }

    /// Decides which changes are stored.
    fn sort(&mut self, id: u64, list: &mut Vec<HistorySample>, batch: &mut RoundResult) {
        let now = self.now();
        let mut others = 0;
        for (other, group) in &self.groups {
            if *other != id {
                others += group.kept.cost();
            }
        }
        let Some(group) = self.groups.get_mut(&id) else { return };
        // Logging calls code of the application, so the status must not be locked. No other thread changes it.
        let mut status = self.shared.status().clone();
        for sample in list.drain(..) {
            let (change, writer) = match group.sort(sample) {
                Some(StandInInput::RelayedChange(change, writer)) => (change, writer),
                Some(StandInInput::Left(instance, writer)) => {
                    group.kept.note_writer(now, instance, writer, false);
                    continue;
                }
                None => continue,
            };
            if group.is_keyed() && change.instance.is_nil() {
                status.of_unknown_instance += 1;
                if !std::mem::replace(&mut self.warned.of_unknown_instance, true) {
                    let topic = group.topic_name();
                    tracing::warn!(topic, "samples without key hash: give the service the type (`key_of`)");
                }
            }
            let instance = change.instance;
            // The memory of the other groups does not change in this loop.
            let room = self.memory.saturating_sub(others + group.kept.cost());
            match group.kept.take_in(now, &change, self.next_order, room) {
                Ok(gone) => {
                    let order = self.next_order;
                    self.next_order += 1;
                    status.taken_in += 1;
                    if group.is_persistent {
                        batch.steps.push(DatabaseStep::Put(id, order, change.encode()));
                    }
                    batch.kept.push((id, change, order));
                    batch.lose(group, gone);
                }
                Err(NotKept::Known) => status.known += 1,
                Err(NotKept::Older | NotKept::Expired) => status.outdated += 1,
                Err(NotKept::Instances | NotKept::Memory) => {
                    status.refused += 1;
                    if !std::mem::replace(&mut self.warned.refused, true) {
                        tracing::warn!(topic = group.topic_name(), "a limit is reached: samples are not kept");
                    }
                }
            }
            // Recorded for refused changes too, because the writer keeps the instance alive.
            if writer != Guid::UNKNOWN {
                group.kept.note_writer(now, instance, writer, true);
            }
        }
        *self.shared.status() = status;
    }

    fn pass_time(&mut self, batch: &mut RoundResult) {
        let now = self.now();
        for group in self.groups.values_mut() {
            group.assert_liveliness(now);
            // The database must not lose changes before it accepts the waiting batch.
            if self.stalled.is_some() && group.is_persistent {
                continue;
            }
            let gone = group.kept.pass_time(now);
            batch.lose(group, gone);
        }
    }

    /// Writes a batch to the database and then publishes it.
    fn finish(&mut self, mut batch: RoundResult) -> Result<(), Over> {
        self.name_groups(&mut batch);
        if let (Some(database), false) = (&mut self.database, batch.steps.is_empty()) {
            if let Err(problem) = database.commit(&batch.steps) {
                tracing::error!(path = %database.path().display(), %problem, "the database refuses samples; the service retries every second and accepts no persistent samples");
                self.shared.status().database_problem = Some(problem.to_string());
                let at = self.now().instant.after(RETRY).unwrap_or(Instant::ZERO);
                self.stalled = Some((batch, at));
                return Ok(());
            }
            let mut status = self.shared.status();
            status.commits += 1;
            status.database_problem = None;
        }
        for (id, change, order) in batch.kept {
            if let Some(group) = self.groups.get_mut(&id) {
                group.is_named = true;
                group.publish(change, order)?;
            }
        }
        for (id, gone) in batch.gone {
            if let Some(group) = self.groups.get_mut(&id) {
                group.withdraw(&gone)?;
            }
        }
        self.drop_idle_groups()
    }

    /// Adds groups to the database that store their first change.
    fn name_groups(&self, batch: &mut RoundResult) {
        // `collect` takes the changes group by group, so equal numbers are neighbors.
        let mut ids: Vec<u64> = batch.kept.iter().map(|(id, ..)| *id).collect();
        ids.dedup();
        for id in ids {
            let Some(group) = self.groups.get(&id) else { continue };
            if group.is_persistent && !group.is_named {
                batch.steps.push(DatabaseStep::AddGroup(group.id, group.key.clone()));
            }
        }
    }

    fn drop_idle_groups(&mut self) -> Result<(), Over> {
        let mut idle = Vec::new();
        for group in self.groups.values() {
            if group.is_idle() {
                idle.push(group.id);
            }
        }
        for id in idle {
            let Some(group) = self.groups.remove(&id) else { continue };
            self.wait_set.detach(group.condition());
            self.by_key.remove(&group.key);
            // While the database fails, the record stays. The next start finds an empty group and removes it.
            if !group.is_persistent || self.stalled.is_some() {
                continue;
            }
            if let Some(database) = &mut self.database {
                if let Err(problem) = database.commit(&[DatabaseStep::RemoveGroup(id)]) {
                    // The next start finds the group again. An empty group does no harm.
                    tracing::warn!(%problem, "the database did not remove an empty group");
                }
            }
        }
        Ok(())
    }

    fn report(&self) {
        let mut status = self.shared.status();
        status.groups = self.groups.len();
        (status.instances, status.changes, status.bytes) = (0, 0, 0);
        for group in self.groups.values() {
            status.instances += group.kept.instance_count();
            status.changes += group.kept.len();
            status.bytes += group.kept.bytes();
        }
    }
}

impl RoundResult {
    fn lose(&mut self, group: &StandIn, gone: Gone) {
        if gone.changes.is_empty() {
            return;
        }
        if group.is_persistent {
            for (order, _) in &gone.changes {
                self.steps.push(DatabaseStep::Remove(group.id, *order));
            }
        }
        self.gone.push((group.id, gone));
    }
}
