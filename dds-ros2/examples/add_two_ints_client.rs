//! Asks `add_two_ints_server`, or that of `demo_nodes_cpp`, for a sum.
use dds_ros2::msgs::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest};

fn main() -> dds_ros2::Result<()> {
    let client = dds_ros2::Context::from_env()?.node("add_two_ints_client")?.client::<AddTwoInts>("add_two_ints")?;
    let response = client.call(AddTwoIntsRequest { a: 2, b: 3 }).block()?;
    println!("Result of add_two_ints: {}", response.sum);
    Ok(())
}
