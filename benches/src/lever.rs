//! The three design decisions with the highest effect, each as the naive and the chosen form of the same work.
//!
//! | decision | naive | chosen |
//! |---|---|---|
//! | memory of a received datagram | a buffer per datagram | one reused buffer |
//! | memory of a sent datagram | zeroed at full size each time | a cursor that grows a reused buffer |
//! | thread that runs a handler | a task behind a mailbox | the calling thread |

use crate::RTPS_OVERHEAD_LEN;
use dds_core::actor::{Actor, Capacity, Cell, Effects, RunQueue};
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// The largest UDP datagram. A receiver does not know the size in advance.
const DATAGRAM_MAX: usize = 65_536;

/// Receives a small datagram that the same thread has sent: no thread is woken.
#[derive(Debug)]
pub struct ReceiveBuffer {
    from: UdpSocket,
    to: UdpSocket,
    reused: Vec<u8>,
}

impl ReceiveBuffer {
    /// Opens two sockets on the loopback interface.
    ///
    /// # Errors
    ///
    /// Returns an error if a socket cannot be opened.
    pub fn open() -> io::Result<Self> {
        let to = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        from.connect(to.local_addr()?)?;
        Ok(Self { from, to, reused: vec![0; DATAGRAM_MAX] })
    }

    /// Naive: a new buffer of the largest size, cut to the received length.
    ///
    /// # Panics
    ///
    /// Panics if the loopback fails.
    #[must_use]
    pub fn fresh(&self) -> Vec<u8> {
        self.send();
        let mut buffer = vec![0; DATAGRAM_MAX];
        let len = self.to.recv(&mut buffer).expect("the datagram is there");
        buffer.truncate(len);
        buffer
    }

    /// Chosen: the same buffer each time.
    ///
    /// # Panics
    ///
    /// Panics if the loopback fails.
    pub fn reused(&mut self) -> &[u8] {
        self.send();
        let len = self.to.recv(&mut self.reused).expect("the datagram is there");
        self.reused.get(..len).expect("recv writes inside of the buffer")
    }

    fn send(&self) {
        self.from.send(&[7; 64]).expect("the loopback takes one datagram");
    }
}

/// Lays out a datagram of headers and a payload.
#[derive(Debug, Default)]
pub struct SendBuffer {
    reused: Vec<u8>,
}

impl SendBuffer {
    /// Naive: allocates a zeroed buffer of the largest size, overwrites it, frees it.
    ///
    /// # Panics
    ///
    /// Panics if the payload does not fit into one datagram.
    pub fn zeroed(&self, payload: &[u8]) -> usize {
        let mut buffer = vec![0_u8; DATAGRAM_MAX];
        let (headers, rest) = buffer.split_at_mut(RTPS_OVERHEAD_LEN);
        headers.copy_from_slice(&[1; RTPS_OVERHEAD_LEN]);
        rest.split_at_mut(payload.len()).0.copy_from_slice(payload);
        black_box(&buffer);
        RTPS_OVERHEAD_LEN + payload.len()
    }

    /// Chosen: appends to a reused buffer.
    pub fn cursor(&mut self, payload: &[u8]) -> usize {
        self.reused.clear();
        self.reused.extend_from_slice(&[1; RTPS_OVERHEAD_LEN]);
        self.reused.extend_from_slice(payload);
        black_box(&self.reused);
        self.reused.len()
    }
}

type Job = Box<dyn FnOnce(&mut u64) + Send>;

/// Naive: an actor as a task of a runtime on its own thread, behind a mailbox.
#[derive(Debug)]
pub struct MailboxTask {
    mailbox: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl MailboxTask {
    /// Starts the runtime and its task.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime or its thread cannot be created.
    pub fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let (mailbox, mut jobs) = mpsc::channel::<Job>(16);
        let task = async move {
            let mut state = 0;
            while let Some(job) = jobs.recv().await {
                job(&mut state);
            }
        };
        let thread = std::thread::Builder::new().name("mailbox".into()).spawn(move || runtime.block_on(task))?;
        Ok(Self { mailbox: Some(mailbox), thread: Some(thread) })
    }

    /// Requests that the task counts up by one, and waits for the answer.
    ///
    /// # Panics
    ///
    /// Panics if the task has ended.
    #[must_use]
    pub fn ask(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(|state| {
            *state += 1;
            // The caller waits for the answer, so the send succeeds.
            let _ = reply.send(*state);
        });
        let mailbox = self.mailbox.as_ref().expect("only `drop` takes the sender");
        assert!(mailbox.blocking_send(job).is_ok(), "the task lives as long as self");
        answer.blocking_recv().expect("the task answers")
    }
}

impl Drop for MailboxTask {
    fn drop(&mut self) {
        self.mailbox = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Chosen: an actor in a cell that the calling thread enters.
#[derive(Debug)]
pub struct MailboxCell {
    cell: Arc<Cell<Counter>>,
}

/// The state in the cell.
#[derive(Debug)]
struct Counter(u64);

impl Actor for Counter {
    type Mail = ();

    fn handle(&mut self, (): (), _effects: &mut Effects) {
        self.0 += 1;
    }
}

impl Default for MailboxCell {
    fn default() -> Self {
        // A visit serves at most one piece of mail here, so it never yields.
        let run_queue = Arc::new(RunQueue::new(|| {}));
        Self { cell: Cell::new(Counter(0), Capacity::default(), run_queue) }
    }
}

impl MailboxCell {
    /// Counts up by one inside the cell.
    ///
    /// # Panics
    ///
    /// Panics if the cell is closed. It stays open until `self` is dropped.
    #[must_use]
    pub fn ask(&self) -> u64 {
        Effects::scope(|effects| {
            self.cell
                .with(effects, |counter, _| {
                    counter.0 += 1;
                    counter.0
                })
                .expect("the cell is not closed before self is dropped")
        })
    }
}
