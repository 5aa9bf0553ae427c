//! A set of interfaces that refer to each other.

use super::{InterfaceName, RosInterface, RosStructure};
use crate::model::{Diagnostics, SourceMap};
use std::collections::{BTreeMap, BTreeSet};

/// A set of interfaces, with the structures that `rosidl` derives from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RosTypes {
    interfaces: BTreeMap<InterfaceName, RosInterface>,
    described: BTreeMap<InterfaceName, RosStructure>,
}

/// Interfaces with their files and diagnostics.
#[derive(Debug, Clone, Default)]
pub struct LoadedInterfaces {
    /// The names that the caller wants.
    pub requested: Vec<InterfaceName>,
    /// The interfaces, and all interfaces that they need.
    pub types: RosTypes,
    /// The files.
    pub sources: SourceMap,
    /// Errors and warnings. If there are errors, `types` is not complete.
    pub diagnostics: Diagnostics,
}

impl RosTypes {
    /// Adds an interface. It replaces one with the same name.
    pub fn insert(&mut self, interface: RosInterface) {
        for structure in interface.described() {
            self.described.insert(structure.name.clone(), structure);
        }
        self.interfaces.insert(interface.name().clone(), interface);
    }

    /// Adds all interfaces of another set.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.interfaces.append(&mut other.interfaces);
        self.described.append(&mut other.described);
    }

    /// Returns the interfaces, sorted by name.
    pub fn interfaces(&self) -> impl Iterator<Item = &RosInterface> {
        self.interfaces.values()
    }

    /// Returns the interface with this name.
    #[must_use]
    pub fn interface(&self, name: &InterfaceName) -> Option<&RosInterface> {
        self.interfaces.get(name)
    }

    /// Returns the names with a type hash: structures, services and actions, sorted.
    pub fn names(&self) -> impl Iterator<Item = &InterfaceName> {
        self.described.keys()
    }

    /// Number of types whose descriptions the hash of a structure covers, or at most `max`.
    pub(super) fn hashed_count(&self, name: &InterfaceName, max: usize) -> usize {
        let mut seen = BTreeSet::from([name]);
        let mut open = vec![name];
        while seen.len() < max
            && let Some(name) = open.pop()
        {
            for field in self.described(name).map(|structure| structure.fields.as_slice()).unwrap_or_default() {
                if let Some(nested) = field.ty.base.structure()
                    && seen.insert(nested)
                {
                    open.push(nested);
                }
            }
        }
        seen.len().min(max)
    }

    /// Returns a structure, or a service or an action as the structure that its hash describes.
    #[must_use]
    pub fn described(&self, name: &InterfaceName) -> Option<&RosStructure> {
        self.described.get(name)
    }
}
