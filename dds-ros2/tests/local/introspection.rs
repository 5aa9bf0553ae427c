//! Events of services and actions on `_service_event`.

use crate::{LIMIT, builder, invert, wait_until};
use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciGoal, FibonacciResult};
use dds_ros2::msgs::service_msgs::msg::ServiceEventInfo;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolEvent, SetBoolRequest};
use dds_ros2::{ServiceIntrospection, Subscription};

/// Calls once, and returns the next `count` events by their kind.
fn events(subscription: &Subscription<SetBoolEvent>, count: usize) -> Vec<SetBoolEvent> {
    let mut events: Vec<_> = (0..count).map(|_| subscription.next_message().block_for(LIMIT).unwrap()).collect();
    events.sort_by_key(|event| event.info.event_type);
    events
}

#[test]
fn both_sides_publish_the_events_of_a_call() {
    let context = builder("service-events").build().unwrap();
    let node = context.node("n").unwrap();
    let service = node.service::<SetBool>("flip").unwrap();
    let client = node.client::<SetBool>("flip").unwrap();
    let subscription = node.subscription::<SetBoolEvent>("flip/_service_event").unwrap();
    let call = || {
        let waiting = std::thread::spawn({
            let client = client.clone();
            move || client.call(SetBoolRequest { data: true }).block_for(LIMIT).unwrap()
        });
        service.next_request().block_for(LIMIT).unwrap().answer(invert);
        waiting.join().unwrap()
    };
    client.configure_introspection(ServiceIntrospection::Contents).unwrap();
    service.configure_introspection(ServiceIntrospection::Contents).unwrap();
    subscription.wait_for_publishers(2).block_for(LIMIT).unwrap();
    call();
    let all = events(&subscription, 4);
    let kinds: Vec<_> = all.iter().map(|event| event.info.event_type).collect();
    use ServiceEventInfo as Info;
    let expected = [Info::REQUEST_SENT, Info::REQUEST_RECEIVED, Info::RESPONSE_SENT, Info::RESPONSE_RECEIVED];
    assert_eq!(kinds, expected);
    for event in &all {
        let is_request = event.info.event_type <= Info::REQUEST_RECEIVED;
        assert_eq!((event.request.len(), event.response.len()), (is_request.into(), (!is_request).into()));
        let same = (event.info.client_gid, event.info.sequence_number);
        assert_eq!(same, (all[0].info.client_gid, all[0].info.sequence_number));
        assert!(event.info.stamp.sec > 0 && event.request.iter().all(|request| request.data));
    }

    // Without contents, and with one side alone.
    client.configure_introspection(ServiceIntrospection::Metadata).unwrap();
    service.configure_introspection(ServiceIntrospection::Off).unwrap();
    call();
    let next = events(&subscription, 2);
    assert!(next.iter().all(|event| event.request.is_empty() && event.response.is_empty()));
    assert_eq!(next[0].info.sequence_number, all[0].info.sequence_number + 1);
    client.configure_introspection(ServiceIntrospection::Off).unwrap();
    wait_until(&context, |graph| graph.publishers("/flip/_service_event").is_empty());
    call();
    assert!(subscription.take().unwrap().is_none());
}

#[test]
fn action_has_events_of_each_service() {
    let context = builder("action-events").build().unwrap();
    let node = context.node("n").unwrap();
    let server = node.action_server::<Fibonacci>("fib").unwrap();
    let client = node.action_client::<Fibonacci>("fib").unwrap();
    server.configure_introspection(ServiceIntrospection::Contents).unwrap();
    client.configure_introspection(ServiceIntrospection::Metadata).unwrap();
    let graph = context.graph();
    for service in ["send_goal", "cancel_goal", "get_result"] {
        assert_eq!(graph.publishers(&format!("/fib/_action/{service}/_service_event")).len(), 2);
    }
    let worker = std::thread::spawn(move || {
        let goal = server.next_goal().block_for(LIMIT).unwrap().accept().unwrap();
        goal.succeed(FibonacciResult::default()).unwrap();
        server
    });
    let goal = client.send_goal(FibonacciGoal { order: 1 }).block_for(LIMIT).unwrap();
    goal.result().block_for(LIMIT).unwrap();
    drop((goal, client, worker.join().unwrap()));
    wait_until(&context, |graph| graph.topics().keys().all(|topic| !topic.ends_with("_service_event")));
}
