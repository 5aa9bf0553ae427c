//! The types of a node as messages: the service `~/get_type_description`.
//!
//! Input: the types of publishers, subscriptions, services and actions. Output: their members, as ROS 2 hashes them.

mod describe;

#[cfg(feature = "dynamic")]
pub(crate) use describe::message as message_description;

use crate::Result;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::Service;
use dds_ros2_msgs::type_description_interfaces::msg::{KeyValue, TypeDescription};
use dds_ros2_msgs::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use dds_ros2_msgs::{RosAction, RosMessage, RosService};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The types that a node uses, by their names. Bounded by the program.
#[derive(Default)]
pub(crate) struct KnownTypes {
    types: Mutex<BTreeMap<Cow<'static, str>, KnownType>>,
}

#[derive(Clone)]
struct KnownType {
    hash: Cow<'static, str>,
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// A Rust type.
    Rust(fn() -> TypeDescription),
    /// A type that the program learned at run time.
    #[cfg(feature = "dynamic")]
    Dynamic(Arc<TypeDescription>),
}

impl Source {
    fn describe(&self) -> TypeDescription {
        match self {
            Self::Rust(describe) => describe(),
            #[cfg(feature = "dynamic")]
            Self::Dynamic(description) => TypeDescription::clone(description),
        }
    }
}

impl KnownTypes {
    fn types(&self) -> MutexGuard<'_, BTreeMap<Cow<'static, str>, KnownType>> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: &'static str, hash: &'static str, describe: fn() -> TypeDescription) {
        self.types().insert(name.into(), KnownType { hash: hash.into(), source: Source::Rust(describe) });
    }

    /// Adds a type that the program learned at run time.
    #[cfg(feature = "dynamic")]
    pub(crate) fn add_dynamic(&self, name: &str, hash: &str, description: &Arc<TypeDescription>) {
        let source = Source::Dynamic(Arc::clone(description));
        self.types().insert(name.to_owned().into(), KnownType { hash: hash.to_owned().into(), source });
    }

    pub(crate) fn add_message<T: RosMessage>(&self) {
        self.add(T::ROS_NAME, T::TYPE_HASH, || describe::message(T::DESCRIPTION));
    }

    pub(crate) fn add_service<S: RosService>(&self) {
        self.add(S::ROS_NAME, S::TYPE_HASH, describe::service::<S>);
    }

    pub(crate) fn add_action<A: RosAction>(&self) {
        self.add(A::ROS_NAME, A::TYPE_HASH, describe::action::<A>);
    }

    /// Finds a type by its name and its hash, either of which may be empty.
    fn find(&self, name: &str, hash: &str) -> Option<KnownType> {
        let types = self.types();
        let fits =
            |own: &str, known: &KnownType| (name.is_empty() || name == own) && (hash.is_empty() || hash == known.hash);
        if name.is_empty() && hash.is_empty() {
            return None;
        }
        types.iter().find(|(own, known)| fits(own, known)).map(|(_, known)| known.clone())
    }

    fn answer(&self, request: &GetTypeDescriptionRequest) -> GetTypeDescriptionResponse {
        let mut response = GetTypeDescriptionResponse::default();
        match self.find(&request.type_name, &request.type_hash) {
            Some(known) => {
                response.successful = true;
                response.type_description = known.source.describe();
                if request.include_type_sources {
                    let (key, value) = ("type_sources".to_owned(), "this node keeps no interface files".to_owned());
                    response.extra_information = vec![KeyValue { key, value }];
                }
            }
            None => response.failure_reason = "Type not currently in use by this node".to_owned(),
        }
        response
    }

    /// Creates the service of a node.
    pub(crate) fn serve(self: &Arc<Self>, node: &Node) -> Result<Service<GetTypeDescription>> {
        let types = Arc::clone(self);
        let name = node.resolve_service("~/get_type_description")?;
        Service::in_background(node, name, QosProfile::SERVICES_DEFAULT, move |request| types.answer(&request))
    }
}

impl fmt::Debug for KnownTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.types().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_ros2_msgs::std_msgs::msg::{Header, String as Text};
    use dds_ros2_msgs::std_srvs::srv::SetBool;

    fn ask(types: &KnownTypes, name: &str, hash: &str) -> GetTypeDescriptionResponse {
        types.answer(&GetTypeDescriptionRequest {
            type_name: name.into(),
            type_hash: hash.into(),
            include_type_sources: true,
        })
    }

    #[test]
    fn only_used_types_are_described() {
        let types = KnownTypes::default();
        types.add_message::<Text>();
        assert!(ask(&types, Text::ROS_NAME, "").successful && ask(&types, "", Text::TYPE_HASH).successful);
        assert!(ask(&types, Text::ROS_NAME, Text::TYPE_HASH).successful);
        for (name, hash) in [("", ""), (Header::ROS_NAME, ""), (Text::ROS_NAME, Header::TYPE_HASH)] {
            let refused = ask(&types, name, hash);
            assert!(!refused.successful && !refused.failure_reason.is_empty());
        }
    }

    #[test]
    fn service_lists_each_nested_type_once() {
        let types = KnownTypes::default();
        types.add_service::<SetBool>();
        let description = ask(&types, <SetBool as RosService>::ROS_NAME, "").type_description;
        let fields: Vec<_> = description.type_description.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(fields, ["request_message", "response_message", "event_message"]);
        let names: Vec<_> = description.referenced_type_descriptions.iter().map(|ty| ty.type_name.as_str()).collect();
        let expected = [
            "builtin_interfaces/msg/Time",
            "service_msgs/msg/ServiceEventInfo",
            "std_srvs/srv/SetBool_Event",
            "std_srvs/srv/SetBool_Request",
            "std_srvs/srv/SetBool_Response",
        ];
        assert_eq!(names, expected);
    }
}
