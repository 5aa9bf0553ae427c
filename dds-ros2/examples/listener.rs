//! Prints the texts of `talker`, or of `ros2 run demo_nodes_cpp talker`.
use dds_ros2::msgs::std_msgs::msg::String as Text;

fn main() -> dds_ros2::Result<()> {
    let subscription = dds_ros2::Context::from_env()?.node("listener")?.subscription::<Text>("chatter")?;
    for text in subscription.iter() {
        println!("I heard: [{}]", text.data);
    }
    Ok(())
}
