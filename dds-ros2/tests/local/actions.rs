//! Actions between nodes of this crate.

use super::{LIMIT, builder};
use dds_core::qos::DataReaderQos;
use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult};
use dds_ros2::{ActionClient, ActionServer, Context, Error, FilterExpression, GoalEvent, GoalId, GoalState, RosAction};
use std::time::Duration;

fn pair(tag: &str) -> (Context, ActionServer<Fibonacci>, ActionClient<Fibonacci>) {
    let context = builder(tag).build().unwrap();
    let node = context.node("both").unwrap();
    let server = node.action_server("fib").unwrap();
    let client = node.action_client("fib").unwrap();
    client.wait_for_server().block_for(LIMIT).unwrap();
    (context, server, client)
}

fn result(value: i32) -> FibonacciResult {
    FibonacciResult { sequence: vec![value] }
}

#[test]
fn goals_run_at_the_same_time_and_deferred() {
    let (_context, server, client) = pair("goals");
    let orders = [1, 2, 3];
    let waits = orders.map(|order| {
        let client = client.clone();
        std::thread::spawn(move || client.send_goal(FibonacciGoal { order }).block_for(LIMIT).unwrap())
    });
    let mut accepted = orders.map(|_| server.next_goal().block_for(LIMIT).unwrap().accept_deferred().unwrap());
    accepted.sort_by_key(|goal| goal.goal.order);
    let goals = waits.map(|wait| wait.join().unwrap());
    assert!(accepted.iter().all(|goal| goal.state() == GoalState::Accepted));
    let [first, second, third] = accepted;
    third.execute().unwrap();
    third.publish_feedback(FibonacciFeedback { sequence: vec![7] }).unwrap();
    assert_eq!(goals[2].next_feedback().block_for(LIMIT).unwrap().unwrap().sequence, [7]);
    third.succeed(result(30)).unwrap();
    // A dropped goal is aborted, and one that was not started cannot succeed.
    drop(first);
    let error = second.succeed(result(20)).unwrap_err();
    assert!(
        matches!(error, Error::GoalTransition { state: GoalState::Accepted, event: GoalEvent::Succeed }),
        "{error}"
    );
    let ends = goals.iter().map(|goal| goal.result().block_for(LIMIT).unwrap());
    let ends: Vec<_> = ends.map(|outcome| (outcome.state, outcome.result.sequence)).collect();
    let aborted = (GoalState::Aborted, Vec::new());
    assert_eq!(ends, [aborted.clone(), aborted, (GoalState::Succeeded, vec![30])]);
    assert!(goals[2].next_feedback().block_for(LIMIT).unwrap().is_none());
}

#[test]
fn accepted_goal_runs_when_its_client_learns_it() {
    let (_context, server, client) = pair("early");
    let other = client.clone();
    let wait = std::thread::spawn(move || {
        let goal = other.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT).unwrap();
        goal.cancel().block_for(LIMIT).unwrap();
        goal
    });
    let goal = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
    let sent = wait.join().unwrap();
    assert_eq!(goal.state(), GoalState::Canceling);
    // A goal that a client cancels ends as canceled.
    drop(goal);
    assert_eq!(sent.result().block_for(LIMIT).unwrap().state, GoalState::Canceled);
}

#[test]
fn feedback_ends_with_the_server() {
    let (context, _server, client) = pair("ends");
    let node = context.node("short").unwrap();
    let server = node.action_server::<Fibonacci>("short").unwrap();
    let client = client.node().action_client::<Fibonacci>("short").unwrap();
    let wait = std::thread::spawn(move || client.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT).unwrap());
    let goal = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
    let sent = wait.join().unwrap();
    drop((goal, server));
    // Either the end of the goal arrives, or the server leaves.
    let end = sent.next_feedback().block_for(LIMIT);
    assert!(matches!(end, Ok(None) | Err(Error::ServersGone { .. })), "{end:?}");
}

#[test]
fn dropped_request_rejects_its_goal() {
    let (_context, server, client) = pair("rejects");
    let wait = std::thread::spawn(move || client.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT));
    drop(server.next_goal().block_for(LIMIT).unwrap());
    let error = wait.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::GoalRejected { .. }), "{error}");
    assert!(server.goals().is_empty());
}

#[test]
fn goal_that_forbids_it_is_not_canceled() {
    let (_context, server, client) = pair("forbids");
    let wait = std::thread::spawn(move || client.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT));
    let goal = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
    let sent = wait.join().unwrap().unwrap();
    goal.set_cancelable(false);
    let error = sent.cancel().block_for(LIMIT).unwrap_err();
    assert!(error.to_string().contains("the server refuses"), "{error}");
    goal.set_cancelable(true);
    sent.cancel().block_for(LIMIT).unwrap();
    goal.cancel_requested().block_for(LIMIT).unwrap();
    goal.canceled(result(1)).unwrap();
    assert_eq!(sent.result().block_for(LIMIT).unwrap().state, GoalState::Canceled);
}

#[test]
fn result_of_a_server_that_left_is_an_error() {
    let (_context, server, client) = pair("left");
    let wait = std::thread::spawn(move || client.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT));
    let accepted = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
    let goal = wait.join().unwrap().unwrap();
    let early = goal.result();
    let early = std::thread::spawn(move || early.block_for(LIMIT));
    accepted.abort(result(1)).unwrap();
    assert_eq!(early.join().unwrap().unwrap().state, GoalState::Aborted);
    drop(server);
    let error = goal.result().block_for(LIMIT).unwrap_err();
    assert!(matches!(error, Error::ServersGone { .. }), "{error}");
}

#[test]
fn goal_without_server_names_the_missing_parts() {
    let context = builder("alone").build().unwrap();
    let client = context.node("client").unwrap().action_client::<Fibonacci>("fib").unwrap();
    let error = client.send_goal(FibonacciGoal { order: 1 }).block_for(Duration::from_millis(50)).unwrap_err();
    assert!(error.to_string().contains("not connected: send_goal, cancel_goal, get_result, feedback"), "{error}");
}

/// The filter of a client of Lyrical that follows six goals, which is the limit there.
fn filter_of(ids: &[GoalId; 6]) -> FilterExpression {
    let number = |goal: usize, byte: usize| 16 * goal + byte;
    let byte = |goal, byte| format!("goal_id.uuid[{byte}] = %{}", number(goal, byte));
    let goal = |goal| (0..16).map(|index| byte(goal, index)).collect::<Vec<_>>().join(" AND ");
    let goals: Vec<String> = (0..6).map(|index| format!("({})", goal(index))).collect();
    let bytes: Vec<String> = ids.iter().flat_map(|id| id.to_bytes()).map(|byte| byte.to_string()).collect();
    FilterExpression::new(goals.join(" OR ")).parameters(bytes)
}

#[test]
fn feedback_passes_the_filter_of_a_client_of_lyrical() {
    let (context, server, client) = pair("filter");
    let waits = [1, 2].map(|order| {
        let client = client.clone();
        std::thread::spawn(move || client.send_goal(FibonacciGoal { order }).block_for(LIMIT).unwrap())
    });
    let goals = waits.each_ref().map(|_| server.next_goal().block_for(LIMIT).unwrap().accept().unwrap());
    let [wanted, other] = goals;
    let mut ids = [1, 2, 3, 4, 5, 6].map(|byte| GoalId::from_bytes([byte; 16]));
    ids[5] = wanted.id();
    let heard = context
        .participant()
        .reader_builder::<<Fibonacci as RosAction>::FeedbackMessage>("rt/fib/_action/feedback")
        .qos(DataReaderQos::default().reliable().keep_all())
        .filter(filter_of(&ids))
        .build()
        .unwrap();
    heard.wait_for_writers(1).block_for(LIMIT).unwrap();
    for (goal, number) in [(&other, 1), (&wanted, 2), (&other, 3), (&wanted, 4)] {
        goal.publish_feedback(FibonacciFeedback { sequence: vec![number] }).unwrap();
    }
    let numbers = [(); 2].map(|()| heard.next_sample().block_for(LIMIT).unwrap().data.unwrap().feedback.sequence[0]);
    assert_eq!(numbers, [2, 4]);
    assert!(heard.take().unwrap().is_empty());
    drop((wanted, other));
    waits.into_iter().for_each(|wait| drop(wait.join().unwrap()));
}
