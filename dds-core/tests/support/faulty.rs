//! A driver like the system's, but for its network: that loses, repeats, reorders and refuses datagrams.

use dds_core::actor::{Poke, RunQueue};
use dds_core::driver::{
    Driver, Locators, Network, NetworkConfig, NetworkError, OsDriver, Parker, Receive, Role, ThreadHandle, Timers,
};
use dds_rtps::output::Datagram;
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::{Instant, Locator, Now};
use std::io;
use std::sync::{Arc, Mutex, Weak};

/// How often what goes wrong, in percent of the datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) seed: u64,
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    /// Sent after the next one.
    pub(crate) late: u64,
    /// The socket has no room.
    pub(crate) refused: u64,
}

pub(crate) struct FaultyDriver {
    inner: Arc<OsDriver>,
    faults: Faults,
}

impl FaultyDriver {
    pub(crate) fn new(faults: Faults) -> Arc<Self> {
        Arc::new(Self { inner: OsDriver::new().unwrap(), faults })
    }
}

impl Driver for FaultyDriver {
    fn now(&self) -> Now {
        self.inner.now()
    }
    fn random(&self) -> u64 {
        self.inner.random()
    }
    fn timers(&self) -> &Arc<Timers> {
        self.inner.timers()
    }
    fn run_queue(&self) -> &Arc<RunQueue> {
        self.inner.run_queue()
    }
    fn park(&self, parker: &Parker, until: Option<Instant>) {
        self.inner.park(parker, until);
    }
    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle> {
        self.inner.spawn(name, role, body)
    }
    fn open_network(&self, config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError> {
        let inner = self.inner.open_network(config)?;
        let dice = Mutex::new(Dice { state: self.faults.seed, held_back: None });
        let transport = Arc::new(FaultyTransport { inner: Arc::clone(inner.transport()), faults: self.faults, dice });
        Ok(Arc::new(FaultyNetwork { inner, transport }))
    }
    fn shutdown(&self) {
        self.inner.shutdown();
    }
}

struct FaultyNetwork {
    inner: Arc<dyn Network>,
    transport: Arc<dyn Transport>,
}

impl Network for FaultyNetwork {
    fn locators(&self) -> &Locators {
        self.inner.locators()
    }
    fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }
    fn receive_buffer_granted(&self) -> usize {
        self.inner.receive_buffer_granted()
    }
    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()> {
        self.inner.start(receive)
    }
    fn when_writable(&self, cell: Weak<dyn Poke>) {
        self.inner.when_writable(cell);
    }
    fn stop(&self) {
        self.inner.stop();
    }
}

#[derive(Debug)]
struct FaultyTransport {
    inner: Arc<dyn Transport>,
    faults: Faults,
    dice: Mutex<Dice>,
}

#[derive(Debug)]
struct Dice {
    state: u64,
    held_back: Option<Datagram>,
}

impl Dice {
    /// True in so many of a hundred cases (splitmix64).
    fn falls(&mut self, percent: u64) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % 100 < percent
    }
}

impl FaultyTransport {
    fn send_to(&self, destination: Locator, datagram: &Datagram, dice: &mut Dice) {
        if dice.falls(self.faults.lost) {
            return;
        }
        let mut copy = Datagram::new();
        datagram.copy_to(copy.buffer());
        copy.add_destination(destination);
        if dice.falls(self.faults.repeated) {
            let _ = self.inner.send(&mut copy);
            let mut again = Datagram::new();
            datagram.copy_to(again.buffer());
            again.add_destination(destination);
            copy = again;
        }
        let held_back = dice.held_back.take();
        if held_back.is_none() && dice.falls(self.faults.late) {
            dice.held_back = Some(copy);
            return;
        }
        // What the socket below refuses is lost, as on a wire.
        let _ = self.inner.send(&mut copy);
        held_back.map(|mut late| self.inner.send(&mut late));
    }
}

impl Transport for FaultyTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut dice = self.dice.lock().unwrap();
        while let Some(&destination) = datagram.remaining_destinations().first() {
            if dice.falls(self.faults.refused) {
                return SendOutcome::Blocked;
            }
            self.send_to(destination, datagram, &mut dice);
            datagram.destination_done();
        }
        SendOutcome::Done
    }
    fn counters(&self) -> TransportCounters {
        self.inner.counters()
    }
}
