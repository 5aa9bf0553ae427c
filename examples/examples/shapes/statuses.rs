//! Prints status changes of the participant's entities.

use super::say;
use dds_core::listener::{AnyEndpoint, PublisherListener, SubscriberListener, TopicListener};
use dds_core::qos::PolicyId;
use dds_core::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus, PeerStatus, StatusMask,
};

/// All statuses except data, which the program polls in each round.
pub(crate) fn shown() -> StatusMask {
    StatusMask::MATCHED
        | StatusMask::INCOMPATIBLE_QOS
        | StatusMask::DEADLINE_MISSED
        | StatusMask::LIVELINESS_LOST
        | StatusMask::LIVELINESS_CHANGED
        | StatusMask::INCONSISTENT_TOPIC
}

/// The participant's listener.
pub(crate) struct Statuses;

impl PublisherListener for Statuses {
    fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, status: PeerStatus) {
        let counts = matched("readers", status.current_count, status.current_count_change);
        print_status("on_publication_matched()", &of_endpoint(writer), &counts);
    }

    fn on_offered_incompatible_qos(&mut self, writer: &dyn AnyEndpoint, status: IncompatibleQosStatus) {
        print_status("on_offered_incompatible_qos()", &of_endpoint(writer), &policy(status.last_policy_id));
    }

    fn on_liveliness_lost(&mut self, writer: &dyn AnyEndpoint, status: CountStatus) {
        let counts = total(status.total_count, status.total_count_change);
        print_status("on_liveliness_lost()", &of_endpoint(writer), &counts);
    }

    fn on_offered_deadline_missed(&mut self, writer: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        let counts = total(status.total_count, status.total_count_change);
        print_status("on_offered_deadline_missed()", &of_endpoint(writer), &counts);
    }
}

impl SubscriberListener for Statuses {
    fn on_subscription_matched(&mut self, reader: &dyn AnyEndpoint, status: PeerStatus) {
        let counts = matched("writers", status.current_count, status.current_count_change);
        print_status("on_subscription_matched()", &of_endpoint(reader), &counts);
    }

    fn on_requested_incompatible_qos(&mut self, reader: &dyn AnyEndpoint, status: IncompatibleQosStatus) {
        print_status("on_requested_incompatible_qos()", &of_endpoint(reader), &policy(status.last_policy_id));
    }

    fn on_liveliness_changed(&mut self, reader: &dyn AnyEndpoint, status: LivelinessChangedStatus) {
        let counts = format!("(alive = {}, not_alive = {})", status.alive_count, status.not_alive_count);
        print_status("on_liveliness_changed()", &of_endpoint(reader), &counts);
    }

    fn on_requested_deadline_missed(&mut self, reader: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        let counts = total(status.total_count, status.total_count_change);
        print_status("on_requested_deadline_missed()", &of_endpoint(reader), &counts);
    }
}

impl TopicListener for Statuses {
    fn on_inconsistent_topic(&mut self, topic: &str, status: CountStatus) {
        let counts = total(status.total_count, status.total_count_change);
        print_status("on_inconsistent_topic()", &topic_and_type(topic, "ShapeType"), &counts);
    }
}

fn of_endpoint(endpoint: &dyn AnyEndpoint) -> String {
    topic_and_type(endpoint.topic_name(), endpoint.type_name())
}

fn topic_and_type(topic: &str, type_name: &str) -> String {
    format!("topic: '{topic}'  type: '{type_name}'")
}

fn matched(remote: &str, count: u32, change: i32) -> String {
    format!("matched {remote} {count} (change = {change})")
}

fn total(total: u64, change: u64) -> String {
    format!("(total = {total}, change = {change})")
}

fn policy(id: Option<PolicyId>) -> String {
    id.map_or_else(|| "0 (INVALID)".to_owned(), |id| format!("{} ({id})", id as u8))
}

fn print_status(callback: &str, topic_and_type: &str, values: &str) {
    say(&format!("{callback} {topic_and_type} : {values}"));
}
