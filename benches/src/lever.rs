//! Three decisions that cost most when taken the other way, each as the naive and the chosen form of the same work.
//!
//! | decision | naive | chosen |
//! |---|---|---|
//! | memory to receive into | a buffer per datagram | one buffer, reused |
//! | memory to lay a datagram out in | zeroed at full size for each | a cursor that grows a reused buffer |
//! | who runs a handler | a task behind a mailbox | the calling thread |

use crate::RTPS_OVERHEAD_LEN;
use dds_core::actor::{Actor, Capacity, Cell, Effects, RunQueue};
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// The largest UDP datagram: what a receiver must be ready for that does not know what comes.
const DATAGRAM_MAX: usize = 65_536;

/// Receives a small datagram from a socket of the same thread, so that no thread is woken.
#[derive(Debug)]
pub struct ReceiveBuffer {
    from: UdpSocket,
    to: UdpSocket,
    reused: Vec<u8>,
}

impl ReceiveBuffer {
    /// Opens two sockets on the loopback.
    ///
    /// # Errors
    ///
    /// If a socket cannot be opened.
    pub fn open() -> io::Result<Self> {
        let to = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        from.connect(to.local_addr()?)?;
        Ok(Self { from, to, reused: vec![0; DATAGRAM_MAX] })
    }

    /// Naive: a new buffer for what may come, shortened to what came.
    ///
    /// # Panics
    ///
    /// If the loopback fails.
    #[must_use]
    pub fn fresh(&self) -> Vec<u8> {
        self.send();
        let mut buffer = vec![0; DATAGRAM_MAX];
        let len = self.to.recv(&mut buffer).expect("the datagram is there");
        buffer.truncate(len);
        buffer
    }

    /// Chosen: the same buffer every time.
    ///
    /// # Panics
    ///
    /// If the loopback fails.
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
    /// Naive: zeroes a datagram of the largest size, writes over the zeroes, gives the memory back.
    ///
    /// # Panics
    ///
    /// If the payload does not fit into one datagram.
    pub fn zeroed(&self, payload: &[u8]) -> usize {
        let mut buffer = vec![0_u8; DATAGRAM_MAX];
        let (headers, rest) = buffer.split_at_mut(RTPS_OVERHEAD_LEN);
        headers.copy_from_slice(&[1; RTPS_OVERHEAD_LEN]);
        rest.split_at_mut(payload.len()).0.copy_from_slice(payload);
        black_box(&buffer);
        RTPS_OVERHEAD_LEN + payload.len()
    }

    /// Chosen: appends to memory that is kept; what is not written is not touched.
    pub fn cursor(&mut self, payload: &[u8]) -> usize {
        self.reused.clear();
        self.reused.extend_from_slice(&[1; RTPS_OVERHEAD_LEN]);
        self.reused.extend_from_slice(payload);
        black_box(&self.reused);
        self.reused.len()
    }
}

type Job = Box<dyn FnOnce(&mut u64) + Send>;

/// Naive: an actor as a task of a runtime on its own thread, asked through a mailbox.
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
    /// If the runtime or its thread cannot be made.
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

    /// Asks the task to count one up and waits for its answer.
    ///
    /// # Panics
    ///
    /// If the task is gone.
    #[must_use]
    pub fn ask(&self) -> u64 {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(|state| {
            *state += 1;
            // The asker waits below, so the answer is taken.
            let _ = reply.send(*state);
        });
        let mailbox = self.mailbox.as_ref().expect("it is taken by drop only");
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

/// Chosen: an actor in a cell that the asking thread enters.
#[derive(Debug)]
pub struct MailboxCell {
    cell: Arc<Cell<Counter>>,
}

/// What the cell holds.
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
        // Nothing gives up its turn here: a visit serves at most one piece of mail.
        let run_queue = Arc::new(RunQueue::new(|| {}));
        Self { cell: Cell::new(Counter(0), Capacity::default(), run_queue) }
    }
}

impl MailboxCell {
    /// Counts one up inside of the cell.
    ///
    /// # Panics
    ///
    /// If the cell is closed, which it never is.
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
