//! An XML document while it is read: places, names and values as the vendors spell them.

use crate::infrastructure::ProfileProblem;
use dds_rtps::types::Duration;
use dds_rtps::types::similar::nearest;
use roxmltree::{Document, Node};
use std::path::PathBuf;

pub(super) use crate::settings::profiles::ProfileResult;

/// Elements of other vendors beside the standard policies, in the form of [`normal`].
///
/// They have no effect here. The file is used, and a warning names them.
#[rustfmt::skip]
const FOREIGN: [&str; 48] = [
    // RTI Connext.
    "acknowledgmentkind", "announcementperiod", "assertionsperleaseduration", "asynchronouspublisher", "availability", "batch",
    "datareaderprotocol", "datareaderresourcelimits", "datawriterprotocol", "datawriterresourcelimits", "database", "directcommunication",
    "discovery", "discoveryconfig", "dropincompletecoherentset", "eventcount", "exclusivearea", "initialinstances", "initialsamples",
    "multichannel", "participantname", "property", "protocol", "publicationname", "publishmode", "readerresourcelimits", "receiverpool",
    "refilter", "rolename", "service", "sourcetimestamptolerance", "storagesettings", "subscriptionname", "topicquerydispatch",
    "transportbuiltin", "transportmulticast", "transportselection", "transportunicast", "typesupport", "wireprotocol",
    "writerresourcelimits",
    // Fast DDS.
    "allocatedsamples", "datasharing", "disablepositiveacks", "entityid", "historymemorypolicy", "times", "userdefinedid",
];

/// A document, and the elements in it that have no effect.
pub(super) struct Reading<'d> {
    document: &'d Document<'d>,
    pub(super) foreign: Vec<String>,
}

/// The elements in a node.
pub(super) fn elements<'a, 'd>(node: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(Node::is_element)
}

/// Returns a name in one spelling for all vendors: `historyQos`, `history_qos` and `history` are the same.
pub(super) fn normal(name: &str) -> String {
    let name = name.replace('_', "").to_ascii_lowercase();
    match name.strip_suffix("qos") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => name,
    }
}

/// Runs the expression of its name for each child element. An unknown name is an error that lists the known ones.
macro_rules! each_element {
    ($reading:expr, for $element:ident in $node:ident { $($name:literal => $apply:expr,)* }) => {
        for $element in $crate::settings::dds_xml::reading::elements($node) {
            let name = $crate::settings::dds_xml::reading::normal($element.tag_name().name());
            $(if name == $crate::settings::dds_xml::reading::normal($name) {
                $apply;
                continue;
            })*
            $reading.unknown($element, &[$($name),*])?;
        }
    };
}
pub(super) use each_element;

impl<'d> Reading<'d> {
    pub(super) fn new(document: &'d Document<'d>) -> Self {
        Self { document, foreign: Vec::new() }
    }

    /// Returns the problem of a node.
    pub(super) fn wrong(&self, node: Node<'_, '_>, expected: impl Into<String>) -> Box<ProfileProblem> {
        let mut path: Vec<String> = node.ancestors().filter(Node::is_element).map(step).collect();
        path.reverse();
        Box::new(ProfileProblem {
            file: PathBuf::new(),
            line: Some(self.line(node)),
            key: path.join("/"),
            value: format!("{:?}", text(node)),
            expected: expected.into(),
            nearest: None,
        })
    }

    fn line(&self, node: Node<'_, '_>) -> u32 {
        self.document.text_pos_at(node.range().start).row
    }

    /// Handles an unknown element: accepts those of other vendors, and returns an error for others.
    pub(super) fn unknown(&mut self, node: Node<'_, '_>, allowed: &[&'static str]) -> ProfileResult<()> {
        let name = node.tag_name().name();
        // The list is of names, not of prefixes: a typing error in a standard element must stay an error.
        if FOREIGN.contains(&&*normal(name)) {
            self.foreign.push(format!("{name} (line {})", self.line(node)));
            return Ok(());
        }
        let mut problem = self.wrong(node, format!("no such element; there may be {}", allowed.join(", ")));
        problem.nearest = nearest(name, allowed.iter().copied()).map(str::to_owned);
        Err(problem)
    }

    /// One of some kinds: `KEEP_LAST`, `KEEP_LAST_HISTORY_QOS`, `DDS_KEEP_LAST_HISTORY_QOS`.
    pub(super) fn kind<T: Copy>(&self, node: Node<'_, '_>, policy: &str, kinds: &[(&str, T)]) -> ProfileResult<T> {
        let given = text(node).to_ascii_uppercase();
        let mut short = given.strip_prefix("DDS_").unwrap_or(&given);
        short = short.strip_suffix("_QOS").unwrap_or(short);
        // Only with the underscore: `OWNERSHIP` alone is not a kind.
        if let Some(rest) = short.strip_suffix(policy) {
            short = rest.strip_suffix('_').unwrap_or(short);
        }
        let mut names = Vec::new();
        for &(name, kind) in kinds {
            if name == short {
                return Ok(kind);
            }
            names.push(name);
        }
        let mut problem = self.wrong(node, format!("should be one of {}", names.join(", ")));
        problem.nearest = nearest(short, names).map(str::to_owned);
        Err(problem)
    }

    pub(super) fn boolean(&self, node: Node<'_, '_>) -> ProfileResult<bool> {
        match &*text(node).to_ascii_lowercase() {
            "true" | "1" | "dds_boolean_true" => Ok(true),
            "false" | "0" | "dds_boolean_false" => Ok(false),
            _ => Err(self.wrong(node, "should be true or false")),
        }
    }

    pub(super) fn integer(&self, node: Node<'_, '_>) -> ProfileResult<i32> {
        match text(node).parse() {
            Ok(integer) => Ok(integer),
            Err(_) => Err(self.wrong(node, "should be a whole number of 32 bits")),
        }
    }

    pub(super) fn count(&self, node: Node<'_, '_>) -> ProfileResult<u32> {
        match text(node).parse() {
            Ok(count) => Ok(count),
            Err(_) => Err(self.wrong(node, "should be a whole number from 0 on")),
        }
    }

    /// Reads a limit. `None` means unlimited.
    pub(super) fn limit(&self, node: Node<'_, '_>) -> ProfileResult<Option<u32>> {
        match text(node) {
            "LENGTH_UNLIMITED" | "DDS_LENGTH_UNLIMITED" | "-1" => Ok(None),
            number => match number.parse() {
                Ok(limit) => Ok(Some(limit)),
                Err(_) => Err(self.wrong(node, "should be a whole number from 0 on, or LENGTH_UNLIMITED")),
            },
        }
    }

    /// Reads a duration: `sec` and `nanosec`, or a name. A missing part is 0.
    pub(super) fn duration(&mut self, node: Node<'_, '_>) -> ProfileResult<Duration> {
        // Connext and Fast DDS write a duration without end as one name, in place of its parts.
        if elements(node).next().is_none() {
            return match symbol(text(node)) {
                "INFINITE" | "INFINITY" => Ok(Duration::INFINITE),
                "ZERO" => Ok(Duration::ZERO),
                _ => Err(self.wrong(node, "should have the elements sec and nanosec, or be DURATION_INFINITY")),
            };
        }
        let (mut seconds, mut nanos) = (Some(0), Some(0));
        each_element!(self, for part in node {
            "sec" => seconds = self.part_of_a_duration(part)?,
            "nanosec" => nanos = self.part_of_a_duration(part)?,
            "second" => seconds = self.part_of_a_duration(part)?,
            "nanosecond" => nanos = self.part_of_a_duration(part)?,
        });
        let (Some(seconds), Some(nanos)) = (seconds, nanos) else { return Ok(Duration::INFINITE) };
        // `Duration::new` would carry them over into the seconds.
        if nanos >= 1_000_000_000 {
            return Err(self.wrong(node, "should have fewer than 1000000000 nanoseconds"));
        }
        Ok(std::time::Duration::new(seconds.into(), nanos).into())
    }

    /// Reads a part of a duration. `None` means infinite.
    fn part_of_a_duration(&self, node: Node<'_, '_>) -> ProfileResult<Option<u32>> {
        match symbol(text(node)) {
            "INFINITE" | "INFINITY" | "INFINITE_SEC" | "INFINITE_NSEC" | "INFINITY_SEC" | "INFINITY_NSEC" => Ok(None),
            // The number that represents a duration without end (DDS 1.4, 2.3.2). Some tools write it in decimals.
            "2147483647" => Ok(None),
            "ZERO" | "ZERO_SEC" | "ZERO_NSEC" => Ok(Some(0)),
            number => match number.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.wrong(node, "should be a whole number, or DURATION_INFINITE_SEC and the like")),
            },
        }
    }

    /// Octets, as numbers between commas, blanks or dots, or each in an `element`.
    pub(super) fn octets(&self, node: Node<'_, '_>) -> ProfileResult<Vec<u8>> {
        let mut octets = Vec::new();
        for part in parts(node) {
            for number in part.split(separates) {
                let octet = match number.strip_prefix("0x") {
                    // Two separators in a row, such as a comma and a blank.
                    _ if number.is_empty() => continue,
                    Some(digits) => u8::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                let Ok(octet) = octet else {
                    let expected = "should be numbers from 0 to 255, or from 0x00 to 0xff, with commas between them";
                    return Err(self.wrong(node, expected));
                };
                octets.push(octet);
            }
        }
        Ok(octets)
    }

    /// Texts between commas, or each in an element of its own.
    pub(super) fn texts(&self, node: Node<'_, '_>) -> Vec<String> {
        let mut texts = Vec::new();
        for part in parts(node) {
            for text in part.split(',').map(str::trim) {
                if !text.is_empty() {
                    texts.push(text.to_owned());
                }
            }
        }
        texts
    }
}

fn separates(letter: char) -> bool {
    letter.is_whitespace() || letter == ',' || letter == '.'
}

/// The text of a node, or those of its elements.
fn parts<'a>(node: Node<'a, '_>) -> Vec<&'a str> {
    let parts: Vec<&str> = elements(node).map(text).collect();
    if parts.is_empty() { vec![text(node)] } else { parts }
}

/// `DDS_DURATION_INFINITE_SEC`, `DURATION_INFINITE_SEC` and `INFINITE_SEC` are one.
fn symbol(text: &str) -> &str {
    let text = text.strip_prefix("DDS_").unwrap_or(text);
    text.strip_prefix("DURATION_").unwrap_or(text)
}

fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// An element in a path, with its name if it has one.
fn step(node: Node<'_, '_>) -> String {
    let tag = node.tag_name().name();
    match node.attribute("name").or(node.attribute("profile_name")) {
        Some(name) => format!("{tag}[{name}]"),
        None => tag.to_owned(),
    }
}
