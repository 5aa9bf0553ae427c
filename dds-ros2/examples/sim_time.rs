//! A node that follows the time of a simulation on `/clock`, here ten times as fast as real time.

use dds_ros2::msgs::builtin_interfaces::msg::Time as Stamp;
use dds_ros2::msgs::rosgraph_msgs::msg::Clock;
use dds_ros2::{Context, QosProfile, Result};
use std::time::Duration;

fn main() -> Result<()> {
    let context = Context::builder().arguments(std::env::args()).parameter("use_sim_time", true).build()?;
    let planner = context.node("planner")?;
    let clock = context.node("simulator")?.publisher_with::<Clock>("/clock", QosProfile::CLOCK)?;
    clock.wait_for_subscribers(1).block()?;
    // The thread ends when the program does.
    std::thread::spawn(move || {
        for tick in 0.. {
            let (sec, nanosec) = (tick / 10, (tick % 10) as u32 * 100_000_000);
            if clock.publish(&Clock { clock: Stamp { sec, nanosec } }).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let timer = planner.timer(Duration::from_secs(1))?;
    for _ in 0..3 {
        let tick = timer.next_tick().block()?;
        println!("planned at {} s", tick.expected.as_unix_nanos() / 1_000_000_000);
    }
    Ok(())
}
