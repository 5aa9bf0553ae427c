//! Settings and QoS from a file: TOML, JSON, or the OMG's XML (`dds_xml`).
//!
//! In: a file. Out: checked settings of participants, and a QoS for each name. TOML and JSON become the same tree of
//! values. The reader visits it key by key, so that an error has its place.

use crate::infrastructure::{CreateErrorKind, Delivery, ProfileProblem};
use crate::qos::{DataReaderQos, DataWriterQos, DomainParticipantQos, Preset, PublisherQos, SubscriberQos, TopicQos};
use crate::settings::config::{Config, Receiving, Scope};
use dds_rtps::qos::partitions_match;
use dds_rtps::types::similar::nearest;
use dds_rtps::types::{Duration, IpFamilies};
use dds_rtps::wire::ChecksumKind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Result of reading a file, or its problem.
pub(super) type ProfileResult<T> = Result<T, Box<ProfileProblem>>;

/// Content of a profile file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profiles {
    settings: ParticipantSettings,
    participants: BTreeMap<String, DomainParticipantQos>,
    publishers: BTreeMap<String, PublisherQos>,
    subscribers: BTreeMap<String, SubscriberQos>,
    topics: BTreeMap<String, ByTopic<TopicQos>>,
    writers: BTreeMap<String, ByTopic<DataWriterQos>>,
    readers: BTreeMap<String, ByTopic<DataReaderQos>>,
}

/// A QoS, and others for topics whose name fits a pattern.
#[derive(Debug, Clone)]
pub(crate) struct ByTopic<Q>(Vec<(Option<String>, Q)>);

impl<Q> Default for ByTopic<Q> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Q: Clone + Default> ByTopic<Q> {
    fn of(qos: Q) -> Self {
        Self(vec![(None, qos)])
    }

    /// Returns the first QoS whose pattern the name fits, else the one without a pattern.
    fn find(&self, topic: &str) -> Option<&Q> {
        let topic = [topic.to_owned()];
        for (filter, qos) in &self.0 {
            let Some(filter) = filter else { continue };
            // A filter has the wildcards of PARTITION, and commas between its patterns.
            let patterns: Vec<String> = filter.split(',').map(str::trim).map(str::to_owned).collect();
            if partitions_match(&patterns, &topic) {
                return Some(qos);
            }
        }
        self.of_filter(None)
    }

    /// Returns the QoS with exactly this filter.
    fn of_filter(&self, filter: Option<&str>) -> Option<&Q> {
        for (known, qos) in &self.0 {
            if known.as_deref() == filter {
                return Some(qos);
            }
        }
        None
    }

    /// Returns the QoS to which the policies for `filter` are added.
    #[cfg(feature = "profiles")]
    pub(super) fn begin(&self, filter: Option<&str>) -> Q {
        self.of_filter(filter).or(self.of_filter(None)).cloned().unwrap_or_default()
    }

    #[cfg(feature = "profiles")]
    pub(super) fn put(&mut self, filter: Option<&str>, qos: Q) {
        for (known, old) in &mut self.0 {
            if known.as_deref() == filter {
                *old = qos;
                return;
            }
        }
        self.0.push((filter.map(str::to_owned), qos));
    }
}

/// One place for each kind of entity, filled by `dds_xml`.
#[cfg(feature = "profiles")]
impl Profiles {
    pub(super) fn insert_participant(&mut self, name: &str, qos: Option<DomainParticipantQos>) {
        if let Some(qos) = qos {
            self.participants.insert(name.to_owned(), qos);
        }
    }

    pub(super) fn insert_publisher(&mut self, name: &str, qos: Option<PublisherQos>) {
        if let Some(qos) = qos {
            self.publishers.insert(name.to_owned(), qos);
        }
    }

    pub(super) fn insert_subscriber(&mut self, name: &str, qos: Option<SubscriberQos>) {
        if let Some(qos) = qos {
            self.subscribers.insert(name.to_owned(), qos);
        }
    }

    pub(super) fn insert_topics(&mut self, name: &str, qos: ByTopic<TopicQos>) {
        if !qos.0.is_empty() {
            self.topics.insert(name.to_owned(), qos);
        }
    }

    pub(super) fn insert_writers(&mut self, name: &str, qos: ByTopic<DataWriterQos>) {
        if !qos.0.is_empty() {
            self.writers.insert(name.to_owned(), qos);
        }
    }

    pub(super) fn insert_readers(&mut self, name: &str, qos: ByTopic<DataReaderQos>) {
        if !qos.0.is_empty() {
            self.readers.insert(name.to_owned(), qos);
        }
    }
}

/// The largest file that is read. A file of this size would have 100 000 profiles.
const FILE_LEN_MAX: u64 = 16 << 20;

/// Settings of participants. An absent one keeps its value.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ParticipantSettings {
    domain: Option<u32>,
    name: Option<String>,
    qos: Option<DomainParticipantQos>,
    scope: Option<Scope>,
    peers: Option<Vec<String>>,
    interfaces: Option<Vec<String>>,
    ip_families: Option<IpFamilies>,
    multicast_ttl: Option<u8>,
    receive_buffer: Option<usize>,
    send_buffer: Option<usize>,
    domain_tag: Option<String>,
    properties: BTreeMap<String, String>,
    lease: Option<Duration>,
    announcement_period: Option<Duration>,
    fragment_size: Option<u16>,
    linger: Option<Duration>,
    udp_only: Option<bool>,
    shared_memory: Option<usize>,
    busy_poll: Option<Duration>,
    #[cfg(feature = "derive")]
    publish_latencies: Option<bool>,
    type_information: Option<bool>,
    message_checksums: Option<ChecksumKind>,
    delivery: Option<Delivery>,
    receive: Option<Receiving>,
    tap: Option<PathBuf>,
}

impl Profiles {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, CreateErrorKind> {
        let parsed = match path.extension() {
            Some(ending) if ending.eq_ignore_ascii_case("xml") => Self::of_xml(path),
            _ => Self::of_tree_in(path),
        };
        match parsed {
            Ok(profiles) => Ok(profiles),
            // The readers do not know the file of their text.
            Err(problem) => {
                Err(CreateErrorKind::Profile(Box::new(ProfileProblem { file: path.to_owned(), ..*problem })))
            }
        }
    }

    #[cfg(feature = "profiles")]
    fn of_xml(path: &Path) -> ProfileResult<Self> {
        let text = text_of(path)?;
        let mut profiles = Self::default();
        let foreign = crate::settings::dds_xml::read(&text, &mut profiles)?;
        // A file of another vendor is useful although some of its elements have no effect here.
        if !foreign.is_empty() {
            tracing::warn!(file = %path.display(), "these elements have no effect here: {}", foreign.join(", "));
        }
        Ok(profiles)
    }

    #[cfg(not(feature = "profiles"))]
    fn of_xml(_path: &Path) -> ProfileResult<Self> {
        Err(whole("XML needs the feature `profiles`".to_owned()))
    }

    /// Reads a file of TOML or JSON.
    fn of_tree_in(path: &Path) -> ProfileResult<Self> {
        let tree = parse(path)?;
        let mut profiles = Self::default();
        for (section, content) in object("", &tree)? {
            match section.as_str() {
                "participant" => profiles.settings = overlay(section, &ParticipantSettings::default(), content)?,
                "writer" => {
                    for (name, path, part) in named_parts(section, content)? {
                        profiles.writers.insert(name, ByTopic::of(qos(&path, part, Preset::writer)?));
                    }
                }
                "reader" => {
                    for (name, path, part) in named_parts(section, content)? {
                        profiles.readers.insert(name, ByTopic::of(qos(&path, part, Preset::reader)?));
                    }
                }
                "topic" => {
                    for (name, path, part) in named_parts(section, content)? {
                        profiles.topics.insert(name, ByTopic::of(overlay(&path, &TopicQos::default(), part)?));
                    }
                }
                "publisher" => {
                    for (name, path, part) in named_parts(section, content)? {
                        profiles.publishers.insert(name, overlay(&path, &PublisherQos::default(), part)?);
                    }
                }
                "subscriber" => {
                    for (name, path, part) in named_parts(section, content)? {
                        profiles.subscribers.insert(name, overlay(&path, &SubscriberQos::default(), part)?);
                    }
                }
                _ => {
                    let sections = ["participant", "publisher", "subscriber", "topic", "writer", "reader"];
                    let expected = "no such section; there are `participant`, and `publisher.NAME`, `subscriber.NAME`, \
                        `topic.NAME`, `writer.NAME` and `reader.NAME`";
                    let nearest = nearest(section, sections).map(str::to_owned);
                    return Err(Box::new(ProfileProblem { nearest, ..*problem(section, content, expected) }));
                }
            }
        }
        Ok(profiles)
    }

    /// Applies the settings of participants, and keeps the profiles for the endpoints.
    pub(crate) fn apply(self, config: &mut Config) -> Result<(), CreateErrorKind> {
        fn set<T: Clone>(setting: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                setting.clone_from(value);
            }
        }
        // An absent setting keeps its value: the environment and code override it later (`Origin`).
        let said = &self.settings;
        set(&mut config.domain_id, &said.domain);
        set(&mut config.name, &said.name);
        set(&mut config.qos, &said.qos);
        set(&mut config.scope, &said.scope);
        set(&mut config.peers, &said.peers);
        set(&mut config.interfaces, &said.interfaces);
        set(&mut config.ip_families, &said.ip_families);
        set(&mut config.multicast_ttl, &said.multicast_ttl);
        set(&mut config.send_buffer, &said.send_buffer);
        set(&mut config.domain_tag, &said.domain_tag);
        set(&mut config.lease, &said.lease);
        set(&mut config.announcement_period, &said.announcement_period);
        config.receive_buffer = said.receive_buffer.or(config.receive_buffer);
        config.fragment_size = said.fragment_size.or(config.fragment_size);
        set(&mut config.linger, &said.linger);
        set(&mut config.udp_only, &said.udp_only);
        set(&mut config.shared_memory, &said.shared_memory);
        set(&mut config.busy_poll, &said.busy_poll);
        #[cfg(feature = "derive")]
        set(&mut config.publish_latencies, &said.publish_latencies);
        set(&mut config.type_information, &said.type_information);
        set(&mut config.delivery, &said.delivery);
        set(&mut config.receive, &said.receive);
        config.message_checksums = said.message_checksums.or(config.message_checksums);
        config.tap = said.tap.clone().or(config.tap.take());
        for (name, value) in said.properties.clone() {
            config.set_property(name, value);
        }
        config.profiles = self.into();
        Ok(())
    }

    pub(crate) fn participant(&self, name: &str) -> Result<DomainParticipantQos, CreateErrorKind> {
        found(name, &self.participants, self.participants.get(name))
    }

    pub(crate) fn publisher(&self, name: &str) -> Result<PublisherQos, CreateErrorKind> {
        found(name, &self.publishers, self.publishers.get(name))
    }

    pub(crate) fn subscriber(&self, name: &str) -> Result<SubscriberQos, CreateErrorKind> {
        found(name, &self.subscribers, self.subscribers.get(name))
    }

    pub(crate) fn topic(&self, name: &str, topic: &str) -> Result<TopicQos, CreateErrorKind> {
        found_by_topic(name, &self.topics, topic)
    }

    /// The QoS of `[writer.NAME]`, or of a profile's `datawriter_qos` for the topic.
    pub(crate) fn writer(&self, name: &str, topic: &str) -> Result<DataWriterQos, CreateErrorKind> {
        found_by_topic(name, &self.writers, topic)
    }

    /// The QoS of `[reader.NAME]`, or of a profile's `datareader_qos` for the topic.
    pub(crate) fn reader(&self, name: &str, topic: &str) -> Result<DataReaderQos, CreateErrorKind> {
        found_by_topic(name, &self.readers, topic)
    }
}

/// Returns `qos`, or the error that names the most similar profile.
fn found<E, Q: Clone>(name: &str, profiles: &BTreeMap<String, E>, qos: Option<&Q>) -> Result<Q, CreateErrorKind> {
    match qos {
        Some(qos) => Ok(qos.clone()),
        None => Err(CreateErrorKind::UnknownProfile {
            name: name.to_owned(),
            nearest: nearest(name, profiles.keys().map(String::as_str)).map(str::to_owned),
        }),
    }
}

fn found_by_topic<Q: Clone + Default>(
    name: &str,
    profiles: &BTreeMap<String, ByTopic<Q>>,
    topic: &str,
) -> Result<Q, CreateErrorKind> {
    // A profile whose filters do not fit the topic counts as missing: it has no QoS for this endpoint.
    let qos = if let Some(by_topic) = profiles.get(name) { by_topic.find(topic) } else { None };
    found(name, profiles, qos)
}

/// A problem of the file as a whole.
fn whole(expected: String) -> Box<ProfileProblem> {
    Box::new(ProfileProblem { expected, value: String::new(), ..*problem("", &Value::Null, "") })
}

/// The text of a file. Does not block: reading a pipe would wait for its writer.
fn text_of(path: &Path) -> ProfileResult<String> {
    // Checked before the file is opened, because opening a pipe blocks.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(whole("it should be a regular file".to_owned()));
    }
    if metadata.len() > FILE_LEN_MAX {
        return Err(whole(format!("it has {} bytes, and {FILE_LEN_MAX} are read at most", metadata.len())));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

fn unreadable(error: std::io::Error) -> Box<ProfileProblem> {
    whole(error.to_string())
}

/// The values in a file.
fn parse(path: &Path) -> ProfileResult<Value> {
    let text = text_of(path)?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => toml::from_str(&text).map_err(|error| whole(error.to_string().trim_end().to_owned())),
        Some("json") => serde_json::from_str(&text).map_err(|error| whole(error.to_string())),
        _ => Err(whole("its name should end with .toml, .json or .xml".to_owned())),
    }
}

/// Reads a QoS: the preset that it names, with its own policies in place of the preset's.
fn qos<Q: Serialize + DeserializeOwned>(
    path: &str,
    content: &Value,
    begin: impl FnOnce(Preset) -> Q,
) -> ProfileResult<Q> {
    // The preset is no policy, so it must not reach the check of unknown keys.
    let mut content = object(path, content)?.clone();
    let preset = match content.remove("preset") {
        Some(name) => read(&format!("{path}.preset"), &name, name.clone())?,
        None => Preset::Default,
    };
    overlay(path, &begin(preset), &Value::Object(content))
}

/// Returns the parts of a section: the name of each, its path for errors, and its content.
fn named_parts<'a>(section: &str, content: &'a Value) -> ProfileResult<Vec<(String, String, &'a Value)>> {
    let mut parts = Vec::new();
    for (name, part) in object(section, content)? {
        parts.push((name.clone(), format!("{section}.{name}"), part));
    }
    Ok(parts)
}

/// Returns `base` with the values of `content` replaced.
fn overlay<T: Serialize + DeserializeOwned>(path: &str, base: &T, content: &Value) -> ProfileResult<T> {
    let mut whole = match serde_json::to_value(base) {
        Ok(Value::Object(whole)) => whole,
        _ => Map::new(),
    };
    for (key, value) in object(path, content)? {
        // Each key alone, so that an error names this key.
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        read::<T>(&format!("{path}.{key}"), value, alone)?;
        whole.insert(key.clone(), value.clone());
    }
    // Once more as a whole: two values may contradict each other only together.
    let whole = Value::Object(whole);
    read(path, &whole, whole.clone())
}

/// Reads a value from `tree`. An error shows `shown`, the value at `path`.
fn read<T: DeserializeOwned>(path: &str, shown: &Value, tree: Value) -> ProfileResult<T> {
    let error = match serde_json::from_value(tree) {
        Ok(value) => return Ok(value),
        Err(error) => error.to_string(),
    };
    // Serde reports an unknown name as "unknown field `a`, expected `b` or `c`".
    let mut names = error.split('`').skip(1).step_by(2);
    let similar = if error.starts_with("should be ") {
        // A policy with short forms names them all.
        shown.as_str().and_then(|value| nearest(value, names))
    } else {
        match names.next() {
            Some(unknown) if error.starts_with("unknown ") => nearest(unknown, names),
            _ => None,
        }
    };
    Err(Box::new(ProfileProblem { nearest: similar.map(str::to_owned), ..*problem(path, shown, &error) }))
}

fn object<'a>(path: &str, value: &'a Value) -> ProfileResult<&'a Map<String, Value>> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(problem(path, value, "should be a table of names and values")),
    }
}

fn problem(path: &str, value: &Value, expected: &str) -> Box<ProfileProblem> {
    // The file is unknown here. `read` adds it.
    let (key, value, expected) = (path.to_owned(), value.to_string(), expected.to_owned());
    Box::new(ProfileProblem { file: PathBuf::new(), line: None, key, value, expected, nearest: None })
}
