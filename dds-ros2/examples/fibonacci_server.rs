//! Computes Fibonacci numbers as an action. `fibonacci_client`, or `fibonacci_action_client` of Kilted, sends goals.
use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciResult};

fn main() -> dds_ros2::Result<()> {
    let node = dds_ros2::Context::from_env()?.node("fibonacci_action_server")?;
    node.action_server::<Fibonacci>("fibonacci")?.serve(|goal| {
        let mut sequence = vec![0_i32, 1];
        while sequence.len() <= usize::try_from(goal.goal.order).unwrap_or(0) && !goal.is_canceling() {
            // The 47th number is the first that `i32` cannot hold.
            let Some(next) = sequence[sequence.len() - 1].checked_add(sequence[sequence.len() - 2]) else {
                return goal.abort(FibonacciResult { sequence });
            };
            sequence.push(next);
            goal.publish_feedback(FibonacciFeedback { sequence: sequence.clone() })?;
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        let result = FibonacciResult { sequence };
        if goal.is_canceling() { goal.canceled(result) } else { goal.succeed(result) }
    })
}
