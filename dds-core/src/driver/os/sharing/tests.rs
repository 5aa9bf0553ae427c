//! The contract of transports, with shared memory to both receivers, to one of them, or to none. Routes of peers.

#![allow(clippy::disallowed_methods, reason = "a test of shared memory waits for other threads")]

use super::content::staged_in_place;
use super::intake::COPIED_MAX;
use super::room::Enlisted;
use super::*;
use crate::actor::{Effects, Poke, Signals};
use crate::driver::os::intake::SLOT_LEN;
use crate::driver::{ExpectedPlace, Packet, Receive, Socket};
use crate::promises::{self, Insistent, TransportUnderTest, datagram};
use crate::sync::Weak;
use dds_rtps::concurrent::Payload;
use dds_rtps::output::Datagram;
use dds_rtps::transport::SendOutcome;
use dds_rtps::transport::faults::{Faults, SendFaults};
use dds_rtps::transport::tap::{Capture, Tap};
use dds_rtps::transport::udp::{UdpConfig, UdpSockets};
use dds_rtps::types::{EntityId, IpFamilies, SequenceNumber, Time};
use dds_rtps::wire::{DataHeader, Message, MessageBuilder, PayloadKind, Submessage};
use dds_shm::ShmEvent;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::UdpSocket;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

const LIMIT: usize = 8 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

fn new_prefix() -> GuidPrefix {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut prefix = [0xcd; 12];
    prefix[..4].copy_from_slice(&std::process::id().to_le_bytes());
    prefix[4..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    GuidPrefix(prefix)
}

/// Shared memory of one participant, whose reception the test runs.
struct Party {
    prefix: GuidPrefix,
    sharing: Arc<Sharing>,
    reception: ShmReception,
    received: VecDeque<Vec<u8>>,
}

impl Party {
    fn new(limit: usize) -> Self {
        let (prefix, sharing) = (new_prefix(), Sharing::new(limit, Duration::ZERO));
        sharing.set_prefix(prefix);
        let reception = sharing.open().unwrap();
        Self { prefix, sharing, reception, received: VecDeque::new() }
    }

    /// Handles everything that has arrived.
    fn run(&mut self) {
        while let Some(event) = self.reception.next_event(Some(Duration::ZERO)) {
            match event {
                ShmEvent::Message(message) => {
                    let mut bytes = vec![0; message.len()];
                    message.copy_to(&mut bytes);
                    self.received.push_back(bytes);
                }
                ShmEvent::Up(path) => self.sharing.up(path),
                ShmEvent::Down { path, peer, reason } => self.sharing.down(path, peer.identity, reason),
                ShmEvent::Refused { peer, reason } => {
                    if let Some(peer) = peer.and_then(prefix_of) {
                        self.sharing.refused(peer, &reason);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Both parties discover each other, and a path opens.
fn introduce(one: &mut Party, other: &mut Party, locator_of_other: Locator) {
    one.sharing.found(other.prefix, &[locator_of_other]);
    other.sharing.found(one.prefix, &[Locator::udp_v4([127, 0, 0, 1].into(), 1)]);
    let start = Instant::now();
    while one.sharing.carrier(other.prefix) != Some(Carrier::SharedMemory)
        || other.sharing.carrier(one.prefix) != Some(Carrier::SharedMemory)
    {
        assert!(start.elapsed() < PATIENCE, "{:?}", one.sharing.carrier(other.prefix));
        one.run();
        other.run();
    }
}

struct Setting<T> {
    transport: T,
    sockets: [UdpSocket; 2],
    parties: RefCell<[Party; 2]>,
    shared: [bool; 2],
    _sender: Party,
}

impl<T> Setting<T> {
    /// `shared` says which receivers share memory with the sender.
    fn new(shared: [bool; 2], wrap: impl FnOnce(Arc<dyn Transport>) -> T) -> Self {
        let families = IpFamilies::V4;
        let config = UdpConfig { domain_id: 218, host_only: true, multicast: false, families, ..UdpConfig::default() };
        let mut opened = UdpSockets::open(&config).unwrap();
        let sockets = [opened.user_unicast.remove(0), opened.metatraffic_unicast.remove(0)];
        let mut sender = Party::new(LIMIT);
        let transport = wrap(sender.sharing.before(opened.transport));
        let mut parties = [Party::new(LIMIT), Party::new(LIMIT)];
        for (index, party) in parties.iter_mut().enumerate() {
            sockets[index].set_nonblocking(true).unwrap();
            if shared[index] {
                introduce(&mut sender, party, Locator::from(sockets[index].local_addr().unwrap()));
            }
        }
        Self { transport, sockets, parties: RefCell::new(parties), shared, _sender: sender }
    }
}

impl<T: Transport> TransportUnderTest for Setting<T> {
    type Transport = T;

    fn transport(&self) -> &T {
        &self.transport
    }

    fn locator(&self, receiver: usize) -> Locator {
        Locator::from(self.sockets[receiver].local_addr().unwrap())
    }

    fn next(&self, receiver: usize) -> Option<Vec<u8>> {
        if self.shared[receiver] {
            let party = &mut self.parties.borrow_mut()[receiver];
            party.run();
            return party.received.pop_front();
        }
        let mut buffer = vec![0; 65_536];
        let len = self.sockets[receiver].recv(&mut buffer).ok()?;
        buffer.truncate(len);
        Some(buffer)
    }
}

#[test]
fn sharing_keeps_the_contract_for_any_receiver() {
    for shared in [[true, true], [true, false], [false, true], [false, false]] {
        promises::all_promises(&Setting::new(shared, |transport| transport));
    }
}

#[test]
fn repeated_sends_to_shared_memory_keep_the_contract() {
    let faults = Faults { seed: 7, blocked: 0.5, ..Faults::default() };
    let wrap = |inner| Insistent(SendFaults::new(inner, faults, || dds_rtps::types::Instant::ZERO));
    promises::all_promises(&Setting::new([false, true], wrap));
}

#[test]
fn capture_of_shared_memory_keeps_the_contract() {
    let path = std::env::temp_dir().join(format!("dds-sharing-{}.pcap", std::process::id()));
    let capture = Arc::new(Capture::open(&path, Time::now).unwrap());
    let sources = ["127.0.0.1:7411".parse().unwrap()];
    promises::all_promises(&Setting::new([true, false], |inner| Tap::new(inner, Arc::clone(&capture), sources)));
    assert!(std::fs::metadata(&path).unwrap().len() > 60_000);
    std::fs::remove_file(&path).unwrap();
}

/// Sends a datagram, or waits until its peer gets none.
fn send_in_the_end(transport: &impl Transport, datagram: &mut Datagram) {
    let start = Instant::now();
    while transport.send(datagram) == SendOutcome::Blocked {
        assert!(start.elapsed() < PATIENCE);
    }
}

/// Sends long messages to a receiver until the next one waits, and returns that one.
fn fill(setting: &Setting<Arc<dyn Transport>>, receiver: usize) -> Datagram {
    loop {
        let mut next = datagram(&[7; 60_000], [setting.locator(receiver)]);
        if setting.transport.send(&mut next) == SendOutcome::Blocked {
            return next;
        }
    }
}

#[test]
fn datagram_waits_until_its_only_receiver_makes_room() {
    let setting = Setting::new([true, false], |transport| transport);
    let waiting = fill(&setting, 0);
    let dropped = setting.transport.counters().shared_full;
    // Alone, and in a run with datagrams that go by UDP.
    let mut run = [datagram(b"by UDP", [setting.locator(1)]), waiting, datagram(b"later", [setting.locator(1)])];
    assert_eq!(setting.transport.send_all(&mut run), 1);
    assert_eq!(setting.next(1), Some(b"by UDP".to_vec()));
    let received = std::iter::from_fn(|| setting.next(0)).count();
    assert!(received > 0);
    let [_, second, _] = &mut run;
    assert_eq!(setting.transport.send(second), SendOutcome::Done);
    assert_eq!(setting.next(0).map(|bytes| bytes.len()), Some(60_000));
    assert_eq!(setting.transport.counters().shared_full, dropped, "nothing is lost");
}

/// Its other receivers would wait as well.
#[test]
fn datagram_for_two_receivers_waits_for_none() {
    let setting = Setting::new([true, true], |transport| transport);
    let _waiting = fill(&setting, 0);
    let dropped = setting.transport.counters().shared_full;
    let mut both = datagram(&[8; 60_000], [setting.locator(0), setting.locator(1)]);
    assert_eq!(setting.transport.send(&mut both), SendOutcome::Done);
    assert_eq!(setting.next(1).map(|bytes| bytes.len()), Some(60_000));
    assert_eq!(setting.transport.counters().shared_full, dropped + 1);
}

#[test]
fn waiting_cells_are_woken_by_room_and_by_time() {
    struct Woken(std::sync::mpsc::Sender<Signals>);
    impl Poke for Woken {
        fn poke(self: Arc<Self>, _: &mut Effects) {}
        fn resume(self: Arc<Self>, _: &mut Effects) {}
        fn signal(&self, signals: Signals) {
            self.0.send(signals).unwrap();
        }
    }
    let (sender, woken) = std::sync::mpsc::channel();
    let cell = Arc::new(Woken(sender));
    let weak: Weak<dyn Poke> = Arc::downgrade(&(Arc::clone(&cell) as Arc<dyn Poke>));
    let sharing = Sharing::new(LIMIT, Duration::ZERO);
    assert_eq!(sharing.room.enlist(&weak), Enlisted::NotHere, "no datagram waits");
    sharing.room.want();
    assert_eq!([sharing.room.enlist(&weak), sharing.room.enlist(&weak)], [Enlisted::Untimed, Enlisted::Timed]);
    sharing.room.wake();
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [Signals::WRITABLE], "once");
    assert_eq!(sharing.room.enlist(&weak), Enlisted::NotHere, "there may be room since the wake");
    sharing.room.want();
    assert_eq!(sharing.room.enlist(&weak), Enlisted::Timed, "the task still runs");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(Arc::clone(&sharing).wake_in_time());
    assert_eq!(woken.try_iter().collect::<Vec<_>>(), [Signals::WRITABLE]);
    sharing.room.want();
    assert_eq!(sharing.room.enlist(&weak), Enlisted::Untimed, "the task has ended");
}

#[test]
fn full_path_drops_and_counts_and_recovers() {
    let setting = Setting::new([true, false], |transport| transport);
    let send = |len: usize| send_in_the_end(&setting.transport, &mut datagram(&vec![7; len], [setting.locator(0)]));
    // Nothing of it reaches UDP either.
    for len in [64, 60_000] {
        let before = setting.transport.counters();
        (0..4_000).for_each(|_| send(len));
        let after = setting.transport.counters();
        let (sent, dropped) = (after.shared - before.shared, after.shared_full - before.shared_full);
        assert_eq!((sent + dropped, after.sent - before.sent), (4_000, sent));
        assert!(sent > 20 && dropped > 20, "{len} bytes: {sent} sent, {dropped} dropped");
        assert_eq!(std::iter::from_fn(|| setting.next(0)).count() as u64, sent);
        send(len);
        assert_eq!(setting.next(0).map(|bytes| bytes.len()), Some(len));
    }
}

#[test]
fn exhausted_pool_leaves_messages_to_udp() {
    let (mut sender, mut receiver) = (Party::new(64 << 10), Party::new(LIMIT));
    let udp = Setting::new([false, false], |transport| transport);
    let locator = udp.locator(0);
    introduce(&mut sender, &mut receiver, locator);
    let transport = sender.sharing.before(udp.transport.clone());
    let before = transport.counters();
    // The pool has room for one message of this length.
    for _ in 0..2 {
        assert_eq!(transport.send(&mut datagram(&[1; 60_000], [locator])), SendOutcome::Done);
    }
    let after = transport.counters();
    assert_eq!(after.sent - before.sent, 2);
    receiver.run();
    let by_udp = std::iter::from_fn(|| udp.next(0)).count();
    assert_eq!(receiver.received.len() + by_udp + (after.shared_full - before.shared_full) as usize, 2);
}

#[test]
fn message_that_udp_refuses_is_dropped_and_counted() {
    let (mut sender, mut receiver) = (Party::new(64 << 10), Party::new(LIMIT));
    let udp = Setting::new([false, false], |transport| transport);
    let locator = udp.locator(0);
    introduce(&mut sender, &mut receiver, locator);
    let transport = sender.sharing.before(udp.transport.clone());
    let before = transport.counters();
    for _ in 0..3 {
        assert_eq!(transport.send(&mut datagram(&[1; UDP_MAX + 1], [locator])), SendOutcome::Done);
    }
    let after = transport.counters();
    let (sent, dropped) = (after.shared - before.shared, after.shared_full - before.shared_full);
    assert!(dropped >= 2 && sent + dropped == 3, "{sent} sent and {dropped} dropped");
    assert_eq!(after.failed, before.failed, "UDP gets none");
}

#[test]
fn long_message_goes_through_memory_or_not_at_all() {
    let udp = Setting::new([false, false], |transport| transport);
    let (mut sender, locator) = (Party::new(LONG_LIMIT_MIN), udp.locator(0));
    let mut receivers: Vec<_> = (0..5).map(|_| Party::new(LIMIT)).collect();
    let locators: Vec<_> = (0..5).map(|index| Locator::udp_v4([127, 0, 0, 1].into(), 20_000 + index)).collect();
    assert_eq!(sender.sharing.long_message_max(&locators), 0);
    for (receiver, locator) in receivers.iter_mut().zip(&locators) {
        introduce(&mut sender, receiver, *locator);
    }
    assert_eq!(sender.sharing.long_message_max(&locators), LONG_MESSAGE_MAX);
    assert_eq!(sender.sharing.long_message_max(&[locators[0], locator]), 0, "one reader has no path");
    let transport = sender.sharing.before(udp.transport.clone());
    let before = transport.counters();
    // Each receiver may hold 8 of them, and all receivers together 32.
    for _ in 0..10 {
        for locator in &locators {
            send_in_the_end(&transport, &mut datagram(&vec![7; 1 << 20], [*locator]));
        }
    }
    let after = transport.counters();
    let (sent, dropped) = (after.shared - before.shared, after.shared_full - before.shared_full);
    assert_eq!((sent + dropped, after.sent - before.sent), (50, sent));
    assert!((28..=36).contains(&sent), "{sent} sent");
    assert_eq!(after.failed, before.failed);
    let mut arrived = 0;
    for receiver in &mut receivers {
        receiver.run();
        arrived += receiver.received.len() as u64;
        assert!(receiver.received.iter().all(|bytes| *bytes == vec![7; 1 << 20]));
    }
    assert_eq!(arrived, sent);
}

/// UDP carries no message of this length.
#[test]
fn message_of_the_greatest_length_goes_through_memory() {
    let udp = Setting::new([false, false], |transport| transport);
    let (mut sender, mut receiver) = (Party::new(LONG_LIMIT_MIN), Party::new(LIMIT));
    let locator = Locator::udp_v4([127, 0, 0, 1].into(), 20_000);
    introduce(&mut sender, &mut receiver, locator);
    let transport = sender.sharing.before(udp.transport.clone());
    let before = transport.counters();
    assert_eq!(transport.send(&mut datagram(&vec![7; LONG_MESSAGE_MAX], [locator])), SendOutcome::Done);
    let after = transport.counters();
    assert_eq!((after.shared - before.shared, after.shared_full, after.failed), (1, before.shared_full, before.failed));
    receiver.run();
    assert_eq!(receiver.received.pop_front().map(|bytes| bytes.len()), Some(LONG_MESSAGE_MAX));
}

#[test]
fn busy_poll_is_that_of_the_participant() {
    let poll = Duration::from_micros(50);
    assert_eq!(Sharing::new(LIMIT, poll).config().spin, poll);
}

#[test]
fn peer_holds_three_eighths_of_the_memory_within_bounds() {
    let held = |limit| Sharing::new(limit, Duration::ZERO).config().held_bytes_max;
    assert_eq!([1, 1 << 20, 16 << 20].map(held), [HELD_BYTES_MIN, HELD_BYTES_MIN, 6 << 20]);
    assert_eq!([64 << 20, 1 << 30].map(held), [24 << 20, HELD_BYTES_MAX]);
}

/// A message with a sample of `len` bytes, as a writer lays it out.
fn long_message(len: usize) -> Vec<u8> {
    let data = DataHeader {
        reader_id: EntityId::UNKNOWN,
        writer_id: EntityId([0, 0, 1, 3]),
        writer_sn: SequenceNumber(1),
        payload: PayloadKind::Data,
        non_standard_payload: false,
    };
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(GuidPrefix([7; 12]));
    let end = message.data(&data, len, |_| {});
    message.payload(&vec![7; len], end);
    bytes
}

/// A message with this sample and a HEARTBEAT behind it.
fn sample_datagram(number: i64, payload: &Payload, locators: &[Locator]) -> Datagram {
    let data = DataHeader {
        reader_id: EntityId::UNKNOWN,
        writer_id: EntityId([0, 0, 1, 3]),
        writer_sn: SequenceNumber(number),
        payload: PayloadKind::Data,
        non_standard_payload: false,
    };
    let mut datagram = Datagram::new();
    let mut message = MessageBuilder::new(datagram.buffer());
    message.header(GuidPrefix([7; 12]));
    let end = message.data(&data, payload.len(), |_| {});
    datagram.gather(payload.clone(), 0..payload.len());
    let mut message = MessageBuilder::new(datagram.buffer());
    message.end_payload(end);
    message.info_dst(GuidPrefix([9; 12]));
    datagram.set_destinations(locators);
    datagram
}

/// The submessages of a message, except for padding.
fn content(bytes: &[u8]) -> Vec<Submessage<'_>> {
    let all = Message::parse(bytes).unwrap().submessages().map(Result::unwrap);
    all.filter(|submessage| !matches!(submessage, Submessage::Skipped { .. })).collect()
}

#[test]
fn lent_sample_is_sent_from_its_place_and_others_are_copied() {
    let udp = Setting::new([false, false], |transport| transport);
    let mut sender = Party::new(LONG_LIMIT_MIN);
    let mut receivers = [Party::new(LIMIT), Party::new(LIMIT)];
    let locators = [udp.locator(0), udp.locator(1)];
    for (receiver, locator) in receivers.iter_mut().zip(locators) {
        introduce(&mut sender, receiver, locator);
    }
    let transport = sender.sharing.before(udp.transport.clone());
    let mut lent = sender.sharing.lend(&locators, 40_000).unwrap();
    assert_eq!(lent.bytes_mut()[4..].as_ptr() as usize % 8, 0, "the sample is aligned");
    lent.bytes_mut().fill(5);
    let payload = lent.freeze();
    // Another number means another header. Peers may read the first one, so the second message is a copy.
    for (number, is_in_place) in [(1, true), (2, false), (1, true)] {
        let mut datagram = sample_datagram(number, &payload, &locators);
        assert_eq!(staged_in_place(&datagram).is_some(), is_in_place, "{number}");
        let mut expected = Vec::new();
        datagram.copy_to(&mut expected);
        assert_eq!(transport.send(&mut datagram), SendOutcome::Done);
        for receiver in &mut receivers {
            receiver.run();
            let received = receiver.received.pop_front().unwrap();
            assert_eq!(content(&received), content(&expected));
            assert_eq!(received.len() > expected.len(), is_in_place, "padding stands before the sample");
        }
    }
    // A peer by UDP gets the same sample.
    let mut datagram = sample_datagram(3, &payload, &[locators[0]]);
    assert_eq!(udp.transport.send(&mut datagram), SendOutcome::Done);
    assert!(staged_in_place(&sample_datagram(4, &Payload::copy_of(&[5; 40_000]), &locators)).is_none());
    assert!(sender.sharing.lend(&locators, LENT_MESSAGE_MAX).is_none(), "its message would be too long");
}

/// The path ends after the writer has asked for it. A reader of best effort would lose the sample.
#[test]
fn long_message_without_its_path_goes_in_fragments() {
    const LEN: usize = 150_000;
    let udp = Setting::new([false, false], |transport| transport);
    let (mut sender, mut receiver) = (Party::new(LONG_LIMIT_MIN), Party::new(LIMIT));
    let locator = udp.locator(0);
    introduce(&mut sender, &mut receiver, locator);
    let transport = sender.sharing.before(udp.transport.clone());
    let prefix = receiver.prefix;
    assert_eq!(sender.sharing.long_message_max(&[locator]), LONG_MESSAGE_MAX);
    drop(receiver);
    let start = Instant::now();
    while sender.sharing.carrier(prefix) == Some(Carrier::SharedMemory) {
        assert!(start.elapsed() < PATIENCE);
        sender.run();
    }
    // Alone, and behind a shorter one.
    for is_alone in [true, false] {
        let long = datagram(&long_message(LEN), [locator]);
        if is_alone {
            let mut long = long;
            assert_eq!(transport.send(&mut long), SendOutcome::Done);
        } else {
            assert_eq!(transport.send_all(&mut [datagram(b"short", [locator]), long]), 2);
            assert_eq!(udp.next(0), Some(b"short".to_vec()));
        }
        let mut sample = Vec::new();
        while sample.len() < LEN {
            let bytes = udp.next(0).expect("the fragments are in the socket");
            let submessage = Message::parse(&bytes).unwrap().submessages().next();
            let Some(Ok(Submessage::DataFrag(fragment))) = submessage else { panic!("{submessage:?}") };
            assert_eq!((fragment.writer_sn, fragment.sample_size as usize), (SequenceNumber(1), LEN));
            sample.extend_from_slice(fragment.payload);
        }
        assert!(sample == [7; LEN]);
    }
}

/// Lengths of the received packets.
#[derive(Default)]
struct Lens(Lock<Vec<usize>>);

impl Receive for Lens {
    fn receive(&self, packet: &Packet, _: Option<&ExpectedPlace>) {
        assert!(packet.payload.bytes().iter().all(|byte| *byte == 7));
        self.0.lock().push(packet.payload.len());
    }
}

/// Only a peer that breaks the protocol sends a longer one.
#[test]
fn longest_message_is_received_and_a_longer_one_dropped() {
    let (mut sender, mut receiver) = (Party::new(LONG_LIMIT_MIN), Party::new(LIMIT));
    let locator = Locator::udp_v4([127, 0, 0, 1].into(), 20_000);
    introduce(&mut sender, &mut receiver, locator);
    let lens = Arc::new(Lens::default());
    let receive: Arc<dyn Receive> = Arc::clone(&lens) as _;
    let inbound = Inbound::new(Socket::UserUnicast, &receive, None, &receiver.sharing);
    let handover = Handover::new(&[], true, Arc::clone(&receiver.sharing.markers));
    let mut intake = SharedIntake::new(receiver.reception, inbound, receiver.sharing, handover);
    let path = sender.sharing.route(&locator).unwrap();
    let received = [LENT_MESSAGE_MAX, LONG_MESSAGE_MAX, SLOT_LEN + 1, SLOT_LEN, COPIED_MAX + 1, COPIED_MAX, 100];
    let start = Instant::now();
    for len in [LENT_MESSAGE_MAX + 1].into_iter().chain(received) {
        let message = vec![7; len];
        // The receiver may hold one message of this length.
        while path.shm.send(&[IoSlice::new(&message)]).is_err() {
            assert!(start.elapsed() < PATIENCE);
            intake.step(true);
        }
    }
    while lens.0.lock().len() < received.len() {
        assert!(start.elapsed() < PATIENCE);
        intake.step(true);
    }
    assert_eq!(*lens.0.lock(), received);
}

#[test]
fn small_memory_carries_no_long_message() {
    let (mut sender, mut receiver) = (Party::new(LONG_LIMIT_MIN - 1), Party::new(LIMIT));
    let locator = Locator::udp_v4([127, 0, 0, 1].into(), 20_000);
    introduce(&mut sender, &mut receiver, locator);
    assert_eq!(sender.sharing.long_message_max(&[locator]), 0);
}

#[test]
fn lost_peer_gets_datagrams_by_udp_again() {
    let (mut sender, mut receiver) = (Party::new(LIMIT), Party::new(LIMIT));
    let udp = Setting::new([false, false], |transport| transport);
    let locator = udp.locator(0);
    introduce(&mut sender, &mut receiver, locator);
    let transport = sender.sharing.before(udp.transport.clone());
    let prefix = receiver.prefix;
    drop(receiver);
    let start = Instant::now();
    while sender.sharing.carrier(prefix) == Some(Carrier::SharedMemory) {
        assert!(start.elapsed() < PATIENCE);
        sender.run();
    }
    let Some(Carrier::Udp { reason }) = sender.sharing.carrier(prefix) else { panic!("it is known") };
    assert_eq!(reason, PathEnd::PeerLeft.to_string());
    assert_eq!(transport.send(&mut datagram(b"on", [locator])), SendOutcome::Done);
    assert_eq!(udp.next(0), Some(b"on".to_vec()));
    // It returns under the same name.
    sender.sharing.lost(prefix);
    assert_eq!(sender.sharing.carrier(prefix), None);
}

/// Runs both parties until the first one reaches the other through shared memory.
fn run_until_shared(one: &mut Party, other: &mut Party) {
    let start = Instant::now();
    while one.sharing.carrier(other.prefix) != Some(Carrier::SharedMemory) {
        assert!(start.elapsed() < PATIENCE, "{:?}", one.sharing.carrier(other.prefix));
        one.run();
        other.run();
    }
}

#[test]
fn peer_that_is_lost_and_found_again_shares_memory_again() {
    let at = |port| Locator::udp_v4([127, 0, 0, 1].into(), port);
    let (mut one, mut other) = (Party::new(LIMIT), Party::new(LIMIT));
    introduce(&mut one, &mut other, at(7411));
    for _ in 0..5 {
        // The end of the path is an event that comes later.
        one.sharing.lost(other.prefix);
        one.sharing.found(other.prefix, &[at(7411)]);
        run_until_shared(&mut one, &mut other);
        run_until_shared(&mut other, &mut one);
        assert!(one.sharing.route(&at(7411)).is_some());
    }
}

#[test]
fn refusal_that_may_pass_is_tried_again() {
    let at = |port| Locator::udp_v4([127, 0, 0, 1].into(), port);
    for refusal in [Refusal::TimedOut, Refusal::PeerCrowded, Refusal::PeerLacksResources, Refusal::PeerLeft] {
        let mut one = Party::new(LIMIT);
        let (prefix, sharing) = (new_prefix(), Sharing::new(LIMIT, Duration::ZERO));
        one.sharing.found(prefix, &[at(7411)]);
        one.sharing.refused(prefix, &refusal);
        let Some(Carrier::Udp { reason }) = one.sharing.carrier(prefix) else { panic!() };
        assert_eq!(reason, refusal.to_string());
        sharing.set_prefix(prefix);
        let reception = sharing.open().unwrap();
        let mut other = Party { prefix, sharing, reception, received: VecDeque::new() };
        run_until_shared(&mut one, &mut other);
    }
    // A change of other peers is an occasion, too.
    let one = Party::new(LIMIT);
    let (absent, another) = (new_prefix(), new_prefix());
    one.sharing.found(absent, &[at(7411)]);
    let first = one.sharing.state.lock().peers[&absent].last_attempt.unwrap();
    std::thread::sleep(2 * RETRY_PAUSE);
    one.sharing.found(another, &[at(7413)]);
    assert!(one.sharing.state.lock().peers[&absent].last_attempt.unwrap() > first);
}

#[test]
fn refusals_double_the_pause_up_to_a_minute() {
    let one = Party::new(LIMIT);
    let peer = new_prefix();
    one.sharing.found(peer, &[Locator::udp_v4([127, 0, 0, 1].into(), 7411)]);
    let mut pauses = Vec::new();
    for _ in 0..14 {
        one.sharing.state.lock().peers.get_mut(&peer).unwrap().last_attempt = Some(Instant::now());
        pauses.push(one.sharing.pause().unwrap().as_millis().div_ceil(100));
        one.sharing.refused(peer, &Refusal::PeerCrowded);
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600]);
    // A final refusal plans no attempt.
    one.sharing.refused(peer, &Refusal::RefusedByPolicyOfPeer);
    assert_eq!(one.sharing.pause(), None);
}

/// The other participant starts later, and nothing else happens.
#[test]
fn pause_ends_with_another_attempt() {
    let mut one = Party::new(LIMIT);
    let (prefix, sharing) = (new_prefix(), Sharing::new(LIMIT, Duration::ZERO));
    one.sharing.found(prefix, &[Locator::udp_v4([127, 0, 0, 1].into(), 7411)]);
    sharing.set_prefix(prefix);
    let mut reception = sharing.open().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let trying = Arc::clone(&one.sharing).keep_trying();
    let attempts = runtime.block_on(async { tokio::time::timeout(3 * RETRY_PAUSE, trying).await });
    assert!(attempts.is_err(), "it runs until the network stops");
    let start = Instant::now();
    while one.sharing.state.lock().paths.is_empty() {
        assert!(start.elapsed() < PATIENCE);
        one.run();
        while reception.next_event(Some(Duration::from_millis(1))).is_some() {}
    }
}

#[test]
fn refusal_by_a_policy_is_final() {
    let one = Party::new(LIMIT);
    for refusal in [Refusal::UserRefused { user: 1 }, Refusal::RefusedByPolicyOfPeer, Refusal::Version { peer: 9 }] {
        let peer = new_prefix();
        one.sharing.found(peer, &[Locator::udp_v4([127, 0, 0, 1].into(), 7411)]);
        one.sharing.refused(peer, &refusal);
        std::thread::sleep(2 * RETRY_PAUSE);
        let Some(Carrier::Udp { reason }) = one.sharing.carrier(peer) else { panic!() };
        assert_eq!(reason, refusal.to_string());
    }
}

/// A small memory is for one peer, and UDP takes the rest.
#[test]
fn small_memory_drops_no_datagram_of_a_burst() {
    for limit in [100 << 10, 300 << 10, 500 << 10] {
        let (mut sender, mut receiver) = (Party::new(limit), Party::new(LIMIT));
        let udp = Setting::new([false, false], |transport| transport);
        let locator = udp.locator(0);
        introduce(&mut sender, &mut receiver, locator);
        let transport = sender.sharing.before(udp.transport.clone());
        let before = transport.counters();
        (0..9).for_each(|_| {
            assert_eq!(transport.send(&mut datagram(&[1; 60_000], [locator])), SendOutcome::Done);
        });
        let after = transport.counters();
        assert_eq!((after.sent - before.sent, after.shared_full - before.shared_full), (9, 0), "{limit}");
        receiver.run();
        assert_eq!(receiver.received.len() as u64, after.shared - before.shared);
        assert!(!receiver.received.is_empty(), "{limit}");
        // Then the socket paces large samples.
        assert_eq!(sender.sharing.room_at(&locator).is_some(), limit >= 256 << 10);
    }
}

#[test]
fn locator_of_two_peers_has_no_path() {
    let (mut sender, mut receiver) = (Party::new(LIMIT), Party::new(LIMIT));
    let locator = Locator::udp_v4([127, 0, 0, 1].into(), 7411);
    introduce(&mut sender, &mut receiver, locator);
    assert!(sender.sharing.route(&locator).is_some());
    let liar = new_prefix();
    sender.sharing.found(liar, &[locator]);
    assert!(sender.sharing.route(&locator).is_none());
    let Some(Carrier::Udp { reason }) = sender.sharing.carrier(receiver.prefix) else { panic!() };
    assert!(reason.contains("another participant"), "{reason}");
    sender.sharing.lost(liar);
    assert!(sender.sharing.route(&locator).is_some());
}

#[test]
fn moved_peer_is_reached_at_its_new_locators() {
    let (mut sender, mut receiver) = (Party::new(LIMIT), Party::new(LIMIT));
    let at = |port| Locator::udp_v4([127, 0, 0, 1].into(), port);
    introduce(&mut sender, &mut receiver, at(7411));
    sender.sharing.found(receiver.prefix, &[at(7413)]);
    assert!(sender.sharing.route(&at(7411)).is_none() && sender.sharing.route(&at(7413)).is_some());
}

#[test]
fn participant_without_memory_shares_none() {
    let (with, without) = (Party::new(LIMIT), Sharing::new(0, Duration::ZERO));
    without.set_prefix(new_prefix());
    assert!(without.open().is_none());
    let absent = new_prefix();
    with.sharing.found(absent, &[Locator::udp_v4([127, 0, 0, 1].into(), 7411)]);
    let Some(Carrier::Udp { reason }) = with.sharing.carrier(absent) else { panic!() };
    assert_eq!(reason, Refusal::NotFound.to_string());
    without.found(with.prefix, &[]);
    assert_eq!(without.carrier(with.prefix), None);
}
