//! Traits that a type can have, and types that contain themselves.

use crate::model::{BasicType, DataType, DefinitionId, DefinitionKind, ElementType, MemberDefinition, Specification};
use std::collections::{HashMap, HashSet};

/// The longest array for which the standard library has `Default`, and serde its traits.
const ARRAY_MAX: u32 = 32;

/// The traits that a type can have beside `Debug`, `Clone` and `PartialEq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PossibleTraits {
    /// `Eq` and `Hash`.
    pub(super) eq: bool,
    /// `Default`.
    pub(super) default: bool,
    /// `Serialize` and `Deserialize`.
    pub(super) serde: bool,
}

/// What the code needs to know of all types together.
#[derive(Debug, Default)]
pub(super) struct TypeFacts {
    traits: HashMap<DefinitionId, PossibleTraits>,
    /// Whether some type contains itself, perhaps through others.
    has_cycles: bool,
}

const ALL: PossibleTraits = PossibleTraits { eq: true, default: true, serde: true };

impl TypeFacts {
    pub(super) fn of(specification: &Specification) -> Self {
        let mut facts = Self::default();
        for (id, definition) in specification.definitions() {
            if !definition.is_data_type() {
                continue;
            }
            // `Default` needs a proof, and the others need a counterexample.
            facts.traits.insert(id, PossibleTraits { default: false, ..ALL });
            // Only a forward declaration lets a type name a later one, or itself.
            for ty in contained(specification, id) {
                Specification::for_each_named(ty, &mut |other| facts.has_cycles |= other >= id);
            }
        }
        let mut is_final = false;
        while !is_final {
            is_final = true;
            for (id, definition) in specification.definitions() {
                if definition.is_data_type() {
                    let found = facts.examine(specification, id);
                    is_final &= facts.traits.insert(id, found) == Some(found);
                }
            }
        }
        facts
    }

    /// Returns the traits of a definition.
    pub(super) fn traits(&self, id: DefinitionId) -> PossibleTraits {
        self.traits.get(&id).copied().unwrap_or(ALL)
    }

    /// Returns whether a member needs a `Box`, because its type contains the owner.
    pub(super) fn needs_box(&self, specification: &Specification, owner: DefinitionId, ty: &DataType) -> bool {
        if !self.has_cycles {
            return false;
        }
        let mut seen = HashSet::new();
        let mut open = Vec::new();
        by_value(ty, &mut open);
        while let Some(id) = open.pop() {
            if id == owner {
                return true;
            }
            if seen.insert(id) {
                for ty in contained(specification, id) {
                    by_value(ty, &mut open);
                }
            }
        }
        false
    }

    fn examine(&self, specification: &Specification, id: DefinitionId) -> PossibleTraits {
        let mut found = ALL;
        let mut add = |other: PossibleTraits| {
            found.eq &= other.eq;
            found.default &= other.default;
            found.serde &= other.serde;
        };
        match &specification.definition(id).kind {
            DefinitionKind::Struct(definition) => {
                if let Some(base) = definition.base {
                    add(self.traits(base));
                }
                for member in &definition.members {
                    add(self.of_member(specification, member));
                }
            }
            DefinitionKind::Union(definition) => {
                for branch in &definition.branches {
                    add(self.of_member(specification, &branch.member));
                }
                let discriminator = specification.resolve(&definition.discriminator.ty);
                if *discriminator == DataType::Basic(BasicType::WChar) {
                    add(PossibleTraits { serde: false, ..ALL });
                }
            }
            DefinitionKind::Typedef(definition) => add(self.of_element(&ElementType::new(definition.ty.clone()))),
            _ => {}
        }
        found
    }

    fn of_member(&self, specification: &Specification, member: &MemberDefinition) -> PossibleTraits {
        let ty = specification.resolve(&member.ty);
        let found = match ty {
            // The bound of a member is an attribute.
            DataType::String { .. } => ALL,
            DataType::Sequence { element, .. } => PossibleTraits { default: true, ..self.of_element(element) },
            DataType::Map { key, element, .. } => self.of_map(key, element),
            _ => self.of_type(ty),
        };
        PossibleTraits {
            default: found.default || member.is_optional() || member.annotations.is_non_serialized(),
            ..found
        }
    }

    fn of_element(&self, element: &ElementType) -> PossibleTraits {
        let found = self.of_type(&element.ty);
        let is_plain = element.annotations.is_empty();
        PossibleTraits { serde: found.serde && is_plain, ..found }
    }

    fn of_map(&self, key: &ElementType, element: &ElementType) -> PossibleTraits {
        let (key, element) = (self.of_element(key), self.of_element(element));
        PossibleTraits { eq: key.eq && element.eq, default: true, serde: key.serde && element.serde }
    }

    /// The traits of a type in a collection, where a bound needs `Bounded`.
    fn of_type(&self, ty: &DataType) -> PossibleTraits {
        match ty {
            DataType::Basic(BasicType::Float32 | BasicType::Float64) => PossibleTraits { eq: false, ..ALL },
            DataType::Basic(BasicType::Float128 | BasicType::WChar) | DataType::WString { .. } => {
                PossibleTraits { serde: false, ..ALL }
            }
            DataType::Basic(_) | DataType::Fixed { .. } | DataType::Opaque(_) => ALL,
            DataType::String { bound } => PossibleTraits { serde: bound.is_none(), ..ALL },
            DataType::Sequence { element, bound } => {
                let found = self.of_element(element);
                PossibleTraits { default: true, serde: found.serde && bound.is_none(), ..found }
            }
            DataType::Map { key, element, bound } => {
                let found = self.of_map(key, element);
                PossibleTraits { serde: found.serde && bound.is_none(), ..found }
            }
            DataType::Array { element, dimensions } => {
                let found = self.of_element(element);
                let is_short = dimensions.iter().all(|length| *length <= ARRAY_MAX);
                PossibleTraits { serde: found.serde && is_short, ..found }
            }
            DataType::Named(id) => self.traits(*id),
        }
    }
}

/// Returns whether a type is or contains a long array, for which the standard library has no `Default`.
pub(super) fn has_long_array(specification: &Specification, ty: &DataType) -> bool {
    match specification.resolve(ty) {
        DataType::Array { element, dimensions } => {
            dimensions.iter().any(|length| *length > ARRAY_MAX) || has_long_array(specification, &element.ty)
        }
        _ => false,
    }
}

/// The types that a value of a definition contains without a `Box`.
fn contained(specification: &Specification, id: DefinitionId) -> Vec<&DataType> {
    match &specification.definition(id).kind {
        DefinitionKind::Struct(definition) => {
            let members = definition.members.iter().filter(|member| !member.is_external());
            members.map(|member| &member.ty).collect()
        }
        DefinitionKind::Union(definition) => {
            let members = definition.branches.iter().map(|branch| &branch.member);
            members.filter(|member| !member.is_external()).map(|member| &member.ty).collect()
        }
        DefinitionKind::Typedef(definition) => vec![&definition.ty],
        _ => Vec::new(),
    }
}

/// The named types that a value contains. Those in a sequence or map have their own memory.
fn by_value(ty: &DataType, found: &mut Vec<DefinitionId>) {
    match ty {
        DataType::Named(id) => found.push(*id),
        DataType::Array { element, .. } if !element.is_external() => by_value(&element.ty, found),
        _ => {}
    }
}
