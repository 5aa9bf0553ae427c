//! Whether the types of endpoints fit, as far as they are known, and what has to be asked for to tell.
//!
//! In: types of ours, descriptions from others, pairs of endpoints. Out: whether they fit; names of types to ask others for.
//! Owned: the store of types, what is wanted, and what nobody could describe.
//!
//! Bound: what is wanted and what is unavailable, [`NAMES_MAX`] each; the store has its own.

use super::event::{DiscoveredReader, DiscoveredWriter};
use super::verdict::TypeMatch;
use crate::types::GuidPrefix;
use crate::xtypes::{Minimal, Mismatch, TypeIdentifier, TypeInformation, TypeStore, check_assignable};
use std::collections::BTreeSet;

/// Names of types of others that are wanted, or unavailable. Beyond it, names of types decide at once.
const NAMES_MAX: usize = 4_096;

/// The types of endpoints.
#[derive(Debug, Default)]
pub struct KnownTypes {
    /// The types themselves.
    pub store: TypeStore,
    /// Whom to ask for what.
    wanted: BTreeSet<(GuidPrefix, TypeIdentifier)>,
    /// Who did not tell what.
    unavailable: BTreeSet<(GuidPrefix, TypeIdentifier)>,
}

impl KnownTypes {
    /// Compares the types of a writer and a reader. What is missing to do so is wanted from now on.
    pub(super) fn compare(&mut self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> TypeMatch {
        let result = self.known(writer, reader);
        if result == TypeMatch::Pending {
            let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
            let remote = if writer.is_local { r } else { w };
            if let Some(information) = remote.type_information.as_deref() {
                self.want_minimal(remote.guid.prefix, information);
            }
        }
        result
    }

    /// The same, of what is known now.
    pub(super) fn known(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> TypeMatch {
        let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
        let (Some(w_types), Some(r_types)) = (&w.type_information, &r.type_information) else {
            return TypeMatch::ByName;
        };
        let (w_id, r_id) = (&w_types.minimal.ty.id, &r_types.minimal.ty.id);
        let (w_complete, r_complete) = (&w_types.complete.ty.id, &r_types.complete.ty.id);
        if w_complete == r_complete && w_complete.is_hash() {
            return TypeMatch::Fits;
        }
        if !w_id.is_hash() || !r_id.is_hash() {
            return TypeMatch::ByName;
        }
        match check_assignable::<Minimal>(&self.store, r_id, w_id, &reader.data.qos.type_consistency) {
            Ok(()) => TypeMatch::Fits,
            Err(Mismatch::Differs(difference)) => TypeMatch::Differs(Box::new(difference)),
            Err(Mismatch::Unknown(id)) => {
                let remote = if writer.is_local { r } else { w };
                let is_hopeless = writer.is_local && reader.is_local
                    || self.unavailable.contains(&(remote.guid.prefix, id))
                    || self.unavailable.len() >= NAMES_MAX;
                if is_hopeless { TypeMatch::ByName } else { TypeMatch::Pending }
            }
        }
    }

    /// Wants all that is missing of a type, as far as its parts are known.
    fn want_minimal(&mut self, prefix: GuidPrefix, information: &TypeInformation) {
        let listed = information.minimal.dependencies.iter().map(|dependency| &dependency.id);
        self.want(prefix, &information.minimal.ty.id, listed);
    }

    /// Wants all that is missing of a type that participant `prefix` can describe, and of those that it is `listed` to be made
    /// of. `false`: nothing is missing.
    pub fn want<'a>(
        &mut self,
        prefix: GuidPrefix,
        root: &TypeIdentifier,
        listed: impl Iterator<Item = &'a TypeIdentifier>,
    ) -> bool {
        let (_, unknown) = self.store.graph_of(root);
        let is_missing = !unknown.is_empty();
        let listed = listed.filter(|id| is_missing && id.is_hash() && self.store.get(id).is_none());
        let listed: Vec<TypeIdentifier> = listed.cloned().collect();
        for wanted in unknown.into_iter().chain(listed).map(|id| (prefix, id)) {
            if self.wanted.len() < NAMES_MAX && !self.unavailable.contains(&wanted) {
                self.wanted.insert(wanted);
            }
        }
        is_missing
    }

    /// Whether it is known that participant `prefix` does not describe this type.
    #[must_use]
    pub fn is_unavailable(&self, prefix: GuidPrefix, id: &TypeIdentifier) -> bool {
        self.unavailable.contains(&(prefix, id.clone()))
    }

    /// What is wanted, to be asked for.
    pub fn take_wanted(&mut self) -> BTreeSet<(GuidPrefix, TypeIdentifier)> {
        std::mem::take(&mut self.wanted)
    }

    /// Participant `prefix` does not describe this type.
    pub fn set_unavailable(&mut self, prefix: GuidPrefix, id: TypeIdentifier) {
        if self.unavailable.len() < NAMES_MAX {
            self.unavailable.insert((prefix, id));
        }
    }

    /// Forgets a participant.
    pub fn forget(&mut self, prefix: GuidPrefix) {
        self.store.forget(prefix);
        self.wanted.retain(|(of, _)| *of != prefix);
        self.unavailable.retain(|(of, _)| *of != prefix);
    }
}
