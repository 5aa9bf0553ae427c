//! Calls the service `switch`: `cargo run -p dds-ros2 --example set_bool_client -- on`.
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest};

fn main() -> dds_ros2::Result<()> {
    let context = dds_ros2::Context::from_env()?;
    let client = context.node("set_bool_client")?.client::<SetBool>("switch")?;
    let data = context.arguments().first().is_some_and(|argument| argument == "on");
    let response = client.call(SetBoolRequest { data }).block_for(std::time::Duration::from_secs(10))?;
    println!("success: {}", response.success);
    Ok(())
}
