//! A message of ROS 2 after warm-up allocates nothing, on the paths that a node offers.
//!
//! Discovery and timers run in the background and may allocate occasionally. So each form is counted over several
//! windows, and the best window must be zero. An allocation on the path of a message occurs in all windows.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use dds_ros2::msgs::geometry_msgs::msg::Twist;
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::{Context, DiscoveryRange, Publisher, RosMessage, Subscription};
use dhat::{HeapStats, Profiler};
use std::time::Duration;

/// After this number of messages each pool has been used.
const WARM_UP: usize = 2000;
const WINDOW_MESSAGES: usize = 500;
const WINDOWS: usize = 8;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns the heap blocks of the best window. `pass` moves one message.
fn fewest_blocks(mut pass: impl FnMut()) -> u64 {
    for _ in 0..WARM_UP {
        pass();
    }
    let mut window = |_| {
        let before = HeapStats::get().total_blocks;
        for _ in 0..WINDOW_MESSAGES {
            pass();
        }
        HeapStats::get().total_blocks - before
    };
    (0..WINDOWS).map(&mut window).min().unwrap_or(0)
}

/// Longer than any step takes on a busy machine. Only a failing test reaches it.
const LIMIT: Duration = Duration::from_secs(30);

fn context(tag: &str, udp_only: bool) -> Context {
    let tag = format!("budget-{tag}-{}", std::process::id());
    let builder = Context::builder().ignore_environment().discovery_range(DiscoveryRange::Localhost);
    builder.participant(move |builder| builder.domain_tag(tag).udp_only(udp_only)).build().unwrap()
}

/// A publisher and a subscription that are connected, in one context or in two.
fn pair<T: RosMessage + 'static>(contexts: &[Context]) -> (Publisher<T>, Subscription<T>) {
    let [first, .., last] = contexts else { panic!("two contexts, or one of them twice") };
    let publisher = first.node("talker").unwrap().publisher("chatter").unwrap();
    let subscription = last.node("listener").unwrap().subscription("chatter").unwrap();
    publisher.wait_for_subscribers(1).block_for(LIMIT).unwrap();
    subscription.wait_for_publishers(1).block_for(LIMIT).unwrap();
    (publisher, subscription)
}

#[test]
fn message_of_ros_after_warm_up_allocates_nothing() {
    let _profiler = Profiler::builder().testing().build();
    let own = context("own", false);
    let in_process = [own.clone(), own];
    let udp = [context("udp", true), context("udp", true)];
    let mut over_budget = Vec::new();
    for (path, contexts) in [("in-process", &in_process), ("UDP", &udp)] {
        let (publisher, subscription) = pair::<Twist>(contexts);
        let twist = Twist::default();
        let mut iter = subscription.iter();
        let forms: [(&str, &mut dyn FnMut() -> Twist); 3] = [
            ("next_message", &mut || subscription.next_message().block_for(LIMIT).unwrap()),
            ("next_sample", &mut || subscription.next_sample().block_for(LIMIT).unwrap().data.unwrap()),
            ("iter", &mut || iter.next().unwrap()),
        ];
        for (form, receive) in forms {
            let blocks = fewest_blocks(|| {
                publisher.publish(&twist).unwrap();
                assert_eq!(receive(), twist);
            });
            if blocks > 0 {
                over_budget.push(format!("{path}, {form}: {blocks} blocks"));
            }
        }
    }
    assert!(over_budget.is_empty(), "in the best of {WINDOWS} windows of {WINDOW_MESSAGES} messages: {over_budget:#?}");
    // Proof that the counter works: each received text allocates its characters.
    let (publisher, subscription) = pair::<Text>(&in_process);
    let blocks = fewest_blocks(|| {
        publisher.publish(&Text { data: "hello".into() }).unwrap();
        subscription.next_message().block_for(LIMIT).unwrap();
    });
    assert!(blocks >= WINDOW_MESSAGES as u64, "{blocks}");
}
