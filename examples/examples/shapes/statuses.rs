//! What happens to the participant's entities, a line for each.

use super::say;
use dds_core::qos::PolicyId;
use dds_core::{
    AnyReader, AnyWriter, DeadlineMissedStatus, IncompatibleQosStatus, InconsistentTopicStatus,
    LivelinessChangedStatus, LivelinessLostStatus, PublicationMatchedStatus, PublisherListener, StatusMask,
    SubscriberListener, SubscriptionMatchedStatus, TopicListener,
};

/// All but data: that is looked for in rounds.
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
    fn on_publication_matched(&mut self, writer: &dyn AnyWriter, status: PublicationMatchedStatus) {
        let counts = matched("readers", status.current_count, status.current_count_change);
        tell("on_publication_matched()", &of_writer(writer), &counts);
    }

    fn on_offered_incompatible_qos(&mut self, writer: &dyn AnyWriter, status: IncompatibleQosStatus) {
        tell("on_offered_incompatible_qos()", &of_writer(writer), &policy(status.last_policy_id));
    }

    fn on_liveliness_lost(&mut self, writer: &dyn AnyWriter, status: LivelinessLostStatus) {
        let counts = total(status.total_count.into(), status.total_count_change.into());
        tell("on_liveliness_lost()", &of_writer(writer), &counts);
    }

    fn on_offered_deadline_missed(&mut self, writer: &dyn AnyWriter, status: DeadlineMissedStatus) {
        let counts = total(status.total_count, status.total_count_change);
        tell("on_offered_deadline_missed()", &of_writer(writer), &counts);
    }
}

impl SubscriberListener for Statuses {
    fn on_subscription_matched(&mut self, reader: &dyn AnyReader, status: SubscriptionMatchedStatus) {
        let counts = matched("writers", status.current_count, status.current_count_change);
        tell("on_subscription_matched()", &of_reader(reader), &counts);
    }

    fn on_requested_incompatible_qos(&mut self, reader: &dyn AnyReader, status: IncompatibleQosStatus) {
        tell("on_requested_incompatible_qos()", &of_reader(reader), &policy(status.last_policy_id));
    }

    fn on_liveliness_changed(&mut self, reader: &dyn AnyReader, status: LivelinessChangedStatus) {
        let counts = format!("(alive = {}, not_alive = {})", status.alive_count, status.not_alive_count);
        tell("on_liveliness_changed()", &of_reader(reader), &counts);
    }

    fn on_requested_deadline_missed(&mut self, reader: &dyn AnyReader, status: DeadlineMissedStatus) {
        let counts = total(status.total_count, status.total_count_change);
        tell("on_requested_deadline_missed()", &of_reader(reader), &counts);
    }
}

impl TopicListener for Statuses {
    fn on_inconsistent_topic(&mut self, topic: &str, status: InconsistentTopicStatus) {
        let counts = total(status.total_count.into(), status.total_count_change.into());
        tell("on_inconsistent_topic()", &place(topic, "ShapeType"), &counts);
    }
}

fn of_writer(writer: &dyn AnyWriter) -> String {
    place(writer.topic_name(), writer.type_name())
}

fn of_reader(reader: &dyn AnyReader) -> String {
    place(reader.topic_name(), reader.type_name())
}

fn place(topic: &str, type_name: &str) -> String {
    format!("topic: '{topic}'  type: '{type_name}'")
}

fn matched(whom: &str, count: u32, change: i32) -> String {
    format!("matched {whom} {count} (change = {change})")
}

fn total(total: u64, change: u64) -> String {
    format!("(total = {total}, change = {change})")
}

fn policy(id: Option<PolicyId>) -> String {
    id.map_or_else(|| "0 (INVALID)".to_owned(), |id| format!("{} ({id})", id as u8))
}

fn tell(what: &str, place: &str, values: &str) {
    say(&format!("{what} {place} : {values}"));
}
