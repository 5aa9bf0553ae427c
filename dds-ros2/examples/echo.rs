//! Prints the messages of any topic: `echo /scan`, as `ros2 topic echo`.

use dds_ros2::{Context, QosProfile};

fn main() -> dds_ros2::Result<()> {
    let context = Context::from_env()?;
    let node = context.node("echo")?;
    let topic = context.arguments().first().map_or("chatter", String::as_str);
    let ty = node.discover_message_type(topic).block()?;
    let subscription = node.dynamic_subscription_builder(topic, &ty).qos(QosProfile::BEST_AVAILABLE).build()?;
    for message in subscription.iter() {
        println!("{message}");
    }
    Ok(())
}
