//! The file that stores persistent samples.
//!
//! The database is [redb](https://www.redb.org), which is pure Rust and depends only on `libc`. It has one file in a
//! stable format. A crash never leaves a transaction half done, because redb copies on write. Three tables:
//!
//! | table | key | value |
//! |---|---|---|
//! | `meta` | `"schema"` | [`SCHEMA`], the format of the other tables |
//! | `groups` | number of the group | checksum, its [`GroupKey`] |
//! | `changes` | number of the group, order of the change | checksum, a record of `change.rs` |
//!
//! redb compares its own checksums only after a crash. So each record has one, which also covers its place.
//!
//! No panic leaves this module, even if the file is damaged. redb validates its input, but it panics at some kinds of
//! damage.

use crate::change::RelayedChange;
use crate::error::DatabaseProblem;
use crate::key::GroupKey;
use crate::service::DatabaseSync;
use crc::{CRC_64_XZ, Crc};
use redb::{ReadableTable, TableDefinition};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Version of the table format. A new version must read the old format or return an error.
const SCHEMA: u64 = 2;
const SCHEMA_NAME: &str = "schema";

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
const GROUPS: TableDefinition<'_, u64, Sealed<'_>> = TableDefinition::new("groups");
const CHANGES: TableDefinition<'_, (u64, u64), Sealed<'_>> = TableDefinition::new("changes");

/// A record behind its checksum.
type Sealed<'a> = (u64, &'a [u8]);

static CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

fn seal(place: (u64, u64), record: &[u8]) -> Sealed<'_> {
    let mut digest = CRC.digest();
    digest.update(&place.0.to_le_bytes());
    digest.update(&place.1.to_le_bytes());
    digest.update(record);
    (digest.finalize(), record)
}

/// Returns the record if it has not changed since [`seal`].
fn unseal<'a>(place: (u64, u64), sealed: Sealed<'a>) -> Result<&'a [u8], DatabaseProblem> {
    if seal(place, sealed.1) == sealed {
        Ok(sealed.1)
    } else {
        Err(DatabaseProblem::Corrupted { message: "the checksum of a record".to_owned() })
    }
}

/// One operation of a transaction.
#[derive(Debug)]
pub(crate) enum DatabaseStep {
    AddGroup(u64, GroupKey),
    RemoveGroup(u64),
    /// Group, order and record.
    Put(u64, u64, Vec<u8>),
    Remove(u64, u64),
}

/// A group that was read from the file.
pub(crate) struct StoredGroup {
    pub(crate) id: u64,
    pub(crate) key: GroupKey,
    /// Sorted by order.
    pub(crate) changes: Vec<(u64, RelayedChange)>,
}

pub(crate) struct Database {
    path: PathBuf,
    sync: DatabaseSync,
    /// `None` after a failure. The next commit opens the file again.
    file: Option<redb::Database>,
}

impl Database {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path, sync: DatabaseSync) -> Result<Self, DatabaseProblem> {
        let file = shielded(|| open(path))?;
        Ok(Self { path: path.to_owned(), sync, file: Some(file) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all stored groups.
    pub(crate) fn load(&self) -> Result<Vec<StoredGroup>, DatabaseProblem> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        shielded(|| load(file))
    }

    /// Performs all steps, or none. After a failure the caller may retry.
    pub(crate) fn commit(&mut self, steps: &[DatabaseStep]) -> Result<(), DatabaseProblem> {
        // Taken out, so that the file is closed if the commit fails.
        let file = match self.file.take() {
            Some(file) => file,
            None => shielded(|| open(&self.path))?,
        };
        shielded(|| commit(&file, steps, self.sync))?;
        self.file = Some(file);
        Ok(())
    }
}

fn open(path: &Path) -> Result<redb::Database, DatabaseProblem> {
    let mut builder = redb::Builder::new();
    // All changes are in memory as well, so the cache only serves the tree of the tables.
    let file = builder.create_with_file_format_v3(true).set_cache_size(16 << 20).create(path).map_err(problem)?;
    let transaction = file.begin_write().map_err(problem)?;
    // The scope ends the borrow of the transaction by the table.
    let found = {
        let mut meta = transaction.open_table(META).map_err(problem)?;
        let found = meta.get(SCHEMA_NAME).map_err(problem)?.map(|found| found.value());
        // The absence of a version means that redb created the file just now.
        if found.is_none() {
            meta.insert(SCHEMA_NAME, SCHEMA).map_err(problem)?;
        }
        found
    };
    match found {
        None => {
            // Opening creates the tables. Reading later fails if they do not exist.
            transaction.open_table(GROUPS).map_err(problem)?;
            transaction.open_table(CHANGES).map_err(problem)?;
            transaction.commit().map_err(problem)?;
        }
        Some(SCHEMA) => transaction.abort().map_err(problem)?,
        Some(found) => return Err(DatabaseProblem::OtherSchema { found, known: SCHEMA }),
    }
    Ok(file)
}

fn load(file: &redb::Database) -> Result<Vec<StoredGroup>, DatabaseProblem> {
    let transaction = file.begin_read().map_err(problem)?;
    let groups = transaction.open_table(GROUPS).map_err(problem)?;
    let changes = transaction.open_table(CHANGES).map_err(problem)?;
    let mut loaded = Vec::new();
    for group in groups.iter().map_err(problem)? {
        let (id, key) = group.map_err(problem)?;
        let id = id.value();
        let key = GroupKey(unseal((id, 0), key.value())?.to_vec());
        // Validated now, so that every later use of the key may rely on it.
        if key.decode().is_none() {
            return Err(DatabaseProblem::Corrupted { message: "a group's record".to_owned() });
        }
        let mut stored = StoredGroup { id, key, changes: Vec::new() };
        for change in changes.range((id, 0)..=(id, u64::MAX)).map_err(problem)? {
            let (place, record) = change.map_err(problem)?;
            let place = place.value();
            let Some(change) = RelayedChange::decode(unseal(place, record.value())?) else {
                return Err(DatabaseProblem::Corrupted { message: "a change's record".to_owned() });
            };
            stored.changes.push((place.1, change));
        }
        loaded.push(stored);
    }
    Ok(loaded)
}

fn commit(file: &redb::Database, steps: &[DatabaseStep], sync: DatabaseSync) -> Result<(), DatabaseProblem> {
    let mut transaction = file.begin_write().map_err(problem)?;
    transaction.set_durability(match sync {
        DatabaseSync::EachBatch => redb::Durability::Immediate,
        DatabaseSync::Later => redb::Durability::Eventual,
    });
    {
        let mut groups = transaction.open_table(GROUPS).map_err(problem)?;
        let mut changes = transaction.open_table(CHANGES).map_err(problem)?;
        for step in steps {
            match step {
                DatabaseStep::AddGroup(id, key) => drop(groups.insert(id, seal((*id, 0), &key.0)).map_err(problem)?),
                DatabaseStep::RemoveGroup(id) => drop(groups.remove(id).map_err(problem)?),
                DatabaseStep::Put(group, order, record) => {
                    let place = (*group, *order);
                    drop(changes.insert(place, seal(place, record)).map_err(problem)?);
                }
                DatabaseStep::Remove(group, order) => drop(changes.remove((*group, *order)).map_err(problem)?),
            }
        }
    }
    transaction.commit().map_err(problem)
}

/// Converts a panic of the database into an error.
fn shielded<T>(f: impl FnOnce() -> Result<T, DatabaseProblem>) -> Result<T, DatabaseProblem> {
    // A caller drops the database after any error, so nothing observes a state that the panic left half done.
    let panic = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => return result,
        Err(panic) => panic,
    };
    // `panic!` with arguments carries a `String`, without arguments a `&str`.
    let message = if let Some(message) = panic.downcast_ref::<String>() {
        message
    } else if let Some(message) = panic.downcast_ref::<&str>() {
        message
    } else {
        "it cannot be read"
    };
    Err(DatabaseProblem::Corrupted { message: message.to_owned() })
}

fn problem(error: impl Into<redb::Error>) -> DatabaseProblem {
    match error.into() {
        redb::Error::DatabaseAlreadyOpen => DatabaseProblem::InUse,
        // redb reports damaged content as an I/O error with invalid data.
        redb::Error::Io(error) if error.kind() != std::io::ErrorKind::InvalidData => {
            DatabaseProblem::System { message: error.to_string() }
        }
        error @ (redb::Error::PreviousIo | redb::Error::ValueTooLarge(_)) => {
            DatabaseProblem::System { message: error.to_string() }
        }
        error => DatabaseProblem::Corrupted { message: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::relay::{EndpointData, EntityId, GuidPrefix, Payload, PublicationData};
    use dds_core::writer::{SampleIdentity, SequenceNumber};
    use dds_core::{Duration, Guid, InstanceHandle, Time};
    use dds_rtps::types::SplitMix64;

    /// A test file that is removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let scratch = Self(std::env::temp_dir().join(format!("dds-{}-{name}.redb", std::process::id())));
            let _ = std::fs::remove_file(&scratch.0);
            scratch
        }

        fn open(&self) -> Result<Database, DatabaseProblem> {
            Database::open(&self.0, DatabaseSync::EachBatch)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn key() -> GroupKey {
        let mut bytes = Vec::new();
        let writer = Guid::new(GuidPrefix([0; 12]), EntityId([0, 0, 1, 2]));
        let endpoint = EndpointData::new(writer, "topic", "Type");
        PublicationData { endpoint, qos: dds_core::qos::DataWriterQos::default() }.encode(&mut bytes);
        GroupKey(bytes)
    }

    fn record(number: i64) -> Vec<u8> {
        let change = RelayedChange {
            disposes: false,
            instance: InstanceHandle::NIL,
            identity: SampleIdentity { writer: Guid::from_bytes([4; 16]), sequence_number: SequenceNumber(number) },
            source_timestamp: Time::from_unix_nanos(number),
            lifespan: Duration::INFINITE,
            payload: Some(Payload::copy_of(&[0, 1, 0, 0])),
        };
        change.encode()
    }

    #[test]
    fn committed_steps_survive_reopening() {
        let scratch = Scratch::new("again");
        let mut database = scratch.open().unwrap();
        let put = |order| DatabaseStep::Put(3, order, record(order as i64));
        database.commit(&[DatabaseStep::AddGroup(3, key()), put(10), put(11), put(12)]).unwrap();
        database.commit(&[DatabaseStep::Remove(3, 11)]).unwrap();
        drop(database);
        let loaded = scratch.open().unwrap().load().unwrap();
        let order_of = |(order, change): &(u64, RelayedChange)| (*order, change.identity.sequence_number.0);
        let orders = loaded[0].changes.iter().map(order_of);
        assert_eq!(orders.collect::<Vec<_>>(), [(10, 10), (12, 12)]);
        assert_eq!((loaded.len(), loaded[0].id, &loaded[0].key), (1, 3, &key()));
    }

    #[test]
    fn second_service_finds_file_in_use() {
        let scratch = Scratch::new("use");
        let _first = scratch.open().unwrap();
        assert_eq!(scratch.open().err(), Some(DatabaseProblem::InUse));
    }

    #[test]
    fn other_schema_is_refused_without_change() {
        let scratch = Scratch::new("form");
        drop(scratch.open().unwrap());
        let file = redb::Database::open(&scratch.0).unwrap();
        let transaction = file.begin_write().unwrap();
        transaction.open_table(META).unwrap().insert(SCHEMA_NAME, 99).unwrap();
        transaction.commit().unwrap();
        drop(file);
        assert_eq!(scratch.open().err(), Some(DatabaseProblem::OtherSchema { found: 99, known: SCHEMA }));
        assert_eq!(scratch.open().err(), Some(DatabaseProblem::OtherSchema { found: 99, known: SCHEMA }));
    }

    #[test]
    fn missing_path_reports_system_error() {
        let problem = Database::open(Path::new("/nowhere/at/all.redb"), DatabaseSync::Later).err();
        assert!(matches!(problem, Some(DatabaseProblem::System { .. })), "{problem:?}");
    }

    #[test]
    fn damaged_file_returns_error_without_panic() {
        let scratch = Scratch::new("damage");
        std::fs::write(&scratch.0, b"this is no database, but it is long enough to have been one".repeat(100)).unwrap();
        let problem = scratch.open().err().unwrap();
        assert!(matches!(&problem, DatabaseProblem::Corrupted { .. }), "{problem:?}");
        assert!(problem.to_string().contains("move the file away"), "{problem}");
        std::fs::remove_file(&scratch.0).unwrap();
        let mut database = scratch.open().unwrap();
        let puts = (0..200).map(|order| DatabaseStep::Put(3, order, record(order as i64)));
        database.commit(&std::iter::once(DatabaseStep::AddGroup(3, key())).chain(puts).collect::<Vec<_>>()).unwrap();
        drop(database);
        let whole = std::fs::read(&scratch.0).unwrap();
        let mut random = SplitMix64::new(1);
        let mut damaged = 0;
        for _ in 0..100 {
            let mut bytes = whole.clone();
            let at = random.draw() as usize % bytes.len();
            let len = 1 + random.draw() as usize % 64;
            bytes[at..].iter_mut().take(len).for_each(|byte| *byte ^= random.draw() as u8);
            if random.draw() % 4 == 0 {
                bytes.truncate(at);
            }
            std::fs::write(&scratch.0, &bytes).unwrap();
            // Opening or loading may fail or succeed, but must not panic.
            let loaded = scratch.open().and_then(|database| database.load());
            damaged += u32::from(loaded.is_err());
        }
        assert!(damaged > 0);
    }

    /// A bit of a stored payload may flip on the disk. The service must not publish that payload.
    #[test]
    fn flipped_bit_is_never_loaded_as_a_sample() {
        let scratch = Scratch::new("flip");
        let mut database = scratch.open().unwrap();
        let puts = (0..50).map(|order| DatabaseStep::Put(3, order, [record(order as i64), vec![0xaa; 200]].concat()));
        database.commit(&std::iter::once(DatabaseStep::AddGroup(3, key())).chain(puts).collect::<Vec<_>>()).unwrap();
        drop(database);
        let whole = std::fs::read(&scratch.0).unwrap();
        let is_sample = |(order, change): &(u64, RelayedChange)| {
            change.encode() == [record(*order as i64), vec![0xaa; 200]].concat()
        };
        let payloads: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == 0xaa).step_by(97).collect();
        assert!(payloads.len() >= 50, "the file has all payloads");
        let mut random = SplitMix64::new(1);
        let anywhere: Vec<usize> = (0..100).map(|_| random.draw() as usize % whole.len()).collect();
        for at in payloads.into_iter().chain(anywhere) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (random.draw() % 8);
            std::fs::write(&scratch.0, &bytes).unwrap();
            if let Ok(groups) = scratch.open().and_then(|database| database.load()) {
                assert!(groups.iter().all(|group| group.key == key()), "a changed group with a flip at {at}");
                assert!(groups.iter().flat_map(|group| &group.changes).all(is_sample), "a flip at {at} is loaded");
            }
        }
    }
}
