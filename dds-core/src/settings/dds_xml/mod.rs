//! QoS from the OMG's XML format (DDS-XML 1.0, 7.3.2: libraries of profiles), and from profiles of Fast DDS.
//!
//! In: the text of a file. Out: a QoS for each name, with inherited policies. `reading` has places and spellings,
//! `policies` the policies of each entity. This file has inheritance.

mod policies;
mod reading;

use crate::infrastructure::ProfileProblem;
use crate::qos::{DataReaderQos, DataWriterQos, DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos};
use crate::settings::profiles::{ByTopic, Profiles};
use dds_rtps::types::similar::nearest;
use reading::{ProfileResult, Reading, each_element, elements, normal};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many profiles may inherit from each other in a row. It ends circles, which have no end of their own.
const INHERITED_MAX: usize = 64;

/// Reads a document. Returns the names of elements that only other vendors know.
pub(super) fn read(text: &str, profiles: &mut Profiles) -> ProfileResult<Vec<String>> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            return Err(Box::new(ProfileProblem {
                // The caller knows the file.
                file: PathBuf::new(),
                line: Some(error.pos().row),
                key: String::new(),
                value: String::new(),
                expected: error.to_string(),
                nearest: None,
            }));
        }
    };
    let mut reading = Reading::new(&document);
    let mut libraries = Libraries::default();
    let root = document.root_element();
    match root.tag_name().name() {
        "dds" => top(&mut reading, &mut libraries, root)?,
        "profiles" => fast_dds(&mut reading, &mut libraries, root)?,
        _ => return Err(reading.wrong(root, "should be dds, or profiles of Fast DDS")),
    }
    // Only now, because a profile may inherit from one further down.
    let names: Vec<String> = libraries.declared.keys().cloned().collect();
    for name in &names {
        let qos = libraries.resolve(&mut reading, name, 0)?;
        // The library's name may be left out, unless two libraries have a profile of this name.
        let short = short_name(name);
        let is_unique = names.iter().filter(|other| short_name(other) == short).count() == 1;
        if is_unique && short != name {
            qos.clone().hand_over(short, profiles);
        }
        qos.hand_over(name, profiles);
    }
    for (name, qos) in libraries.finished {
        qos.hand_over(&name, profiles);
    }
    Ok(reading.foreign)
}

/// The name of a profile without that of its library.
fn short_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The QoS of a profile for each kind of entity.
#[derive(Debug, Clone, Default)]
struct Profile {
    participant: Option<DomainParticipantQos>,
    publisher: Option<PublisherQos>,
    subscriber: Option<SubscriberQos>,
    topics: ByTopic<TopicQos>,
    writers: ByTopic<DataWriterQos>,
    readers: ByTopic<DataReaderQos>,
}

/// A profile that was found and not read yet, with its place.
#[derive(Clone, Copy)]
struct Declared<'a, 'd> {
    node: Node<'a, 'd>,
    library: &'a str,
}

#[derive(Default)]
struct Libraries<'a, 'd> {
    /// By `library::profile`; a QoS that stands in a library by itself is a profile of one.
    declared: BTreeMap<String, Declared<'a, 'd>>,
    resolved: BTreeMap<String, Profile>,
    /// Profiles that inherit nothing and have a name of their own.
    finished: Vec<(String, Profile)>,
}

impl Profile {
    fn hand_over(self, name: &str, profiles: &mut Profiles) {
        profiles.insert_participant(name, self.participant);
        profiles.insert_publisher(name, self.publisher);
        profiles.insert_subscriber(name, self.subscriber);
        profiles.insert_topics(name, self.topics);
        profiles.insert_writers(name, self.writers);
        profiles.insert_readers(name, self.readers);
    }

    /// Adds the QoS of an entity. It starts with that of `base`, or else of this profile.
    fn add(&mut self, reading: &mut Reading<'_>, base: Option<&Self>, node: Node<'_, '_>) -> ProfileResult<()> {
        let from = base.unwrap_or(self).clone();
        let filter = node.attribute("topic_filter");
        match &*normal(node.tag_name().name()) {
            "datawriter" | "writer" => {
                let mut qos = from.writers.begin(filter);
                policies::writer(reading, &mut qos, node)?;
                self.writers.put(filter, qos);
            }
            "datareader" | "reader" => {
                let mut qos = from.readers.begin(filter);
                policies::reader(reading, &mut qos, node)?;
                self.readers.put(filter, qos);
            }
            "topic" => {
                let mut qos = from.topics.begin(filter);
                policies::topic(reading, &mut qos, node)?;
                self.topics.put(filter, qos);
            }
            "publisher" => {
                let mut qos = from.publisher.unwrap_or_default();
                policies::publisher(reading, &mut qos, node)?;
                self.publisher = Some(qos);
            }
            "subscriber" => {
                let mut qos = from.subscriber.unwrap_or_default();
                policies::subscriber(reading, &mut qos, node)?;
                self.subscriber = Some(qos);
            }
            "domainparticipant" | "participant" => {
                let mut qos = from.participant.unwrap_or_default();
                policies::participant(reading, &mut qos, node)?;
                self.participant = Some(qos);
            }
            _ => reading.unknown(node, &ENTITIES)?,
        }
        Ok(())
    }
}

const ENTITIES: [&str; 6] =
    ["datawriter_qos", "datareader_qos", "topic_qos", "publisher_qos", "subscriber_qos", "domain_participant_qos"];

/// The sections of a document.
fn top<'a, 'd>(reading: &mut Reading<'_>, libraries: &mut Libraries<'a, 'd>, root: Node<'a, 'd>) -> ProfileResult<()> {
    each_element!(reading, for section in root {
        "qos_library" => library(reading, libraries, section)?,
        "profiles" => fast_dds(reading, libraries, section)?,
        // DDS-XML can also describe types and entities. Applications of this library create them in code.
        "types" => {},
        "domain_library" => {},
        "domain_participant_library" => {},
        "application_library" => {},
        "data_library" => {},
    });
    Ok(())
}

fn library<'a, 'd>(
    reading: &mut Reading<'_>,
    libraries: &mut Libraries<'a, 'd>,
    node: Node<'a, 'd>,
) -> ProfileResult<()> {
    let Some(library) = node.attribute("name") else { return Err(reading.wrong(node, "needs a name")) };
    for element in elements(node) {
        let tag = element.tag_name().name();
        // The QoS of one entity outside of a profile counts as a profile with that entity only.
        if tag != "qos_profile" && !ENTITIES.iter().any(|entity| normal(entity) == normal(tag)) {
            let mut allowed = vec!["qos_profile"];
            allowed.extend(ENTITIES);
            reading.unknown(element, &allowed)?;
            continue;
        }
        let Some(name) = element.attribute("name") else { return Err(reading.wrong(element, "needs a name")) };
        // A default that code does not name would change entities that never asked for the file.
        if element.attribute("is_default_qos") == Some("true") {
            reading.foreign.push(format!("is_default_qos of {library}::{name}: name the profile instead"));
        }
        let declared = Declared { node: element, library };
        if libraries.declared.insert(format!("{library}::{name}"), declared).is_some() {
            return Err(reading.wrong(element, "there is another one of this name"));
        }
    }
    Ok(())
}

impl<'a, 'd> Libraries<'a, 'd> {
    /// A profile with all that it inherits.
    fn resolve(&mut self, reading: &mut Reading<'_>, name: &str, depth: usize) -> ProfileResult<Profile> {
        if let Some(profile) = self.resolved.get(name) {
            return Ok(profile.clone());
        }
        let Some(&declared) = self.declared.get(name) else { return Ok(Profile::default()) };
        // A circle has no end, and a long chain would use up the stack.
        if depth > INHERITED_MAX {
            return Err(reading.wrong(declared.node, "it inherits from itself, or from too many in a row"));
        }
        let mut profile = Profile::default();
        if declared.node.tag_name().name() == "qos_profile" {
            if let Some(base) = self.base(reading, declared, declared.node, depth)? {
                profile = base;
            }
            for entity in elements(declared.node) {
                // An entity's own base replaces that of its profile (DDS-XML 1.0, 7.3.2).
                let base = self.base(reading, declared, entity, depth)?;
                profile.add(reading, base.as_ref(), entity)?;
            }
        } else {
            let base = self.base(reading, declared, declared.node, depth)?;
            profile.add(reading, base.as_ref(), declared.node)?;
        }
        // Many profiles may share a base, and each of them resolves it.
        self.resolved.insert(name.to_owned(), profile.clone());
        Ok(profile)
    }

    /// Returns the base of an element: `profile` of the same library, `library::profile`, or a QoS by name in one.
    fn base(
        &mut self,
        reading: &mut Reading<'_>,
        declared: Declared<'a, 'd>,
        node: Node<'_, '_>,
        depth: usize,
    ) -> ProfileResult<Option<Profile>> {
        let Some(base) = node.attribute("base_name") else { return Ok(None) };
        let parts: Vec<&str> = base.split("::").collect();
        // Two parts are ambiguous. A profile of another library comes before a QoS in a profile of this one.
        let candidates = match parts[..] {
            [profile] => vec![format!("{}::{profile}", declared.library)],
            [first, second] => {
                vec![base.to_owned(), format!("{}::{first}", declared.library), format!("{first}::{second}")]
            }
            [library, profile, _] => vec![format!("{library}::{profile}")],
            _ => Vec::new(),
        };
        for name in &candidates {
            if self.declared.contains_key(name) {
                return Ok(Some(self.resolve(reading, name, depth + 1)?));
            }
        }
        // A wrong base would silently give defaults to a whole system.
        let mut problem = reading.wrong(node, format!("there is no profile {base} to inherit from"));
        problem.nearest = nearest(base, self.declared.keys().map(String::as_str)).map(str::to_owned);
        Err(problem)
    }
}

/// The profiles of Fast DDS: one for each entity, without inheritance.
fn fast_dds(reading: &mut Reading<'_>, libraries: &mut Libraries<'_, '_>, node: Node<'_, '_>) -> ProfileResult<()> {
    for element in elements(node) {
        let mut profile = Profile::default();
        match &*normal(element.tag_name().name()) {
            "datawriter" | "publisher" => {
                let mut qos = DataWriterQos::default();
                each_element!(reading, for part in element {
                    "qos" => policies::writer(reading, &mut qos, part)?,
                    "topic" => endpoint_topic(reading, &mut qos.history, &mut qos.resource_limits, part)?,
                });
                profile.writers.put(None, qos);
            }
            "datareader" | "subscriber" => {
                let mut qos = DataReaderQos::default();
                each_element!(reading, for part in element {
                    "qos" => policies::reader(reading, &mut qos, part)?,
                    "topic" => endpoint_topic(reading, &mut qos.history, &mut qos.resource_limits, part)?,
                });
                profile.readers.put(None, qos);
            }
            "participant"
            | "transportdescriptors"
            | "libraryparticipant"
            | "domainparticipantfactory"
            | "types"
            | "log" => {
                // A file of Fast DDS usually has these beside its QoS. The warning names them, and the QoS is used.
                reading.foreign.push(format!("{} of Fast DDS", element.tag_name().name()));
                continue;
            }
            _ => {
                reading.unknown(element, &["data_writer", "data_reader"])?;
                continue;
            }
        }
        let Some(name) = element.attribute("profile_name") else {
            return Err(reading.wrong(element, "needs a profile_name"));
        };
        libraries.finished.push((name.to_owned(), profile));
    }
    Ok(())
}

/// Reads the topic of an endpoint of Fast DDS, which has two of its policies.
fn endpoint_topic(
    reading: &mut Reading<'_>,
    history: &mut crate::qos::History,
    limits: &mut crate::qos::ResourceLimits,
    node: Node<'_, '_>,
) -> ProfileResult<()> {
    each_element!(reading, for policy in node {
        "historyQos" => policies::history(reading, history, policy)?,
        "resourceLimitsQos" => policies::resource_limits(reading, limits, policy)?,
        // The application sets these in code, when it creates the endpoint.
        "name" => {},
        "dataType" => {},
        "kind" => {},
    });
    Ok(())
}
