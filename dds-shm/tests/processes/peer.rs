//! The processes that the tests start.

use dds_shm::{Identity, KeptMessage, ShmConfig, ShmEvent, ShmHost, ShmPath, ShmReception, UserPolicy};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::io::{BufRead, BufReader, IoSlice};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Work of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Connects and returns every message.
    Echo,
    /// Connects and never reads.
    Deaf,
    /// Connects, counts messages, and answers an empty one by the number of the others.
    Count,
    /// Connects, keeps each message in place if it may, and answers by the number of kept ones.
    Keep,
    /// Connects and sends messages as fast as possible.
    Storm,
    /// Waits for connections.
    Listen,
    /// Connects, and prints the outcome.
    Report,
}

const ROLES: [Role; 7] = [Role::Echo, Role::Deaf, Role::Count, Role::Keep, Role::Storm, Role::Listen, Role::Report];

/// A started peer. Dropping it kills the process.
pub(crate) struct Started {
    child: Child,
    output: Option<BufReader<std::process::ChildStdout>>,
}

/// An identity that no other host has.
pub(crate) fn identity() -> Identity {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut identity = [0; 16];
    identity[..4].copy_from_slice(&std::process::id().to_ne_bytes());
    identity[4..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_ne_bytes());
    // Process IDs repeat in other PID namespaces.
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    identity[8..].copy_from_slice(&(time.as_nanos() as u64).to_ne_bytes());
    identity
}

pub(crate) fn hex(identity: &Identity) -> String {
    identity.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// A copy of this program that every user may run.
pub(crate) fn program_for_all_users() -> &'static PathBuf {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("shm-peer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let copy = folder.join("peer");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        for path in [&folder, &copy] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        copy
    })
}

pub(crate) fn remove_program_for_all_users() {
    std::fs::remove_dir_all(program_for_all_users().parent().unwrap()).unwrap();
}

impl Started {
    /// Adds the arguments and variables of a peer to `command` and starts it.
    pub(crate) fn new(mut command: Command, role: Role, connects_to: Identity) -> Self {
        command.args(["--exact", "peer_program", "--ignored", "--nocapture", "--test-threads=1"]);
        command.env("DDS_SHM_ROLE", format!("{role:?}")).env("DDS_SHM_PEER", hex(&connects_to));
        command.stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().map(BufReader::new);
        Self { child, output }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops the process, and waits until it stands.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let status = format!("/proc/{}/status", self.child.id());
        while !std::fs::read_to_string(&status).unwrap().contains("State:\tT") {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn wait(mut self) {
        self.child.wait().unwrap();
    }

    /// The identity of a peer that listens.
    pub(crate) fn identity(&mut self) -> Identity {
        self.identity_or_outcome().expect("the peer listens")
    }

    /// The identity of a peer that listens, or nothing if it could not.
    pub(crate) fn identity_or_outcome(&mut self) -> Option<Identity> {
        let line = self.line("peer ");
        let line = line.strip_prefix("listens ")?;
        let mut identity = [0; 16];
        for (at, byte) in identity.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&line[2 * at..2 * at + 2], 16).unwrap();
        }
        Some(identity)
    }

    /// The rest of the peer's first line that begins with `start`.
    pub(crate) fn line(&mut self, start: &str) -> String {
        for line in self.output.as_mut().unwrap().lines() {
            // The test runner prints the test's name in front of the first line.
            if let Some((_, rest)) = line.unwrap().split_once(start) {
                return rest.to_owned();
            }
        }
        panic!("the peer ended without a line `{start}`");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Fails if the process has ended. A stopped one ends as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the role of this process, if it is a peer.
pub(crate) fn run() {
    let Ok(name) = std::env::var("DDS_SHM_ROLE") else { return };
    // Other files of the program, which leave few descriptors.
    let files = std::env::var("DDS_SHM_FILES").map_or(0, |count| count.parse().unwrap());
    let _files: Vec<_> = (0..files).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    let role = ROLES.into_iter().find(|role| format!("{role:?}") == name).unwrap();
    let mut connects_to = [0; 16];
    let digits = std::env::var("DDS_SHM_PEER").unwrap();
    for (at, byte) in connects_to.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    }
    let mut config = ShmConfig::default();
    config.policy = UserPolicy::Any;
    let (host, mut reception) = match ShmHost::new(identity(), config) {
        Ok(parts) => parts,
        Err(refusal) => return println!("peer outcome {refusal}"),
    };
    if role == Role::Listen {
        println!("peer listens {}", hex(&host.identity()));
        while reception.next_event(None).is_some() {}
        return;
    }
    if let Err(refusal) = host.connect(connects_to) {
        return println!("outcome {refusal}");
    }
    let path = loop {
        match reception.next_event(None) {
            Some(ShmEvent::Up(path)) => break path,
            Some(ShmEvent::Refused { reason, .. }) => return println!("outcome {reason}"),
            _ => {}
        }
    };
    match role {
        Role::Echo => echo(&path, &mut reception),
        Role::Deaf => std::thread::sleep(Duration::from_secs(600)),
        Role::Count => count(&path, &mut reception),
        Role::Keep => keep(&path, &mut reception),
        Role::Storm => storm(&path),
        Role::Report => println!("outcome up"),
        Role::Listen => {}
    }
}

fn echo(path: &ShmPath, reception: &mut ShmReception) {
    let mut buffer = Vec::new();
    loop {
        match reception.next_event(None) {
            Some(ShmEvent::Message(message)) => {
                buffer.resize(message.len(), 0);
                message.copy_to(&mut buffer);
                drop(message);
                path.send(&[IoSlice::new(&buffer)]).unwrap();
            }
            Some(ShmEvent::Down { .. }) => return,
            _ => {}
        }
    }
}

fn count(path: &ShmPath, reception: &mut ShmReception) {
    let mut count = 0_u64;
    loop {
        match reception.next_event(None) {
            Some(ShmEvent::Message(message)) if message.is_empty() => {
                drop(message);
                path.send(&[IoSlice::new(&count.to_ne_bytes())]).unwrap();
            }
            Some(ShmEvent::Message(_)) => count += 1,
            Some(ShmEvent::Down { .. }) => return,
            _ => {}
        }
    }
}

fn keep(path: &ShmPath, reception: &mut ShmReception) {
    let mut kept = Vec::new();
    loop {
        match reception.next_event(None) {
            Some(ShmEvent::Message(message)) => {
                let mut place = KeptMessage::new();
                if message.keep(&mut place).is_ok() {
                    kept.push(place);
                }
                path.send(&[IoSlice::new(&[kept.len() as u8])]).unwrap();
            }
            // The messages outlive the path.
            Some(ShmEvent::Down { .. }) => std::thread::sleep(Duration::from_secs(600)),
            _ => {}
        }
    }
}

/// All bytes of a message are equal, so that the receiver recognizes a torn one.
fn storm(path: &ShmPath) {
    for round in 0_usize.. {
        let message = vec![round as u8; [16, 1000, 30_000][round % 3]];
        let _ = path.send(&[IoSlice::new(&message)]);
    }
}
