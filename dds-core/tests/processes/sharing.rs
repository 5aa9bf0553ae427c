//! Shared memory between processes: some are killed or stopped, belong to another user, or have another network.

#![allow(clippy::disallowed_methods, reason = "it is about real processes")]

use crate::support::PATIENCE;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Scope};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const TAG: &str = "DDS_SHARING_TEST_TAG";
const ROLE: &str = "DDS_SHARING_TEST_ROLE";

/// Peers that are killed in one test. `DDS_TEST_LONG` makes it ten times as many.
const ROUNDS: u32 = 15;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Frame {
    process: u32,
    number: u32,
    bytes: Vec<u8>,
}

/// Frames of lengths that use the ring, the pool, and fragments.
fn frame(number: u32) -> Frame {
    let len = [10, 1_000, 5_000, 100, 20_000, 150_000][number as usize % 6];
    Frame { process: std::process::id(), number, bytes: vec![number as u8; len] }
}

fn new_tag() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("sharing-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn builder(tag: &str) -> DomainParticipantBuilder {
    DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag.to_owned())
}

fn rounds() -> u32 {
    if std::env::var_os("DDS_TEST_LONG").is_some() { 10 * ROUNDS } else { ROUNDS }
}

fn writer(participant: &DomainParticipant) -> DataWriter<Frame> {
    participant.writer_builder("frames").qos(DataWriterQos::default().reliable().keep_last(100)).build().unwrap()
}

fn reader(participant: &DomainParticipant) -> DataReader<Frame> {
    participant.reader_builder("frames").qos(DataReaderQos::default().reliable().keep_all()).build().unwrap()
}

/// The other process: it writes or reads until it is killed or its input ends.
#[test]
#[ignore = "is started by the others"]
fn peer() {
    let (Ok(tag), Ok(role)) = (std::env::var(TAG), std::env::var(ROLE)) else { return };
    let participant = builder(&tag).build().unwrap();
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    if role == "writes" {
        let limits = ResourceLimits::NONE.max_samples(100);
        let qos = DataWriterQos::default().reliable().keep_all().resource_limits(limits);
        let writer = participant.writer_builder::<Frame>("frames").qos(qos).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        for number in 0.. {
            // Times out while the reader is behind.
            while writer.write(&frame(number)).is_err() {}
        }
    }
    let qos = DataReaderQos::default().keep_all();
    let qos = if role == "looks" { qos } else { qos.reliable() };
    let reader = participant.reader_builder::<Frame>("frames").qos(qos).build().unwrap();
    loop {
        // The test may write nothing for a while.
        let _ = reader.next_sample().block_for(PATIENCE);
    }
}

struct Peer(Child);

impl Peer {
    fn start(tag: &str, role: &str) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), tag, role)
    }

    fn run(mut command: Command, tag: &str, role: &str) -> Self {
        command.args(["--exact", "sharing::peer", "--ignored", "--nocapture"]).env(TAG, tag).env(ROLE, role);
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().try_into().unwrap()), signal).unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn sharing(writer: &DataWriter<Frame>) -> usize {
    writer.explain_matches().iter().filter(|report| report.shared_memory).count()
}

/// Checks that the samples of a reader have consecutive numbers, from `next` on.
fn take(reader: &DataReader<Frame>, next: &mut u32) {
    for data in reader.take().unwrap().into_data() {
        assert_eq!((data.number, data.bytes), (*next, frame(*next).bytes));
        *next += 1;
    }
}

#[test]
fn killed_readers_cost_the_others_no_sample() {
    let tag = new_tag();
    let (from, to) = (builder(&tag).build().unwrap(), builder(&tag).build().unwrap());
    let (writer, reader) = (writer(&from), reader(&to));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_until("a path to the survivor", || sharing(&writer) == 1);
    let (mut written, mut next) = (0, 0);
    for round in 0..rounds() {
        let killed = Peer::start(&tag, "reads");
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        if round % 2 == 0 {
            wait_until("a path to the reader that is killed", || sharing(&writer) == 2);
        }
        // The history keeps 100 samples, so the survivor may not be further behind.
        for turn in 0..40 {
            if turn == round * 3 % 40 {
                killed.send(Signal::SIGKILL);
            }
            writer.write(&frame(written)).unwrap();
            written += 1;
        }
        drop(killed);
        wait_until("all samples at the survivor", || {
            take(&reader, &mut next);
            next == written
        });
        wait_until("the end of the reader", || writer.publication_matched().current_count == 1);
    }
    assert_eq!(sharing(&writer), 1);
    assert!(from.traffic().sent_shared > 0);
}

#[test]
fn killed_writers_leave_whole_samples_and_no_path() {
    let tag = new_tag();
    let participant = builder(&tag).build().unwrap();
    let reader = reader(&participant);
    let mut shared = 0;
    for round in 0..rounds() {
        let killed = Peer::start(&tag, "writes");
        let (mut next, mut process) = (0, None);
        let enough = 20 + 31 * (round % 5);
        wait_until("samples", || {
            for data in reader.take().unwrap().into_data() {
                // Samples of a writer that was killed before.
                if process.is_none() && data.number != 0 {
                    continue;
                }
                assert_eq!(*process.get_or_insert(data.process), data.process);
                assert_eq!((data.number, data.bytes), (next, frame(next).bytes));
                next += 1;
            }
            next > enough
        });
        // The answers of the reader.
        wait_until("a path", || participant.traffic().sent_shared > shared);
        shared = participant.traffic().sent_shared;
        killed.send(Signal::SIGKILL);
        drop(killed);
        wait_until("the end of the writer", || reader.subscription_matched().current_count == 0);
        assert!(participant.discovered_participants().is_empty());
        let _ = reader.take().unwrap();
    }
}

/// Its path is full soon, and the others go on. It reads again afterward.
#[test]
fn stopped_reader_does_not_stop_the_others() {
    let tag = new_tag();
    let (from, to) = (builder(&tag).build().unwrap(), builder(&tag).build().unwrap());
    let qos = DataWriterQos::default().best_effort();
    let writer: DataWriter<Frame> = from.writer_builder("frames").qos(qos).build().unwrap();
    let qos = DataReaderQos::default().keep_all();
    let reader: DataReader<Frame> = to.reader_builder("frames").qos(qos).build().unwrap();
    // Best effort, too: a reliable reader would not match.
    let stopped = Peer::start(&tag, "looks");
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    wait_until("two paths", || sharing(&writer) == 2);
    stopped.send(Signal::SIGSTOP);
    let mut received = 0;
    for number in 0..3_000 {
        writer.write(&frame(4 * (number / 4))).unwrap();
        received += reader.take().unwrap().len();
        if number % 50 == 0 {
            wait_until("samples at the other reader", || {
                received += reader.take().unwrap().len();
                received > number as usize / 2
            });
        }
    }
    assert!(from.traffic().shared_memory_full > 0);
    stopped.send(Signal::SIGCONT);
    assert_eq!(writer.publication_matched().current_count, 2);
    // There is room again.
    wait_until("room", || {
        let before = from.traffic();
        writer.write(&frame(1)).unwrap();
        let after = from.traffic();
        after.sent_shared - before.sent_shared == 2 && after.shared_memory_full == before.shared_memory_full
    });
}

#[test]
#[ignore = "needs root: .ci/run processes"]
fn process_of_another_user_is_reached_by_udp() {
    let tag = new_tag();
    let participant = builder(&tag).build().unwrap();
    let writer = writer(&participant);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.uid(65_534).gid(65_534);
    let peer = Peer::run(command, &tag, "reads");
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (0..30).for_each(|number| writer.write(&frame(number)).map(drop).unwrap());
    writer.acknowledged().block_for(PATIENCE).unwrap();
    let mut text = String::new();
    wait_until("a reason", || {
        text = writer.explain_matches()[0].to_string();
        text.contains("user")
    });
    assert!(text.contains("by UDP and not through shared memory"), "{text}");
    assert_eq!(participant.traffic().sent_shared, 0);
    drop(peer);
}

/// A program that connects under the name of a participant, and writes random bytes into its socket.
///
/// The rings of a path are tested in the same way by `dds-shm`.
#[test]
fn malformed_handshakes_disturb_no_path() {
    let tag = new_tag();
    let (from, to) = (builder(&tag).build().unwrap(), builder(&tag).build().unwrap());
    let (writer, reader) = (writer(&from), reader(&to));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_until("a path", || sharing(&writer) == 1);
    let name = |participant: &DomainParticipant| {
        let digits = participant.guid().prefix.0.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let address = format!("dds-shm-{digits}00000000");
        nix::sys::socket::UnixAddr::new_abstract(address.as_bytes()).unwrap()
    };
    let (mut sockets, mut next, mut random) = (Vec::new(), 0, 1_u64);
    for round in 0..200_u32 {
        use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, connect, send, socket};
        let attacker = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_NONBLOCK, None).unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&attacker);
        // A full backlog refuses some of them.
        if connect(fd, &name([&from, &to][round as usize % 2])).is_ok() {
            let mut bytes = vec![0; round as usize % 300];
            for byte in &mut bytes {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (random >> 56) as u8;
            }
            let _ = send(fd, &bytes, MsgFlags::MSG_NOSIGNAL);
        }
        // Half of them stay, and say nothing more.
        if round % 4 < 2 {
            sockets.push(attacker);
        }
        writer.write(&frame(round)).unwrap();
        wait_until("the sample", || {
            take(&reader, &mut next);
            next > round
        });
    }
    assert_eq!(sharing(&writer), 1);
    assert_eq!(from.traffic().shared_memory_full, 0);
}
