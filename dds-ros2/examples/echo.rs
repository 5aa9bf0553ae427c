//! Prints the messages of any topic: `echo /scan`, as `ros2 topic echo`.

use dds_ros2::Context;

fn main() -> dds_ros2::Result<()> {
    let context = Context::from_env()?;
    let node = context.node("echo")?;
    let topic = context.arguments().first().map_or("chatter", String::as_str);
    let ty = node.discover_message_type(topic).block()?;
    for message in node.dynamic_subscription(topic, &ty)?.iter() {
        println!("{message}");
    }
    Ok(())
}
