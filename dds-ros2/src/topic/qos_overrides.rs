//! QoS overrides: parameters that change the QoS of a publisher or a subscription before it is created.
//!
//! The names and the texts are those of `rclcpp` (`qos_overrides./chatter.publisher.reliability`).

use crate::node::Node;
use crate::parameter::{Declared, ParameterValue};
use crate::qos::QosProfile;
use crate::{Error, Result};
use dds_core::Duration;
use dds_core::qos::{History, LivelinessKind};

/// The value of each policy in [`QosProfile::SYSTEM_DEFAULT`].
const SYSTEM_DEFAULT: &str = "system_default";

/// The largest depth in the QoS of DDS.
const DEPTH_MAX: i64 = i32::MAX as i64;

/// Kind of an endpoint in the names of its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndpointKind {
    Publisher,
    Subscription,
}

impl EndpointKind {
    fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Subscription => "subscription",
        }
    }
}

/// A policy that a parameter may override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Deadline,
    Depth,
    Durability,
    History,
    Lifespan,
    Liveliness,
    LivelinessLeaseDuration,
    Reliability,
}

/// The history comes before the depth, because only one of its kinds has a depth.
const POLICIES: [Policy; 8] = [
    Policy::Deadline,
    Policy::Durability,
    Policy::History,
    Policy::Depth,
    Policy::Lifespan,
    Policy::Liveliness,
    Policy::LivelinessLeaseDuration,
    Policy::Reliability,
];

impl Policy {
    fn name(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Depth => "depth",
            Self::Durability => "durability",
            Self::History => "history",
            Self::Lifespan => "lifespan",
            Self::Liveliness => "liveliness",
            Self::LivelinessLeaseDuration => "liveliness_lease_duration",
            Self::Reliability => "reliability",
        }
    }

    /// Returns the value of the policy in a profile.
    fn value_in(self, qos: &QosProfile) -> ParameterValue {
        let text = |text: &str| ParameterValue::String(text.to_owned());
        match self {
            Self::Deadline => nanoseconds(qos.deadline),
            Self::Depth => ParameterValue::Integer(match qos.history {
                History::KeepLast { depth } => depth.into(),
                History::KeepAll => 0,
            }),
            Self::Durability => text(if qos.is_transient_local { "transient_local" } else { "volatile" }),
            Self::History => text(match qos.history {
                History::KeepLast { .. } => "keep_last",
                History::KeepAll => "keep_all",
            }),
            Self::Lifespan => nanoseconds(qos.lifespan),
            Self::Liveliness => text(match qos.liveliness {
                LivelinessKind::ManualByTopic => "manual_by_topic",
                _ => "automatic",
            }),
            Self::LivelinessLeaseDuration => nanoseconds(qos.lease),
            Self::Reliability => text(if qos.is_reliable { "reliable" } else { "best_effort" }),
        }
    }

    /// Sets the policy in a profile. The error is the expected form.
    fn set_in(self, qos: &mut QosProfile, value: &ParameterValue) -> Result<(), &'static str> {
        let text = match value {
            ParameterValue::String(text) => text.as_str(),
            _ => "",
        };
        match self {
            Self::Deadline => qos.deadline = duration_of(value)?,
            Self::Lifespan => qos.lifespan = duration_of(value)?,
            Self::LivelinessLeaseDuration => qos.lease = duration_of(value)?,
            Self::Depth => {
                // A history that keeps all has no depth.
                if let History::KeepLast { depth } = &mut qos.history {
                    *depth = match value {
                        ParameterValue::Integer(value @ 1..=DEPTH_MAX) => *value as u32,
                        _ => return Err("an integer from 1 to 2147483647"),
                    };
                }
            }
            Self::Durability => {
                qos.is_transient_local = match text {
                    "transient_local" => true,
                    "volatile" | SYSTEM_DEFAULT => false,
                    _ => return Err("`transient_local` or `volatile`"),
                };
            }
            Self::History => {
                qos.history = match (text, qos.history) {
                    ("keep_all", _) => History::KeepAll,
                    ("keep_last" | SYSTEM_DEFAULT, History::KeepAll) => History::KeepLast { depth: 0 },
                    ("keep_last" | SYSTEM_DEFAULT, history) => history,
                    _ => return Err("`keep_last` or `keep_all`"),
                };
            }
            Self::Liveliness => {
                qos.liveliness = match text {
                    // `rclcpp` shows its default as the default of the system.
                    "automatic" | SYSTEM_DEFAULT => LivelinessKind::Automatic,
                    "manual_by_topic" => LivelinessKind::ManualByTopic,
                    _ => return Err("`automatic` or `manual_by_topic`"),
                };
            }
            Self::Reliability => {
                qos.is_reliable = match text {
                    "reliable" | SYSTEM_DEFAULT => true,
                    "best_effort" => false,
                    _ => return Err("`reliable` or `best_effort`"),
                };
            }
        }
        Ok(())
    }
}

/// A duration as `rclcpp` shows it, where 0 stands for the default, which is infinite.
fn nanoseconds(duration: Duration) -> ParameterValue {
    ParameterValue::Integer(if duration.is_infinite() { 0 } else { duration.as_nanos() })
}

fn duration_of(value: &ParameterValue) -> Result<Duration, &'static str> {
    match value {
        ParameterValue::Integer(0) => Ok(Duration::INFINITE),
        ParameterValue::Integer(nanoseconds @ 1..) => Ok(Duration::from_nanos(*nanoseconds)),
        _ => Err("nanoseconds, or 0 for an infinite duration"),
    }
}

/// Declares a read-only parameter for each policy, and returns the QoS with their values.
///
/// A second endpoint of the same kind on the topic has the same parameters.
pub(super) fn overridden(node: &Node, topic: &str, kind: EndpointKind, qos: QosProfile) -> Result<QosProfile> {
    let parameters = node.parameters()?;
    let mut overridden = qos;
    for policy in POLICIES {
        // A subscription has no lifespan.
        if policy == Policy::Lifespan && kind == EndpointKind::Subscription {
            continue;
        }
        let name = format!("qos_overrides.{topic}.{}.{}", kind.name(), policy.name());
        let declared = Declared { value: policy.value_in(&qos), is_read_only: true, ..Declared::default() };
        let value = parameters.declare_or_get(&name, declared)?;
        if let Err(form) = policy.set_in(&mut overridden, &value) {
            return Err(Error::Parameter { reason: format!("parameter {name:?}: expected {form}, found {value}") });
        }
    }
    Ok(overridden)
}
