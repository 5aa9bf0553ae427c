//! Two hosts in one process: paths, messages, wakes and waits.

mod blocks;
mod hostile;

use super::side::{OwnSide, PeerDescriptors, receive_handshake};
use super::*;
use crate::config::ShmConfig;
use crate::memory::{MappedMemory, Memory};
use crate::reasons::{PathEnd, Violation};
use crate::ring::{RecordKind, RingReader, RingWriter, outbox_len};
use rustix::net::SendFlags;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);
const RING_LEN: u32 = 4096;

struct Side {
    host: ShmHost,
    reception: ShmReception,
    path: Option<ShmPath>,
}

fn identity() -> Identity {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut identity = [0xab; 16];
    identity[..4].copy_from_slice(&std::process::id().to_ne_bytes());
    identity[4..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_ne_bytes());
    identity
}

fn config() -> ShmConfig {
    ShmConfig { pool_len: 8 << 20, handshake_max: Duration::from_secs(30), ..ShmConfig::default() }
}

/// Refuses a peer that does not answer soon.
fn impatient() -> ShmConfig {
    ShmConfig { handshake_max: Duration::from_millis(300), ..config() }
}

fn side(config: ShmConfig) -> Side {
    let (host, reception) = ShmHost::new(identity(), config).unwrap();
    Side { host, reception, path: None }
}

/// An event without its borrow.
#[derive(Debug, PartialEq)]
enum Seen {
    Up,
    Message(Vec<u8>),
    Room,
    Down(PathEnd),
    Refused(String),
}

impl Side {
    fn next(&mut self, timeout: Duration) -> Option<Seen> {
        Some(match self.reception.next_event(Some(timeout))? {
            ShmEvent::Up(path) => {
                self.path = Some(path);
                Seen::Up
            }
            ShmEvent::Message(message) => {
                let mut bytes = vec![0; message.len()];
                assert_eq!(message.copy_to(&mut bytes), bytes.len());
                Seen::Message(bytes)
            }
            ShmEvent::Room(_) => Seen::Room,
            ShmEvent::Down { reason, .. } => Seen::Down(reason),
            ShmEvent::Refused { reason, .. } => Seen::Refused(reason.to_string()),
        })
    }

    fn expect(&mut self) -> Seen {
        self.next(PATIENCE).expect("an event")
    }

    fn send(&self, bytes: &[u8]) -> Result<(), SendFailure> {
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        self.path.as_ref().unwrap().send(&[IoSlice::new(first), IoSlice::new(rest)])
    }

    fn used_grains(&self) -> usize {
        self.host.shared.pool.used_grains()
    }
}

/// Lets both sides work in turn until both paths are open.
fn open_both(one: &mut Side, other: &mut Side) {
    let until = Instant::now() + PATIENCE;
    (one.path, other.path) = (None, None);
    while one.path.is_none() || other.path.is_none() {
        for side in [&mut *one, &mut *other] {
            if let Some(seen) = side.next(Duration::from_millis(1)) {
                assert_eq!(seen, Seen::Up);
            }
        }
        assert!(Instant::now() < until, "the paths do not open");
    }
}

fn connected_with(config: &ShmConfig) -> (Side, Side) {
    let (mut one, mut other) = (side(config.clone()), side(config.clone()));
    one.host.connect(other.host.identity()).unwrap();
    open_both(&mut one, &mut other);
    (one, other)
}

fn connected() -> (Side, Side) {
    connected_with(&config())
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + len) as u8).collect()
}

#[test]
fn messages_of_every_length_arrive_in_both_directions() {
    let (mut one, mut other) = connected();
    for len in [0, 1, 15, 16, 17, 2047, 2048, 2049, 16 << 10, 64 << 10, (1 << 20) + 3, 8 << 20] {
        one.send(&bytes(len)).unwrap();
        assert_eq!(other.expect(), Seen::Message(bytes(len)), "{len}");
        other.send(&bytes(len)).unwrap();
        assert_eq!(one.expect(), Seen::Message(bytes(len)), "{len}");
    }
    assert_eq!(one.send(&bytes((8 << 20) + 1)), Err(SendFailure::TooLong { max: 8 << 20 }));
    assert_eq!(one.path.as_ref().unwrap().peer().identity, other.host.identity());
}

#[test]
fn message_left_unread_is_dropped_and_the_next_arrives() {
    let (one, mut other) = connected();
    one.send(&bytes(50_000)).unwrap();
    one.send(&bytes(50)).unwrap();
    assert!(matches!(other.reception.next_event(Some(PATIENCE)), Some(ShmEvent::Message(_))));
    assert_eq!(other.expect(), Seen::Message(bytes(50)));
}

#[test]
fn left_message_is_the_next_event_again() {
    let (one, mut other) = connected();
    for len in [50, 50_000] {
        one.send(&bytes(len)).unwrap();
        for _ in 0..3 {
            let Some(ShmEvent::Message(message)) = other.reception.next_event(Some(PATIENCE)) else { panic!("{len}") };
            assert_eq!(message.len(), len);
            message.leave();
        }
        assert_eq!(other.expect(), Seen::Message(bytes(len)));
        assert_eq!(other.next(Duration::ZERO), None);
    }
}

#[test]
fn full_ring_refuses_until_the_peer_reads() {
    let (mut one, mut other) = connected();
    let mut sent = 0;
    while one.send(&bytes(1000)).is_ok() {
        sent += 1;
    }
    assert_eq!(one.send(&bytes(1000)), Err(SendFailure::Full(Exhausted::Ring)));
    assert!((31..=32).contains(&sent), "{sent}");
    for _ in 0..sent {
        assert_eq!(other.expect(), Seen::Message(bytes(1000)));
    }
    assert_eq!(other.next(Duration::ZERO), None);
    assert_eq!(one.expect(), Seen::Room);
    one.send(&bytes(1000)).unwrap();
    assert_eq!(other.expect(), Seen::Message(bytes(1000)));
}

#[test]
fn peer_that_never_reads_holds_bounded_memory() {
    let limits = ShmConfig { held_blocks_max: 10, held_bytes_max: 1 << 20, ..config() };
    let (mut one, mut slow) = connected_with(&limits);
    let to_slow = one.path.clone().unwrap();
    let mut good = side(config());
    good.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut good);
    let send_slow = |len| to_slow.send(&[IoSlice::new(&bytes(len))]);
    // By number of blocks, then by bytes.
    for _ in 0..10 {
        send_slow(5000).unwrap();
    }
    assert_eq!(send_slow(5000), Err(SendFailure::Full(Exhausted::HeldByPeer)));
    assert_eq!(one.used_grains(), 10);
    for _ in 0..10 {
        one.send(&bytes(3 << 20)).unwrap();
        assert_eq!(good.expect(), Seen::Message(bytes(3 << 20)));
    }
    for _ in 0..10 {
        assert_eq!(slow.expect(), Seen::Message(bytes(5000)));
    }
    assert_eq!(slow.next(Duration::ZERO), None);
    assert_eq!(one.expect(), Seen::Room);
    send_slow(1 << 20).unwrap();
    assert_eq!(send_slow(5000), Err(SendFailure::Full(Exhausted::HeldByPeer)));
}

#[test]
fn pool_that_peers_hold_refuses_and_recovers() {
    let generous = ShmConfig { held_bytes_max: 8 << 20, ..config() };
    let (one, mut other) = connected_with(&generous);
    one.send(&bytes(5 << 20)).unwrap();
    assert_eq!(one.send(&bytes(5 << 20)), Err(SendFailure::Full(Exhausted::Pool)));
    assert_eq!(other.expect(), Seen::Message(bytes(5 << 20)));
    one.send(&bytes(5 << 20)).unwrap();
}

#[test]
fn end_of_peer_delivers_its_messages_and_frees_its_blocks() {
    let (mut one, other) = connected();
    one.send(&bytes(100_000)).unwrap();
    other.send(&bytes(70_000)).unwrap();
    other.send(&bytes(7)).unwrap();
    drop(other.reception);
    assert_eq!(one.expect(), Seen::Message(bytes(70_000)));
    assert_eq!(one.expect(), Seen::Message(bytes(7)));
    assert_eq!(one.expect(), Seen::Down(PathEnd::PeerLeft));
    assert_eq!(one.send(&bytes(1)), Err(SendFailure::Gone));
    assert_eq!(one.used_grains(), 0);
    assert!(one.host.shared.lock_peers().claims.is_empty());
}

#[test]
fn closed_path_ends_on_both_sides_and_opens_again() {
    let (mut one, mut other) = connected();
    one.path.as_ref().unwrap().close();
    assert_eq!(one.expect(), Seen::Down(PathEnd::Closed));
    assert_eq!(other.expect(), Seen::Down(PathEnd::PeerLeft));
    other.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut other);
    one.send(&bytes(9)).unwrap();
    assert_eq!(other.expect(), Seen::Message(bytes(9)));
}

#[test]
fn simultaneous_connects_leave_one_path() {
    for _ in 0..20 {
        let (mut one, mut other) = (side(config()), side(config()));
        one.host.connect(other.host.identity()).unwrap();
        other.host.connect(one.host.identity()).unwrap();
        let until = Instant::now() + PATIENCE;
        while one.path.is_none() || other.path.is_none() {
            for side in [&mut one, &mut other] {
                let seen = side.next(Duration::from_millis(1));
                let is_legal = matches!(&seen, None | Some(Seen::Up | Seen::Refused(_)));
                assert!(is_legal, "{seen:?}");
            }
            assert!(Instant::now() < until, "no path opens");
        }
        one.send(&bytes(3)).unwrap();
        while other.expect() != Seen::Message(bytes(3)) {}
        assert!(matches!(one.host.connect(other.host.identity()), Err(Refusal::AlreadyConnected)));
    }
}

#[test]
fn unknown_identity_is_not_found() {
    let one = side(config());
    assert!(matches!(one.host.connect(identity()), Err(Refusal::NotFound)));
    assert!(matches!(one.host.connect(one.host.identity()), Err(Refusal::AlreadyConnected)));
    assert!(matches!(ShmHost::new(one.host.identity(), config()), Err(Refusal::AlreadyConnected)));
}

#[test]
fn full_host_refuses_more_paths() {
    let mut one = side(ShmConfig { paths_max: 1, ..config() });
    let (mut two, mut three) = (side(config()), side(config()));
    two.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut two);
    three.host.connect(one.host.identity()).unwrap();
    assert_eq!(one.expect(), Seen::Refused(Refusal::Crowded.to_string()));
    assert_eq!(three.expect(), Seen::Refused(Refusal::PeerCrowded.to_string()));
    assert!(matches!(one.host.connect(three.host.identity()), Err(Refusal::Crowded)));
}

#[test]
fn peer_that_does_not_answer_is_refused_in_time() {
    let mut one = side(impatient());
    let silent = side(config());
    one.host.connect(silent.host.identity()).unwrap();
    assert_eq!(one.expect(), Seen::Refused(Refusal::TimedOut.to_string()));
    assert!(one.host.shared.lock_peers().claims.is_empty());
}

#[test]
fn message_wakes_a_thread_that_waits_for_the_descriptor() {
    let (one, mut other) = connected();
    assert_eq!(other.next(Duration::ZERO), None);
    let thread = std::thread::spawn(move || {
        let seen = loop {
            let mut polled = [rustix::event::PollFd::new(&other.reception, rustix::event::PollFlags::IN)];
            assert_eq!(rustix::event::poll(&mut polled, None), Ok(1));
            // The timer makes the descriptor readable as well.
            if let Some(seen) = other.next(Duration::ZERO) {
                break seen;
            }
        };
        assert_eq!(seen, Seen::Message(bytes(4)));
    });
    std::thread::sleep(Duration::from_millis(20));
    one.send(&bytes(4)).unwrap();
    thread.join().unwrap();
}

#[test]
fn message_of_another_host_is_refused() {
    let (one, mut other) = connected();
    let foreign = other.host.stage(&[IoSlice::new(&bytes(5000))]).unwrap();
    let path = one.path.as_ref().unwrap();
    assert_eq!(path.send_staged(&foreign), Err(SendFailure::OtherHost));
    let own = one.host.stage(&[IoSlice::new(&bytes(6000))]).unwrap();
    path.send_staged(&own).unwrap();
    assert_eq!(other.expect(), Seen::Message(bytes(6000)));
}

#[test]
fn peer_with_a_longer_pool_than_permitted_is_refused() {
    let limited = || ShmConfig { peer_pool_len_max: 4 << 20, ..config() };
    // In both directions: the limited side is connected, and connects.
    for is_connecting in [false, true] {
        let (mut one, mut other) = (side(limited()), side(config()));
        let (from, to) = if is_connecting { (&one, &other) } else { (&other, &one) };
        from.host.connect(to.host.identity()).unwrap();
        let until = Instant::now() + PATIENCE;
        let (mut seen, mut answer) = (None, None);
        while seen.is_none() || answer.is_none() {
            seen = seen.or(one.next(Duration::from_millis(1)));
            answer = answer.or(other.next(Duration::from_millis(1)));
            assert!(Instant::now() < until, "{is_connecting}: {seen:?} {answer:?}");
        }
        assert_eq!(seen, Some(Seen::Refused(Refusal::PeerPoolTooLong { len: 8 << 20 }.to_string())));
        if !is_connecting {
            assert_eq!(answer, Some(Seen::Refused(Refusal::PoolTooLong.to_string())));
        }
    }
    let (mut one, mut other) = (side(limited()), side(ShmConfig { pool_len: 4 << 20, ..config() }));
    one.host.connect(other.host.identity()).unwrap();
    open_both(&mut one, &mut other);
}

#[test]
fn wait_ends_at_its_timeout_while_peers_cause_events() {
    let mut one = side(config());
    let connect = || {
        let socket = new_socket().unwrap();
        rustix::net::connect(&socket, &address_of(&one.host.identity()).unwrap()).unwrap();
        socket
    };
    let sockets: Vec<OwnedFd> = (0..50).map(|_| connect()).collect();
    // One look accepts only some of them. A wait that continues until none is left has no end if more follow.
    assert_eq!(one.next(Duration::ZERO), None);
    let accepted = one.reception.connection_count();
    assert!(accepted > 0 && accepted < sockets.len() / 2, "{accepted}");
}

/// As an event loop does: it waits for the descriptor only after `None`.
#[test]
fn descriptor_reports_events_after_the_memory_is_read() {
    let (one, mut other) = connected();
    let is_readable = |side: &Side| {
        let mut polled = [rustix::event::PollFd::new(&side.reception, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1)
    };
    while other.next(Duration::ZERO).is_some() {}
    assert!(other.reception.next_ready().is_none() && !is_readable(&other));
    for round in 0..3_u8 {
        (0..3).for_each(|_| one.send(&[round]).unwrap());
        assert!(is_readable(&other));
        assert_eq!(other.next(Duration::ZERO), Some(Seen::Message(vec![round])));
        // The rest needs no system call.
        for _ in 0..2 {
            assert!(matches!(other.reception.next_ready(), Some(ShmEvent::Message(_))));
        }
        assert!(other.reception.next_ready().is_none() && !is_readable(&other));
    }
    // Events that are left behind do not make it readable, unless the program asks for it.
    (0..3).for_each(|_| one.send(b"left").unwrap());
    assert!(matches!(other.next(Duration::ZERO), Some(Seen::Message(_))));
    assert!(!is_readable(&other));
    other.reception.rouse();
    let start = Instant::now();
    while !is_readable(&other) {
        assert!(start.elapsed() < PATIENCE);
    }
    let left = std::iter::from_fn(|| other.next(Duration::ZERO)).count();
    assert_eq!(left, 2);
}

#[test]
fn room_for_messages_is_what_a_path_takes() {
    for len in [0, 1, 100, 2048, 2049, 60_000] {
        let (one, mut other) = connected();
        let path = one.path.clone().unwrap();
        let room = path.room_for(len);
        assert!(room > 0, "{len} bytes");
        for sent in 0..room {
            assert_eq!(path.room_for(len), room - sent, "{len} bytes");
            path.send(&[IoSlice::new(&vec![1; len])]).unwrap();
        }
        assert_eq!(path.room_for(len), 0);
        assert!(path.send(&[IoSlice::new(&vec![1; len])]).is_err(), "{len} bytes");
        while other.next(Duration::ZERO).is_some() {}
        assert_eq!(path.room_for(len), room);
        path.close();
        assert_eq!(path.room_for(len), 0);
    }
}

#[test]
fn parts_of_a_message_are_copied_to_their_places() {
    let (one, mut other) = connected_with(&ShmConfig { ring_len: 4096, ..config() });
    let bytes: Vec<u8> = (0..5_000_u32).map(|at| (at * 7) as u8).collect();
    // Together they are longer than the ring, so some wrap around its end.
    for len in [1, 100, 2_000, 2_048, 5_000, 1_900, 2_047, 1_000, 2_048, 2_048] {
        one.send(&bytes[..len]).unwrap();
        let Some(ShmEvent::Message(message)) = other.reception.next_event(Some(PATIENCE)) else { panic!("{len}") };
        let (mut head, mut middle, mut tail) = ([0; 60], [0; 1_000], vec![0; 6_000]);
        let mut copied = message.copy_part(0, &mut head);
        copied += message.copy_part(copied, &mut middle);
        let rest = message.copy_part(copied, &mut tail);
        assert_eq!(copied + rest, len);
        let all = [&head[..len.min(60)], &middle[..copied.saturating_sub(60)], &tail[..rest]].concat();
        assert!(all == bytes[..len], "{len} bytes");
        assert_eq!(message.copy_part(len, &mut tail) + message.copy_part(len + 1, &mut tail), 0);
    }
}

/// As in a forked child, which has the descriptors of its parent.
#[test]
fn abandoned_reception_ends_no_path() {
    let (mut one, mut other) = connected();
    one.reception.abandon();
    drop(one.reception);
    assert!(other.path.as_ref().unwrap().is_open());
    assert_eq!(other.next(Duration::from_millis(20)), None);
}

/// A wake that is not read takes room on the socket of its sender.
#[test]
fn every_wake_arrives_and_takes_no_room() {
    let (mut one, mut other) = connected();
    for round in 0..1000_u32 {
        assert_eq!(other.next(Duration::ZERO), None, "the other side sleeps");
        one.send(&round.to_ne_bytes()).unwrap();
        assert_eq!(other.expect(), Seen::Message(round.to_ne_bytes().to_vec()));
    }
    let peer = hostile::HandMade::connect(&one).open(&mut one);
    for _ in 0..1000 {
        peer.peer.wake();
        one.next(Duration::ZERO);
    }
}

/// The peer never reads its socket.
#[test]
fn full_socket_of_a_peer_does_not_block_the_wake() {
    let (one, other) = connected();
    let path = one.path.as_ref().unwrap();
    for _ in 0..10_000 {
        path.state.wake_peer();
    }
    assert!(path.is_open());
    drop(other);
}

/// Reading each wake would cost system calls. A full socket would refuse wakes.
#[test]
fn few_wakes_lie_unread_in_the_socket() {
    let (one, mut other) = connected();
    let mut most = 0;
    for round in 0..1000_u32 {
        assert_eq!(other.next(Duration::ZERO), None, "the other side sleeps");
        one.send(&round.to_ne_bytes()).unwrap();
        most = most.max(rustix::io::ioctl_fionread(&other.path.as_ref().unwrap().state.socket).unwrap());
        assert_eq!(other.expect(), Seen::Message(round.to_ne_bytes().to_vec()));
    }
    assert!((2..=u64::from(connection::SLEEPS_MAX) + 1).contains(&most), "{most}");
}

/// While a side reads, it falls asleep often, finds another message and goes on. The peer wakes it each time. A wish
/// for room causes a wake, too.
#[test]
fn no_wake_is_lost_while_both_sides_are_busy() {
    const COUNT: u32 = 100_000;
    let (one, mut other) = connected();
    let path = one.path.clone().unwrap();
    let receiving = std::thread::spawn(move || {
        for number in 0..COUNT {
            assert_eq!(other.expect(), Seen::Message(number.to_ne_bytes().to_vec()));
        }
        other
    });
    for number in 0..COUNT {
        let until = Instant::now() + PATIENCE;
        while let Err(failure) = path.send(&[IoSlice::new(&number.to_ne_bytes())]) {
            // A receiver that fails ends the path.
            assert!(matches!(failure, SendFailure::Full(_)), "{failure:?} at message {number}");
            assert!(Instant::now() < until, "no room for message {number}");
            std::thread::yield_now();
        }
        if number % 7 == 0 {
            std::thread::yield_now();
        }
    }
    let other = receiving.join().unwrap();
    assert!(other.path.as_ref().unwrap().is_open());
}

/// `connect` uses the timer by which a thread asks for its events.
#[test]
fn connect_does_not_delay_a_roused_descriptor() {
    let (one, mut other) = connected();
    let third = side(config());
    assert_eq!(other.next(Duration::ZERO), None);
    (0..2).for_each(|_| one.send(b"left").unwrap());
    assert!(matches!(other.next(Duration::ZERO), Some(Seen::Message(_))));
    other.reception.rouse();
    other.host.connect(third.host.identity()).unwrap();
    // At once, and not after a period of the timer.
    let mut polled = [rustix::event::PollFd::new(&other.host.shared.timer, rustix::event::PollFlags::IN)];
    let half_period = rustix::time::Timespec { tv_sec: 0, tv_nsec: TICK_NANOS / 2 };
    assert_eq!(rustix::event::poll(&mut polled, Some(&half_period)), Ok(1));
}

#[test]
fn longest_durations_wait_without_panic() {
    let forever = ShmConfig { handshake_max: Duration::MAX, spin: Duration::MAX, ..config() };
    let (one, mut other) = connected_with(&forever);
    one.send(&bytes(5)).unwrap();
    assert_eq!(other.next(Duration::MAX), Some(Seen::Message(bytes(5))));
    let start = Instant::now();
    assert_eq!(other.next(Duration::from_millis(10)), None);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    // The wait lasts longer than one call of the system can express.
    let host = other.host.clone();
    let thread = std::thread::spawn(move || other.next(Duration::from_secs(1 << 40)));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!thread.is_finished());
    host.interrupt();
    assert_eq!(thread.join().unwrap(), None);
}

/// Each message of the first peer arrives during a spin, which shows no new peer.
#[test]
fn spin_leaves_new_peers_their_turn() {
    let spinning = ShmConfig { spin: Duration::from_secs(1), ..config() };
    let (one, mut other) = connected_with(&spinning);
    let identity = other.host.identity();
    let (is_over, is_waiting, has_sent) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if is_waiting.swap(false, Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_micros(50));
                    let _ = one.send(&bytes(5));
                }
            }
        });
        scope.spawn(|| {
            let mut late = side(config());
            late.host.connect(identity).unwrap();
            while late.path.is_none() && !is_over.load(Ordering::Relaxed) {
                late.next(Duration::from_millis(1));
            }
            while !is_over.load(Ordering::Relaxed) {
                let _ = late.send(&bytes(7));
                has_sent.store(true, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let (mut is_heard, mut rounds_since) = (false, 0);
        for _ in 0..100_000 {
            is_waiting.store(true, Ordering::Relaxed);
            is_heard = other.next(Duration::from_secs(10)) == Some(Seen::Message(bytes(7)));
            // Fewer messages than those after which descriptors are checked in any case.
            rounds_since += u32::from(has_sent.load(Ordering::Relaxed));
            if is_heard || rounds_since > 100 {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(is_heard);
    });
}

#[test]
fn interrupt_ends_the_wait_of_the_receive_thread() {
    let Side { host, mut reception, .. } = side(config());
    let thread = std::thread::spawn(move || {
        assert!(reception.next_event(None).is_none());
        reception
    });
    std::thread::sleep(Duration::from_millis(20));
    host.interrupt();
    let mut reception = thread.join().unwrap();
    assert!(reception.next_event(Some(Duration::from_millis(1))).is_none());
    // Also while messages arrive without a pause.
    let (one, other) = connected();
    let (host, path) = (other.host.clone(), one.path.clone().unwrap());
    let mut reception = other.reception;
    let thread = std::thread::spawn(move || while reception.next_event(None).is_some() {});
    let until = Instant::now() + Duration::from_millis(20);
    while Instant::now() < until {
        let _ = path.send(&[IoSlice::new(b"flood")]);
    }
    host.interrupt();
    while !thread.is_finished() {
        let _ = path.send(&[IoSlice::new(b"flood")]);
    }
    thread.join().unwrap();
}
