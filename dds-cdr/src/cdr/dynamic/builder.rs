//! Builders of types, before the check.

use super::graph::{BitfieldNode, FlagNode, LiteralNode, TypeMarks};
use super::{DynamicType, Input, TypeError, assembler};
use crate::cdr::{Extensibility, TryConstruct};

/// An unchecked type: the result of a builder, to be finished or used as a part of another type.
#[derive(Debug, Clone)]
pub struct TypeDraft(pub(super) Draft);

#[derive(Debug, Clone)]
pub(super) enum Draft {
    Finished(DynamicType),
    Named(String),
    Alias { name: String, of: Box<TypeDraft> },
    Collection(Box<CollectionBuilder>),
    Struct(Box<StructBuilder>),
    Union(Box<UnionBuilder>),
    Enum(EnumBuilder),
    Bitmask(BitmaskBuilder),
    Bitset(BitsetBuilder),
}

impl TypeDraft {
    pub(super) fn alias(name: &str, of: Self) -> Self {
        Self(Draft::Alias { name: name.to_owned(), of: Box::new(of) })
    }

    pub(super) fn named(name: &str) -> Self {
        Self(Draft::Named(name.to_owned()))
    }

    /// Checks the whole type and finishes it.
    ///
    /// # Errors
    /// [`TypeError`] names the invalid part and the reason.
    pub fn build(self) -> Result<DynamicType, TypeError> {
        assembler::assemble(self)
    }
}

impl From<DynamicType> for TypeDraft {
    fn from(ty: DynamicType) -> Self {
        Self(Draft::Finished(ty))
    }
}

impl From<&DynamicType> for TypeDraft {
    fn from(ty: &DynamicType) -> Self {
        // A clone is a counted reference. The assembler copies the nodes once for each graph.
        Self(Draft::Finished(ty.clone()))
    }
}

macro_rules! draft {
    ($($builder:ident => $make:expr;)*) => {$(
        impl From<$builder> for TypeDraft {
            fn from(builder: $builder) -> Self {
                Self($make(builder))
            }
        }

        impl $builder {
            /// Checks the whole type and finishes it.
            ///
            /// # Errors
            /// [`TypeError`] names the invalid part and the reason.
            pub fn build(self) -> Result<DynamicType, TypeError> {
                TypeDraft::from(self).build()
            }
        }
    )*};
}

draft! {
    CollectionBuilder => |builder| Draft::Collection(Box::new(builder));
    StructBuilder => |builder| Draft::Struct(Box::new(builder));
    UnionBuilder => |builder| Draft::Union(Box::new(builder));
    EnumBuilder => Draft::Enum;
    BitmaskBuilder => Draft::Bitmask;
    BitsetBuilder => Draft::Bitset;
}

/// Builder of a sequence, array, map, or bounded string; see [`DynamicType::sequence`] and similar functions.
#[derive(Debug, Clone)]
pub struct CollectionBuilder {
    pub(super) form: CollectionForm,
    pub(super) bound: Option<u32>,
    pub(super) try_construct: TryConstruct,
    pub(super) key_try_construct: TryConstruct,
    pub(super) is_external: bool,
    pub(super) are_keys_external: bool,
}

#[derive(Debug, Clone)]
pub(super) enum CollectionForm {
    String,
    WString,
    Sequence(TypeDraft),
    Array(TypeDraft),
    Map(TypeDraft, TypeDraft),
}

impl CollectionBuilder {
    fn new(form: CollectionForm, bound: Option<u32>) -> Self {
        // Without `@try_construct`, a value that does not fit discards the sample.
        let (try_construct, key_try_construct) = (TryConstruct::Discard, TryConstruct::Discard);
        Self { form, bound, try_construct, key_try_construct, is_external: false, are_keys_external: false }
    }

    pub(super) fn string(bound: u32) -> Self {
        Self::new(CollectionForm::String, Some(bound))
    }

    pub(super) fn wstring(bound: u32) -> Self {
        Self::new(CollectionForm::WString, Some(bound))
    }

    pub(super) fn sequence(element: TypeDraft) -> Self {
        Self::new(CollectionForm::Sequence(element), None)
    }

    pub(super) fn array(element: TypeDraft, length: u32) -> Self {
        Self::new(CollectionForm::Array(element), Some(length))
    }

    pub(super) fn map(key: TypeDraft, value: TypeDraft) -> Self {
        Self::new(CollectionForm::Map(key, value), None)
    }

    /// Sets the largest number of bytes, code units or elements; of an array, the exact number.
    #[must_use]
    pub fn bound(mut self, bound: u32) -> Self {
        self.bound = Some(bound);
        self
    }

    /// Sets the handling of elements, or map values, that their type cannot hold.
    #[must_use]
    pub fn try_construct(mut self, try_construct: TryConstruct) -> Self {
        self.try_construct = try_construct;
        self
    }

    /// Marks elements, or map values, as `@external`. This has no effect on values or encoding.
    #[must_use]
    pub fn external(mut self, is_external: bool) -> Self {
        self.is_external = is_external;
        self
    }

    /// Marks map keys as `@external`. This has no effect on values or encoding.
    #[must_use]
    pub fn external_keys(mut self, is_external: bool) -> Self {
        self.are_keys_external = is_external;
        self
    }

    /// Sets the handling of map keys that their type cannot hold.
    #[must_use]
    pub fn try_construct_keys(mut self, try_construct: TryConstruct) -> Self {
        self.key_try_construct = try_construct;
        self
    }
}

/// Builder of a struct; see [`DynamicType::structure`].
///
/// The default extensibility is appendable (XTYPES 1.3, 7.2.2.4.1); types of this crate's derive are final.
/// "The member" in the description of a method is the member that was added last.
#[derive(Debug, Clone)]
pub struct StructBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) base: Option<TypeDraft>,
    pub(super) members: Vec<MemberDraft>,
    pub(super) marks: TypeMarks,
    /// A method that changes the last member was called before any member was added.
    pub(super) is_out_of_order: bool,
}

#[derive(Debug, Clone)]
pub(super) struct MemberDraft {
    pub(super) name: String,
    pub(super) ty: TypeDraft,
    pub(super) id: Option<u32>,
    pub(super) is_key: bool,
    pub(super) is_optional: bool,
    pub(super) must_understand: bool,
    pub(super) is_external: bool,
    pub(super) hash_id: Option<String>,
    pub(super) try_construct: TryConstruct,
    pub(super) default: Option<Input>,
}

impl StructBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            // IDL without an annotation means appendable (XTYPES 1.3, 7.2.2.4.1).
            extensibility: Extensibility::Appendable,
            base: None,
            members: Vec::new(),
            marks: TypeMarks::default(),
            is_out_of_order: false,
        }
    }

    /// Marks the struct as nested: it is not the type of a topic. This has no effect on values or encoding.
    #[must_use]
    pub fn nested(mut self) -> Self {
        self.marks.is_nested = true;
        self
    }

    /// Makes the default id of each member the hash of its name (`@autoid(HASH)`).
    #[must_use]
    pub fn hash_ids(mut self) -> Self {
        self.marks.has_hash_ids = true;
        self
    }

    /// Sets the extensibility kind.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Sets the base struct. Its members precede the own members.
    #[must_use]
    pub fn base(mut self, base: impl Into<TypeDraft>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Adds a member. Its default id is the previous id plus 1; the first id is 0.
    #[must_use]
    pub fn member(mut self, name: &str, ty: impl Into<TypeDraft>) -> Self {
        self.members.push(MemberDraft {
            name: name.to_owned(),
            ty: ty.into(),
            id: None,
            is_key: false,
            is_optional: false,
            must_understand: false,
            is_external: false,
            hash_id: None,
            try_construct: TryConstruct::Discard,
            default: None,
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut MemberDraft)) -> Self {
        match self.members.last_mut() {
            Some(member) => change(member),
            // Reported by `build`: a builder method that failed would break the chain.
            None => self.is_out_of_order = true,
        }
        self
    }

    /// Makes the member a part of the key.
    #[must_use]
    pub fn key(self) -> Self {
        self.last(|member| member.is_key = true)
    }

    /// Sets the id of the member. Following members continue from it.
    #[must_use]
    pub fn id(self, id: u32) -> Self {
        self.last(|member| member.id = Some(id))
    }

    /// Makes the id of the member the hash of `name` (`@hashid`). An empty `name` stands for its own name.
    #[must_use]
    pub fn hash_id(self, name: &str) -> Self {
        self.last(|member| member.hash_id = Some(name.to_owned()))
    }

    /// Makes the member optional.
    #[must_use]
    pub fn optional(self) -> Self {
        self.last(|member| member.is_optional = true)
    }

    /// Requires that a reader rejects the sample if it does not know the member.
    #[must_use]
    pub fn must_understand(self) -> Self {
        self.last(|member| member.must_understand = true)
    }

    /// Marks the member as `@external`. This has no effect on values or encoding.
    #[must_use]
    pub fn external(self) -> Self {
        self.last(|member| member.is_external = true)
    }

    /// Sets the initial value of the member, also used if the sender's older type lacks the member.
    #[must_use]
    pub fn default(self, value: impl Into<Input>) -> Self {
        // `build` checks the value, because the type of the member may not be complete yet.
        let value = value.into();
        self.last(|member| member.default = Some(value))
    }

    /// Sets the handling of values that the member's type cannot hold.
    #[must_use]
    pub fn try_construct(self, try_construct: TryConstruct) -> Self {
        self.last(|member| member.try_construct = try_construct)
    }
}

/// Builder of a union; see [`DynamicType::union`]. The default extensibility is appendable.
#[derive(Debug, Clone)]
pub struct UnionBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) discriminator: TypeDraft,
    pub(super) has_key: bool,
    pub(super) try_construct: TryConstruct,
    pub(super) cases: Vec<CaseDraft>,
    pub(super) marks: TypeMarks,
    pub(super) is_out_of_order: bool,
}

#[derive(Debug, Clone)]
pub(super) struct CaseDraft {
    pub(super) name: String,
    pub(super) ty: Option<TypeDraft>,
    pub(super) labels: Vec<i64>,
    pub(super) id: Option<u32>,
    pub(super) is_default: bool,
    pub(super) is_external: bool,
    pub(super) hash_id: Option<String>,
    pub(super) try_construct: TryConstruct,
}

impl UnionBuilder {
    pub(super) fn new(name: &str, discriminator: TypeDraft) -> Self {
        Self {
            name: name.to_owned(),
            // The same default as of structs.
            extensibility: Extensibility::Appendable,
            discriminator,
            has_key: false,
            try_construct: TryConstruct::Discard,
            cases: Vec::new(),
            marks: TypeMarks::default(),
            is_out_of_order: false,
        }
    }

    /// Marks the union as nested: it is not the type of a topic. This has no effect on values or encoding.
    #[must_use]
    pub fn nested(mut self) -> Self {
        self.marks.is_nested = true;
        self
    }

    /// Makes the default id of each member the hash of its name (`@autoid(HASH)`).
    #[must_use]
    pub fn hash_ids(mut self) -> Self {
        self.marks.has_hash_ids = true;
        self
    }

    /// Sets the extensibility kind.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Makes the discriminator the key.
    #[must_use]
    pub fn key(mut self) -> Self {
        self.has_key = true;
        self
    }

    /// Sets the handling of a discriminator that selects no case.
    ///
    /// [`Discard`](TryConstruct::Discard) rejects the sample; with other values the union takes its default.
    #[must_use]
    pub fn try_construct(mut self, try_construct: TryConstruct) -> Self {
        self.try_construct = try_construct;
        self
    }

    fn add(mut self, name: &str, labels: &[i64], ty: Option<TypeDraft>) -> Self {
        self.cases.push(CaseDraft {
            name: name.to_owned(),
            ty,
            labels: labels.to_vec(),
            id: None,
            is_default: false,
            is_external: false,
            hash_id: None,
            try_construct: TryConstruct::Discard,
        });
        self
    }

    /// Adds a member with the discriminators that select it.
    ///
    /// Labels are values of literals, codes of characters, or 0 and 1 for a bool. The default id is the previous id
    /// plus 1; the id of the first member is 1.
    #[must_use]
    pub fn case(self, name: &str, labels: &[i64], ty: impl Into<TypeDraft>) -> Self {
        self.add(name, labels, Some(ty.into()))
    }

    /// Adds a case without a member.
    #[must_use]
    pub fn empty_case(self, name: &str, labels: &[i64]) -> Self {
        self.add(name, labels, None)
    }

    /// Adds a member that all discriminators without a label select.
    #[must_use]
    pub fn default_case(self, name: &str, ty: impl Into<TypeDraft>) -> Self {
        // The check of the type accepts a case without labels only as the default.
        self.case(name, &[], ty).or_default()
    }

    fn last(mut self, change: impl FnOnce(&mut CaseDraft)) -> Self {
        match self.cases.last_mut() {
            Some(case) => change(case),
            // `build` reports it, as for a struct.
            None => self.is_out_of_order = true,
        }
        self
    }

    /// Makes the last case the default: discriminators without a label select it as well.
    #[must_use]
    pub fn or_default(self) -> Self {
        self.last(|case| case.is_default = true)
    }

    /// Sets the id of the last member.
    #[must_use]
    pub fn id(self, id: u32) -> Self {
        self.last(|case| case.id = Some(id))
    }

    /// Makes the id of the last member the hash of `name` (`@hashid`). An empty `name` stands for its own name.
    #[must_use]
    pub fn hash_id(self, name: &str) -> Self {
        self.last(|case| case.hash_id = Some(name.to_owned()))
    }

    /// Marks the last member as `@external`. This has no effect on values or encoding.
    #[must_use]
    pub fn external(self) -> Self {
        self.last(|case| case.is_external = true)
    }

    /// Sets the handling of values that the last member's type cannot hold.
    #[must_use]
    pub fn try_construct_member(self, try_construct: TryConstruct) -> Self {
        self.last(|case| case.try_construct = try_construct)
    }
}

/// Builder of an enum; see [`DynamicType::enumeration`]. Default: appendable, 32 bits.
#[derive(Debug, Clone)]
pub struct EnumBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) literals: Vec<LiteralNode>,
    pub(super) default: Option<String>,
}

impl EnumBuilder {
    pub(super) fn new(name: &str) -> Self {
        let extensibility = Extensibility::Appendable;
        // The defaults of IDL: appendable, and 32 bits.
        Self { name: name.to_owned(), extensibility, bit_bound: 32, literals: Vec::new(), default: None }
    }

    /// Sets the extensibility kind.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Adds a literal. Its value is the previous value plus 1; the first value is 0.
    #[must_use]
    pub fn literal(self, name: &str) -> Self {
        // As in C: a literal without a value follows the one before.
        // At `i32::MAX` the value repeats, and `build` rejects the second literal.
        let value = self.literals.last().map_or(0, |last| last.value.saturating_add(1));
        self.literal_of(name, value)
    }

    /// Adds a literal with this value.
    #[must_use]
    pub fn literal_of(mut self, name: &str, value: i32) -> Self {
        self.literals.push(LiteralNode { name: name.into(), value });
        self
    }

    /// Sets the initial literal of a value. Default: the first literal.
    #[must_use]
    pub fn default_literal(mut self, name: &str) -> Self {
        self.default = Some(name.to_owned());
        self
    }

    /// Sets the number of bits of a value, from 1 to 32.
    #[must_use]
    pub fn bit_bound(mut self, bit_bound: u8) -> Self {
        self.bit_bound = bit_bound;
        self
    }
}

/// Builder of a bitmask; see [`DynamicType::bitmask`]. Default: appendable, 32 bits.
#[derive(Debug, Clone)]
pub struct BitmaskBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) flags: Vec<FlagNode>,
}

impl BitmaskBuilder {
    pub(super) fn new(name: &str) -> Self {
        let extensibility = Extensibility::Appendable;
        // The defaults of IDL, as for enums: appendable, and 32 bits.
        Self { name: name.to_owned(), extensibility, bit_bound: 32, flags: Vec::new() }
    }

    /// Sets the extensibility kind.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Adds a flag at the position after the last flag; the first position is 0.
    #[must_use]
    pub fn flag(self, name: &str) -> Self {
        // A position beyond the bound is reported by `build`.
        let position = self.flags.last().map_or(0, |last| last.position.saturating_add(1));
        self.flag_at(name, position)
    }

    /// Adds a flag at this position; 0 is the least significant bit.
    #[must_use]
    pub fn flag_at(mut self, name: &str, position: u8) -> Self {
        self.flags.push(FlagNode { name: name.into(), position });
        self
    }

    /// Sets the number of bits, from 1 to 64.
    #[must_use]
    pub fn bit_bound(mut self, bit_bound: u8) -> Self {
        self.bit_bound = bit_bound;
        self
    }
}

/// Builder of a bitset; see [`DynamicType::bitset`].
#[derive(Debug, Clone)]
pub struct BitsetBuilder {
    pub(super) name: String,
    pub(super) fields: Vec<BitfieldNode>,
    position: u8,
}

impl BitsetBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), fields: Vec::new(), position: 0 }
    }

    fn add(mut self, name: &str, bit_count: u8, is_signed: bool) -> Self {
        self.fields.push(BitfieldNode { name: name.into(), position: self.position, bit_count, is_signed });
        // A sum beyond 64 bits is not an error yet: `build` rejects a field that ends there.
        self.position = self.position.saturating_add(bit_count);
        self
    }

    /// Adds an unsigned field after the last one, starting at the least significant bit.
    #[must_use]
    pub fn field(self, name: &str, bit_count: u8) -> Self {
        self.add(name, bit_count, false)
    }

    /// Adds a signed field after the last one.
    #[must_use]
    pub fn signed_field(self, name: &str, bit_count: u8) -> Self {
        self.add(name, bit_count, true)
    }

    /// Adds unnamed bits.
    #[must_use]
    pub fn padding(mut self, bit_count: u8) -> Self {
        self.position = self.position.saturating_add(bit_count);
        self
    }
}
