//! Tables of the book that mirror the code. `UPDATE_BOOK=1 cargo test -p book --test book` writes them.

use crate::markdown::{read, workspace};
use crate::shown_types::idl_and_rust;
use book::private_participant;
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset};
use dds_core::{DdsType, Duration};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::sync::{Mutex, PoisonError};

#[derive(DdsType)]
struct Sample {
    value: u32,
}

/// Compares the text between `<!-- generated: NAME -->` and `<!-- end -->` of a page with the expected one.
pub(crate) fn check_generated(page: &str, name: &str, expected: &str) {
    // The tests run in parallel, and several write one page.
    static PAGES: Mutex<()> = Mutex::new(());
    let _guard = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let path = workspace().join(page);
    let text = read(&path);
    let start = format!("<!-- generated: {name} -->\n\n");
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{page} has no {name}"));
    let (found, after) = rest.split_once("\n<!-- end -->").unwrap_or_else(|| panic!("{page}: {name} has no end"));
    if found != expected && std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(&path, format!("{before}{start}{expected}\n<!-- end -->{after}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "{page}: run `UPDATE_BOOK=1 cargo test -p book --test book`");
}

fn code(value: &impl Debug) -> String {
    format!("`{value:?}`")
}

#[test]
fn idl_of_the_shown_types_is_that_of_the_library() {
    let (idl, rust) = idl_and_rust();
    check_generated("book/src/reference/types.md", "idl", &format!("```text\n{}\n```\n", idl.trim_end()));
    check_generated("book/src/reference/types.md", "rust", &format!("```rust\n{}\n```\n", rust.trim_end()));
}

#[test]
fn code_of_idl_is_that_of_dds_idl() {
    let idl = read(&workspace().join("book/idl/robot.idl"));
    let specification = dds_idl::idl::parse_text("robot.idl", &idl, &Default::default()).unwrap();
    let code = dds_idl::rust::generate(&specification, &Default::default()).unwrap();
    check_generated("book/src/howto/idl.md", "idl-source", &format!("```text\n{idl}```\n"));
    check_generated("book/src/howto/idl.md", "idl-rust", &format!("```rust\n{}\n```\n", code.trim_end()));
}

/// A change of one policy.
type Change<Q> = fn(Q) -> Q;

fn writer_changes() -> Vec<(&'static str, Change<DataWriterQos>)> {
    use dds_core::qos::{DataRepresentation, DestinationOrder, Durability, LivelinessKind, Ownership};
    vec![
        ("reliability", DataWriterQos::best_effort),
        ("history", |qos| qos.keep_last(7)),
        ("durability", |qos| qos.durability(Durability::TransientLocal)),
        ("durability_service", |mut qos| {
            qos.durability_service.cleanup_delay = Duration::from_secs(1);
            qos
        }),
        ("resource_limits", |mut qos| {
            qos.resource_limits.max_samples = Some(7);
            qos
        }),
        ("deadline", |qos| qos.deadline(Duration::from_secs(1))),
        ("latency_budget", |qos| qos.latency_budget(Duration::from_secs(1))),
        ("lifespan", |qos| qos.lifespan(Duration::from_secs(1))),
        ("liveliness", |mut qos| {
            qos.liveliness.kind = LivelinessKind::ManualByTopic;
            qos
        }),
        ("destination_order", |qos| qos.destination_order(DestinationOrder::BySourceTimestamp)),
        ("ownership", |qos| qos.ownership(Ownership::Exclusive)),
        ("ownership_strength", |qos| qos.ownership_strength(7)),
        ("transport_priority", |qos| qos.transport_priority(7)),
        ("writer_data_lifecycle", |mut qos| {
            qos.writer_data_lifecycle.autodispose_unregistered_instances ^= true;
            qos
        }),
        ("representation", |qos| qos.representation([DataRepresentation::Xcdr2])),
        ("user_data", |qos| qos.user_data([7])),
    ]
}

fn reader_changes() -> Vec<(&'static str, Change<DataReaderQos>)> {
    use dds_core::qos::{DataRepresentation, DestinationOrder, Durability, LivelinessKind, Ownership};
    vec![
        ("reliability", DataReaderQos::reliable),
        ("history", |qos| qos.keep_last(7)),
        ("durability", |qos| qos.durability(Durability::TransientLocal)),
        ("resource_limits", |mut qos| {
            qos.resource_limits.max_samples = Some(7);
            qos
        }),
        ("deadline", |qos| qos.deadline(Duration::from_secs(1))),
        ("latency_budget", |qos| qos.latency_budget(Duration::from_secs(1))),
        ("liveliness", |mut qos| {
            qos.liveliness.kind = LivelinessKind::ManualByTopic;
            qos
        }),
        ("destination_order", |qos| qos.destination_order(DestinationOrder::BySourceTimestamp)),
        ("ownership", |qos| qos.ownership(Ownership::Exclusive)),
        ("time_based_filter", |qos| qos.time_based_filter(Duration::from_millis(1))),
        ("reader_data_lifecycle", |mut qos| {
            qos.reader_data_lifecycle.autopurge_disposed_samples_delay = Duration::from_secs(1);
            qos
        }),
        ("representation", |qos| qos.representation([DataRepresentation::Xcdr2])),
        ("type_consistency", |mut qos| {
            qos.type_consistency.prevent_type_widening = true;
            qos
        }),
        ("user_data", |qos| qos.user_data([7])),
    ]
}

/// The fields of a struct in its debug output: `Name { field: value, .. }`.
fn fields(debug: &str) -> Vec<(String, String)> {
    let (_, body) = debug.split_once("{ ").unwrap();
    let mut found = Vec::new();
    let (mut depth, mut start) = (0, 0);
    let body = body.strip_suffix(" }").unwrap();
    for (at, letter) in body.char_indices() {
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(body[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(body[start..].trim().to_owned());
    found.iter().map(|field| field.split_once(": ").unwrap()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

fn policy_table<Q: Debug + Default>(
    changes: Vec<(&'static str, Change<Q>)>,
    is_changeable: impl Fn(Change<Q>) -> bool,
) -> String {
    let defaults = fields(&format!("{:?}", Q::default()));
    assert_eq!(
        changes.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(),
        defaults.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>(),
        "a change for each policy"
    );
    let mut table = "| policy | default | may change |\n|---|---|---|\n".to_owned();
    for (name, change) in changes {
        let (_, default) = defaults.iter().find(|(field, _)| field == name).unwrap();
        let changeable = if is_changeable(change) { "yes" } else { "no" };
        table += &format!("| `{name}` | `{default}` | {changeable} |\n");
    }
    table
}

#[test]
fn qos_tables_have_the_defaults_of_the_code() {
    let participant = private_participant().unwrap();
    let writer = policy_table(writer_changes(), |change| {
        let writer = participant.writer::<Sample>("changed").unwrap();
        writer.set_qos(change(writer.qos())).is_ok()
    });
    check_generated("book/src/reference/qos.md", "writer", &writer);
    let reader = policy_table(reader_changes(), |change| {
        let reader = participant.reader::<Sample>("changed").unwrap();
        reader.set_qos(change(reader.qos())).is_ok()
    });
    check_generated("book/src/reference/qos.md", "reader", &reader);
}

#[test]
fn preset_table_has_the_policies_of_the_code() {
    let mut table = "| preset | reliability | history | durability | order |\n|---|---|---|---|---|\n".to_owned();
    for preset in [Preset::SensorData, Preset::State, Preset::Command, Preset::Parameter, Preset::Event] {
        let (writer, reader) = (preset.writer(), preset.reader());
        assert_eq!((writer.history, writer.durability), (reader.history, reader.durability));
        let reliability = if writer.reliability.is_reliable() { "reliable" } else { "best effort" };
        let (history, durability) = (code(&writer.history), code(&writer.durability));
        let order = code(&writer.destination_order);
        table += &format!("| `{preset:?}` | {reliability} | {history} | {durability} | {order} |\n");
    }
    check_generated("book/src/reference/qos.md", "presets", &table);
}

/// The documentation of the builder has one row for each variable, and a test there checks them.
#[test]
fn environment_table_is_that_of_the_builder() {
    let source = read(&workspace().join("dds-core/src/participant/participant_builder.rs"));
    let documentation = source.split("impl DomainParticipantBuilder").next().unwrap();
    let mut rows = Vec::new();
    for line in documentation.lines() {
        let Some(row) = line.strip_prefix("/// | ") else { continue };
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let [setting, default, environment] = cells[..] else { continue };
        if !environment.starts_with("`DDS_") {
            continue;
        }
        let (variable, values) = environment.split_once(": ").unwrap_or((environment, "any text"));
        let (variable, values) = match variable.split_once(" (") {
            Some((variable, value)) => (variable, format!("{values}, such as {}", value.trim_end_matches(')'))),
            None => (variable, values.to_owned()),
        };
        // The links of rustdoc have no target in the book.
        let setting = setting.replace("(Self::", "\u{0}").replace("](DomainParticipant::", "]\u{0}");
        let setting: String = setting.split('\u{0}').enumerate().fold(String::new(), |text, (at, part)| {
            if at == 0 { part.to_owned() } else { text + part.split_once(')').map_or("", |(_, rest)| rest) }
        });
        // The default as a value of the variable.
        let default = match default {
            "no" if values.contains("`off`") => "`off`".to_owned(),
            "no" => "`all`".to_owned(),
            "yes" => "`on`".to_owned(),
            default => default.to_lowercase().replace("mib", "MiB"),
        };
        rows.push(format!("| {variable} | {values} | {default} | {} |\n", setting.replace(['[', ']'], "")));
    }
    assert!(rows.len() >= 14, "{rows:#?}");
    let table = "| variable | values | default | setting |\n|---|---|---|---|\n".to_owned() + &rows.concat();
    check_generated("book/src/reference/environment.md", "variables", &table);
}

/// Each limit of the page is a constant of a source file.
#[test]
fn limits_are_those_of_the_code() {
    let page = read(&workspace().join("book/src/reference/limits.md"));
    let limits = [
        ("| readers of a writer | 4096 |", "dds-rtps/src/writer/readers/mod.rs", "READERS_MAX: usize = 4096"),
        ("| writers of a reader | 4096 |", "dds-rtps/src/reader/writers.rs", "WRITERS_MAX: usize = 4096"),
        ("| samples of a reader | 1 048 576 |", "dds-rtps/src/history/reader/mod.rs", "SAMPLES_MAX: usize = 1 << 20"),
        ("| instances of a reader | 262 144 |", "dds-rtps/src/history/reader/mod.rs", "INSTANCES_MAX: usize = 1 << 18"),
        ("| loans of a writer at a time | 64 |", "dds-core/src/publication/loan.rs", "LOANS_MAX: usize = 64"),
        ("| bytes of `user_data` | 16 384 |", "dds-rtps/src/qos/consistency.rs", "USER_DATA_MAX: usize = 16_384"),
        ("| bytes of a sample | 64 MiB |", "dds-rtps/src/reader/config.rs", "sample_size_max: (64 << 20) + (64 << 10)"),
        ("| highest domain | 232 |", "dds-core/src/settings/config.rs", "DOMAIN_ID_MAX: u32 = 232"),
        ("| bytes of a content filter | 16 384 |", "dds-cdr/src/filter/mod.rs", "LEN_MAX: usize = 16 * 1024"),
        (
            "| filters that a writer evaluates | 32 |",
            "dds-rtps/src/writer/readers/content_filter.rs",
            "FILTERS_MAX: usize = 32",
        ),
        (
            "| participants that discovery seeks on a peer host | 32 |",
            "dds-core/src/driver/os/addressing.rs",
            "PEER_INDEXES: u32 = 32",
        ),
        (
            "| shared memory of a participant for long datagrams | 64 MiB (`shared_memory`) |",
            "dds-core/src/driver/network.rs",
            "SHARED_MEMORY: usize = 64 << 20",
        ),
        (
            "| 256 KiB of short ones; 256 long ones in 24 MiB (3/8 of `shared_memory`) |",
            "dds-core/src/driver/os/sharing/mod.rs",
            "(self.limit / 8 * 3).clamp(HELD_BYTES_MIN, HELD_BYTES_MAX)",
        ),
        ("| participants with which a participant shares memory | 128 |", "dds-shm/src/config.rs", "paths_max: 128"),
    ];
    // The table has two lines of header.
    let rows = page.lines().filter(|line| line.starts_with('|')).count() - 2;
    assert_eq!(rows, limits.len(), "a limit of the page is not compared with its constant");
    for (shown, file, constant) in limits {
        assert!(page.contains(shown), "limits.md has no row {shown}");
        assert!(read(&workspace().join(file)).contains(constant), "{file} has another value than {constant}");
    }
}

/// Returns the features of a manifest with the features that each one enables.
fn features_of(manifest: &str) -> Vec<(String, String)> {
    let text = read(&workspace().join(manifest));
    let section = text.split("\n[features]\n").nth(1).unwrap().split("\n\n[").next().unwrap();
    let section = section.split("\n## Every package").next().unwrap().replace("[\n", "[").replace(",\n", ",");
    let entries = section.lines().filter_map(|line| line.split_once(" = "));
    entries.map(|(name, enabled)| (name.to_owned(), enabled.to_owned())).collect()
}

/// A package without a feature here would need a second dependency, which no page mentions.
#[test]
fn each_package_of_messages_is_always_there_or_a_feature_of_dds_ros2() {
    let (packages, forwarded) = (features_of("dds-ros2-msgs/Cargo.toml"), features_of("dds-ros2/Cargo.toml"));
    let enabled = |name: &str| packages.iter().find(|(package, _)| package == name).map(|(_, enabled)| enabled);
    let mut always: BTreeSet<&str> = BTreeSet::from(["default", "action_msgs"]);
    loop {
        let known = always.len();
        for name in always.clone() {
            always.extend(enabled(name).unwrap().split('"').skip(1).step_by(2));
        }
        if always.len() == known {
            break;
        }
    }
    always.remove("default");
    let added: BTreeSet<&str> =
        packages.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "default").collect();
    let added: Vec<&str> = added.difference(&always).copied().collect();
    for name in &added {
        let feature = (name.to_string(), format!("[\"dds-ros2-msgs/{name}\"]"));
        assert!(forwarded.contains(&feature), "dds-ros2 has no feature {name}");
    }
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let always = list(&Vec::from_iter(always));
    let table =
        format!("| always there | with a feature of the same name |\n|---|---|\n| {always} | {} |\n", list(&added));
    check_generated("book/src/howto/ros2.md", "packages", &table);
}
