//! Reliable delivery over a network that loses, repeats, reorders and refuses datagrams, including those of discovery.

use crate::support::{PATIENCE, World};
use dds_core::config::ChecksumKind;
use dds_core::listener::Delivery;
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Scope};
use dds_rtps::link::{Burst, Conditions};
use dds_rtps::transport::faults::Faults;
use std::sync::mpsc;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Block {
    count: u32,
    bytes: Vec<u8>,
}

struct Link {
    writer: DataWriter<Block>,
    reader: DataReader<Block>,
    _participants: [DomainParticipant; 2],
}

fn under(seed: u64, conditions: Conditions) -> Faults {
    Faults { seed, conditions, ..Faults::default() }
}

/// Datagrams take up to a millisecond. Another datagram may overtake this share of them.
fn reordering(share: f64) -> Conditions {
    Conditions::immediate().delayed(Duration::ZERO, Duration::from_millis(1)).reordering(share)
}

/// Creates two participants that communicate by UDP, with faults in both directions.
fn participants(faults: Faults) -> [DomainParticipant; 2] {
    let world = World::new();
    [1, 2].map(|seed| {
        world.builder().udp_only(true).faults(Faults { seed: faults.seed + seed, ..faults }).build().unwrap()
    })
}

fn block(count: u32, len: usize) -> Block {
    Block { count, bytes: (0..len).map(|index| (index as u32 ^ count) as u8).collect() }
}

fn link(faults: Faults) -> Link {
    link_of(participants(faults))
}

/// Creates two participants of which one applies faults to the datagrams that it sends and receives.
fn link_to_one(faults: Faults) -> Link {
    let world = World::new();
    let from = world.builder().udp_only(true).build().unwrap();
    let to = world.builder().udp_only(true).faults(faults);
    link_of([from, to.receive_faults(Faults { seed: faults.seed + 1, ..faults }).build().unwrap()])
}

fn link_of(participants: [DomainParticipant; 2]) -> Link {
    let [from, to] = &participants;
    let reader = to.reader_builder("block").qos(Preset::Event.reader()).build().unwrap();
    let writer = from.writer_builder("block").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    Link { writer, reader, _participants: participants }
}

fn all_arrive_in_order(faults: Faults, samples: u32, len: usize) {
    all_arrive_over(&link(faults), faults, samples, len);
}

fn all_arrive_over(link: &Link, faults: Faults, samples: u32, len: usize) {
    let Link { writer, reader, .. } = link;
    std::thread::scope(|scope| {
        scope.spawn(|| (0..samples).for_each(|count| writer.write(&block(count, len)).unwrap()));
        for count in 0..samples {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert!(sample.data == Some(block(count, len)), "sample {count} under {faults:?}");
        }
    });
    writer.acknowledged().block_for(PATIENCE).unwrap();
    assert_eq!(reader.take().unwrap().len(), 0, "something arrived twice under {faults:?}");
}

#[test]
fn lost_datagrams_are_repaired() {
    for share in [0.1, 0.3] {
        all_arrive_in_order(under(1, Conditions::immediate().lossy(share)), 200, 100);
    }
}

#[test]
fn lost_fragments_are_repaired() {
    for share in [0.1, 0.3] {
        all_arrive_in_order(under(11, Conditions::immediate().lossy(share)), 8, 300_000);
    }
}

#[test]
fn repeated_datagrams_deliver_samples_once() {
    all_arrive_in_order(under(2, Conditions::immediate().duplicating(0.5)), 200, 100);
}

#[test]
fn reordered_datagrams_deliver_in_order() {
    all_arrive_in_order(under(3, reordering(0.3)), 200, 100);
}

#[test]
fn full_socket_sends_later_in_order() {
    all_arrive_in_order(Faults { seed: 4, blocked: 0.3, ..Faults::default() }, 200, 100);
}

#[test]
fn repeated_refusals_keep_order() {
    all_arrive_in_order(Faults { seed: 41, blocked: 0.05, blocked_in_a_row: 20, ..Faults::default() }, 200, 100);
}

#[test]
fn consecutive_losses_are_repaired() {
    let burst = Burst { every: Duration::from_millis(20), lasting: Duration::from_millis(5), loss: 1.0 };
    all_arrive_in_order(under(42, Conditions { burst: Some(burst), ..Conditions::immediate() }), 200, 100);
}

#[test]
fn delayed_datagrams_deliver_in_order() {
    let slow = Conditions::immediate().delayed(Duration::from_millis(5), Duration::from_millis(10)).reordering(0.5);
    all_arrive_in_order(under(43, slow), 100, 100);
    all_arrive_in_order(under(44, slow.lossy(0.05)), 4, 100_000);
}

/// A link of 4 MB/s whose router queues 20 ms of data: most fragments of a large sample are lost.
#[test]
fn losses_of_narrow_link_are_repaired() {
    let line = Conditions { queue: 80_000, ..Conditions::immediate().limited_to(4_000_000) };
    all_arrive_in_order(under(45, line), 3, 300_000);
}

/// With checksums, no damaged message is accepted.
#[test]
fn damaged_datagrams_are_counted_and_repaired() {
    let world = World::new();
    let faults = under(46, Conditions::immediate().damaging(0.2));
    let participant = |seed: u64| {
        let builder = world.builder().udp_only(true).message_checksums(ChecksumKind::Crc32c);
        builder.faults(Faults { seed: faults.seed + seed, ..faults }).build().unwrap()
    };
    let [from, to] = [1, 2].map(participant);
    let reader = to.reader_builder("block").qos(Preset::Event.reader()).build().unwrap();
    let writer = from.writer_builder("block").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for count in 0..200 {
        writer.write(&block(count, 100)).unwrap();
        assert!(reader.next_sample().block_for(PATIENCE).unwrap().data == Some(block(count, 100)), "sample {count}");
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    assert!(to.traffic().damaged > 0, "{:?}", to.traffic());
    assert!(from.traffic().damaged > 0, "{:?}", from.traffic());
}

#[test]
fn truncated_datagrams_are_repaired() {
    all_arrive_in_order(under(6, Conditions { truncated: 0.2, ..Conditions::immediate() }), 200, 100);
}

#[test]
fn fragments_survive_all_faults_together() {
    let conditions = Conditions { truncated: 0.02, ..reordering(0.1).lossy(0.05).duplicating(0.1) };
    all_arrive_in_order(Faults { blocked: 0.1, ..under(5, conditions) }, 20, 300_000);
}

/// The other program injects no faults, so this side applies all of them.
#[test]
fn faults_of_one_side_apply_in_both_directions() {
    let base = Conditions::immediate();
    let slow = base.delayed(Duration::from_millis(2), Duration::from_millis(4)).reordering(0.5);
    for (seed, conditions, samples, len) in [
        (61, base.lossy(0.3), 200, 100),
        (63, reordering(0.3).duplicating(0.5), 200, 100),
        (65, Conditions { truncated: 0.1, ..base.lossy(0.05) }, 8, 300_000),
        (67, slow.lossy(0.05), 4, 100_000),
    ] {
        let faults = under(seed, conditions);
        all_arrive_over(&link_to_one(faults), faults, samples, len);
    }
}

#[test]
fn late_joiner_gets_history_over_lossy_network() {
    const SAMPLES: u32 = 50;
    let [from, to] = &participants(under(7, reordering(0.1).lossy(0.2)));
    let qos = Preset::Event.writer().transient_local();
    let writer = from.writer_builder("block").qos(qos).build().unwrap();
    (0..SAMPLES).for_each(|count| writer.write(&block(count, 1_000)).unwrap());
    let qos = Preset::Event.reader().transient_local();
    let reader = to.reader_builder::<Block>("block").qos(qos).build().unwrap();
    for count in 0..SAMPLES {
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(sample.data == Some(block(count, 1_000)), "sample {count}");
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    assert_eq!(reader.take().unwrap().len(), 0);
}

#[test]
fn checksummed_messages_arrive_complete() {
    let cut_short = under(21, Conditions { truncated: 0.1, ..Conditions::immediate() });
    // Domains of their own: participants also count the damaged announcements of other worlds in their domain.
    let mut domain = 60;
    for kind in [ChecksumKind::Crc32c, ChecksumKind::Crc64, ChecksumKind::Md5] {
        for faults in [Faults::default(), cut_short] {
            domain += 1;
            let world = World::new();
            let participant = |_| {
                let builder = DomainParticipant::builder(domain).ignore_environment().scope(Scope::Host);
                let builder = builder.domain_tag(world.tag()).udp_only(true);
                builder.message_checksums(kind).faults(faults).build().unwrap()
            };
            let [from, to] = [1, 2].map(participant);
            let reader = to.reader_builder("block").qos(Preset::Event.reader()).build().unwrap();
            let writer = from.writer_builder("block").qos(Preset::Event.writer()).build().unwrap();
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            writer.write(&block(1, 100_000)).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert!(sample.data == Some(block(1, 100_000)), "{kind:?}");
            // A truncated message has lost its checksum.
            assert!(faults == cut_short || to.traffic().damaged == 0, "{kind:?}");
        }
    }
}

/// Socket buffers hold a few datagrams. A slow listener holds up the receive thread until a datagram was dropped.
#[test]
fn overflow_of_small_buffers_is_repaired() {
    const ROOM: usize = 4 << 10;
    let world = World::new();
    let [from, to] =
        [(); 2].map(|()| world.builder().udp_only(true).receive_buffer(ROOM).send_buffer(ROOM).build().unwrap());
    let (entered, is_inside) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let holding = to.reader_builder::<Block>("hold").qos(Preset::Event.reader()).delivery(Delivery::Inline);
    let _holding = holding.on_data(move |_| {
        entered.send(()).unwrap();
        may_leave.recv().unwrap();
    });
    let _holding = _holding.build().unwrap();
    let hold = from.writer_builder("hold").qos(Preset::Event.writer()).build().unwrap();
    hold.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let link = link_of([from.clone(), to.clone()]);
    for (samples, len) in [(300, 100), (20, 100_000)] {
        let before = to.traffic().socket_full;
        hold.write(&block(0, 1)).unwrap();
        is_inside.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Only the kernel's counter shows a drop.
                while to.traffic().socket_full == before {
                    std::thread::yield_now();
                }
                leave.send(()).unwrap();
            });
            all_arrive_over(&link, Faults::default(), samples, len);
        });
        assert!(to.traffic().socket_full > before);
    }
}
