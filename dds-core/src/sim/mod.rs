//! A simulated network of hosts in memory, driven by one seed.
//!
//! Use it to test the QoS of your own program. This library is tested with it too. Several hosts share a network that
//! misbehaves as configured. Time passes only while a thread waits.
//!
//! A simulated participant is an ordinary [`DomainParticipant`](crate::DomainParticipant) with ordinary readers and
//! writers. Only the driver below it is different. [`block_for`](crate::Waiting::block_for) on it advances the world
//! instead of sleeping, so hours of a robot's life pass in seconds.
//!
//! The same seed gives the same run, down to the last datagram. [`Simulation::trace_hash`] verifies this.
//!
//! ```
//! use dds_core::sim::{Conditions, Simulation};
//! use dds_core::qos::Preset;
//! use dds_core::{DdsType, Duration};
//!
//! #[derive(DdsType, Debug)]
//! struct Step {
//!     number: u32,
//! }
//!
//! # fn main() -> dds_core::Result<()> {
//! let simulation = Simulation::new(7);
//! simulation.set_network(Conditions::hall_wifi());
//! let robot = simulation.participant("robot", 0)?;
//! let station = simulation.participant("station", 0)?;
//! let writer = robot.writer_builder("steps").qos(Preset::Event).build()?;
//! let reader = station.reader_builder("steps").qos(Preset::Event).build()?;
//! writer.wait_for_readers(1).block()?;
//!
//! for number in 0..100 {
//!     writer.write(&Step { number })?;
//!     simulation.run_for(Duration::from_millis(10));
//! }
//! // The writer is reliable, so all samples arrive in order over a lossy Wi-Fi.
//! writer.acknowledged().block_for(Duration::from_secs(60))?;
//! let received: Vec<u32> = reader.take()?.into_data().map(|step: Step| step.number).collect();
//! assert_eq!(received, (0..100).collect::<Vec<_>>());
//! # Ok(())
//! # }
//! ```
//!
//! # Scope of the simulation
//!
//! - [`Host`] is a host with an address and with clocks that may differ, drift and step. It may crash, restart, sleep
//!   and freeze.
//! - [`Link`] is a link with delay, jitter, loss, bursts, bandwidth, duplicates, reordering and damage. It can be cut
//!   and mended.
//! - [`Interference`] is how threads disturb each other. A reader is occupied when a sample comes, a socket is full, a
//!   timer is late or fires twice. A single thread would never take these paths.
//! - Untrusted bytes: [`Host::send`] sends datagrams that no participant would send. [`Simulation::intercept`]
//!   inspects, changes and stops datagrams.
//! - Async code sleeps with [`Host::timer`]. The timers of a runtime, such as `tokio::time::sleep`, follow the real
//!   clock. A future that waits for one of them panics or hangs in [`Simulation::block_on`].
//! - Application code takes no simulated time. Threads of the application are not part of the world. They may use its
//!   participants, but then the run is not repeatable.
//! - The event thread calls listeners only while a thread waits, one at a time. A listener must not wait for a lock
//!   that the waiting thread holds.

mod driver;
mod host;
mod interference;
mod link;
mod network;
mod passing;
mod simulation;
mod thread;
mod trace;
mod world;

pub use dds_rtps::sim::{Burst, Conditions, NetworkCounters};
pub use host::Host;
pub use interference::{Interference, InterferenceCounters};
pub use link::Link;
pub use passing::Passing;
pub use simulation::Simulation;

#[cfg(test)]
mod contract;
