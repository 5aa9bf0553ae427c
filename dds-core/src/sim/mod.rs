//! A world in memory: several hosts, a network between them that misbehaves as it is told to, and time that passes only
//! when somebody waits. For tests of your own program's QoS, and of this library.
//!
//! A simulated participant is an ordinary [`DomainParticipant`](crate::DomainParticipant), with ordinary readers and
//! writers: only the driver below it is another one. [`block_for`](crate::Waiting::block_for) on it runs the world forward
//! instead of sleeping, so hours of a robot's life pass in seconds. The same seed gives the same run, down to the last
//! datagram: [`Simulation::trace_hash`] tells.
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
//! // Reliable: whatever the Wi-Fi does, everything arrives in the end, in order.
//! writer.acknowledged().block_for(Duration::from_secs(60))?;
//! let received: Vec<u32> = reader.take()?.into_data().map(|step: Step| step.number).collect();
//! assert_eq!(received, (0..100).collect::<Vec<_>>());
//! # Ok(())
//! # }
//! ```
//!
//! # What is simulated, and what is not
//!
//! - Hosts with addresses, clocks that may differ, drift and step, and that crash, come back and sleep: [`Host`].
//! - Links with delay, jitter, loss, bursts, bandwidth, duplicates, reordering and damage, cut and mended: [`Link`].
//! - What threads do to each other: somebody is inside a reader when a sample comes, a socket is full, a timer is late or
//!   fires twice: [`Interference`]. One thread alone would never take those ways.
//! - Strangers: [`Host::send`] sends what no participant would, [`Simulation::intercept`] sees, changes and stops datagrams.
//! - Code of the application takes no time. Threads of the application's own are not part of the world: they may use its
//!   participants, but then the run is no longer repeatable.
//! - Listeners on the event thread are called while somebody waits, one at a time. A listener must not wait for a lock that
//!   the waiting thread holds.

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
