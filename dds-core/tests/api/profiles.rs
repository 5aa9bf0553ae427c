//! Settings and QoS from files and the environment, and the errors for invalid ones.

use crate::support::{Notes, PATIENCE, World};
use dds_core::builtin::BuiltinTopic;
use dds_core::error::{CreateErrorKind, ProfileProblem, ReturnCode};
use dds_core::qos::{Durability, History, Preset, Reliability, ResourceLimits};
use dds_core::{DdsType, DomainParticipant, DomainParticipantBuilder, Duration};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Scan {
    ranges: Vec<f32>,
}

/// The file that the documentation shows.
fn robot() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles/robot.toml")
}

/// Creates a file with this content, for one test alone.
fn file(name: &str, content: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path
}

fn problem(name: &str, content: &str) -> ProfileProblem {
    let error = DomainParticipant::builder(0).ignore_environment().profiles(file(name, content)).build().unwrap_err();
    assert_eq!(error.return_code(), ReturnCode::BadParameter);
    let CreateErrorKind::Profile(problem) = error.kind() else { panic!("{error}") };
    assert!(error.to_string().contains(name), "{error}");
    (**problem).clone()
}

#[test]
fn file_configures_participants_and_endpoints() {
    let world = World::new();
    let watcher = world.participant();
    let participant = world.builder().profiles(robot()).name("from code").build().unwrap();
    let found =
        watcher.reader(&BuiltinTopic::PARTICIPANT).unwrap().next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    assert_eq!((found.lease, &found.user_data[..]), (Duration::from_secs(5), &[1, 2, 3][..]));
    // The properties of the process follow.
    assert_eq!(found.properties[0], ("team".to_owned(), "red".to_owned()));
    assert_eq!(found.name, "from code", "code beats the file");

    let scans = participant.writer_builder::<Scan>("scan").profile("scan").build().unwrap().qos();
    let expected = Preset::SensorData.writer().keep_last(3).lifespan(Duration::from_millis(200));
    assert_eq!(scans, expected);
    let poses = participant.writer_builder::<Scan>("pose").profile("pose").build().unwrap().qos();
    assert_eq!(poses.reliability, Reliability::Reliable { max_blocking_time: Duration::from_millis(10) });
    assert_eq!((poses.durability, poses.history), (Durability::TransientLocal, History::default()));
    let reader = participant.reader_builder::<Scan>("scan").profile("scan").build().unwrap().qos();
    let limits = ResourceLimits::NONE.max_samples(10);
    assert_eq!(reader, Preset::SensorData.reader().resource_limits(limits));
}

/// Reading a pipe would wait for its writer, and so would the creation of the participant.
#[test]
#[cfg(unix)]
fn profile_that_is_no_regular_file_is_refused() {
    let pipe = file("pipe.toml", "");
    std::fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, Path::new(env!("CARGO_MANIFEST_DIR"))] {
        let error = DomainParticipant::builder(0).ignore_environment().profiles(path).build().unwrap_err();
        assert!(error.to_string().contains("it should be a regular file"), "{error}");
    }
    std::fs::remove_file(&pipe).unwrap();
}

#[test]
fn json_profile_equals_toml_profile() {
    let path = file("same.json", r#"{ "writer": { "scan": { "preset": "state", "deadline": "1s" } } }"#);
    let participant = World::new().builder().profiles(path).build().unwrap();
    let qos = participant.writer_builder::<Scan>("scan").profile("scan").build().unwrap().qos();
    assert_eq!(qos, Preset::State.writer().deadline(Duration::from_secs(1)));
}

#[test]
fn unknown_profile_error_suggests_nearest_name() {
    let participant = World::new().builder().profiles(robot()).build().unwrap();
    let error = participant.writer_builder::<Scan>("scan").profile("scann").build().unwrap_err();
    let unknown = CreateErrorKind::UnknownProfile { name: "scann".into(), nearest: Some("scan".into()) };
    assert_eq!(error.kind(), &unknown);
    assert!(error.to_string().contains("did you mean \"scan\"?"), "{error}");
    // A writer profile has this name, but no reader profile does.
    assert!(participant.reader_builder::<Scan>("pose").profile("pose").build().is_err());
    // The last call counts.
    participant.writer_builder::<Scan>("a").profile("scann").qos(Preset::State).build().unwrap();
    participant.writer_builder::<Scan>("b").profile("scann").profile("scan").build().unwrap();
}

#[test]
fn invalid_profile_error_names_place_and_nearest() {
    let at = |problem: &ProfileProblem| (problem.key.clone(), problem.value.clone(), problem.nearest.clone());
    let some = |name: &str| Some(name.to_owned());

    let p = problem("field.toml", "[writer.scan]\nhistroy = \"keep_all\"");
    assert_eq!(at(&p), ("writer.scan.histroy".into(), "\"keep_all\"".into(), some("history")));
    let p = problem("variant.toml", "[reader.scan]\nreliability = \"best-effort\"");
    assert_eq!(at(&p), ("reader.scan.reliability".into(), "\"best-effort\"".into(), some("best_effort")));
    let p = problem("nested.toml", "[reader.scan]\nresource_limits = { max_sample = 3 }");
    assert_eq!((p.key.as_str(), p.nearest), ("reader.scan.resource_limits", some("max_samples")));
    let p = problem("preset.toml", "[writer.scan]\npreset = \"sensor\"");
    assert_eq!(p.key, "writer.scan.preset");
    let p = problem("section.toml", "[particpant]\nname = \"a\"");
    assert_eq!((p.key.as_str(), p.nearest), ("particpant", some("participant")));
    let p = problem("setting.toml", "[participant]\nlease = \"5 parsecs\"");
    assert_eq!((p.key.as_str(), p.value.as_str()), ("participant.lease", "\"5 parsecs\""));
    assert!(p.expected.contains("whole number with the unit"), "{p}");
    let p = problem("table.toml", "writer = 3");
    assert_eq!((p.key.as_str(), p.value.as_str()), ("writer", "3"));
    let p = problem("syntax.toml", "[writer.scan\n");
    assert!(p.key.is_empty() && p.expected.contains("line 1"), "{p}");
    let p = problem("syntax.json", "{\n  \"writer\": }");
    assert!(p.expected.contains("line 2"), "{p}");
    let p = problem("profiles.yaml", "");
    assert!(p.expected.contains(".toml"), "{p}");
    let error = World::new().builder().profiles("/nowhere/profiles.toml").build().unwrap_err();
    assert!(error.to_string().contains("/nowhere/profiles.toml"), "{error}");
}

/// Environment variable of child processes that repeat one test with other variables.
const CHILD: &str = "DDS_CORE_TEST_CHILD";

/// Runs `test` in its own process with these variables, because a process has only one environment.
fn with_environment(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test]).env(CHILD, "1").envs(variables.iter().copied());
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    false
}

#[test]
fn code_beats_environment_beats_file() {
    let world = World::new();
    let path = robot();
    let variables = [
        ("DDS_PROFILES", path.to_str().unwrap()),
        ("DDS_DOMAIN", "3"),
        ("DDS_DOMAIN_TAG", "from the environment"),
        ("DDS_SCOPE", "host"),
    ];
    if !with_environment("profiles::code_beats_environment_beats_file", &variables) {
        return;
    }
    let participant = DomainParticipant::from_env().unwrap();
    assert_eq!(participant.domain_id(), 3);
    participant.writer_builder::<Scan>("scan").profile("scan").build().unwrap();
    // The tag from the environment separates it from this world. The tag from code does not.
    let watcher = world.participant();
    let _unseen = DomainParticipant::builder(0).build().unwrap();
    let seen = DomainParticipant::builder(0).domain_tag(world.tag()).build().unwrap();
    let found = watcher.reader(&BuiltinTopic::PARTICIPANT).unwrap().next_sample().block_for(PATIENCE).unwrap();
    assert_eq!(found.data.unwrap().key, dds_core::Entity::guid(&seen));
    let ignoring = DomainParticipantBuilder::default().ignore_environment().scope(dds_core::Scope::Host);
    assert_eq!(ignoring.build().unwrap().domain_id(), 0);
}

#[test]
fn misspelled_environment_variable_is_named_once() {
    let variables = [("DDS_PEER", "robot"), ("DDS_RECEIVE", "thread"), ("DDS_ROOT", "/opt/other")];
    if !with_environment("profiles::misspelled_environment_variable_is_named_once", &variables) {
        return;
    }
    let build = || {
        let _participant = DomainParticipant::builder(0).scope(dds_core::Scope::Host).build().unwrap();
    };
    let ignore = || {
        let _participant = World::new().builder().ignore_environment().build().unwrap();
    };
    let named = |build: &dyn Fn()| {
        let (_, mut lines) = Notes::of_warnings().take(build);
        lines.retain(|line| line.contains("did you mean"));
        lines
    };
    assert!(named(&ignore).is_empty());
    let [line] = &named(&build)[..] else { panic!("one line") };
    assert!(line.contains("did you mean DDS_PEERS?") && line.contains("variable=\"DDS_PEER\""), "{line}");
    assert!(named(&build).is_empty(), "one environment, one warning");
}

#[test]
fn invalid_environment_variable_is_error() {
    if !with_environment("profiles::invalid_environment_variable_is_error", &[("DDS_DOMAIN", "the first one")]) {
        return;
    }
    let error = DomainParticipant::from_env().unwrap_err();
    let CreateErrorKind::Environment { variable, value, .. } = error.kind() else { panic!("{error}") };
    assert_eq!((*variable, &**value), ("DDS_DOMAIN", "the first one"));
}

/// Records the log lines that a participant writes when it starts.
#[derive(Clone, Default)]
struct Starts(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

struct Settings(String);

impl tracing::field::Visit for Settings {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "settings" {
            self.0 = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        if field.name() == "settings" {
            self.0 = value.to_owned();
        }
    }
}

impl tracing::Subscriber for Starts {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.level() <= &tracing::Level::INFO
    }
    fn new_span(&self, _span: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }
    fn record(&self, _span: &tracing::Id, _values: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _span: &tracing::Id, _follows: &tracing::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut settings = Settings(String::new());
        event.record(&mut settings);
        if !settings.0.is_empty() {
            self.0.lock().unwrap().push(settings.0);
        }
    }
    fn enter(&self, _span: &tracing::Id) {}
    fn exit(&self, _span: &tracing::Id) {}
}

#[test]
fn log_shows_settings_and_sources_once() {
    let world = World::new();
    let tag = world.tag();
    let variables = [
        ("DDS_PROFILES", robot().to_str().unwrap().to_owned()),
        ("DDS_MULTICAST_TTL", "7".to_owned()),
        ("DDS_DOMAIN_TAG", tag.to_owned()),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    if !with_environment("profiles::log_shows_settings_and_sources_once", &variables) {
        return;
    }
    let starts = Starts::default();
    let participant = tracing::subscriber::with_default(starts.clone(), || {
        let builder = DomainParticipantBuilder::default().name("from code").announcement_period(Duration::from_secs(1));
        let participant = builder.build().unwrap();
        participant.writer_builder::<Scan>("scan").profile("scan").build().unwrap();
        participant
    });
    let said = starts.0.lock().unwrap().clone();
    let [settings] = &said[..] else { panic!("it is said {} times", said.len()) };
    for expected in [
        "name = \"from code\" (code)",
        "announcement_period = 1s (code)",
        "multicast_ttl = 7 (environment)",
        "lease = 5s (profile)",
        "user_data = 3 octets (profile)",
        "scope = Host (profile)",
        "robot.toml\") (profile)",
    ] {
        assert!(settings.contains(expected), "without {expected}: {settings}");
    }
    assert!(!settings.contains("(default)"), "{settings}");
    drop(participant);
}

/// Returns the log lines of a participant's start.
fn said_of(builder: DomainParticipantBuilder) -> String {
    let starts = Starts::default();
    let participant = tracing::subscriber::with_default(starts.clone(), || builder.build().unwrap());
    drop(participant);
    starts.0.lock().unwrap().concat()
}

/// The same setting in all three places.
#[test]
fn one_setting_obeys_order_of_sources() {
    let path = file("ttl.toml", "[participant]\nmulticast_ttl = 3\nscope = \"host\"\n");
    let variables = [("DDS_PROFILES", path.to_str().unwrap()), ("DDS_MULTICAST_TTL", "7")];
    if !with_environment("profiles::one_setting_obeys_order_of_sources", &variables) {
        return;
    }
    let all = DomainParticipantBuilder::default();
    for (builder, expected) in [
        (all.clone().ignore_environment().profiles(path), "multicast_ttl = 3 (profile)"),
        (all.clone(), "multicast_ttl = 7 (environment)"),
        (all.multicast_ttl(9), "multicast_ttl = 9 (code)"),
    ] {
        let settings = said_of(builder);
        assert!(settings.contains(expected), "without {expected}: {settings}");
    }
}

#[test]
fn groups_and_topics_have_sections() {
    let text = "[publisher.hall]\npartition = [\"a\"]\n[subscriber.hall]\npartition = [\"b*\"]\n[topic.map]\ndurability = \"transient_local\"\n";
    let participant = World::new().builder().profiles(file("groups.toml", text)).build().unwrap();
    assert_eq!(participant.publisher_profile("hall").unwrap().partition, ["a"]);
    assert_eq!(participant.subscriber_profile("hall").unwrap().partition, ["b*"]);
    assert_eq!(participant.topic_profile("map", "any").unwrap().durability, Durability::TransientLocal);
    let error = participant.subscriber_profile("halls").unwrap_err();
    assert!(error.to_string().contains("did you mean \"hall\"?"), "{error}");
    let p = problem("publisher.toml", "[publisher.hall]\npartitions = [\"a\"]");
    assert_eq!((p.key.as_str(), p.nearest.as_deref()), ("publisher.hall.partitions", Some("partition")));
}

/// The chapter shows the tested files.
#[test]
fn profile_chapter_shows_tested_files() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/profiles.md");
    let chapter = std::fs::read_to_string(chapter).unwrap();
    for name in ["robot.toml", "robots.xml"] {
        let content = std::fs::read_to_string(robot().with_file_name(name)).unwrap();
        assert!(chapter.contains(content.trim_end()), "docs/profiles.md does not show tests/profiles/{name}");
    }
}
