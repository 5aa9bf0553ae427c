//! A node with a parameter, and another node that changes it. `ros2 param set /drive speed 2.0` does the same.

fn main() -> dds_ros2::Result<()> {
    let context = dds_ros2::Context::from_env()?;
    let drive = context.node("drive")?;
    let speed = drive.parameter("speed", 1.0).range(0.0..=3.0).description("meters per second").declare()?;
    let faster = speed.changed();
    let tuner = context.node("tuner")?.parameters_of("/drive")?;
    tuner.set("speed", 2.5).block()?;
    println!("{} m/s", faster.block()?);
    if let Err(refused) = tuner.set("speed", 4.0).block() {
        println!("{refused}");
    }
    Ok(())
}
