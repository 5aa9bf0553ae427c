//! Settings and QoS from a file, TOML or JSON.
//!
//! In: a file. Out: what it says of participants, and a QoS for each name, all of it checked. Both formats become the same
//! tree of values, which is then read key by key, so that an error knows its place.

use crate::domain::config::{Config, Scope};
use crate::domain::similar::nearest;
use crate::infrastructure::{CreateErrorKind, Delivery, ProfileProblem};
use crate::qos::{DataReaderQos, DataWriterQos, DomainParticipantQos, Preset};
use dds_rtps::types::{Duration, IpFamilies};
use dds_rtps::wire::ChecksumKind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a file says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profiles {
    participant: Participant,
    writers: BTreeMap<String, DataWriterQos>,
    readers: BTreeMap<String, DataReaderQos>,
}

/// The settings of participants; what is absent stays as it is.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Participant {
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
    message_checksums: Option<ChecksumKind>,
    delivery: Option<Delivery>,
    tap: Option<PathBuf>,
}

impl Profiles {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, CreateErrorKind> {
        let parsed = parse(path).and_then(|tree| Self::of_tree(&tree));
        parsed
            .map_err(|problem| CreateErrorKind::Profile(Box::new(ProfileProblem { file: path.to_owned(), ..problem })))
    }

    fn of_tree(tree: &Value) -> Result<Self, ProfileProblem> {
        let mut profiles = Self::default();
        for (section, content) in object("", tree)? {
            match section.as_str() {
                "participant" => profiles.participant = overlay(section, &Participant::default(), content)?,
                "writer" => {
                    profiles.writers = each(section, content, |path, content| qos(path, content, Preset::writer))?
                }
                "reader" => {
                    profiles.readers = each(section, content, |path, content| qos(path, content, Preset::reader))?
                }
                _ => {
                    let sections = ["participant", "writer", "reader"];
                    let expected = "no such section; there are `participant`, `writer.NAME` and `reader.NAME`";
                    let nearest = nearest(section, sections).map(str::to_owned);
                    return Err(ProfileProblem { nearest, ..problem(section, content, expected) });
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
        let said = &self.participant;
        set(&mut config.domain_id, &said.domain);
        set(&mut config.name, &said.name);
        set(&mut config.qos, &said.qos);
        set(&mut config.scope, &said.scope);
        set(&mut config.peers, &said.peers);
        set(&mut config.interfaces, &said.interfaces);
        set(&mut config.ip_families, &said.ip_families);
        set(&mut config.multicast_ttl, &said.multicast_ttl);
        set(&mut config.receive_buffer, &said.receive_buffer);
        set(&mut config.send_buffer, &said.send_buffer);
        set(&mut config.domain_tag, &said.domain_tag);
        set(&mut config.lease, &said.lease);
        set(&mut config.announcement_period, &said.announcement_period);
        config.fragment_size = said.fragment_size.or(config.fragment_size);
        set(&mut config.linger, &said.linger);
        set(&mut config.udp_only, &said.udp_only);
        set(&mut config.delivery, &said.delivery);
        config.message_checksums = said.message_checksums.or(config.message_checksums);
        config.tap = said.tap.clone().or(config.tap.take());
        for (name, value) in said.properties.clone() {
            config.set_property(name, value);
        }
        config.profiles = self.into();
        Ok(())
    }

    /// The QoS of `[writer.NAME]`.
    pub(crate) fn writer(&self, name: &str) -> Result<DataWriterQos, CreateErrorKind> {
        find(&self.writers, name)
    }

    /// The QoS of `[reader.NAME]`.
    pub(crate) fn reader(&self, name: &str) -> Result<DataReaderQos, CreateErrorKind> {
        find(&self.readers, name)
    }
}

fn find<Q: Clone>(profiles: &BTreeMap<String, Q>, name: &str) -> Result<Q, CreateErrorKind> {
    profiles.get(name).cloned().ok_or_else(|| CreateErrorKind::UnknownProfile {
        name: name.to_owned(),
        nearest: nearest(name, profiles.keys().map(String::as_str)).map(str::to_owned),
    })
}

/// The values in a file.
fn parse(path: &Path) -> Result<Value, ProfileProblem> {
    let whole = |expected: String| ProfileProblem { expected, ..problem("", &Value::Null, "") };
    let text = std::fs::read_to_string(path).map_err(|error| whole(error.to_string()))?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => toml::from_str(&text).map_err(|error| whole(error.to_string().trim_end().to_owned())),
        Some("json") => serde_json::from_str(&text).map_err(|error| whole(error.to_string())),
        _ => Err(whole("its name should end with .toml or .json".to_owned())),
    }
}

/// A QoS: the preset that it names, and what differs.
fn qos<Q: Serialize + DeserializeOwned>(
    path: &str,
    content: &Value,
    begin: impl FnOnce(Preset) -> Q,
) -> Result<Q, ProfileProblem> {
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
    mut read: impl FnMut(&str, &Value) -> Result<T, ProfileProblem>,
) -> Result<BTreeMap<String, T>, ProfileProblem> {
    let parts = object(section, content)?.iter();
    parts.map(|(name, content)| Ok((name.clone(), read(&format!("{section}.{name}"), content)?))).collect()
}

/// `base` with what `content` says in place of what it said.
fn overlay<T: Serialize + DeserializeOwned>(path: &str, base: &T, content: &Value) -> Result<T, ProfileProblem> {
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

/// Reads a value from `tree`; if that fails, `shown` is what stands at `path`.
fn read<T: DeserializeOwned>(path: &str, shown: &Value, tree: Value) -> Result<T, ProfileProblem> {
    serde_json::from_value(tree).map_err(|error| {
        let expected = error.to_string();
        // Unknown names come as "unknown field `a`, expected `b` or `c`".
        let mut names = expected.split('`').skip(1).step_by(2);
        let unknown = names.next().filter(|_| expected.starts_with("unknown "));
        let nearest = unknown.and_then(|unknown| nearest(unknown, names)).map(str::to_owned);
        ProfileProblem { nearest, ..problem(path, shown, &expected) }
    })
}

fn object<'a>(path: &str, value: &'a Value) -> Result<&'a Map<String, Value>, ProfileProblem> {
    value.as_object().ok_or_else(|| problem(path, value, "should be a table of names and values"))
}

fn problem(path: &str, value: &Value, expected: &str) -> ProfileProblem {
    let (key, value, expected) = (path.to_owned(), value.to_string(), expected.to_owned());
    ProfileProblem { file: PathBuf::new(), key, value, expected, nearest: None }
}
