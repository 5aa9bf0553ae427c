//! The durability service as its program sees it.

use crate::database::Database;
use crate::error::DurabilityError;
use crate::worker::Worker;
use dds_core::__private::cdr::TypeDescription;
use dds_core::DdsType;
use dds_core::condition::GuardCondition;
use dds_core::driver::{Role, ThreadHandle, role};
use dds_core::relay::{DURABILITY_SERVICE, driver, is_durability_service, thread_error};
use dds_core::{DomainParticipant, DomainParticipantBuilder, Duration};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long dropping a service waits for the current batch.
const END_MAX: Duration = Duration::from_secs(10);

/// When a batch counts as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DatabaseSync {
    /// After the operating system has written the batch to the disk.
    ///
    /// A persistent sample that a reader received survives a power failure. Each batch waits for the disk, which takes
    /// milliseconds on an SSD.
    #[default]
    EachBatch,
    /// At once. The operating system writes the batch to the disk soon.
    ///
    /// A crash of the service loses nothing. A crash of the whole system loses the last batches, and the file stays
    /// valid.
    Later,
}

/// Stored and refused changes of a service.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DurabilityStatus {
    /// Sets of writers that announce the same topic, type, partitions and QoS.
    pub groups: usize,
    /// Stored instances.
    pub instances: usize,
    /// Stored changes: samples and disposes.
    pub changes: usize,
    /// Bytes of their payloads.
    pub bytes: usize,
    /// Changes that were accepted since the start.
    pub taken_in: u64,
    /// Received changes that were known already, from another writer's history or another service.
    pub known: u64,
    /// Received changes that had expired, or were older than the stored history of their instance.
    pub outdated: u64,
    /// Changes that were refused because a limit was reached.
    ///
    /// The limit is that of instances, or that of memory ([`memory`](DurabilityServiceBuilder::memory)).
    pub refused: u64,
    /// Changes of topics with a key whose instance the service cannot determine.
    ///
    /// Their writers send no key hash, and the type was not given ([`key_of`](DurabilityServiceBuilder::key_of)). The
    /// last 4096 changes of such a topic are stored, regardless of HISTORY.
    pub of_unknown_instance: u64,
    /// Writers that the service does not serve.
    ///
    /// There are too many groups ([`groups_max`](DurabilityServiceBuilder::groups_max)), or the writer has a partition
    /// pattern that no name matches.
    pub writers_left_out: u64,
    /// Committed transactions of the database.
    pub commits: u64,
    /// Why the last transaction failed. `None` after a success.
    ///
    /// Until a transaction succeeds, the service accepts no persistent changes. Reliable writers with KEEP_ALL block.
    pub database_problem: Option<String>,
}

/// State that the handle and the thread share.
#[derive(Debug, Default)]
pub(crate) struct ServiceShared {
    status: Mutex<DurabilityStatus>,
}

impl ServiceShared {
    pub(crate) fn status(&self) -> MutexGuard<'_, DurabilityStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores samples and delivers them to late readers.
///
/// It serves writers with the DURABILITY [`Transient`](dds_core::qos::Durability::Transient) or
/// [`Persistent`](dds_core::qos::Durability::Persistent). Readers that request this durability receive the samples even
/// if their writers are gone. Dropping the handle ends the service.
///
/// One service in a domain is enough. It may be a separate program or a part of another one. Several may run at the
/// same time. They synchronize with each other, and no reader of this implementation receives a sample twice. The
/// book's chapter on durability has the details.
///
/// ```
/// use dds_core::qos::{DataReaderQos, DataWriterQos, Durability};
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_durability::DurabilityService;
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
    /// Returns the settings of a participant for a service.
    ///
    /// They are the default settings and the property `dds.durability_service`, by which peers recognize a service.
    pub fn participant(domain_id: u32) -> DomainParticipantBuilder {
        Self::participant_of(DomainParticipant::builder(domain_id).name("durability service"))
    }

    /// Adds the property of [`participant`](Self::participant) to other settings.
    pub fn participant_of(builder: DomainParticipantBuilder) -> DomainParticipantBuilder {
        builder.property(DURABILITY_SERVICE, "1")
    }

    /// Returns the default settings of a service.
    pub fn builder() -> DurabilityServiceBuilder {
        DurabilityServiceBuilder::default()
    }

    /// Returns the current counts of stored and refused changes.
    #[must_use]
    pub fn status(&self) -> DurabilityStatus {
        self.shared.status().clone()
    }
}

impl Drop for DurabilityService {
    /// Waits up to ten seconds for the current batch.
    fn drop(&mut self) {
        let driver = driver(&self.participant);
        if driver.is_forked() {
            // The thread exists only in the parent process.
            return;
        }
        self.stop.set_triggered(true);
        // An inline listener may drop the service, but must not wait.
        if role().may_wait() {
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
    pub(crate) database: Option<PathBuf>,
    pub(crate) sync: DatabaseSync,
    pub(crate) memory: usize,
    pub(crate) groups_max: usize,
    pub(crate) types: HashMap<&'static str, &'static TypeDescription>,
}

impl Default for DurabilityServiceBuilder {
    fn default() -> Self {
        Self {
            database: None,
            sync: DatabaseSync::default(),
            memory: 256 << 20,
            groups_max: 4096,
            types: HashMap::new(),
        }
    }
}

impl DurabilityServiceBuilder {
    /// Sets the file that stores persistent samples. Creates it if it does not exist.
    ///
    /// Default: no file. Persistent samples are then stored in memory and offered as transient ones.
    pub fn database(mut self, path: impl Into<PathBuf>) -> Self {
        self.database = Some(path.into());
        self
    }

    /// Sets whether a batch waits for the disk. Default: yes.
    pub fn sync(mut self, sync: DatabaseSync) -> Self {
        self.sync = sync;
        self
    }

    /// Sets the memory limit of all topics together, in bytes. Default: 256 MiB.
    ///
    /// All stored samples are in memory, persistent ones too. The payloads count, and 512 bytes for each change and
    /// each instance. A change beyond the limit is refused and counted, unless it replaces another one.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the limit of groups. Default: 4096.
    ///
    /// A group is a set of writers that announce the same properties. It costs one reader and one writer, and any peer
    /// can invent topics. The samples of writers in further groups are not stored, and these writers are counted.
    pub fn groups_max(mut self, groups: usize) -> Self {
        self.groups_max = groups;
        self
    }

    /// Lets the service determine instances from the samples of this type.
    ///
    /// Only writers that send no key hash need it, such as those of Cyclone DDS in its default configuration.
    pub fn key_of<T: DdsType>(mut self) -> Self {
        self.types.insert(T::TYPE_NAME, T::DESCRIPTION);
        self
    }

    /// Starts the service on a participant created by [`DurabilityService::participant`].
    ///
    /// The application must not use this participant for anything else.
    ///
    /// # Errors
    /// - [`DurabilityError::NotForService`] if the participant was created otherwise.
    /// - [`DurabilityError::Database`] with the problem of the file.
    /// - [`DurabilityError::Create`] if an endpoint or the thread could not be created.
    pub fn start(self, participant: DomainParticipant) -> Result<DurabilityService, DurabilityError> {
        // Matching depends on the property, in this participant and in its peers.
        if !is_durability_service(&participant) {
            return Err(DurabilityError::NotForService);
        }
        let database = match &self.database {
            Some(path) => match Database::open(path, self.sync) {
                Ok(database) => Some(database),
                Err(problem) => return Err(DurabilityError::database(path, problem)),
            },
            None => None,
        };
        let (shared, stop) = (Arc::<ServiceShared>::default(), GuardCondition::new());
        let worker = Worker::new(&participant, &self, database, Arc::clone(&shared), stop.clone())?;
        let thread = driver(&participant)
            .spawn("dds-durability", Role::Event, Box::new(move || worker.run()))
            .map_err(|error| thread_error(&participant, &error))?;
        Ok(DurabilityService { participant, shared, stop, thread })
    }
}
