//! A durability service as its program sees it.

use super::database::Database;
use super::error::DurabilityError;
use super::worker::Worker;
use crate::cdr::{DdsType, TypeDescription};
use crate::context::ParticipantContext;
use crate::driver::{Role, ThreadHandle};
use crate::infrastructure::{CreateError, CreateErrorKind, GuardCondition};
use crate::participant::{DomainParticipant, DomainParticipantBuilder};
use crate::settings::DURABILITY_SERVICE;
use dds_rtps::types::Duration;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long dropping a service waits for the batch that is under way.
const END_MAX: Duration = Duration::from_secs(10);

/// Whether the system has put a batch on the disk when it counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sync {
    /// Yes: what was handed on as persistent survives a power failure. Each batch waits for the disk, milliseconds on an SSD.
    #[default]
    EachBatch,
    /// It does so soon. A crash of the service loses nothing, one of the whole system the last batches; the file stays whole.
    Later,
}

/// What a service keeps, and what it could not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DurabilityStatus {
    /// Sets of writers that announce the same topic, type, partitions and QoS.
    pub groups: usize,
    /// Instances kept.
    pub instances: usize,
    /// Changes kept: samples, and the ends of instances.
    pub changes: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
    /// Changes taken in since the start.
    pub taken_in: u64,
    /// Of what came, known already: from another writer's history, or another service.
    pub known: u64,
    /// Of what came, older than all that DURABILITY_SERVICE keeps of its instance, or expired.
    pub outdated: u64,
    /// Changes that were not kept, because the limit of instances, or the limit of memory
    /// ([`memory`](DurabilityServiceBuilder::memory)), was reached.
    pub refused: u64,
    /// Changes of topics with a key, of which nobody could tell the instance: their writers send no key hash, and the type was not
    /// given ([`key_of`](DurabilityServiceBuilder::key_of)). The last 4096 of such a topic are kept, whatever HISTORY says.
    pub of_unknown_instance: u64,
    /// Writers that cannot be stood in for: there are too many groups
    /// ([`groups_max`](DurabilityServiceBuilder::groups_max)), or they write in a partition whose pattern no name fits.
    pub writers_left_out: u64,
    /// Transactions of the database.
    pub commits: u64,
    /// Why the last one failed, as long as none has succeeded after it. Meanwhile nothing persistent is taken in: reliable
    /// writers that keep all wait.
    pub database_problem: Option<String>,
}

/// What the handle and the thread share.
#[derive(Debug, Default)]
pub(super) struct ServiceShared {
    status: Mutex<DurabilityStatus>,
}

impl ServiceShared {
    pub(super) fn status(&self) -> MutexGuard<'_, DurabilityStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the samples of writers whose DURABILITY is [`Transient`](crate::qos::Durability::Transient) or
/// [`Persistent`](crate::qos::Durability::Persistent), and gives them to readers that come late and ask for that, when their
/// writers may have long been gone. Ends when it is dropped.
///
/// One for a domain is enough; it may be a program of its own, or a part of another one. Several may run at a time: they bring
/// each other up to date, and no reader of this implementation gets anything twice. The book's chapter on durability has the
/// details.
///
/// ```
/// use dds_core::qos::{DataReaderQos, DataWriterQos, Durability};
/// use dds_core::{DdsType, DomainParticipant, DurabilityService, Scope};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Mission {
///     target: String,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tag = format!("durability-{}", std::process::id());
/// let participant = DurabilityService::participant(0).scope(Scope::Host);
/// # let participant = participant.domain_tag(tag.clone());
/// let service = DurabilityService::builder().start(participant.build()?)?;
///
/// let application = DomainParticipant::builder(0).scope(Scope::Host);
/// # let application = application.domain_tag(tag.clone());
/// let (first, second) = (application.clone().build()?, application.build()?);
/// let qos = DataWriterQos::default().reliable().durability(Durability::Transient);
/// let writer = first.writer_builder::<Mission>("mission").qos(qos).build()?;
/// writer.wait_for_readers(1).block()?; // the service
/// writer.write(&Mission { target: "dock 4".to_owned() })?;
/// writer.acknowledged().block()?;
/// drop((writer, first));
///
/// let qos = DataReaderQos::default().reliable().durability(Durability::Transient);
/// let reader = second.reader_builder::<Mission>("mission").qos(qos).build()?;
/// let mission = reader.next_sample().block()?;
/// assert_eq!(mission.data, Some(Mission { target: "dock 4".to_owned() }));
/// assert_eq!(service.status().changes, 1);
/// # Ok(())
/// # }
/// ```
pub struct DurabilityService {
    participant: DomainParticipant,
    shared: Arc<ServiceShared>,
    stop: GuardCondition,
    thread: ThreadHandle,
}

impl DurabilityService {
    /// The settings of a participant for a service: those of any other, and a property by which it is known
    /// (`dds.durability_service`).
    pub fn participant(domain_id: u32) -> DomainParticipantBuilder {
        DomainParticipant::builder(domain_id).name("durability service").property(DURABILITY_SERVICE, "1")
    }

    /// The settings of a service.
    pub fn builder() -> DurabilityServiceBuilder {
        DurabilityServiceBuilder::default()
    }

    /// What it keeps now, and what it could not keep.
    #[must_use]
    pub fn status(&self) -> DurabilityStatus {
        self.shared.status().clone()
    }
}

impl Drop for DurabilityService {
    /// Waits, up to ten seconds, for the batch that is under way.
    fn drop(&mut self) {
        let driver = self.participant.handle().core().driver();
        if driver.is_forked() {
            // The thread is the parent's.
            return;
        }
        self.stop.set_triggered(true);
        if crate::driver::role().may_wait() {
            self.thread.wait(&**driver, driver.now().instant.after(END_MAX));
        }
    }
}

impl fmt::Debug for DurabilityService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurabilityService").field("status", &*self.shared.status()).finish_non_exhaustive()
    }
}

/// The settings of a [`DurabilityService`].
#[must_use = "a builder makes nothing until `start` is called"]
#[derive(Debug, Clone)]
pub struct DurabilityServiceBuilder {
    pub(super) database: Option<PathBuf>,
    pub(super) sync: Sync,
    pub(super) memory: usize,
    pub(super) groups_max: usize,
    pub(super) types: HashMap<&'static str, &'static TypeDescription>,
}

impl Default for DurabilityServiceBuilder {
    fn default() -> Self {
        Self { database: None, sync: Sync::default(), memory: 256 << 20, groups_max: 4096, types: HashMap::new() }
    }
}

impl DurabilityServiceBuilder {
    /// Where persistent samples are kept: a file, which is made if it is not there. Default: nowhere; persistent samples are then
    /// kept in memory, and offered as transient ones.
    pub fn database(mut self, path: impl Into<PathBuf>) -> Self {
        self.database = Some(path.into());
        self
    }

    /// Whether a batch waits for the disk. Default: yes.
    pub fn sync(mut self, sync: Sync) -> Self {
        self.sync = sync;
        self
    }

    /// How many bytes may be kept, all topics together; everything that is kept is in memory, persistent samples too. Counted
    /// are the payloads, and 512 bytes for each change and each instance. What comes beyond it, and replaces nothing, is refused
    /// and counted. Default: 256 MiB.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// How many sets of writers that announce the same are stood in for, each by a reader and a writer; any peer can invent
    /// topics. What further ones write is not kept, and they are counted. Default: 4096.
    pub fn groups_max(mut self, groups: usize) -> Self {
        self.groups_max = groups;
        self
    }

    /// Lets the service find the instances of this type in the samples themselves. Needed only for writers that send no key hash,
    /// as those of Cyclone DDS unless it is configured to.
    pub fn key_of<T: DdsType>(mut self) -> Self {
        self.types.insert(T::TYPE_NAME, T::DESCRIPTION);
        self
    }

    /// Starts the service on a participant of [`DurabilityService::participant`], which is for nothing else.
    ///
    /// # Errors
    /// [`DurabilityError::NotForService`]; [`DurabilityError::Database`] with what is wrong with the file;
    /// [`DurabilityError::Create`], if an endpoint or the thread could not be made.
    pub fn start(self, participant: DomainParticipant) -> Result<DurabilityService, DurabilityError> {
        if !participant.handle().core().config().is_durability_service() {
            return Err(DurabilityError::NotForService);
        }
        let database = match &self.database {
            Some(path) => {
                let error = |problem| DurabilityError::database(path, problem);
                Some(Database::open(path, self.sync).map_err(error)?)
            }
            None => None,
        };
        let (shared, stop) = (Arc::<ServiceShared>::default(), GuardCondition::new());
        let worker = Worker::new(&participant, &self, database, Arc::clone(&shared), stop.clone())?;
        let handle = participant.handle();
        let body = Box::new(move || worker.run());
        let thread = handle.core().driver().spawn("dds-durability", Role::Event, body).map_err(|error| {
            let kind = CreateErrorKind::Thread { message: error.to_string() };
            DurabilityError::Create(CreateError::new(handle.core().subject(), kind))
        })?;
        Ok(DurabilityService { participant, shared, stop, thread })
    }
}
