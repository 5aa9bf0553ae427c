//! A durability service on a full disk: the system lets its real file grow no further.
//!
//! The test runs in a process of its own, because the limit applies to the whole process.

use crate::support::alone;
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, DurabilityService as ServiceQos};
use dds_core::sim::Simulation;
use dds_core::{DataReader, DdsType, Duration};
use dds_durability::DurabilityService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use std::path::Path;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(DdsType)]
struct Scan {
    number: u32,
    points: Vec<u8>,
}

fn scan(number: u32) -> Scan {
    Scan { number, points: vec![number as u8; 60_000] }
}

fn service(simulation: &Simulation, path: &Path) -> DurabilityService {
    let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
    DurabilityService::builder().database(path).start(participant).unwrap()
}

fn late(simulation: &Simulation, host: &str) -> DataReader<Scan> {
    let qos = DataReaderQos::default().reliable().keep_all().durability(Durability::Persistent);
    let reader = simulation.participant(host, 0).unwrap().reader_builder("scans").qos(qos).build().unwrap();
    simulation.run_for(Duration::from_secs(5));
    reader
}

fn numbers(reader: &DataReader<Scan>) -> Vec<u32> {
    let mut numbers: Vec<u32> = reader.take().unwrap().into_data().map(|scan| scan.number).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn full_disk_delays_samples_without_loss() {
    if !alone("full_disk::full_disk_delays_samples_without_loss") {
        return;
    }
    // Without the mask the system ends the process instead of returning an error. Threads that the test starts inherit
    // it.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    signals.thread_block().unwrap();
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    let path = std::env::temp_dir().join(format!("dds-full-disk-{}.redb", std::process::id()));
    let _ = std::fs::remove_file(&path);

    let simulation = Simulation::new(1);
    let keeper = service(&simulation, &path);
    let robot = simulation.participant("robot", 0).unwrap();
    let kept = ServiceQos::default().keep_all();
    let qos = DataWriterQos::default().reliable().keep_all().durability(Durability::Persistent);
    let writer = robot.writer_builder("scans").qos(qos.durability_service(kept)).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (0..3).for_each(|number| writer.write(&scan(number)).unwrap());
    assert!(simulation.run_until(PATIENCE, || keeper.status().changes == 3));

    setrlimit(Resource::RLIMIT_FSIZE, std::fs::metadata(&path).unwrap().len(), most).unwrap();
    let mut written = 3;
    let stalls = simulation.run_until(PATIENCE, || {
        if keeper.status().database_problem.is_none() && written < 200 {
            writer.write(&scan(written)).unwrap();
            written += 1;
        }
        keeper.status().database_problem.is_some()
    });
    let status = keeper.status();
    assert!(stalls, "{status:?}");
    assert!(
        status.database_problem.as_ref().is_some_and(|problem| problem.contains("the system refuses the file")),
        "{status:?}"
    );
    // The service retries each second, and reports the failure for as long as it lasts.
    simulation.run_for(Duration::from_secs(10));
    assert_eq!((keeper.status().commits, keeper.status().database_problem.is_some()), (status.commits, true));
    let taken_in = keeper.status().taken_in;
    (written..written + 3).for_each(|number| writer.write(&scan(number)).unwrap());
    written += 3;
    simulation.run_for(Duration::from_secs(10));
    assert_eq!(keeper.status().taken_in, taken_in, "no persistent sample is accepted");

    setrlimit(Resource::RLIMIT_FSIZE, most, most).unwrap();
    let goes_on = simulation.run_until(PATIENCE, || {
        keeper.status().database_problem.is_none() && keeper.status().changes == written as usize
    });
    assert!(goes_on, "{:?}", keeper.status());
    drop((writer, robot));
    assert_eq!(numbers(&late(&simulation, "station")), (0..written).collect::<Vec<_>>());
    drop((keeper, simulation));

    let simulation = Simulation::new(2);
    let keeper = service(&simulation, &path);
    assert_eq!(keeper.status().changes, written as usize);
    assert_eq!(numbers(&late(&simulation, "station")), (0..written).collect::<Vec<_>>());
    drop(keeper);
    let _ = std::fs::remove_file(&path);
}
