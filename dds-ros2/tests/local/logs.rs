//! Logs on `/rosout`, and the levels of loggers.

use crate::{LIMIT, builder};
use dds_ros2::msgs::rcl_interfaces::msg::{Log, LoggerLevel};
use dds_ros2::msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsRequest, SetLoggerLevels, SetLoggerLevelsRequest,
};
use dds_ros2::{Client, QosProfile, Subscription};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;

fn next(logs: &Subscription<Log>) -> (u8, String) {
    let log = logs.next_message().block_for(LIMIT).unwrap();
    (log.level, log.msg)
}

fn set(client: &Client<SetLoggerLevels>, name: &str, level: u32) -> (bool, String) {
    let levels = vec![LoggerLevel { name: name.into(), level }];
    let response = client.call(SetLoggerLevelsRequest { levels }).block_for(LIMIT).unwrap();
    let [result] = &response.results[..] else { panic!("one result") };
    (result.successful, result.reason.clone())
}

#[test]
fn layer_and_logger_follow_the_level_of_arguments_and_services() {
    let context = builder("levels").arguments(["--ros-args", "--log-level", "warn"]).build().unwrap();
    let node = context.node_builder("camera").namespace("/lab").logger_services(true).build().unwrap();
    let logs = node.subscription_with::<Log>("/rosout", QosProfile::ROSOUT).unwrap();
    let get = node.client::<GetLoggerLevels>("~/get_logger_levels").unwrap();
    let change = node.client::<SetLoggerLevels>("~/set_logger_levels").unwrap();
    logs.wait_for_publishers(1).block_for(LIMIT).unwrap();
    // On a busy machine the middleware logs too, for example that a listener was slow.
    let of_this_test = filter_fn(|metadata| !metadata.target().starts_with("dds_"));
    let subscriber = tracing_subscriber::registry().with(node.rosout_layer().unwrap().with_filter(of_this_test));
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!("below");
        tracing::warn!(exposure = 5, "first");
        assert_eq!(next(&logs), (Log::WARN, "first exposure=5".to_owned()));
        assert_eq!(set(&change, "lab", Log::DEBUG.into()), (true, String::new()));
        tracing::debug!("second");
        assert_eq!(next(&logs), (Log::DEBUG, "second".to_owned()));
        assert!(!set(&change, "lab", 7).0);
        assert_eq!(set(&change, "lab.camera", Log::ERROR.into()), (true, String::new()));
        tracing::warn!("below");
        node.logger().child("lens").warn("below");
        node.logger().error("third");
        assert_eq!(next(&logs), (Log::ERROR, "third".to_owned()));
    });
    let names = ["lab.camera", "lab.camera.lens", ""].map(str::to_owned).to_vec();
    let levels = get.call(GetLoggerLevelsRequest { names }).block_for(LIMIT).unwrap().levels;
    assert_eq!(levels.iter().map(|one| one.level).collect::<Vec<_>>(), [40, 0, 30]);
}
