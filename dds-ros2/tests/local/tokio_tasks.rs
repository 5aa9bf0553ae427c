//! Streams, calls, goals and timers as tasks of tokio, on its two kinds of runtimes.

use super::{LIMIT, builder, invert};
use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciGoal, FibonacciResult};
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest};
use dds_ros2::{Context, Node, Result};
use tokio::runtime::{Builder, Runtime};

async fn talks_and_listens(node: &Node) -> Result<()> {
    let subscription = node.subscription::<Text>("chatter")?;
    let publisher = node.publisher::<Text>("chatter")?;
    publisher.wait_for_subscribers(1).await?;
    let mut messages = subscription.stream();
    for number in 0..10 {
        publisher.publish(&Text { data: number.to_string() })?;
        assert_eq!(messages.next().await.map(|message| message.data), Some(number.to_string()));
    }
    Ok(())
}

async fn calls(node: &Node) -> Result<()> {
    let service = node.service::<SetBool>("flip")?;
    let client = node.client::<SetBool>("flip")?;
    let server = tokio::spawn(async move {
        for _ in 0..10 {
            service.next_request().await?.answer(invert);
        }
        Result::Ok(())
    });
    client.wait_for_service().await?;
    for number in 0..10 {
        let data = number % 2 == 0;
        assert_eq!(client.call(SetBoolRequest { data }).await?.success, !data);
    }
    server.await.unwrap()
}

async fn sends_a_goal(node: &Node) -> Result<()> {
    let server = node.action_server::<Fibonacci>("fibonacci")?;
    let client = node.action_client::<Fibonacci>("fibonacci")?;
    let serving = std::thread::spawn(move || {
        server.serve(|goal| {
            let sequence = vec![0; usize::try_from(goal.goal.order).unwrap()];
            goal.succeed(FibonacciResult { sequence })
        })
    });
    client.wait_for_server().await?;
    let goal = client.send_goal(FibonacciGoal { order: 3 }).await?;
    assert_eq!(goal.result().await?.result.sequence, [0; 3]);
    // It ends with the context.
    drop(serving);
    Ok(())
}

async fn ticks(node: &Node) -> Result<()> {
    let timer = node.rate(1_000.0)?;
    for _ in 0..5 {
        timer.next_tick().await?;
    }
    Ok(())
}

/// Runs all of it at the same time.
fn run(runtime: &Runtime, context: &Context) {
    let node = context.node("tasks").unwrap();
    let all = async {
        futures_util::future::try_join4(talks_and_listens(&node), calls(&node), sends_a_goal(&node), ticks(&node)).await
    };
    let done = runtime.block_on(async { tokio::time::timeout(LIMIT, all).await });
    done.expect("a task hangs").unwrap();
}

#[test]
fn futures_are_tasks_of_a_single_thread() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    run(&runtime, &builder("tokio-one").build().unwrap());
}

#[test]
fn futures_are_tasks_of_several_threads() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    run(&runtime, &builder("tokio-many").build().unwrap());
}
