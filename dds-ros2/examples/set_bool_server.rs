//! Answers each call of the service `switch`, until it is stopped.
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolResponse};

fn main() -> dds_ros2::Result<()> {
    let service = dds_ros2::Context::from_env()?.node("set_bool_server")?.service::<SetBool>("switch")?;
    service.serve(|request| {
        println!("switched {}", if request.data { "on" } else { "off" });
        SetBoolResponse { success: true, message: String::new() }
    })
}
