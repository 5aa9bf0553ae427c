//! Actions between a node of this crate and one of `rclpy`.

use crate::context;
use crate::peer::{LIMIT, Peer};
use crate::test_msgs::action::{Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult};
use dds_ros2::msgs::action_msgs::msg::GoalStatusArray;
use dds_ros2::{Error, GoalState, QosProfile, Result, ServerGoal, Time};
use serde_json::json;
use std::time::Duration;

/// Sends feedback, and ends as the order says: 1 aborts, 2 waits for a cancellation, others succeed.
fn work(goal: ServerGoal<Fibonacci>) -> Result<()> {
    let sequence = vec![0, 1, goal.goal.order];
    goal.publish_feedback(FibonacciFeedback { sequence: vec![goal.goal.order] })?;
    match goal.goal.order {
        1 => goal.abort(FibonacciResult { sequence }),
        2 => {
            goal.cancel_requested().block_for(LIMIT)?;
            goal.canceled(FibonacciResult { sequence })
        }
        _ => goal.succeed(FibonacciResult { sequence }),
    }
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn action_server_serves_goals_of_rclpy() {
    let context = context(50);
    let node = context.node("server").unwrap();
    let server = node.action_server_builder::<Fibonacci>("fib").result_timeout(Duration::from_secs(3)).build().unwrap();
    let goals = server.clone();
    let thread = std::thread::spawn(move || {
        while let Ok(request) = goals.next_goal().block() {
            if request.goal.order < 0 {
                request.reject();
            } else {
                let goal = request.accept().unwrap();
                std::thread::spawn(move || work(goal).unwrap());
            }
        }
    });
    let mut peer = Peer::start(50, "client", "/");
    let mut end_of = |order: i32, cancel: &str| {
        peer.tell(json!({"command": "send_goal", "action": "/fib", "order": order, "cancel": cancel}));
        if cancel.is_empty() {
            return peer.wait_for("goal_done", |_| true);
        }
        let [canceled, done] = peer.wait_for_both(["canceled", "goal_done"]);
        assert_eq!((&canceled["code"], &canceled["count"]), (&json!(0), &json!(1)), "{cancel}");
        done
    };
    let done = end_of(7, "");
    assert_eq!((&done["status"], &done["sequence"]), (&json!(4), &json!([0, 1, 7])));
    assert_eq!(done["feedback"], json!([[7]]));
    assert_eq!(end_of(1, "")["status"], 6);
    assert_eq!(end_of(-1, "")["accepted"], false);
    for cancel in ["one", "until", "all"] {
        let done = end_of(2, cancel);
        assert_eq!((&done["status"], &done["sequence"]), (&json!(5), &json!([0, 1, 2])), "{cancel}");
    }
    // The states that rclpy saw end with none, once the results have expired.
    peer.ask_until(&json!({"command": "goal_status"}), |status| {
        status["seen"].as_array().is_some_and(|seen| [4, 5, 6].iter().all(|one| seen.contains(&json!(one))))
            && status["last"] == json!([])
    });
    assert!(server.goals().is_empty());
    context.shutdown().unwrap();
    thread.join().unwrap();
}

#[test]
#[ignore = "needs ROS 2: .ci/run ros2"]
fn action_client_sends_goals_to_rclpy() {
    let context = context(51);
    let node = context.node("client").unwrap();
    let client = node.action_client::<Fibonacci>("/lab/fib").unwrap();
    let mut peer = Peer::start_with(51, "server", "/lab", &[("TEST_THREADS", "8")]);
    peer.tell(json!({"command": "serve_action", "action": "fib"}));
    client.wait_for_server().block_for(LIMIT).unwrap();
    let goal = client.send_goal(FibonacciGoal { order: 5 }).block_for(LIMIT).unwrap();
    let mut feedback = Vec::new();
    while let Some(next) = goal.next_feedback().block_for(LIMIT).unwrap() {
        feedback.push(next.sequence.len());
    }
    assert!(feedback.starts_with(&[3, 4]), "{feedback:?}");
    let outcome = goal.result().block_for(LIMIT).unwrap();
    assert_eq!((outcome.state, outcome.result.sequence), (GoalState::Succeeded, vec![0, 1, 1, 2, 3, 5]));
    assert_eq!(goal.state(), GoalState::Succeeded);
    let refused = goal.cancel().block_for(LIMIT).unwrap_err().to_string();
    assert!(refused.contains("has ended"), "{refused}");
    let rejected = client.send_goal(FibonacciGoal { order: -1 }).block_for(LIMIT).unwrap_err();
    assert!(matches!(rejected, Error::GoalRejected { .. }), "{rejected}");

    let send = |_| client.send_goal(FibonacciGoal { order: 40 }).block_for(LIMIT).unwrap();
    let goals: Vec<_> = (0..3).map(send).collect();
    // `rclpy` keeps a slightly later time than the one in its answer, and publishes it.
    let topic = "/lab/fib/_action/status";
    let statuses = node.subscription_with::<GoalStatusArray>(topic, QosProfile::ACTION_STATUS).unwrap();
    let later = loop {
        let array = statuses.next_message().block_for(LIMIT).unwrap();
        let mut infos = array.status_list.iter().map(|status| &status.goal_info);
        if let Some(info) = infos.find(|info| info.goal_id.uuid == goals[1].id().to_bytes()) {
            break Time::from_unix_nanos(i64::from(info.stamp.sec) * 1_000_000_000 + i64::from(info.stamp.nanosec));
        }
    };
    assert_eq!(goals[0].cancel().block_for(LIMIT).unwrap(), [goals[0].id()]);
    assert_eq!(client.cancel_until(later).block_for(LIMIT).unwrap(), [goals[1].id()]);
    assert_eq!(client.cancel_all().block_for(LIMIT).unwrap(), [goals[2].id()]);
    for goal in &goals {
        assert_eq!(goal.result().block_for(LIMIT).unwrap().state, GoalState::Canceled);
    }
}
