//! The reader's policy on types that differ.

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
/// The reader's policy decides. Types are compared by their descriptions, whatever they are called; what is not known of the other
/// one is asked for, which takes a round trip, and 3 s at most if there is no answer. Where a side has no description (raw topics,
/// serde types, participants without type information), the names of the types decide. Nothing of this is on the path of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct TypeConsistency {
    /// Whether types may differ at all. Default: they may, as far as XTYPES 1.3, 7.2.4.4 lets them.
    pub kind: TypeConsistencyKind,
    /// Bounds of sequences do not count. Default: yes.
    pub ignore_sequence_bounds: bool,
    /// Bounds of strings do not count. Default: yes.
    pub ignore_string_bounds: bool,
    /// Names of members do not count. Default: no.
    pub ignore_member_names: bool,
    /// A type of the writer that has members, or cases, which the reader's does not have, is refused. Default: no.
    pub prevent_type_widening: bool,
    /// Without descriptions of both types there is no match, whatever they are called. Default: no.
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
