//! Time: clocks, jumps of simulated time, and timers that follow a clock.
//!
//! Input: the time of the system, and messages on `/clock`. Output: times, ends of waits, calls about jumps.

mod clock;
mod source;
mod timer;

pub use clock::{Clock, ClockChange, ClockKind, JumpHandle, JumpThreshold, TimeJump};
pub(crate) use source::SimTime;
pub use timer::{Timer, TimerTick};
