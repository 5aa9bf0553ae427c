//! Publishes a text every second. `ros2 run demo_nodes_cpp listener` prints it.
use dds_ros2::msgs::std_msgs::msg::String as Text;
use std::{thread::sleep, time::Duration};

fn main() -> dds_ros2::Result<()> {
    let publisher = dds_ros2::Context::from_env()?.node("talker")?.publisher::<Text>("chatter")?;
    for number in 1.. {
        publisher.publish(&Text { data: format!("Hello World: {number}") })?;
        sleep(Duration::from_secs(1));
    }
    Ok(())
}
