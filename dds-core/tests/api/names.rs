//! `docs/dds-1.4.md` is complete and correct, as far as a test can check.
//!
//! Every operation, policy, status, condition, state and field of DDS 1.4 has a row. The documentation contains every
//! operation under its standard name. Every named test exists, and one of the tests of an operation uses it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The operations of DDS 1.4 (2.2.2), grouped by clause.
const OPERATIONS: [&str; 12] = [
    "get_qos set_qos set_listener get_listener get_statuscondition get_status_changes enable get_instance_handle",
    "create_participant delete_participant get_instance lookup_participant set_default_participant_qos \
     get_default_participant_qos",
    "create_publisher delete_publisher create_subscriber delete_subscriber create_topic delete_topic \
     create_contentfilteredtopic delete_contentfilteredtopic create_multitopic delete_multitopic find_topic \
     lookup_topicdescription get_builtin_subscriber ignore_participant ignore_topic ignore_publication",
    "ignore_subscription get_domain_id delete_contained_entities assert_liveliness set_default_publisher_qos \
     get_default_publisher_qos set_default_subscriber_qos get_default_subscriber_qos set_default_topic_qos \
     get_default_topic_qos get_discovered_participants get_discovered_participant_data get_discovered_topics \
     get_discovered_topic_data contains_entity get_current_time",
    "get_type_name get_name get_participant get_inconsistent_topic_status register_type get_related_topic \
     get_filter_expression get_expression_parameters set_expression_parameters get_subscription_expression",
    "create_datawriter delete_datawriter lookup_datawriter suspend_publications resume_publications \
     begin_coherent_changes end_coherent_changes wait_for_acknowledgments set_default_datawriter_qos \
     get_default_datawriter_qos copy_from_topic_qos",
    "register_instance register_instance_w_timestamp unregister_instance unregister_instance_w_timestamp \
     get_key_value lookup_instance write write_w_timestamp dispose dispose_w_timestamp get_liveliness_lost_status \
     get_offered_deadline_missed_status get_offered_incompatible_qos_status get_publication_matched_status get_topic \
     get_publisher get_matched_subscription_data get_matched_subscriptions",
    "create_datareader delete_datareader lookup_datareader begin_access end_access get_datareaders notify_datareaders \
     set_default_datareader_qos get_default_datareader_qos",
    "read take read_w_condition take_w_condition read_next_sample take_next_sample read_instance take_instance \
     read_next_instance take_next_instance read_next_instance_w_condition take_next_instance_w_condition return_loan",
    "create_readcondition create_querycondition delete_readcondition get_liveliness_changed_status \
     get_requested_deadline_missed_status get_requested_incompatible_qos_status get_sample_lost_status \
     get_sample_rejected_status get_subscription_matched_status get_topicdescription get_subscriber \
     wait_for_historical_data get_matched_publication_data get_matched_publications",
    // The listeners (2.2.2.2.3, 2.2.2.3.5, 2.2.2.4.3 to .4, 2.2.2.5.6 to .7).
    "on_data_on_readers on_data_available on_sample_rejected on_requested_incompatible_qos \
     on_subscription_matched on_sample_lost on_publication_matched on_offered_incompatible_qos on_inconsistent_topic \
     on_liveliness_changed on_liveliness_lost on_offered_deadline_missed on_requested_deadline_missed",
    "attach_condition detach_condition wait get_conditions get_trigger_value set_trigger_value set_enabled_statuses \
     get_enabled_statuses get_entity get_datareader get_sample_state_mask get_view_state_mask \
     get_instance_state_mask get_query_expression get_query_parameters set_query_parameters",
];

/// Other names of DDS 1.4 and XTypes 1.3.
///
/// The policies (2.2.3, and those of XTypes), the statuses (2.2.4.1) and the kinds of conditions (2.2.4.4). The sample
/// states (2.2.2.5.1) and the fields of SampleInfo (2.2.2.5.5).
const OTHERS: [&str; 4] = [
    "USER_DATA TOPIC_DATA GROUP_DATA DURABILITY DURABILITY_SERVICE PRESENTATION DEADLINE LATENCY_BUDGET OWNERSHIP \
     OWNERSHIP_STRENGTH LIVELINESS TIME_BASED_FILTER PARTITION RELIABILITY TRANSPORT_PRIORITY LIFESPAN \
     DESTINATION_ORDER HISTORY RESOURCE_LIMITS ENTITY_FACTORY",
    "WRITER_DATA_LIFECYCLE READER_DATA_LIFECYCLE TYPE_CONSISTENCY_ENFORCEMENT DATA_REPRESENTATION \
     INCONSISTENT_TOPIC OFFERED_DEADLINE_MISSED REQUESTED_DEADLINE_MISSED OFFERED_INCOMPATIBLE_QOS \
     REQUESTED_INCOMPATIBLE_QOS SAMPLE_LOST SAMPLE_REJECTED DATA_ON_READERS DATA_AVAILABLE LIVELINESS_LOST \
     LIVELINESS_CHANGED PUBLICATION_MATCHED SUBSCRIPTION_MATCHED WaitSet GuardCondition StatusCondition",
    "ReadCondition QueryCondition READ NOT_READ NEW NOT_NEW ALIVE NOT_ALIVE_DISPOSED NOT_ALIVE_NO_WRITERS \
     sample_state view_state instance_state disposed_generation_count no_writers_generation_count sample_rank \
     generation_rank absolute_generation_rank source_timestamp instance_handle publication_handle",
    "valid_data",
];

/// A row of the table.
struct Row {
    /// The standard names that the row covers.
    names: Vec<String>,
    /// The form in this crate.
    form: String,
    /// The tests: file and name.
    tests: Vec<(String, String)>,
}

impl Row {
    fn is_operation(&self) -> bool {
        self.names
            .iter()
            .any(|name| OPERATIONS.iter().flat_map(|operations| words(operations)).any(|known| known == name))
    }

    /// Returns whether the text of a test uses a form. It calls the last part as a method or as `Type::name`, names the
    /// type, or implements the callback.
    fn is_used(&self, text: &str) -> bool {
        quoted(&self.form).any(|form| {
            let last = form.trim_end_matches("(..)").rsplit(['.', ':']).next().unwrap_or(form);
            let found = text.match_indices(last).filter(|(at, _)| {
                let (before, after) = (&text[..*at], &text[at + last.len()..]);
                let is_called = after.starts_with(['(', ')']) || after.starts_with("::<");
                match last.chars().next() {
                    Some(first) if first.is_uppercase() => {
                        !after.starts_with(is_of_name) && !before.ends_with(is_of_name)
                    }
                    _ if last.starts_with("on_") => is_called && !before.ends_with(is_of_name),
                    _ => is_called && (before.ends_with('.') || before.ends_with("::")),
                }
            });
            found.count() > 0
        })
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Returns the text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(root().join("docs/dds-1.4.md")).unwrap();
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [names, form, proof] = cells[..] else { panic!("a row has three cells: {line}") };
    let test = |test: &str| {
        let (place, name) = test.split_once("::").unwrap_or_else(|| panic!("`{test}` is no `place::test`"));
        (place.to_owned(), name.to_owned())
    };
    let names = quoted(names).map(str::to_owned).collect();
    Row { names, form: form.to_owned(), tests: quoted(proof).map(test).collect() }
}

/// Collects every Rust file in a folder, with its text.
fn files(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

fn all_files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["dds-core/src", "dds-core/tests", "dds-durability/tests", "dds-rtps/src", "dds-rtps/tests"] {
        files(&root().join(folder), &mut found);
    }
    found
}

/// Returns whether the file, or a folder of its path, has this name.
fn is_in(path: &Path, place: &str) -> bool {
    let within = path.strip_prefix(root()).unwrap();
    within.with_extension("").components().any(|component| component.as_os_str() == place)
}

/// Returns whether a file has a test of this name.
fn has_test(text: &str, name: &str) -> bool {
    let is_named = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + 3 + name.len()..]);
        let attributes = before.rsplit("\n\n").next().unwrap_or(before);
        after.starts_with('(') && attributes.contains("#[test]")
    };
    text.match_indices(&format!("fn {name}")).any(is_named)
}

/// Text of a test, from its name to the closing brace with the same indent.
fn body<'t>(text: &'t str, name: &str) -> &'t str {
    let Some(at) = text.find(&format!("fn {name}(")) else { return "" };
    let indent = at - text[..at].rfind('\n').map_or(0, |line| line + 1);
    let end = format!("\n{}}}", " ".repeat(indent));
    &text[at..text[at..].find(&end).map_or(text.len(), |end| at + end)]
}

/// Text of a test, with all functions of its file that it calls.
///
/// It includes functions called indirectly, and the file's listeners.
fn doing(text: &str, test: &str) -> String {
    let functions = || text.match_indices("fn ").filter_map(|(at, _)| text[at + 3..].split(['(', '<']).next());
    let mut done = body(text, test).to_owned();
    for _ in 0..2 {
        let called = functions().filter(|name| name.chars().all(is_of_name) && done.contains(&format!("{name}(")));
        let more: BTreeSet<&str> = called.map(|name| body(text, name)).collect();
        done.extend(more.iter().filter(|more| !done.contains(*more)).copied().collect::<Vec<_>>());
    }
    done
}

/// Names of public functions and all aliases in these Rust files.
fn documented(files: &[(PathBuf, String)]) -> BTreeSet<&str> {
    let mut known = BTreeSet::new();
    let sources = files.iter().filter(|(path, _)| is_in(path, "src"));
    for line in sources.flat_map(|(_, text)| text.lines()).map(str::trim) {
        let alias = line.strip_prefix("#[doc(alias = \"").and_then(|rest| rest.split('"').next());
        // Methods of public traits are public without `pub`.
        let function = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("fn "));
        let function = function.and_then(|rest| rest.split(['(', '<']).next());
        known.extend(alias.or(function));
    }
    known
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

#[test]
fn dds_table_is_complete() {
    let rows = rows();
    let known: BTreeSet<&str> = rows.iter().flat_map(|row| &row.names).map(String::as_str).collect();
    let all: BTreeSet<&str> = OPERATIONS
        .iter()
        .flat_map(|operations| words(operations))
        .chain(OTHERS.iter().flat_map(|names| words(names)))
        .collect();
    assert_eq!(all.difference(&known).collect::<Vec<_>>(), Vec::<&&str>::new(), "not in the table");
    assert_eq!(
        known.difference(&all).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "neither in DDS 1.4 nor one of the policies of XTYPES 1.3"
    );
}

#[test]
fn operations_are_found_by_standard_name() {
    let (rows, files) = (rows(), all_files());
    let known = documented(&files);
    let operations = rows.iter().filter(|row| row.is_operation()).flat_map(|row| &row.names).map(String::as_str);
    let unknown: Vec<&str> = operations.filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "not found in the documentation: {unknown:?}");
}

#[test]
fn tests_named_by_dds_table_exist() {
    let (rows, files) = (rows(), all_files());
    let exists = |place: &str, name: &str| files.iter().any(|(path, text)| is_in(path, place) && has_test(text, name));
    let named = || rows.iter().flat_map(|row| &row.tests);
    let missing: Vec<_> = named().filter(|(place, name)| !exists(place, name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
    let unproven: Vec<_> = rows.iter().filter(|row| row.tests.is_empty()).map(|row| &row.names).collect();
    assert!(unproven.is_empty(), "nothing proves {unproven:?}");
    // The search finds a known example.
    assert!(
        exists("names", "tests_named_by_dds_table_exist") && !exists("names", "every_test") && !exists("names", "rows")
    );
    assert!(!exists("conditions", "tests_named_by_dds_table_exist"));
}

#[test]
fn test_of_each_operation_uses_it() {
    let (rows, files) = (rows(), all_files());
    let is_proven = |row: &&Row| {
        row.tests.iter().any(|(place, name)| {
            let mut files = files.iter().filter(|(path, text)| is_in(path, place) && has_test(text, name));
            let told = row.names.iter().any(|name| name.starts_with("on_") || name == "notify_datareaders");
            files.any(|(_, text)| row.is_used(&if told { text.clone() } else { doing(text, name) }))
        })
    };
    let operations = rows.iter().filter(|row| row.is_operation());
    let unused: Vec<_> = operations.filter(|row| !is_proven(row)).map(|row| &row.names).collect();
    assert!(unused.is_empty(), "no test that is named uses {unused:?}");
    // The search finds a known example.
    let row = |form: &str| Row { names: Vec::new(), form: form.to_owned(), tests: Vec::new() };
    let file = "mod m {\n    fn a() {\n        c(x.read(1));\n    }\n    fn b() {\n        y.take(2);\n    }\n    fn c() {\n        Z;\n    }\n}";
    let text = &doing(file, "a");
    assert!(row("`read` of readers, or `take`").is_used(text) && row("`DataReader::read`").is_used(text));
    assert!(row("`m::Z`").is_used(text), "it calls a function that names it");
    assert!(!row("`take`").is_used(text) && !row("`rea`").is_used(text) && !row("`c`").is_used(text));
}
