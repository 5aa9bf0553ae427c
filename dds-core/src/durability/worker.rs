//! The thread of a service: who writes what, and the way of what they write.
//!
//! A round: what writers announce; a batch of each group's changes, sorted into what is kept and what goes for it; one transaction
//! of the database; then what was kept is handed on. If the transaction fails, the batch waits, is tried again every second, and
//! nothing persistent is taken in meanwhile.

use super::change::Change;
use super::database::{Database, Step, StoredGroup};
use super::error::DurabilityError;
use super::group::{Arrival, BATCH_MAX, Group};
use super::kept::{Gone, NotKept};
use super::key::{GroupKey, reading_partition};
use super::service::{DurabilityServiceBuilder, ServiceShared};
use crate::cdr::TypeDescription;
use crate::context::{ParticipantContext, WaitSet};
use crate::infrastructure::{GuardCondition, ReadError, WaitErrorKind, WriteError};
use crate::participant::DomainParticipant;
use crate::qos::{DataReaderQos, Durability, Preset};
use crate::subscription::{DataReader, ReadCondition};
use crate::topic::{DCPS_PUBLICATION, PublicationBuiltinTopicData};
use dds_rtps::history::{HistorySample, InstanceState, States};
use dds_rtps::types::{Duration, Guid, Instant, Now};
use std::collections::HashMap;
use std::sync::Arc;

/// How long a failed transaction waits to be tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What a round has found, for the database and then for the readers.
#[derive(Default)]
struct Batch {
    steps: Vec<Step>,
    /// By group: changes to hand on, and what goes for them.
    kept: Vec<(u64, Change, u64)>,
    gone: Vec<(u64, Gone)>,
    /// There may be more.
    is_full: bool,
}

/// Why the thread ends before it is told to: its participant is gone.
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

pub(super) struct Worker {
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
    groups: HashMap<u64, Group>,
    by_key: HashMap<GroupKey, u64>,
    /// The group of each writer that is there.
    group_of: HashMap<Guid, u64>,
    next_group: u64,
    next_order: u64,
    /// What the database has refused, and when it is tried again.
    stalled: Option<(Batch, Instant)>,
    warned: Warned,
}

/// What has been said in the log once.
#[derive(Default)]
struct Warned {
    of_unknown_instance: bool,
    refused: bool,
}

impl Worker {
    pub(super) fn new(
        participant: &DomainParticipant,
        settings: &DurabilityServiceBuilder,
        database: Option<Database>,
        shared: Arc<ServiceShared>,
        stop: GuardCondition,
    ) -> Result<Self, DurabilityError> {
        let qos: DataReaderQos = Preset::State.reader();
        let announcements = participant.reader_builder(&DCPS_PUBLICATION).qos(qos).build()?;
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

    /// Takes over what the database holds.
    fn load(&mut self) -> Result<(), DurabilityError> {
        let Some(database) = &self.database else { return Ok(()) };
        let error = |problem| DurabilityError::database(database.path(), problem);
        let stored = database.load().map_err(error)?;
        let mut superfluous = Vec::new();
        for StoredGroup { id, key, changes } in stored {
            self.next_group = self.next_group.max(id + 1);
            self.add_group(id, key)?;
            for (order, change) in changes {
                self.next_order = self.next_order.max(order + 1);
                self.restore(id, order, change, &mut superfluous);
            }
        }
        self.report();
        let path = self.database.as_ref().map(|database| database.path().to_owned()).unwrap_or_default();
        if let Some(database) = self.database.as_mut().filter(|_| !superfluous.is_empty()) {
            database.commit(&superfluous).map_err(|problem| DurabilityError::database(&path, problem))?;
        }
        Ok(())
    }

    /// Hands a stored change on again. What does not fit into the limits any more, or has expired, goes.
    fn restore(&mut self, id: u64, order: u64, change: Change, superfluous: &mut Vec<Step>) {
        let now = self.now();
        let Some(group) = self.groups.get_mut(&id) else { return };
        group.is_named = true;
        match group.kept.take_in(now, &change, order, usize::MAX) {
            Ok(gone) => {
                superfluous.extend(gone.changes.iter().map(|(order, _)| Step::Remove(id, *order)));
                let restored = group.publish(change, order).and_then(|()| group.withdraw(&gone));
                if let Err(error) = restored {
                    tracing::error!(%error, topic = group.topic_name(), "a stored sample cannot be handed out");
                }
            }
            Err(_) => superfluous.push(Step::Remove(id, order)),
        }
    }

    fn now(&self) -> Now {
        self.participant.handle().core().driver().now()
    }

    /// Until it is told to stop, or the participant is gone.
    pub(super) fn run(mut self) {
        tracing::info!(groups = self.groups.len(), "durability service started");
        while !crate::infrastructure::Condition::is_triggered(&self.stop) {
            match self.round() {
                Ok(true) => {}
                Ok(false) if self.wait() => {}
                _ => break,
            }
        }
        tracing::info!("durability service ended");
    }

    /// Waits until there is something to do; false: never again.
    fn wait(&self) -> bool {
        let due = match &self.stalled {
            Some((_, at)) => Some(*at),
            None => self.groups.values().filter_map(Group::due).min(),
        };
        // What has come cannot be taken while the database does not work: only an end is of interest.
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

    /// True: there may be more to do at once.
    fn round(&mut self) -> Result<bool, Over> {
        self.follow_announcements()?;
        let mut batch = Batch::default();
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

    /// Who has come, and who has gone.
    fn follow_announcements(&mut self) -> Result<(), Over> {
        if !crate::infrastructure::Condition::is_triggered(&self.announced) {
            return Ok(());
        }
        for sample in self.announcements.take()? {
            let state = sample.info.instance_state;
            let writer = sample.info.instance_handle.as_bytes().copied().map(Guid::from_bytes);
            if let Some(announced) = sample.data {
                self.follow(&announced);
            }
            // It may have come and gone: what it has written meanwhile counts.
            if let Some(writer) = writer.filter(|_| state != InstanceState::Alive) {
                self.lose(writer);
            }
        }
        Ok(())
    }

    fn follow(&mut self, writer: &PublicationBuiltinTopicData) {
        if writer.qos.durability < Durability::Transient {
            return self.lose(writer.key);
        }
        if reading_partition(&writer.partition).is_none() {
            self.leave_out(writer, "no name fits a pattern among its partitions");
            return;
        }
        let key = GroupKey::of(writer);
        if self.group_of.get(&writer.key).is_some_and(|id| self.by_key.get(&key) != Some(id)) {
            // It has gone over to another partition.
            self.lose(writer.key);
        }
        let id = match self.by_key.get(&key) {
            Some(&id) => id,
            None if self.groups.len() >= self.groups_max => return self.leave_out(writer, "there are too many topics"),
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
        tracing::warn!(writer = %writer.key, topic = writer.topic_name, "what it writes is not kept: {why}");
    }

    fn lose(&mut self, writer: Guid) {
        let now = self.now();
        if let Some(group) = self.group_of.remove(&writer).and_then(|id| self.groups.get_mut(&id)) {
            group.leave(now, writer);
        }
    }

    fn add_group(&mut self, id: u64, key: GroupKey) -> Result<(), DurabilityError> {
        // A key that was made here, or read and looked at.
        let Some(announced) = key.decode() else { return Ok(()) };
        let ty = self.types.get(&*announced.endpoint.type_name).copied();
        let group = Group::new(&self.participant, id, key.clone(), &announced, self.database.is_some(), ty)?;
        if announced.qos.durability == Durability::Persistent && !group.is_persistent {
            tracing::warn!(topic = group.topic_name(), "no database: persistent samples are kept in memory only");
        }
        self.wait_set.attach(group.condition());
        self.by_key.insert(key, id);
        self.groups.insert(id, group);
        Ok(())
    }

    /// A batch of each group's changes.
    fn collect(&mut self, batch: &mut Batch) -> Result<(), Over> {
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
            // Whoever has written any of it was announced before.
            self.follow_announcements()?;
            self.sort(id, &mut list, batch);
        }
        Ok(())
    }

    /// Decides what is kept.
    fn sort(&mut self, id: u64, list: &mut Vec<HistorySample>, batch: &mut Batch) {
        let now = self.now();
        let taken: usize = self.groups.values().map(|group| group.kept.cost()).sum();
        let Some(group) = self.groups.get_mut(&id) else { return };
        let others = taken - group.kept.cost();
        // The log is the application's code: the status is not held meanwhile. Nobody else changes it.
        let mut status = self.shared.status().clone();
        for sample in list.drain(..) {
            let (change, writer) = match group.sort(sample) {
                Some(Arrival::Change(change, writer)) => (change, writer),
                Some(Arrival::Left(instance, writer)) => {
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
            // What the others take does not change meanwhile.
            let room = self.memory.saturating_sub(others + group.kept.cost());
            match group.kept.take_in(now, &change, self.next_order, room) {
                Ok(gone) => {
                    let order = self.next_order;
                    self.next_order += 1;
                    status.taken_in += 1;
                    if group.is_persistent {
                        batch.steps.push(Step::Put(id, order, change.encode()));
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
            if writer != Guid::UNKNOWN {
                group.kept.note_writer(now, instance, writer, true);
            }
        }
        *self.shared.status() = status;
    }

    fn pass_time(&mut self, batch: &mut Batch) {
        let now = self.now();
        for group in self.groups.values_mut() {
            group.assert_liveliness(now);
            if self.stalled.is_some() && group.is_persistent {
                continue;
            }
            let gone = group.kept.pass_time(now);
            batch.lose(group, gone);
        }
    }

    /// Writes a batch to the database, and hands it on.
    fn finish(&mut self, mut batch: Batch) -> Result<(), Over> {
        self.name_groups(&mut batch);
        if let Some(database) = self.database.as_mut().filter(|_| !batch.steps.is_empty()) {
            if let Err(problem) = database.commit(&batch.steps) {
                tracing::error!(path = %database.path().display(), %problem, "nothing persistent is taken in");
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

    /// A group is in the database from its first change on.
    fn name_groups(&self, batch: &mut Batch) {
        let mut ids: Vec<u64> = batch.kept.iter().map(|(id, ..)| *id).collect();
        ids.dedup();
        let known = ids.into_iter().filter_map(|id| self.groups.get(&id));
        let unnamed = known.filter(|group| group.is_persistent && !group.is_named);
        batch.steps.extend(unnamed.map(|group| Step::AddGroup(group.id, group.key.clone())));
    }

    fn drop_idle_groups(&mut self) -> Result<(), Over> {
        let idle: Vec<u64> = self.groups.values().filter(|group| group.is_idle()).map(|group| group.id).collect();
        for id in idle {
            let Some(group) = self.groups.remove(&id) else { continue };
            self.wait_set.detach(group.condition());
            self.by_key.remove(&group.key);
            if let Some(database) = self.database.as_mut().filter(|_| group.is_persistent && self.stalled.is_none()) {
                if let Err(problem) = database.commit(&[Step::RemoveGroup(id)]) {
                    // An empty group is found again at the next start, and does no harm.
                    tracing::warn!(%problem, "an empty group stays in the database");
                }
            }
        }
        Ok(())
    }

    fn report(&self) {
        let mut status = self.shared.status();
        status.groups = self.groups.len();
        status.instances = self.groups.values().map(|group| group.kept.instance_count()).sum();
        status.changes = self.groups.values().map(|group| group.kept.len()).sum();
        status.bytes = self.groups.values().map(|group| group.kept.bytes()).sum();
    }
}

impl Batch {
    fn lose(&mut self, group: &Group, gone: Gone) {
        if gone.changes.is_empty() {
            return;
        }
        if group.is_persistent {
            self.steps.extend(gone.changes.iter().map(|(order, _)| Step::Remove(group.id, *order)));
        }
        self.gone.push((group.id, gone));
    }
}
