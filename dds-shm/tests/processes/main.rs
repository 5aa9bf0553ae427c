//! Shared memory between processes that are killed, stopped, limited, or of another user or namespace.
//!
//! A test starts this program again as a peer. The variable `DDS_SHM_ROLE` selects the peer's work.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod peer;
#[path = "../../src/skip.rs"]
mod skipped;

use dds_shm::{
    Exhausted, Identity, PathEnd, PathId, Refusal, SendFailure, ShmConfig, ShmEvent, ShmHost, ShmPath, ShmReception,
    UserPolicy,
};
use peer::{Role, Started, identity, is_root};
use rustix::process::Signal;
use skipped::skip;
use std::io::IoSlice;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// A host of this process.
struct Own {
    host: ShmHost,
    reception: ShmReception,
}

/// An event without its borrow.
#[derive(Debug)]
enum Seen {
    Up(ShmPath),
    Message(PathId, Vec<u8>),
    Room,
    Down(PathEnd),
    Refused(Refusal),
}

impl Own {
    fn new(config: ShmConfig) -> Self {
        let (host, reception) = ShmHost::new(identity(), config).unwrap();
        Self { host, reception }
    }

    fn next(&mut self, timeout: Duration) -> Option<Seen> {
        Some(match self.reception.next_event(Some(timeout))? {
            ShmEvent::Up(path) => Seen::Up(path),
            ShmEvent::Message(message) => {
                let mut bytes = vec![0; message.len()];
                message.copy_to(&mut bytes);
                Seen::Message(message.path(), bytes)
            }
            ShmEvent::Room(_) => Seen::Room,
            ShmEvent::Down { reason, .. } => Seen::Down(reason),
            ShmEvent::Refused { reason, .. } => Seen::Refused(reason),
            event => panic!("unknown event {event:?}"),
        })
    }

    fn expect(&mut self) -> Seen {
        self.next(PATIENCE).expect("an event")
    }

    fn expect_up(&mut self) -> ShmPath {
        match self.expect() {
            Seen::Up(path) => path,
            seen => panic!("{seen:?}"),
        }
    }

    fn expect_down(&mut self) -> PathEnd {
        loop {
            match self.expect() {
                Seen::Down(reason) => return reason,
                Seen::Message(..) | Seen::Room => {}
                seen => panic!("{seen:?}"),
            }
        }
    }

    /// Starts a peer that connects to this host.
    fn start(&mut self, role: Role) -> (Started, ShmPath) {
        let started = Started::new(Command::new(std::env::current_exe().unwrap()), role, self.host.identity());
        (started, self.expect_up())
    }
}

fn send(path: &ShmPath, bytes: &[u8]) -> Result<(), SendFailure> {
    path.send(&[IoSlice::new(bytes)])
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 13 + len) as u8).collect()
}

/// Tests that count the descriptors of this process run alone.
static TURNS: RwLock<()> = RwLock::new(());

fn beside_others() -> RwLockReadGuard<'static, ()> {
    TURNS.read().unwrap_or_else(PoisonError::into_inner)
}

fn alone() -> RwLockWriteGuard<'static, ()> {
    TURNS.write().unwrap_or_else(PoisonError::into_inner)
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The peer's program. Does nothing when the tests run.
#[test]
#[ignore = "the program of a peer"]
fn peer_program() {
    peer::run();
}

#[test]
fn two_processes_exchange_messages() {
    let _turn = beside_others();
    let mut own = Own::new(ShmConfig::default());
    let (_peer, path) = own.start(Role::Echo);
    for len in [0, 64, 2048, 2049, 64 << 10, 3 << 20] {
        send(&path, &bytes(len)).unwrap();
        match own.expect() {
            Seen::Message(from, echoed) => assert!(from == path.id() && echoed == bytes(len), "{len}"),
            seen => panic!("{seen:?}"),
        }
    }
}

#[test]
fn one_of_three_processes_dies_and_the_others_go_on() {
    let _turn = beside_others();
    let mut own = Own::new(ShmConfig::default());
    let (first, to_first) = own.start(Role::Echo);
    let (_second, to_second) = own.start(Role::Echo);
    for round in 0..100_u32 {
        for path in [&to_first, &to_second] {
            send(path, &round.to_ne_bytes()).unwrap();
            assert!(matches!(own.expect(), Seen::Message(from, _) if from == path.id()));
        }
    }
    first.signal(Signal::KILL);
    let start = Instant::now();
    assert_eq!(own.expect_down(), PathEnd::PeerLeft);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(send(&to_first, b"x"), Err(SendFailure::Gone));
    send(&to_second, b"still here").unwrap();
    assert!(matches!(own.expect(), Seen::Message(_, echoed) if echoed == b"still here"));
}

#[test]
fn killed_peer_gives_back_all_blocks_that_it_held() {
    let _turn = beside_others();
    let config = || {
        let mut config = ShmConfig::default();
        config.pool_len = 16 << 20;
        config.held_bytes_max = 16 << 20;
        config
    };
    let mut own = Own::new(config());
    for _ in 0..5 {
        let (peer, path) = own.start(Role::Deaf);
        for _ in 0..4 {
            send(&path, &bytes(4 << 20)).unwrap();
        }
        assert_eq!(send(&path, &bytes(4 << 20)), Err(SendFailure::Full(Exhausted::Pool)));
        peer.signal(Signal::KILL);
        assert_eq!(own.expect_down(), PathEnd::PeerLeft);
        wait_for_whole_pool(&mut own, 16 << 20);
    }
}

/// The socket of a killed process closes a little before the process has ended.
fn wait_for_whole_pool(own: &mut Own, len: usize) {
    let until = Instant::now() + PATIENCE;
    while own.host.stage(&[IoSlice::new(&bytes(len))]).is_err() {
        assert!(Instant::now() < until, "blocks of the peer are not free");
        own.next(Duration::from_millis(1));
    }
}

/// Sends a message of 100 000 bytes, and returns how many messages the peer keeps.
fn kept_after_send(own: &mut Own, path: &ShmPath) -> u8 {
    send(path, &bytes(100_000)).unwrap();
    match own.expect() {
        Seen::Message(_, count) => count[0],
        seen => panic!("{seen:?}"),
    }
}

#[test]
fn killed_peer_gives_back_messages_that_it_kept() {
    let _turn = beside_others();
    let mut config = ShmConfig::default();
    config.pool_len = 8 << 20;
    let mut own = Own::new(config);
    for _ in 0..5 {
        let (peer, path) = own.start(Role::Keep);
        for count in 1..=9 {
            assert_eq!(kept_after_send(&mut own, &path), count);
        }
        assert_eq!(kept_after_send(&mut own, &path), 9, "it may keep an eighth of the pool");
        // The path ends, and the process still reads its messages.
        path.close();
        assert_eq!(own.expect_down(), PathEnd::Closed);
        assert!(own.host.stage(&[IoSlice::new(&bytes(8 << 20))]).is_err());
        peer.signal(Signal::KILL);
        wait_for_whole_pool(&mut own, 8 << 20);
    }
}

#[test]
fn peers_killed_at_random_moments_leave_nothing() {
    let _turn = alone();
    let mut own = Own::new(ShmConfig::default());
    let (_steady, to_steady) = own.start(Role::Echo);
    let before = descriptors();
    let mut opened = 0;
    let rounds = 60;
    for round in 0..rounds {
        let peer = Started::new(Command::new(std::env::current_exe().unwrap()), Role::Storm, own.host.identity());
        // A process needs about 3 ms until it connects, and floods this one after that.
        let until = Instant::now() + Duration::from_micros(500 + 250 * (round % 40));
        while Instant::now() < until {
            match own.next(Duration::from_micros(100)) {
                Some(Seen::Up(path)) => {
                    opened += 1;
                    let _ = send(&path, &bytes(100_000));
                }
                Some(Seen::Message(_, bytes)) => assert!(bytes.iter().all(|byte| *byte == bytes[0])),
                // Of the peer of an earlier round.
                Some(Seen::Down(..) | Seen::Refused(_) | Seen::Room) | None => {}
            }
        }
        peer.signal(Signal::KILL);
        peer.wait();
        // The end of a killed peer arrives, whether its path was open or not.
        let until = Instant::now() + PATIENCE;
        while descriptors() > before {
            if let Some(Seen::Message(_, bytes)) = own.next(Duration::from_millis(10)) {
                assert!(bytes.iter().all(|byte| *byte == bytes[0]));
            }
            assert!(Instant::now() < until, "{} descriptors, {before} before", descriptors());
        }
    }
    assert!(opened > 0 && opened < rounds * 2, "{opened} of {rounds} paths opened");
    // Ends of earlier peers may still be queued.
    send(&to_steady, b"unharmed").unwrap();
    loop {
        if let Seen::Message(from, echoed) = own.expect() {
            assert!(from == to_steady.id() && echoed == b"unharmed");
            break;
        }
    }
}

#[test]
fn stopped_peer_costs_no_wait_and_goes_on_later() {
    let _turn = beside_others();
    let mut own = Own::new(ShmConfig::default());
    let (peer, path) = own.start(Role::Count);
    peer.stop();
    let (mut sent, mut longest) = (0_u64, Duration::ZERO);
    for round in 0..2000 {
        let start = Instant::now();
        let result = send(&path, &bytes(if round % 2 == 0 { 100 } else { 20_000 }));
        longest = longest.max(start.elapsed());
        match result {
            Ok(()) => sent += 1,
            Err(failure) => assert!(matches!(failure, SendFailure::Full(_)), "{failure}"),
        }
    }
    assert!(sent < 1000, "{sent}");
    assert!(longest < Duration::from_millis(500), "{longest:?}");
    peer.signal(Signal::CONT);
    assert!(matches!(own.expect(), Seen::Room));
    // An empty message asks for the number of messages so far.
    while send(&path, &[]).is_err() {
        own.next(Duration::from_millis(10));
    }
    loop {
        match own.expect() {
            Seen::Message(_, count) => break assert_eq!(count, sent.to_ne_bytes()),
            Seen::Room => {}
            seen => panic!("{seen:?}"),
        }
    }
}

#[test]
fn peer_stopped_during_the_handshake_is_refused_in_time() {
    let _turn = beside_others();
    let mut config = ShmConfig::default();
    config.handshake_max = Duration::from_millis(200);
    let mut own = Own::new(config);
    let mut listener = Started::new(Command::new(std::env::current_exe().unwrap()), Role::Listen, [0; 16]);
    let peer = listener.identity();
    listener.stop();
    own.host.connect(peer).unwrap();
    assert!(matches!(own.expect(), Seen::Refused(Refusal::TimedOut)));
    listener.signal(Signal::CONT);
    // The abandoned handshake must not disturb the next one.
    loop {
        match own.host.connect(peer) {
            Ok(()) => {}
            Err(refusal) => panic!("{refusal}"),
        }
        match own.expect() {
            Seen::Up(_) => break,
            Seen::Refused(_) => {}
            seen => panic!("{seen:?}"),
        }
    }
}

#[test]
fn other_user_is_refused_or_served_by_policy() {
    let _turn = beside_others();
    if !is_root() {
        // Only root can start a process of another user.
        return skip("root");
    }
    let other_user = || {
        let mut command = Command::new(peer::program_for_all_users());
        command.uid(65_534);
        command
    };
    let mut strict = Own::new(ShmConfig::default());
    let mut refused = Started::new(other_user(), Role::Report, strict.host.identity());
    assert!(matches!(strict.expect(), Seen::Refused(Refusal::UserRefused { user: 65_534 })));
    assert_eq!(refused.line("outcome "), Refusal::RefusedByPolicyOfPeer.to_string());
    for policy in [UserPolicy::Any, UserPolicy::List(vec![65_534])] {
        let mut config = ShmConfig::default();
        config.policy = policy;
        let mut open = Own::new(config);
        let _peer = Started::new(other_user(), Role::Echo, open.host.identity());
        let path = open.expect_up();
        assert_eq!(path.peer().user, 65_534);
        for len in [10, 100_000] {
            send(&path, &bytes(len)).unwrap();
            assert!(matches!(open.expect(), Seen::Message(_, echoed) if echoed == bytes(len)));
        }
        let _peer = Started::new(other_user(), Role::Keep, open.host.identity());
        let path = open.expect_up();
        assert_eq!(kept_after_send(&mut open, &path), 0, "another user is not trusted");
    }
    peer::remove_program_for_all_users();
}

#[test]
fn own_namespaces_share_memory_except_the_network_one() {
    let _turn = beside_others();
    let unshare = |flags: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(flags).arg("--").arg(std::env::current_exe().unwrap());
        command
    };
    let is_permitted = Command::new("unshare").args(["-n", "-p", "-f", "-U", "true"]).status();
    if !is_permitted.is_ok_and(|status| status.success()) {
        return skip("namespaces");
    }
    let mut own = Own::new(ShmConfig::default());
    for flags in [&["-i"][..], &["-m"], &["-p", "-f"], &["-U"], &["-i", "-m", "-p", "-f", "-u"]] {
        let _peer = Started::new(unshare(flags), Role::Echo, own.host.identity());
        let path = own.expect_up();
        send(&path, &bytes(100_000)).unwrap();
        assert!(matches!(own.expect(), Seen::Message(_, echoed) if echoed == bytes(100_000)), "{flags:?}");
        path.close();
        own.expect_down();
    }
    for (flags, kept) in
        [(&["-i", "-m"][..], 1), (&["-p", "-f", "--kill-child"], 0), (&["-p", "-f", "--kill-child", "--mount-proc"], 0)]
    {
        let _peer = Started::new(unshare(flags), Role::Keep, own.host.identity());
        let path = own.expect_up();
        assert_eq!(kept_after_send(&mut own, &path), kept, "{flags:?}");
        path.close();
        own.expect_down();
    }
    let mut outside = Started::new(unshare(&["-n"]), Role::Report, own.host.identity());
    assert_eq!(outside.line("outcome "), Refusal::NotFound.to_string());
}

/// A command that runs this program under a limit of the shell.
fn limited(limit: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]).arg(std::env::current_exe().unwrap());
    command
}

/// Connects. The peer may have refused before the call returns.
fn outcome(own: &mut Own, peer: Identity) -> Seen {
    match own.host.connect(peer) {
        Ok(()) => own.expect(),
        Err(refusal) => Seen::Refused(refusal),
    }
}

/// A host takes four descriptors, and each path one.
#[test]
fn descriptors_stay_below_their_share_of_the_limit() {
    let _turn = beside_others();
    let mut listener = Started::new(limited("ulimit -n 32"), Role::Listen, [0; 16]);
    let listens = listener.identity();
    let mut hosts: Vec<Own> = Vec::new();
    for count in 0..6 {
        let mut own = Own::new(ShmConfig::default());
        match outcome(&mut own, listens) {
            Seen::Up(_) => assert!(count < 4, "{count}"),
            Seen::Refused(Refusal::PeerLacksResources) => assert!(count >= 4, "{count}"),
            seen => panic!("{seen:?}"),
        }
        hosts.push(own);
    }
    // The end of a path makes room for another one.
    hosts.remove(0);
    let until = Instant::now() + PATIENCE;
    loop {
        let mut own = Own::new(ShmConfig::default());
        if matches!(outcome(&mut own, listens), Seen::Up(_)) {
            break;
        }
        assert!(Instant::now() < until);
    }
    // The process itself gets the reason.
    let own = Own::new(ShmConfig::default());
    for (limit, share) in [(15, "host"), (19, "path")] {
        let mut peer = Started::new(limited(&format!("ulimit -n {limit}")), Role::Report, own.host.identity());
        let reason = Refusal::DescriptorShare { limit }.to_string();
        assert_eq!(peer.line("outcome "), reason, "{share}");
    }
}

/// The system ends a process that makes a file longer than it may be. Shared memory is a file.
#[test]
fn limit_of_file_lengths_is_a_reason_and_not_the_end() {
    let _turn = beside_others();
    let own = Own::new(ShmConfig::default());
    let mut peer = Started::new(limited("ulimit -f 1000"), Role::Report, own.host.identity());
    let reason = peer.line("outcome ");
    assert!(reason.contains("memory") && reason.contains("large"), "{reason}");
}

#[test]
fn process_without_free_descriptors_is_refused_and_recovers() {
    let _turn = beside_others();
    let program = std::env::current_exe().unwrap();
    let mut listener = Started::new(Command::new(&program), Role::Listen, [0; 16]);
    let listens = listener.identity();
    let limited_to = |limit: u32| {
        let mut command = limited(&format!("ulimit -n {limit}"));
        command.env("DDS_SHM_FILES", "16");
        command
    };
    let (mut opened, mut refused) = (0, 0);
    for limit in 24..40 {
        let mut peer = Started::new(limited_to(limit), Role::Report, listens);
        match peer.line("outcome ").as_str() {
            "up" => opened += 1,
            reason => {
                let is_typed = reason.contains("descriptor") || reason.contains("memory") || reason.contains("closed");
                assert!(is_typed, "{limit}: {reason}");
                refused += 1;
            }
        }
    }
    assert!(opened > 0 && refused > 0, "{opened} opened, {refused} refused");
    // The listener is unharmed. A listener with few descriptors refuses, and this process is unharmed.
    let mut own = Own::new(ShmConfig::default());
    own.host.connect(listens).unwrap();
    own.expect_up();
    let mut own = Own::new(ShmConfig::default());
    for limit in 25..36 {
        let mut listener = Started::new(limited_to(limit), Role::Listen, [0; 16]);
        let Some(peer) = listener.identity_or_outcome() else { continue };
        if own.host.connect(peer).is_ok() {
            assert!(matches!(own.expect(), Seen::Up(_) | Seen::Refused(_)));
        }
        drop(listener);
        while own.next(Duration::from_millis(1)).is_some() {}
    }
    let (_peer, path) = own.start(Role::Echo);
    send(&path, b"fine").unwrap();
    assert!(matches!(own.expect(), Seen::Message(..)));
}

#[test]
fn killed_processes_leave_no_files() {
    let _turn = beside_others();
    let mut own = Own::new(ShmConfig::default());
    let files = || -> Vec<String> {
        let mut names = Vec::new();
        for folder in ["/dev/shm", "/tmp", "/run"] {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                names.push(entry.path().display().to_string());
            }
        }
        names.retain(|name| name.contains("dds-shm") || name.contains(&peer::hex(&own.host.identity())));
        names
    };
    assert_eq!(files(), Vec::<String>::new());
    let identity = own.host.identity();
    let peer = Started::new(Command::new(std::env::current_exe().unwrap()), Role::Storm, identity);
    own.expect_up();
    peer.signal(Signal::KILL);
    peer.wait();
    drop(own.reception);
    let socket = std::fs::read_to_string("/proc/net/unix").unwrap();
    assert!(!socket.contains(&peer::hex(&identity)), "the name of the socket is gone");
    assert!(!std::path::Path::new("/dev/shm").join(peer::hex(&identity)).exists());
}
