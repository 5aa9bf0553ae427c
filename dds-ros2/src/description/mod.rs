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
use std::collections::BTreeMap;
use std::fmt;
#[cfg(feature = "dynamic")]
use std::sync::Weak;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The types that a node uses.
#[derive(Default)]
pub(crate) struct KnownTypes {
    types: Mutex<Types>,
}

#[derive(Default)]
struct Types {
    /// Rust types, by their names and hashes. Bounded by the program.
    rust: BTreeMap<(&'static str, &'static str), fn() -> TypeDescription>,
    /// Types that the program learned at run time, the oldest first. Bounded by the endpoints that hold them.
    #[cfg(feature = "dynamic")]
    learned: Vec<LearnedType>,
}

#[cfg(feature = "dynamic")]
struct LearnedType {
    name: String,
    hash: String,
    /// Its publishers and subscriptions hold it.
    description: Weak<TypeDescription>,
}

impl Types {
    /// Describes the first type that fits. Rust types come first, because a learned one may have the same name.
    fn describe(&self, fits: impl Fn(&str, &str) -> bool) -> Option<TypeDescription> {
        let found = self.rust.iter().find(|((name, hash), _)| fits(name, hash)).map(|(_, describe)| describe());
        #[cfg(feature = "dynamic")]
        let found = found.or_else(|| {
            let mut fitting = self.learned.iter().rev().filter(|learned| fits(&learned.name, &learned.hash));
            let description = fitting.find_map(|learned| learned.description.upgrade())?;
            Some(TypeDescription::clone(&description))
        });
        found
    }
}

impl KnownTypes {
    fn types(&self) -> MutexGuard<'_, Types> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: &'static str, hash: &'static str, describe: fn() -> TypeDescription) {
        self.types().rust.insert((name, hash), describe);
    }

    /// Adds a type that the program learned at run time. It stays as long as the returned handle.
    #[cfg(feature = "dynamic")]
    pub(crate) fn add_dynamic(&self, name: &str, hash: &str, description: &TypeDescription) -> Arc<TypeDescription> {
        let learned = &mut self.types().learned;
        learned.retain(|learned| learned.description.strong_count() > 0);
        let held = Arc::new(description.clone());
        learned.push(LearnedType { name: name.to_owned(), hash: hash.to_owned(), description: Arc::downgrade(&held) });
        held
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

    /// Describes a type by its name and its hash, either of which may be empty.
    fn find(&self, name: &str, hash: &str) -> Option<TypeDescription> {
        if name.is_empty() && hash.is_empty() {
            return None;
        }
        let is = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        self.types().describe(|own_name, own_hash| is(name, own_name) && is(hash, own_hash))
    }

    fn answer(&self, request: &GetTypeDescriptionRequest) -> GetTypeDescriptionResponse {
        let mut response = GetTypeDescriptionResponse::default();
        match self.find(&request.type_name, &request.type_hash) {
            Some(description) => {
                response.successful = true;
                response.type_description = description;
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
        f.debug_set().entries(self.types().rust.keys()).finish()
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

    #[cfg(feature = "dynamic")]
    #[test]
    fn learned_types_leave_rust_types_and_last_as_long_as_their_endpoints() {
        let types = KnownTypes::default();
        types.add_message::<Text>();
        let own = ask(&types, Text::ROS_NAME, "").type_description;
        let learned = TypeDescription::default();
        let first = types.add_dynamic(Text::ROS_NAME, "RIHS01_00", &learned);
        assert_eq!(ask(&types, Text::ROS_NAME, "").type_description, own);
        assert_eq!(ask(&types, Text::ROS_NAME, Text::TYPE_HASH).type_description, own);
        assert_eq!(ask(&types, Text::ROS_NAME, "RIHS01_00").type_description, learned);
        let add = |index: u32| types.add_dynamic("lab_msgs/msg/Wheel", &index.to_string(), &learned);
        let held: Vec<_> = (0..1000).map(add).collect();
        assert!(ask(&types, "", "RIHS01_00").successful && ask(&types, "", "0").successful);
        // The second endpoint of a type keeps it.
        let second = add(0);
        drop((first, held));
        assert!(!ask(&types, "", "RIHS01_00").successful && ask(&types, "", "0").successful);
        drop(second);
        assert!(!ask(&types, "", "0").successful);
        let _last = add(1);
        assert_eq!(types.types().learned.len(), 1);
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
