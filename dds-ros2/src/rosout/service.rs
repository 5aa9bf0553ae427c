//! The services for the levels of loggers, as `rclcpp` has them (`node_interfaces/node_logging.cpp`).

use super::levels::SharedLevels;
use crate::Result;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::Service;
use dds_ros2_msgs::rcl_interfaces::msg::SetLoggerLevelsResult;
use dds_ros2_msgs::rcl_interfaces::srv::{
    GetLoggerLevels, GetLoggerLevelsResponse, SetLoggerLevels, SetLoggerLevelsRequest, SetLoggerLevelsResponse,
};

/// `~/get_logger_levels` and `~/set_logger_levels` of a node.
pub(crate) struct LoggerServices {
    _get: Service<GetLoggerLevels>,
    _set: Service<SetLoggerLevels>,
}

impl LoggerServices {
    pub(crate) fn new(node: &Node) -> Result<Self> {
        let qos = QosProfile::SERVICES_DEFAULT;
        let levels = node.context().inner.log_levels.clone();
        let get = node.resolve_service("~/get_logger_levels")?;
        let get = Service::<GetLoggerLevels>::in_background(node, get, qos, {
            let levels = levels.clone();
            move |request| GetLoggerLevelsResponse { levels: levels.own(request.names) }
        })?;
        let set = node.resolve_service("~/set_logger_levels")?;
        let set = Service::<SetLoggerLevels>::in_background(node, set, qos, move |request| answer(&levels, &request))?;
        Ok(Self { _get: get, _set: set })
    }
}

fn answer(levels: &SharedLevels, request: &SetLoggerLevelsRequest) -> SetLoggerLevelsResponse {
    let results = request.levels.iter().map(|level| match levels.set(level) {
        Ok(()) => SetLoggerLevelsResult { successful: true, reason: String::new() },
        Err(reason) => SetLoggerLevelsResult { successful: false, reason },
    });
    SetLoggerLevelsResponse { results: results.collect() }
}
