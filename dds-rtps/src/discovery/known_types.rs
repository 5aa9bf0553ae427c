//! Whether the types of endpoints fit, as far as they are known, and what has to be asked for to tell.
//!
//! In: types of ours, descriptions from others, pairs of endpoints. Out: whether they fit; names of types to ask others for.
//! Owned: the store of types, what is wanted, and what nobody could describe.
//!
//! Bound: what is wanted and what is unavailable of a participant, [`NAMES_MAX`] each; the store has its own. What one participant
//! announces says nothing of the types of another: who has more names than that is alone judged by names.

use super::event::{DiscoveredReader, DiscoveredWriter};
use super::verdict::TypeMatch;
use crate::types::GuidPrefix;
use crate::xtypes::{Minimal, Mismatch, TypeIdentifier, TypeInformation, TypeStore, check_assignable};
use std::collections::{BTreeMap, BTreeSet};

/// Names of types of one participant that are wanted, or unavailable: as many as wait to be asked for. Who has more that are
/// unavailable is taken to describe none.
const NAMES_MAX: usize = 1_024;

/// The types of endpoints.
#[derive(Debug, Default)]
pub struct KnownTypes {
    /// The types themselves.
    pub store: TypeStore,
    /// Whom to ask for what.
    wanted: BTreeMap<GuidPrefix, BTreeSet<TypeIdentifier>>,
    /// Who did not tell what.
    unavailable: BTreeMap<GuidPrefix, Unavailable>,
}

/// What a participant does not describe.
#[derive(Debug)]
enum Unavailable {
    These(BTreeSet<TypeIdentifier>),
    All,
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
                let is_hopeless = writer.is_local && reader.is_local || self.is_unavailable(remote.guid.prefix, &id);
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
        let wanted = unknown.into_iter().chain(listed.cloned()).filter(|id| !self.is_unavailable(prefix, id));
        let wanted: Vec<TypeIdentifier> = wanted.collect();
        if !wanted.is_empty() {
            let all = self.wanted.entry(prefix).or_default();
            for id in wanted {
                if all.len() < NAMES_MAX {
                    all.insert(id);
                }
            }
        }
        is_missing
    }

    /// Whether it is known that participant `prefix` does not describe this type.
    #[must_use]
    pub fn is_unavailable(&self, prefix: GuidPrefix, id: &TypeIdentifier) -> bool {
        match self.unavailable.get(&prefix) {
            Some(Unavailable::These(types)) => types.contains(id),
            Some(Unavailable::All) => true,
            None => false,
        }
    }

    /// What is wanted, to be asked for.
    pub fn take_wanted(&mut self) -> BTreeMap<GuidPrefix, BTreeSet<TypeIdentifier>> {
        std::mem::take(&mut self.wanted)
    }

    /// Participant `prefix` does not describe this type.
    pub fn set_unavailable(&mut self, prefix: GuidPrefix, id: TypeIdentifier) {
        let unavailable = self.unavailable.entry(prefix).or_insert(Unavailable::These(BTreeSet::new()));
        if let Unavailable::These(types) = unavailable {
            types.insert(id);
            if types.len() > NAMES_MAX {
                *unavailable = Unavailable::All;
            }
        }
    }

    /// Participant `prefix` describes no type at all.
    pub fn set_all_unavailable(&mut self, prefix: GuidPrefix) {
        self.unavailable.insert(prefix, Unavailable::All);
    }

    /// Forgets a participant.
    pub fn forget(&mut self, prefix: GuidPrefix) {
        self.store.forget(prefix.into());
        self.wanted.remove(&prefix);
        self.unavailable.remove(&prefix);
    }
}
