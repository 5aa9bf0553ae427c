//! Lifecycle nodes without other nodes.

use super::{LIMIT, builder, wait_until};
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::{
    LifecycleCallbacks, LifecycleNode, LifecyclePublisher, LifecycleState, LifecycleTransition, TransitionResult,
};

/// Owns a publisher of its node, and panics in `on_activate`.
#[derive(Default)]
struct Owner {
    publisher: Option<LifecyclePublisher<Text>>,
}

impl LifecycleCallbacks for Owner {
    fn on_configure(&mut self, node: &LifecycleNode) -> TransitionResult {
        // A callback cannot change the state.
        assert!(node.change_state(LifecycleTransition::Shutdown).is_err());
        self.publisher = node.publisher("chatter").ok();
        TransitionResult::Success
    }

    fn on_activate(&mut self, _: &LifecycleNode) -> TransitionResult {
        panic!("the camera is gone");
    }
}

#[test]
fn panic_is_an_error_and_an_owned_publisher_lets_the_node_go() {
    let context = builder("lifecycle").build().unwrap();
    let node = LifecycleNode::new(&context.node_builder("owner").bare().build().unwrap(), Owner::default()).unwrap();
    assert_eq!(node.change_state(LifecycleTransition::Configure).unwrap(), LifecycleState::Inactive);
    // `on_error` succeeds, so the node starts again.
    assert_eq!(node.change_state(LifecycleTransition::Activate).unwrap(), LifecycleState::Unconfigured);
    assert_eq!(node.change_state(LifecycleTransition::Configure).unwrap(), LifecycleState::Inactive);
    assert_eq!(context.graph().publishers("/chatter").len(), 1);
    drop(node);
    wait_until(&context, |graph| graph.nodes().is_empty() && graph.publishers("/chatter").is_empty());
}

/// A node whose transitions all succeed.
struct Plain;

impl LifecycleCallbacks for Plain {}

#[test]
fn managed_publisher_publishes_only_while_its_node_is_active() {
    let context = builder("lifecycle-publisher").build().unwrap();
    let node = LifecycleNode::new(&context.node("managed").unwrap(), Plain).unwrap();
    let publisher = node.publisher::<Text>("chatter").unwrap();
    let listener = context.node("listener").unwrap().subscription::<Text>("chatter").unwrap();
    publisher.publisher().wait_for_subscribers(1).block_for(LIMIT).unwrap();
    let publish = |data: &str| publisher.publish(&Text { data: data.to_owned() }).unwrap();
    let heard = || listener.next_message().block_for(LIMIT).unwrap().data;

    assert!(!publish("unconfigured"));
    node.change_state(LifecycleTransition::Configure).unwrap();
    assert!(!publish("inactive"));
    node.change_state(LifecycleTransition::Activate).unwrap();
    assert!(publish("active"));
    assert_eq!(heard(), "active");
    node.change_state(LifecycleTransition::Deactivate).unwrap();
    assert!(!publish("inactive again"));
    publisher.publisher().publish(&Text { data: "not managed".to_owned() }).unwrap();
    assert_eq!(heard(), "not managed");
}
