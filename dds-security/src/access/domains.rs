//! Sets of domain ids: single ids, and ranges that may have one open end.

use super::DocumentError;
use super::document::{allow_only, children, error_at, is_named, optional, text};
use roxmltree::Node;
use std::fmt;

/// A set of domain ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DomainSet {
    /// First and last id of each range.
    ranges: Vec<(u32, u32)>,
}

impl DomainSet {
    /// Whether the set has a domain id.
    #[must_use]
    pub fn contains(&self, domain_id: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&domain_id))
    }

    /// The first and last id of each range.
    #[cfg(feature = "keystore")]
    pub(crate) fn samples(&self) -> impl Iterator<Item = u32> + use<'_> {
        self.ranges.iter().flat_map(|(first, last)| [*first, *last])
    }

    pub(super) fn read(node: Node<'_, '_>) -> Result<Self, DocumentError> {
        let mut ranges = Vec::new();
        for child in children(node) {
            if is_named(child, "id") {
                let id = number(child)?;
                ranges.push((id, id));
            } else if is_named(child, "id_range") {
                allow_only(child, &["min", "max"])?;
                let first = optional(child, "min")?.map(number).transpose()?;
                let last = optional(child, "max")?.map(number).transpose()?;
                if first.is_none() && last.is_none() {
                    return Err(error_at(child, "<id_range> has neither <min> nor <max>".to_owned()));
                }
                let (first, last) = (first.unwrap_or(0), last.unwrap_or(u32::MAX));
                if first > last {
                    return Err(error_at(child, format!("the range from {first} to {last} has no domain id")));
                }
                ranges.push((first, last));
            } else {
                return Err(error_at(child, format!("<{}> is unknown here", child.tag_name().name())));
            }
        }
        if ranges.is_empty() {
            return Err(error_at(node, "<domains> has no domain id".to_owned()));
        }
        debug_assert!(ranges.iter().all(|(first, last)| first <= last), "empty ranges are refused above");
        Ok(Self { ranges })
    }
}

impl fmt::Display for DomainSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            match (first, last) {
                (first, last) if first == last => write!(f, "{first}")?,
                (first, &u32::MAX) => write!(f, "from {first}")?,
                (first, last) => write!(f, "{first} to {last}")?,
            }
        }
        Ok(())
    }
}

fn number(node: Node<'_, '_>) -> Result<u32, DocumentError> {
    let text = text(node)?;
    text.parse().map_err(|_| error_at(node, format!("`{text}` is no domain id")))
}
