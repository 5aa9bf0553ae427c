//! Compares the types of endpoints, and collects the descriptions that a comparison lacks.
//!
//! In: our types, descriptions from peers, pairs of endpoints. Out: whether types are compatible; the types to
//! request. Owned: the store of types, the missing types, and the types that no peer could describe.
//!
//! Bound: [`NAMES_MAX`] missing and [`NAMES_MAX`] unavailable types of each participant; the store has its own bound.
//! Unavailable types are kept by participant, so one participant cannot make the types of another unavailable. A
//! participant beyond the bound is compared by type names only.

use super::event::{DiscoveredReader, DiscoveredWriter};
use super::match_result::TypeMatch;
use crate::types::GuidPrefix;
use crate::xtypes::{Minimal, Mismatch, TypeIdentifier, TypeInformation, TypeStore, check_assignable};
use std::collections::{BTreeMap, BTreeSet};

/// Most missing, and most unavailable, types of one participant: as many as may wait for a request. A participant with
/// more unavailable types counts as one without descriptions.
const NAMES_MAX: usize = 1_024;

/// The types of endpoints.
#[derive(Debug, Default)]
pub struct KnownTypes {
    /// The descriptions.
    pub store: TypeStore,
    /// Missing types to request, by the participant that can describe them.
    missing: BTreeMap<GuidPrefix, BTreeSet<TypeIdentifier>>,
    /// Unavailable types, by participant.
    unavailable: BTreeMap<GuidPrefix, UnavailableTypes>,
}

/// Types that a participant does not describe.
#[derive(Debug)]
enum UnavailableTypes {
    These(BTreeSet<TypeIdentifier>),
    All,
}

impl KnownTypes {
    /// Compares the types of a writer and a reader, and notes missing types for a request.
    pub(super) fn compare(&mut self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> TypeMatch {
        let result = self.known(writer, reader);
        if result == TypeMatch::Pending {
            let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
            // A pair of two local endpoints is never pending, so exactly one of them is remote.
            debug_assert!(!writer.is_local || !reader.is_local, "no peer describes the types of a local pair");
            let remote = if writer.is_local { r } else { w };
            if let Some(information) = remote.type_information.as_deref() {
                self.add_missing_minimal(remote.guid.prefix, information);
            }
        }
        result
    }

    /// Compares the types of a writer and a reader with the present knowledge.
    pub(super) fn known(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> TypeMatch {
        let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
        let (Some(w_types), Some(r_types)) = (&w.type_information, &r.type_information) else {
            return TypeMatch::ByName;
        };
        // Descriptions decide, and names only without descriptions (XTYPES 1.3, 7.6.3.4.2; Cyclone DDS does the same).
        // So compatible types may have different names.
        let (w_id, r_id) = (&w_types.minimal.ty.id, &r_types.minimal.ty.id);
        let (w_complete, r_complete) = (&w_types.complete.ty.id, &r_types.complete.ty.id);
        // Equal hashes match without any description.
        if w_complete == r_complete && w_complete.is_hash() {
            return TypeMatch::Fits;
        }
        // Only a hash names a description that could be compared.
        if !w_id.is_hash() || !r_id.is_hash() {
            return TypeMatch::ByName;
        }
        match check_assignable::<Minimal>(&self.store, r_id, w_id, &reader.data.qos.type_consistency) {
            Ok(()) => TypeMatch::Fits,
            Err(Mismatch::Differs(difference)) => TypeMatch::Differs(Box::new(difference)),
            Err(Mismatch::Unknown(id)) => {
                // Local types are known, so only the remote participant can describe the missing one.
                let remote = if writer.is_local { r } else { w };
                let is_hopeless = writer.is_local && reader.is_local || self.is_unavailable(remote.guid.prefix, &id);
                if is_hopeless { TypeMatch::ByName } else { TypeMatch::Pending }
            }
        }
    }

    /// Notes the missing parts of a minimal type for a request.
    pub fn add_missing_minimal(&mut self, prefix: GuidPrefix, information: &TypeInformation) {
        let listed = information.minimal.dependencies.iter().map(|dependency| &dependency.id);
        self.add_missing(prefix, &information.minimal.ty.id, listed);
    }

    /// Notes the missing parts of a type of participant `prefix` for a request. Returns false if none is missing.
    ///
    /// `listed` are further types that the type is announced to consist of.
    pub fn add_missing<'a>(
        &mut self,
        prefix: GuidPrefix,
        root: &TypeIdentifier,
        listed: impl Iterator<Item = &'a TypeIdentifier>,
    ) -> bool {
        let (_, unknown) = self.store.graph_of(root);
        if unknown.is_empty() {
            return false;
        }
        for id in unknown {
            self.add_missing_type(prefix, id);
        }
        // The store cannot look into a type that it lacks. The announced list saves a round trip for each level of
        // types.
        for id in listed {
            if id.is_hash() && self.store.get(id).is_none() {
                self.add_missing_type(prefix, id.clone());
            }
        }
        true
    }

    fn add_missing_type(&mut self, prefix: GuidPrefix, id: TypeIdentifier) {
        if self.is_unavailable(prefix, &id) {
            return;
        }
        let missing = self.missing.entry(prefix).or_default();
        // A type beyond the bound is noted again when its pair is compared again.
        if missing.len() < NAMES_MAX {
            missing.insert(id);
        }
    }

    /// Whether participant `prefix` is known not to describe this type.
    #[must_use]
    pub fn is_unavailable(&self, prefix: GuidPrefix, id: &TypeIdentifier) -> bool {
        match self.unavailable.get(&prefix) {
            Some(UnavailableTypes::These(types)) => types.contains(id),
            Some(UnavailableTypes::All) => true,
            None => false,
        }
    }

    /// Takes the missing types, to request them.
    pub fn take_missing(&mut self) -> BTreeMap<GuidPrefix, BTreeSet<TypeIdentifier>> {
        std::mem::take(&mut self.missing)
    }

    /// Notes that participant `prefix` does not describe this type.
    pub fn set_unavailable(&mut self, prefix: GuidPrefix, id: TypeIdentifier) {
        let unavailable = self.unavailable.entry(prefix).or_insert(UnavailableTypes::These(BTreeSet::new()));
        if let UnavailableTypes::These(types) = unavailable {
            types.insert(id);
            // A peer without this many types receives no further requests.
            if types.len() > NAMES_MAX {
                *unavailable = UnavailableTypes::All;
            }
        }
    }

    /// Notes that participant `prefix` describes no type at all.
    pub fn set_all_unavailable(&mut self, prefix: GuidPrefix) {
        self.unavailable.insert(prefix, UnavailableTypes::All);
    }

    /// Forgets a participant.
    pub fn forget(&mut self, prefix: GuidPrefix) {
        self.store.forget(prefix.into());
        self.missing.remove(&prefix);
        self.unavailable.remove(&prefix);
    }
}
