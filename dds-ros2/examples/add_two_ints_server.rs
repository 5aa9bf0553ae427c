//! Adds two numbers for `add_two_ints_client`, or for that of `demo_nodes_cpp`.
use dds_ros2::msgs::example_interfaces::srv::{AddTwoInts, AddTwoIntsResponse};

fn main() -> dds_ros2::Result<()> {
    let service = dds_ros2::Context::from_env()?.node("add_two_ints_server")?.service::<AddTwoInts>("add_two_ints")?;
    service.serve(|request| {
        println!("Incoming request\na: {} b: {}", request.a, request.b);
        AddTwoIntsResponse { sum: request.a.wrapping_add(request.b) }
    })
}
