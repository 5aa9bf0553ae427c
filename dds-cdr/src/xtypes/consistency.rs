//! The reader's policy for types that differ: TYPE_CONSISTENCY_ENFORCEMENT.

/// Whether types may differ at all (TYPE_CONSISTENCY_ENFORCEMENT; XTYPES 1.3, 7.6.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum TypeConsistencyKind {
    /// The types must be equal.
    DisallowTypeCoercion,
    /// The writer's type must be assignable to the reader's.
    #[default]
    AllowTypeCoercion,
}

/// How far a writer's type may differ from the reader's (TYPE_CONSISTENCY_ENFORCEMENT; XTYPES 1.3, 7.6.3.4).
///
/// The reader's policy decides. Types are compared by their descriptions; their names do not matter.
/// If a description of the peer's type is unknown, the participant requests it. This takes one round trip, and at
/// most 3 s without an answer.
/// If a side has no description, type names decide: raw topics, participants without type information.
/// The comparison is not on the path of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct TypeConsistency {
    /// Whether types may differ at all. Default: as far as XTYPES 1.3, 7.2.4.4 allows.
    pub kind: TypeConsistencyKind,
    /// Ignore bounds of sequences. Default: yes.
    pub ignore_sequence_bounds: bool,
    /// Ignore bounds of strings. Default: yes.
    pub ignore_string_bounds: bool,
    /// Ignore names of members. Default: no.
    pub ignore_member_names: bool,
    /// Reject a writer's type with members or cases that the reader's type lacks. Default: no.
    pub prevent_type_widening: bool,
    /// Match only if descriptions of both types are known; names do not suffice. Default: no.
    pub force_type_validation: bool,
}

impl Default for TypeConsistency {
    fn default() -> Self {
        Self {
            kind: TypeConsistencyKind::AllowTypeCoercion,
            ignore_sequence_bounds: true,
            ignore_string_bounds: true,
            ignore_member_names: false,
            prevent_type_widening: false,
            force_type_validation: false,
        }
    }
}

impl TypeConsistency {
    /// Requires equal types.
    #[must_use]
    pub fn strict() -> Self {
        Self { kind: TypeConsistencyKind::DisallowTypeCoercion, ..Self::default() }
    }

    /// Sets whether types may differ at all.
    #[must_use]
    pub const fn kind(mut self, kind: TypeConsistencyKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets whether bounds of sequences are ignored.
    #[must_use]
    pub const fn ignore_sequence_bounds(mut self, ignore: bool) -> Self {
        self.ignore_sequence_bounds = ignore;
        self
    }

    /// Sets whether bounds of strings are ignored.
    #[must_use]
    pub const fn ignore_string_bounds(mut self, ignore: bool) -> Self {
        self.ignore_string_bounds = ignore;
        self
    }

    /// Sets whether names of members are ignored.
    #[must_use]
    pub const fn ignore_member_names(mut self, ignore: bool) -> Self {
        self.ignore_member_names = ignore;
        self
    }

    /// Sets whether a writer's type with members or cases that the reader's type lacks is rejected.
    #[must_use]
    pub const fn prevent_type_widening(mut self, prevent: bool) -> Self {
        self.prevent_type_widening = prevent;
        self
    }

    /// Sets whether endpoints match only if descriptions of both types are known.
    #[must_use]
    pub const fn force_type_validation(mut self, force: bool) -> Self {
        self.force_type_validation = force;
        self
    }
}
