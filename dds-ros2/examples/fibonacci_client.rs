//! Sends a goal to `fibonacci_server`, or to `fibonacci_action_server` of Kilted, and prints feedback and result.
use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciGoal};

fn main() -> dds_ros2::Result<()> {
    let client = dds_ros2::Context::from_env()?.node("fibonacci_client")?.action_client::<Fibonacci>("fibonacci")?;
    let goal = client.send_goal(FibonacciGoal { order: 10 }).block()?;
    while let Some(feedback) = goal.next_feedback().block()? {
        println!("{:?}", feedback.sequence);
    }
    let outcome = goal.result().block()?;
    println!("{}: {:?}", outcome.state, outcome.result.sequence);
    Ok(())
}
