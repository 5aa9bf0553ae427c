//! The transports of this crate keep the transport contract: the simulated one, and one with faults that take time.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use super::Interference;
use super::driver::SimDriver;
use super::world::{World, later};
use crate::driver::{Driver, ExpectedPlace, FaultyReceive, Network, NetworkConfig, Packet, Reach, Receive, Socket};
use crate::promises::{self, Insistent, TransportUnderTest};
use dds_rtps::link::Conditions;
use dds_rtps::transport::Transport;
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{Duration, Locator};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Longest time between sending and receiving a datagram.
const UNDER_WAY: Duration = Duration::from_millis(50);

/// One host of a world, with the sockets of one participant.
struct Simulated<T> {
    world: Arc<World>,
    transport: T,
    network: Arc<dyn Network>,
    arrived: Arc<Arrived>,
    /// Keeps the sockets open.
    _driver: Arc<dyn Driver>,
}

/// Received datagrams: user data, then metatraffic.
#[derive(Default)]
struct Arrived(Mutex<[VecDeque<Vec<u8>>; 2]>);

impl Receive for Arrived {
    fn receive(&self, packet: &Packet, _: Option<&ExpectedPlace>) {
        let receiver = usize::from(packet.socket != Socket::UserUnicast);
        self.0.lock().unwrap()[receiver].push_back(packet.payload.bytes().to_vec());
    }
}

impl<T: Transport> Simulated<T> {
    fn new(
        interference: Interference,
        (sending, receiving): (Option<Faults>, Option<Faults>),
        wrap: impl FnOnce(Arc<dyn Transport>) -> T,
    ) -> Self {
        let world = World::new(3, interference);
        let host = world.state().add_host("host").unwrap();
        let driver: Arc<dyn Driver> = SimDriver::new(Arc::clone(&world), host);
        let config =
            NetworkConfig { reach: Reach::Host, multicast: false, faults: sending, ..NetworkConfig::default() };
        let network = driver.open_network(&config).unwrap();
        let arrived = Arc::<Arrived>::default();
        let receive: Arc<dyn Receive> = match receiving {
            Some(faults) => FaultyReceive::new(Arc::clone(&arrived) as _, &faults, &driver),
            None => Arc::clone(&arrived) as _,
        };
        network.start(receive).unwrap();
        Self { world, transport: wrap(Arc::clone(network.transport())), network, arrived, _driver: driver }
    }
}

impl<T: Transport> TransportUnderTest for Simulated<T> {
    type Transport = T;

    fn transport(&self) -> &T {
        &self.transport
    }

    fn locator(&self, receiver: usize) -> Locator {
        let locators = self.network.locators();
        [&locators.default_unicast, &locators.metatraffic_unicast][receiver][0]
    }

    fn next(&self, receiver: usize) -> Option<Vec<u8>> {
        let until = later(self.world.state().now(), UNDER_WAY);
        self.world.run(Some(until), || !self.arrived.0.lock().unwrap()[receiver].is_empty());
        self.arrived.0.lock().unwrap()[receiver].pop_front()
    }
}

/// The transport blocks half of all attempts to send.
fn half_blocked() -> Faults {
    Faults { seed: 5, blocked: 0.5, ..Faults::default() }
}

fn late_by_3_ms() -> Conditions {
    Conditions::immediate().delayed(Duration::from_millis(3), Duration::ZERO)
}

#[test]
fn a_simulated_transport_keeps_the_contract() {
    promises::all_promises(&Simulated::new(Interference::NONE, (None, None), |sim| sim));
}

#[test]
fn a_simulated_transport_that_has_no_room_keeps_the_contract() {
    let full = Interference { blocked: 0.5, ..Interference::NONE };
    promises::all_promises(&Simulated::new(full, (None, None), Insistent));
}

#[test]
fn a_faulty_transport_keeps_the_contract() {
    promises::all_promises(&Simulated::new(Interference::NONE, (Some(Faults::default()), None), |faulty| faulty));
    promises::all_promises(&Simulated::new(Interference::NONE, (Some(half_blocked()), None), Insistent));
}

/// Datagrams that a receiver delays arrive late and in order. A receiving socket never blocks its sender.
#[test]
fn contract_holds_behind_receive_faults() {
    let late = Faults { conditions: late_by_3_ms(), ..half_blocked() };
    promises::all_promises(&Simulated::new(Interference::NONE, (None, Some(late)), |sim| sim));
    promises::all_promises(&Simulated::new(Interference::NONE, (Some(half_blocked()), Some(late)), Insistent));
}

/// A delayed datagram counts as sent when it leaves, which is when its timer fires.
#[test]
fn what_a_faulty_transport_delays_arrives_in_order() {
    let late = Faults { conditions: late_by_3_ms(), ..Faults::default() };
    let setting = Simulated::new(Interference::NONE, (Some(late), None), |faulty| faulty);
    for count in 0..50_u8 {
        let mut datagram = promises::datagram(&[count], [setting.locator(0)]);
        assert_eq!(setting.transport.send(&mut datagram), dds_rtps::transport::SendOutcome::Done);
    }
    assert_eq!(setting.transport.counters().sent, 0);
    let arrived: Vec<u8> = std::iter::from_fn(|| setting.next(0)).flatten().collect();
    assert_eq!(arrived, (0..50).collect::<Vec<_>>());
    assert_eq!(setting.transport.counters().sent, 50);
}
