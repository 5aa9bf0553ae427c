//! Structures that `rosidl` derives from services and actions.

use super::{InterfaceKind, InterfaceName, RosBaseType, RosDimension, RosField, RosInterface, RosStructure, RosType};

impl RosInterface {
    /// Returns the structures of the file and the structures that `rosidl` derives from them.
    ///
    /// A service has `_Request`, `_Response` and `_Event`. An action has `_Goal`, `_Result`, `_Feedback`,
    /// `_FeedbackMessage`, and those of its services `_SendGoal` and `_GetResult`.
    #[must_use]
    pub fn structures(&self) -> Vec<RosStructure> {
        let mut all = self.described();
        all.retain(|structure| !is_composite(structure));
        all
    }

    /// Returns the structures with a type hash: [`structures`](Self::structures), and services and actions as a whole.
    pub(super) fn described(&self) -> Vec<RosStructure> {
        match self {
            Self::Message(message) => vec![message.clone()],
            Self::Service { name, request, response } => service(name, request.clone(), response.clone()),
            Self::Action { name, goal, result, feedback } => action(name, goal, result, feedback),
        }
    }
}

/// The interfaces that the derived structures of a kind need.
pub(crate) fn derived_dependencies(kind: InterfaceKind) -> Vec<InterfaceName> {
    match kind {
        InterfaceKind::Message => Vec::new(),
        InterfaceKind::Service => vec![event_info()],
        InterfaceKind::Action => vec![event_info(), uuid(), time()],
    }
}

fn event_info() -> InterfaceName {
    InterfaceName::known("service_msgs", InterfaceKind::Message, "ServiceEventInfo")
}

fn uuid() -> InterfaceName {
    InterfaceName::known("unique_identifier_msgs", InterfaceKind::Message, "UUID")
}

fn time() -> InterfaceName {
    InterfaceName::known("builtin_interfaces", InterfaceKind::Message, "Time")
}

/// Whether a structure stands for a whole service or action, which no topic has as its type.
fn is_composite(structure: &RosStructure) -> bool {
    let name = structure.name.name();
    let is_service = name.ends_with("_SendGoal") || name.ends_with("_GetResult");
    structure.name.kind() != InterfaceKind::Message && (is_service || !name.contains('_'))
}

fn service(name: &InterfaceName, request: RosStructure, response: RosStructure) -> Vec<RosStructure> {
    let event = name.derived("_Event");
    let at_most_one = |structure: &RosStructure| RosType {
        base: RosBaseType::Structure(structure.name.clone()),
        dimension: RosDimension::BoundedSequence(1),
    };
    let event_fields = vec![
        member(&event_info(), "info"),
        RosField::with_type(at_most_one(&request), "request"),
        RosField::with_type(at_most_one(&response), "response"),
    ];
    let members = vec![
        member(&request.name, "request_message"),
        member(&response.name, "response_message"),
        member(&event, "event_message"),
    ];
    vec![structure(name.clone(), members), request, response, structure(event, event_fields)]
}

fn action(
    name: &InterfaceName,
    goal: &RosStructure,
    result: &RosStructure,
    feedback: &RosStructure,
) -> Vec<RosStructure> {
    let goal_id = || member(&uuid(), "goal_id");
    let part = |suffix: &str, fields| structure(name.derived(suffix), fields);
    let (send_goal, get_result) = (name.derived("_SendGoal"), name.derived("_GetResult"));
    let feedback_message = part("_FeedbackMessage", vec![goal_id(), member(&feedback.name, "feedback")]);
    let members = vec![
        member(&goal.name, "goal"),
        member(&result.name, "result"),
        member(&feedback.name, "feedback"),
        member(&send_goal, "send_goal_service"),
        member(&get_result, "get_result_service"),
        member(&feedback_message.name, "feedback_message"),
    ];
    let mut all = vec![structure(name.clone(), members), goal.clone(), result.clone(), feedback.clone()];
    all.extend(service(
        &send_goal,
        part("_SendGoal_Request", vec![goal_id(), member(&goal.name, "goal")]),
        part("_SendGoal_Response", vec![RosField::new(RosBaseType::Bool, "accepted"), member(&time(), "stamp")]),
    ));
    all.extend(service(
        &get_result,
        part("_GetResult_Request", vec![goal_id()]),
        part("_GetResult_Response", vec![RosField::new(RosBaseType::Int8, "status"), member(&result.name, "result")]),
    ));
    all.push(feedback_message);
    all
}

fn structure(name: InterfaceName, fields: Vec<RosField>) -> RosStructure {
    RosStructure { name, comment: Vec::new(), constants: Vec::new(), fields }
}

fn member(structure: &InterfaceName, name: &str) -> RosField {
    RosField::new(RosBaseType::Structure(structure.clone()), name)
}
