//! A forked child and the participants of its parent. The child may drop them, and gets an error for every other call.
//!
//! The child has one thread. Locks of other threads may be held in it forever, so the child must not wait for one.

use crate::support::{PATIENCE, World};
use dds_core::condition::WaitSet;
use dds_core::config::Receiving;
use dds_core::error::{CreateErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::qos::{Preset, PublisherQos, TopicQos};
use dds_core::status::{StatusMask, WriterEvent};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, alarm, fork};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

/// Runs `child` in a forked process, and fails if it panics or does not return in time.
fn in_a_child(child: impl FnOnce()) {
    // SAFETY: the child runs nothing but `child` and ends by `_exit`. This test covers its calls beyond those that are
    // safe after a fork. If one hangs on a lock of the parent, the alarm ends the child.
    #[allow(unsafe_code, reason = "the test is about fork")]
    let forked = unsafe { fork() };
    match forked.unwrap() {
        ForkResult::Child => {
            // A child that hangs is ended by the alarm.
            alarm::set(10);
            let outcome = catch_unwind(AssertUnwindSafe(child));
            if let Err(panic) = &outcome {
                // The test harness of the child captures the message and drops it.
                let literal = panic.downcast_ref::<&str>().copied();
                let message = panic.downcast_ref::<String>().map(String::as_str).or(literal).unwrap_or("no message");
                let _ = nix::unistd::write(std::io::stderr(), format!("the forked child: {message}\n").as_bytes());
            }
            // SAFETY: ends the process without running code that belongs to the parent.
            #[allow(unsafe_code, reason = "the test is about fork")]
            unsafe {
                nix::libc::_exit(i32::from(outcome.is_err()))
            }
        }
        ForkResult::Parent { child } => assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0))),
    }
}

struct Parent {
    participant: DomainParticipant,
    writer: DataWriter<Count>,
    reader: DataReader<Count>,
    remote: DomainParticipant,
    remote_reader: DataReader<Count>,
}

fn parent() -> Parent {
    parent_by(Receiving::Thread, true)
}

fn parent_by(receive: Receiving, udp_only: bool) -> Parent {
    let world = World::new();
    let participant = world.builder().receive(receive).build().unwrap();
    let remote = world.builder().udp_only(udp_only).receive(receive).build().unwrap();
    let writer = participant.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    let reader = participant.reader_builder::<Count>("t").qos(Preset::Event).on_event(|_, _| ()).build().unwrap();
    let remote_reader = remote.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    Parent { participant, writer, reader, remote, remote_reader }
}

/// Asserts that the parent's entities still work, and that no peer received a disposal.
fn lives_on(parent: &Parent, count: u64) {
    // The remote reader would miss a sample if the child had disturbed the parent.
    parent.writer.write(&Count { count }).unwrap();
    assert_eq!(parent.remote_reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count }));
    assert_eq!(parent.remote_reader.subscription_matched().current_count, 1);
    assert_eq!(parent.remote.discovered_participants().len(), 1);
}

/// Waits until the writer's samples go through shared memory.
#[cfg(all(target_os = "linux", feature = "shm"))]
#[allow(clippy::disallowed_methods, reason = "no event says how samples are sent")]
fn wait_for_shared_memory(parent: &Parent) {
    let start = std::time::Instant::now();
    while !parent.writer.explain_matches().iter().any(|report| report.shared_memory) {
        assert!(start.elapsed().as_secs() < 30, "{:?}", parent.writer.explain_matches());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The child has the rings of its parent mapped. A record or a wake of the child would break them.
#[cfg(all(target_os = "linux", feature = "shm"))]
#[test]
fn forked_child_leaves_shared_memory_of_parent_alone() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let mut parent = Some(parent_by(receive, false));
        wait_for_shared_memory(parent.as_ref().unwrap());
        for count in 0..10 {
            in_a_child(|| {
                let parent = parent.as_ref().unwrap();
                for _ in 0..5 {
                    assert_eq!(parent.writer.write(&Count { count: 99 }).unwrap_err().kind(), &WriteErrorKind::Forked);
                }
            });
            lives_on(parent.as_ref().unwrap(), count);
        }
        // The mappings of the child end here, and the path of its parent goes on.
        in_a_child(|| drop(parent.take()));
        let parent = parent.as_ref().unwrap();
        let before = parent.participant.traffic().sent_shared;
        (10..20).for_each(|count| lives_on(parent, count));
        assert!(parent.participant.traffic().sent_shared >= before + 10);
    }
}

#[test]
fn forked_child_gets_error() {
    let parent = parent();
    let wait_set = WaitSet::new(&parent.participant);
    in_a_child(|| {
        let Parent { participant, writer, reader, .. } = &parent;
        assert_eq!(participant.writer::<Count>("u").unwrap_err().kind(), &CreateErrorKind::Forked);
        assert_eq!(participant.reader::<Count>("u").unwrap_err().kind(), &CreateErrorKind::Forked);
        assert_eq!(participant.publisher(PublisherQos::default()).unwrap_err().kind(), &CreateErrorKind::Forked);
        assert_eq!(participant.topic::<Count>("u", TopicQos::default()).unwrap_err().kind(), &CreateErrorKind::Forked);
        assert_eq!(writer.write(&Count { count: 99 }).unwrap_err().kind(), &WriteErrorKind::Forked);
        let events = writer.events();
        match events.next_event().block() {
            Ok(event) => assert!(matches!(event, WriterEvent::Matched(_)), "{event:?}"),
            // A thread of the parent held the lock of the writer at the fork.
            Err(error) => assert_eq!(error.kind(), &WaitErrorKind::Forked),
        }
        // No wait may block in the child, because no thread would end it.
        let waits = [
            writer.wait_for_readers(9).block(),
            reader.wait_for_writers(9).block(),
            wait_set.wait().block().map(|_| ()),
            events.next_event().block().map(|_| ()),
            participant.shutdown().block(),
        ];
        for wait in waits {
            assert_eq!(wait.unwrap_err().kind(), &WaitErrorKind::Forked);
        }
        struct Nothing;
        impl dds_core::listener::DataReaderListener<Count> for Nothing {}
        assert_eq!(reader.set_listener(StatusMask::ALL, Nothing).unwrap_err().kind(), &CreateErrorKind::Forked);
    });
    lives_on(&parent, 1);
}

#[test]
fn forked_child_may_drop_entities_of_parent() {
    for udp_only in [true, false] {
        let parent = parent_by(Receiving::Thread, udp_only);
        in_a_child(|| {
            parent.writer.close();
            parent.reader.close();
            parent.participant.close();
            assert!(parent.writer.is_closed() && parent.reader.is_closed() && parent.participant.is_closed());
        });
        lives_on(&parent, 1);
        // An option, so that the child can drop entities that the parent keeps.
        let mut parent = Some(parent);
        in_a_child(|| drop(parent.take()));
        lives_on(parent.as_ref().unwrap(), 2);
    }
}

/// The child has the descriptors that its parent waits for, and must leave them alone.
#[test]
fn forked_child_does_not_receive_for_parent() {
    for udp_only in [true, false] {
        let parent = parent_by(Receiving::Caller, udp_only);
        // With `Receiving::Caller`, a waiting thread reads the sockets itself.
        for count in 0..10 {
            in_a_child(|| {
                let wait = parent.reader.wait_for_writers(9).block_for(PATIENCE);
                assert_eq!(wait.unwrap_err().kind(), &WaitErrorKind::Forked);
            });
            lives_on(&parent, count);
        }
        let mut parent = Some(parent);
        in_a_child(|| drop(parent.take()));
        lives_on(parent.as_ref().unwrap(), 10);
    }
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The child does not wait for locks that other threads of the parent held at the fork.
#[test]
fn forked_child_of_busy_process_does_not_hang() {
    for udp_only in [true, false] {
        fork_in_a_busy_process(&parent_by(Receiving::Thread, udp_only));
    }
}

fn fork_in_a_busy_process(parent: &Parent) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Acquire) {
                // The remote reader is not emptied, so the history becomes full at some time. That works as well.
                let _ = parent.writer.try_write(&Count { count });
                let _ = parent.reader.take();
                count += 1;
            }
        });
        // The guard stops the threads in any case, so that a failure is not a hang.
        let _stop = Stop(&stop);
        for _ in 0..25 {
            in_a_child(|| {
                assert!(parent.participant.writer::<Count>("u").is_err());
                let _ = parent.writer.publication_matched();
                let _ = parent.reader.subscription_matched();
                parent.reader.close();
                parent.writer.close();
                parent.participant.close();
            });
        }
    });
}

#[test]
fn forked_child_may_create_participants() {
    let parent = parent();
    in_a_child(|| {
        let world = World::new();
        let (one, other) = (world.participant(), world.udp_participant());
        let reader = other.reader_builder::<Count>("t").qos(Preset::Event).build().unwrap();
        let writer = one.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer.write(&Count { count: 5 }).unwrap();
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Count { count: 5 }));
    });
    lives_on(&parent, 1);
}

#[test]
fn fork_gives_participants_different_guids() {
    use std::io::{Read, Write};
    let parent = parent();
    let (mut here, mut there) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut prefixes = vec![parent.participant.guid().prefix.0, parent.remote.guid().prefix.0];
    for _ in 0..4 {
        // A child must not reuse the random numbers of its parent.
        in_a_child(|| there.write_all(&World::new().participant().guid().prefix.0).unwrap());
        let mut prefix = [0; 12];
        here.read_exact(&mut prefix).unwrap();
        prefixes.extend([prefix, World::new().participant().guid().prefix.0]);
    }
    prefixes.sort_unstable();
    prefixes.dedup();
    assert_eq!(prefixes.len(), 10);
}

/// A program that this one starts does not inherit the sockets.
#[test]
fn exec_closes_sockets() {
    let _parent = parent();
    let mut sockets = 0;
    for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
        let Ok(target) = std::fs::read_link(entry.as_ref().unwrap().path()) else { continue };
        if !target.to_string_lossy().starts_with("socket:") {
            continue;
        }
        let name = entry.unwrap().file_name();
        let Ok(info) = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", name.to_string_lossy())) else {
            continue;
        };
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
        // The flags are octal. This bit closes the descriptor in `exec`.
        assert_ne!(u32::from_str_radix(flags, 8).unwrap() & 0o2_000_000, 0, "O_CLOEXEC is missing on {target:?}");
        sockets += 1;
    }
    assert!(sockets >= 4, "{sockets}");
}
