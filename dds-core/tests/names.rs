//! Every operation of DDS 1.4 that this library has is found under its standard name: as the name of an item, or as an alias
//! that the search box of the documentation knows.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use std::collections::BTreeSet;
use std::path::Path;

/// The operations of DDS 1.4 (2.2.2), by the clause that lists them. Those that are missing here are not there yet: content
/// filters and multi-topics, query conditions, coherent sets and access, suspended publications, waiting for history.
const OPERATIONS: [(&str, &[&str]); 10] = [
    (
        "Entity",
        &["get_qos", "set_qos", "set_listener", "get_statuscondition", "get_status_changes", "get_instance_handle"],
    ),
    (
        "DomainParticipant",
        &[
            "create_participant",
            "delete_participant",
            "create_publisher",
            "delete_publisher",
            "create_subscriber",
            "delete_subscriber",
            "create_topic",
            "find_topic",
            "get_builtin_subscriber",
            "ignore_participant",
            "ignore_topic",
            "ignore_publication",
            "ignore_subscription",
            "get_domain_id",
            "delete_contained_entities",
            "get_discovered_participants",
            "get_discovered_participant_data",
            "get_discovered_topics",
            "get_discovered_topic_data",
            "contains_entity",
            "get_current_time",
        ],
    ),
    ("Topic", &["get_name", "get_type_name", "get_inconsistent_topic_status"]),
    ("WaitSet", &["attach_condition", "detach_condition", "get_trigger_value", "set_trigger_value"]),
    ("StatusCondition", &["get_enabled_statuses", "set_enabled_statuses"]),
    ("Publisher", &["create_datawriter", "delete_datawriter", "wait_for_acknowledgments", "copy_from_topic_qos"]),
    (
        "DataWriter",
        &[
            "register_instance",
            "unregister_instance",
            "unregister_instance_w_timestamp",
            "get_key_value",
            "lookup_instance",
            "write",
            "write_w_timestamp",
            "dispose",
            "dispose_w_timestamp",
            "get_publication_matched_status",
            "get_offered_incompatible_qos_status",
            "get_liveliness_lost_status",
            "assert_liveliness",
            "get_matched_subscriptions",
            "get_matched_subscription_data",
        ],
    ),
    ("Subscriber", &["create_datareader", "delete_datareader", "lookup_datareader", "notify_datareaders"]),
    (
        "DataReader",
        &[
            "read",
            "take",
            "read_w_condition",
            "take_w_condition",
            "read_next_sample",
            "take_next_sample",
            "read_instance",
            "take_instance",
            "read_next_instance",
            "take_next_instance",
            "create_readcondition",
            "get_sample_rejected_status",
            "get_liveliness_changed_status",
            "get_requested_incompatible_qos_status",
            "get_subscription_matched_status",
            "get_sample_lost_status",
            "get_matched_publications",
            "get_matched_publication_data",
        ],
    ),
    (
        "listeners",
        &[
            "on_data_on_readers",
            "on_data_available",
            "on_sample_rejected",
            "on_liveliness_changed",
            "on_liveliness_lost",
            "on_requested_incompatible_qos",
            "on_subscription_matched",
            "on_sample_lost",
            "on_publication_matched",
            "on_offered_incompatible_qos",
            "on_inconsistent_topic",
        ],
    ),
];

/// The names of public functions, and every alias, of the Rust files in a folder.
fn names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            self::names(&entry, names);
            continue;
        }
        for line in std::fs::read_to_string(&entry).unwrap().lines().map(str::trim) {
            let alias = line.strip_prefix("#[doc(alias = \"").and_then(|rest| rest.split('"').next());
            // The methods of listener traits are public without saying so.
            let function =
                line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("fn ").filter(|f| f.starts_with("on_")));
            let function = function.and_then(|rest| rest.split(['(', '<']).next());
            names.extend(alias.or(function).map(str::to_owned));
        }
    }
}

#[test]
fn every_operation_is_found_under_its_standard_name() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    names(&core.join("src"), &mut known);
    names(&core.join("../dds-rtps/src/qos"), &mut known);
    let unknown: Vec<String> = OPERATIONS
        .iter()
        .flat_map(|(entity, operations)| operations.iter().map(move |operation| (entity, operation)))
        .filter(|(_, operation)| !known.contains(**operation))
        .map(|(entity, operation)| format!("{entity}::{operation}"))
        .collect();
    assert!(unknown.is_empty(), "not found in the documentation: {unknown:?}");
}
