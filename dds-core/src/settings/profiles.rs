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

    /// The first whose pattern the name fits, else the one without a pattern.
    fn find(&self, topic: &str) -> Option<&Q> {
        let topic = [topic.to_owned()];
        let fits = |filter: &String| {
            let patterns: Vec<String> = filter.split(',').map(|pattern| pattern.trim().to_owned()).collect();
            partitions_match(&patterns, &topic)
        };
        let fitting = self.0.iter().find(|(filter, _)| filter.as_ref().is_some_and(fits));
        fitting.or_else(|| self.0.iter().find(|(filter, _)| filter.is_none())).map(|(_, qos)| qos)
    }

    /// What one for `filter` begins with.
    #[cfg(feature = "profiles")]
    pub(super) fn begin(&self, filter: Option<&str>) -> Q {
        let same = self.0.iter().find(|(known, _)| known.as_deref() == filter);
        let same = same.or_else(|| self.0.iter().find(|(known, _)| known.is_none()));
        same.map(|(_, qos)| qos.clone()).unwrap_or_default()
    }

    #[cfg(feature = "profiles")]
    pub(super) fn put(&mut self, filter: Option<&str>, qos: Q) {
        match self.0.iter_mut().find(|(known, _)| known.as_deref() == filter) {
            Some((_, known)) => *known = qos,
            None => self.0.push((filter.map(str::to_owned), qos)),
        }
    }
}

/// One place for each kind of entity, filled by `dds_xml`.
#[cfg(feature = "profiles")]
impl Profiles {
    pub(super) fn insert_participant(&mut self, name: &str, qos: Option<DomainParticipantQos>) {
        self.participants.extend(qos.map(|qos| (name.to_owned(), qos)));
    }

    pub(super) fn insert_publisher(&mut self, name: &str, qos: Option<PublisherQos>) {
        self.publishers.extend(qos.map(|qos| (name.to_owned(), qos)));
    }

    pub(super) fn insert_subscriber(&mut self, name: &str, qos: Option<SubscriberQos>) {
        self.subscribers.extend(qos.map(|qos| (name.to_owned(), qos)));
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
    type_information: Option<bool>,
    message_checksums: Option<ChecksumKind>,
    delivery: Option<Delivery>,
    receive: Option<Receiving>,
    tap: Option<PathBuf>,
}

impl Profiles {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, CreateErrorKind> {
        let is_xml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        let parsed = if is_xml { Self::of_xml(path) } else { parse(path).and_then(|tree| Self::of_tree(&tree)) };
        parsed
            .map_err(|problem| CreateErrorKind::Profile(Box::new(ProfileProblem { file: path.to_owned(), ..*problem })))
    }

    #[cfg(feature = "profiles")]
    fn of_xml(path: &Path) -> ProfileResult<Self> {
        let text = text_of(path)?;
        let mut profiles = Self::default();
        let foreign = crate::settings::dds_xml::read(&text, &mut profiles)?;
        if !foreign.is_empty() {
            tracing::warn!(file = %path.display(), "without effect here: {}", foreign.join(", "));
        }
        Ok(profiles)
    }

    #[cfg(not(feature = "profiles"))]
    fn of_xml(_path: &Path) -> ProfileResult<Self> {
        Err(whole("XML needs the feature `profiles`".to_owned()))
    }

    fn of_tree(tree: &Value) -> ProfileResult<Self> {
        let mut profiles = Self::default();
        for (section, content) in object("", tree)? {
            match section.as_str() {
                "participant" => profiles.settings = overlay(section, &ParticipantSettings::default(), content)?,
                "writer" => {
                    let read = |path: &str, content: &Value| qos(path, content, Preset::writer).map(ByTopic::of);
                    profiles.writers = each(section, content, read)?;
                }
                "reader" => {
                    let read = |path: &str, content: &Value| qos(path, content, Preset::reader).map(ByTopic::of);
                    profiles.readers = each(section, content, read)?;
                }
                "topic" => {
                    let read =
                        |path: &str, content: &Value| overlay(path, &TopicQos::default(), content).map(ByTopic::of);
                    profiles.topics = each(section, content, read)?;
                }
                "publisher" => {
                    let read = |path: &str, content: &Value| overlay(path, &PublisherQos::default(), content);
                    profiles.publishers = each(section, content, read)?;
                }
                "subscriber" => {
                    let read = |path: &str, content: &Value| overlay(path, &SubscriberQos::default(), content);
                    profiles.subscribers = each(section, content, read)?;
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

    /// Sets what the file says of participants, and keeps the rest for the endpoints.
    pub(crate) fn apply(self, config: &mut Config) -> Result<(), CreateErrorKind> {
        fn set<T: Clone>(setting: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                setting.clone_from(value);
            }
        }
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
        find(&self.participants, name, |qos| Some(qos))
    }

    pub(crate) fn publisher(&self, name: &str) -> Result<PublisherQos, CreateErrorKind> {
        find(&self.publishers, name, |qos| Some(qos))
    }

    pub(crate) fn subscriber(&self, name: &str) -> Result<SubscriberQos, CreateErrorKind> {
        find(&self.subscribers, name, |qos| Some(qos))
    }

    pub(crate) fn topic(&self, name: &str, topic: &str) -> Result<TopicQos, CreateErrorKind> {
        find(&self.topics, name, |qos| qos.find(topic))
    }

    /// The QoS of `[writer.NAME]`, or of a profile's `datawriter_qos` for the topic.
    pub(crate) fn writer(&self, name: &str, topic: &str) -> Result<DataWriterQos, CreateErrorKind> {
        find(&self.writers, name, |qos| qos.find(topic))
    }

    /// The QoS of `[reader.NAME]`, or of a profile's `datareader_qos` for the topic.
    pub(crate) fn reader(&self, name: &str, topic: &str) -> Result<DataReaderQos, CreateErrorKind> {
        find(&self.readers, name, |qos| qos.find(topic))
    }
}

fn find<E, Q: Clone>(
    profiles: &BTreeMap<String, E>,
    name: &str,
    choose: impl FnOnce(&E) -> Option<&Q>,
) -> Result<Q, CreateErrorKind> {
    profiles.get(name).and_then(choose).cloned().ok_or_else(|| CreateErrorKind::UnknownProfile {
        name: name.to_owned(),
        nearest: nearest(name, profiles.keys().map(String::as_str)).map(str::to_owned),
    })
}

/// A problem of the file as a whole.
fn whole(expected: String) -> Box<ProfileProblem> {
    Box::new(ProfileProblem { expected, value: String::new(), ..*problem("", &Value::Null, "") })
}

/// The text of a file. Does not block: reading a pipe would wait for its writer.
fn text_of(path: &Path) -> ProfileResult<String> {
    let failed = |error: std::io::Error| whole(error.to_string());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(whole("it should be a regular file".to_owned()));
    }
    if metadata.len() > FILE_LEN_MAX {
        return Err(whole(format!("it has {} bytes, and {FILE_LEN_MAX} are read at most", metadata.len())));
    }
    std::fs::read_to_string(path).map_err(failed)
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

/// A QoS: the preset that it names, and what differs.
fn qos<Q: Serialize + DeserializeOwned>(
    path: &str,
    content: &Value,
    begin: impl FnOnce(Preset) -> Q,
) -> ProfileResult<Q> {
    let mut content = object(path, content)?.clone();
    let preset = match content.remove("preset") {
        Some(name) => read(&format!("{path}.preset"), &name, name.clone())?,
        None => Preset::Default,
    };
    overlay(path, &begin(preset), &Value::Object(content))
}

/// A section with a part for each name.
fn each<T>(
    section: &str,
    content: &Value,
    mut read: impl FnMut(&str, &Value) -> ProfileResult<T>,
) -> ProfileResult<BTreeMap<String, T>> {
    let parts = object(section, content)?.iter();
    parts.map(|(name, content)| Ok((name.clone(), read(&format!("{section}.{name}"), content)?))).collect()
}

/// Returns `base` with the values of `content` replaced.
fn overlay<T: Serialize + DeserializeOwned>(path: &str, base: &T, content: &Value) -> ProfileResult<T> {
    let mut whole = match serde_json::to_value(base) {
        Ok(Value::Object(whole)) => whole,
        _ => Map::new(),
    };
    for (key, value) in object(path, content)? {
        // Each key alone, so that an error is that of this key.
        let alone = Value::Object([(key.clone(), value.clone())].into_iter().collect());
        read::<T>(&format!("{path}.{key}"), value, alone)?;
        whole.insert(key.clone(), value.clone());
    }
    let whole = Value::Object(whole);
    read(path, &whole, whole.clone())
}

/// Reads a value from `tree`. An error shows `shown`, the value at `path`.
fn read<T: DeserializeOwned>(path: &str, shown: &Value, tree: Value) -> ProfileResult<T> {
    serde_json::from_value(tree).map_err(|error| {
        let expected = error.to_string();
        // Unknown names come as "unknown field `a`, expected `b` or `c`".
        let mut names = expected.split('`').skip(1).step_by(2);
        let unknown = names.next().filter(|_| expected.starts_with("unknown "));
        let nearest = unknown.and_then(|unknown| nearest(unknown, names)).map(str::to_owned);
        Box::new(ProfileProblem { nearest, ..*problem(path, shown, &expected) })
    })
}

fn object<'a>(path: &str, value: &'a Value) -> ProfileResult<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| problem(path, value, "should be a table of names and values"))
}

fn problem(path: &str, value: &Value, expected: &str) -> Box<ProfileProblem> {
    let (key, value, expected) = (path.to_owned(), value.to_string(), expected.to_owned());
    Box::new(ProfileProblem { file: PathBuf::new(), line: None, key, value, expected, nearest: None })
}
