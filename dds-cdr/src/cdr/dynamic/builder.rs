//! Types as they are written down, before they are checked.

use super::graph::{Field, Flag, Literal};
use super::{DynamicType, Input, TypeError, assembler};
use crate::cdr::{Extensibility, TryConstruct};

/// A type that is not finished: what builders make, and what becomes a part of others.
#[derive(Debug, Clone)]
pub struct TypeDraft(pub(super) Draft);

#[derive(Debug, Clone)]
pub(super) enum Draft {
    Done(DynamicType),
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

    /// The type, checked as a whole.
    ///
    /// # Errors
    /// [`TypeError`] says which type of it is not one, and why.
    pub fn build(self) -> Result<DynamicType, TypeError> {
        assembler::assemble(self)
    }
}

impl From<DynamicType> for TypeDraft {
    fn from(ty: DynamicType) -> Self {
        Self(Draft::Done(ty))
    }
}

impl From<&DynamicType> for TypeDraft {
    fn from(ty: &DynamicType) -> Self {
        Self(Draft::Done(ty.clone()))
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
            /// The type, checked as a whole.
            ///
            /// # Errors
            /// [`TypeError`] says which type of it is not one, and why.
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

/// A sequence, array, map, or string with a bound; from [`DynamicType::sequence`] and the functions beside it.
#[derive(Debug, Clone)]
pub struct CollectionBuilder {
    pub(super) form: CollectionForm,
    pub(super) bound: Option<u32>,
    pub(super) try_construct: TryConstruct,
    pub(super) key_try_construct: TryConstruct,
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
        Self { form, bound, try_construct: TryConstruct::Discard, key_try_construct: TryConstruct::Discard }
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

    /// At most so many bytes, units or elements; of an array, exactly so many.
    #[must_use]
    pub fn bound(mut self, bound: u32) -> Self {
        self.bound = Some(bound);
        self
    }

    /// What becomes of elements, or values of a map, that their type cannot hold.
    #[must_use]
    pub fn try_construct(mut self, try_construct: TryConstruct) -> Self {
        self.try_construct = try_construct;
        self
    }

    /// What becomes of keys of a map that their type cannot hold.
    #[must_use]
    pub fn try_construct_keys(mut self, try_construct: TryConstruct) -> Self {
        self.key_try_construct = try_construct;
        self
    }
}

/// A struct; from [`DynamicType::structure`]. It is appendable unless it says otherwise, as XTYPES 1.3 (7.2.2.4.1) has it;
/// types of this crate's derive are final.
///
/// What a method says of "the member" is said of the one that was added last.
#[derive(Debug, Clone)]
pub struct StructBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) base: Option<TypeDraft>,
    pub(super) members: Vec<MemberDraft>,
    /// Something was said of a member before there was one.
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
    pub(super) try_construct: TryConstruct,
    pub(super) default: Option<Input>,
}

impl StructBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            extensibility: Extensibility::Appendable,
            base: None,
            members: Vec::new(),
            is_out_of_order: false,
        }
    }

    /// How it may grow.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// The struct that this one extends. Its members come first.
    #[must_use]
    pub fn base(mut self, base: impl Into<TypeDraft>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Adds a member. Its id is one more than that of the member before it, and 0 of the first.
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
            try_construct: TryConstruct::Discard,
            default: None,
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut MemberDraft)) -> Self {
        match self.members.last_mut() {
            Some(member) => change(member),
            None => self.is_out_of_order = true,
        }
        self
    }

    /// The member is part of the key.
    #[must_use]
    pub fn key(self) -> Self {
        self.last(|member| member.is_key = true)
    }

    /// The member has this id, and those behind it count on from it.
    #[must_use]
    pub fn id(self, id: u32) -> Self {
        self.last(|member| member.id = Some(id))
    }

    /// The member may be absent.
    #[must_use]
    pub fn optional(self) -> Self {
        self.last(|member| member.is_optional = true)
    }

    /// A reader must know the member, or refuse the sample.
    #[must_use]
    pub fn must_understand(self) -> Self {
        self.last(|member| member.must_understand = true)
    }

    /// The member is `@external`. Nothing is different for it here.
    #[must_use]
    pub fn external(self) -> Self {
        self.last(|member| member.is_external = true)
    }

    /// What the member has at first, and where the sender's older type does not have it.
    #[must_use]
    pub fn default(self, value: impl Into<Input>) -> Self {
        let value = value.into();
        self.last(|member| member.default = Some(value))
    }

    /// What becomes of a value that the member's type cannot hold.
    #[must_use]
    pub fn try_construct(self, try_construct: TryConstruct) -> Self {
        self.last(|member| member.try_construct = try_construct)
    }
}

/// A union; from [`DynamicType::union`]. It is appendable unless it says otherwise.
#[derive(Debug, Clone)]
pub struct UnionBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) discriminator: TypeDraft,
    pub(super) has_key: bool,
    pub(super) try_construct: TryConstruct,
    pub(super) cases: Vec<CaseDraft>,
    pub(super) is_out_of_order: bool,
}

#[derive(Debug, Clone)]
pub(super) struct CaseDraft {
    pub(super) name: String,
    pub(super) ty: Option<TypeDraft>,
    pub(super) labels: Vec<i64>,
    pub(super) id: Option<u32>,
    pub(super) is_default: bool,
    pub(super) try_construct: TryConstruct,
}

impl UnionBuilder {
    pub(super) fn new(name: &str, discriminator: TypeDraft) -> Self {
        Self {
            name: name.to_owned(),
            extensibility: Extensibility::Appendable,
            discriminator,
            has_key: false,
            try_construct: TryConstruct::Discard,
            cases: Vec::new(),
            is_out_of_order: false,
        }
    }

    /// How it may grow.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// The discriminator is the key.
    #[must_use]
    pub fn key(mut self) -> Self {
        self.has_key = true;
        self
    }

    /// What becomes of a discriminator that selects nothing: [`Discard`](TryConstruct::Discard), or the union takes its
    /// default.
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
            try_construct: TryConstruct::Discard,
        });
        self
    }

    /// Adds a member that these discriminators select: numbers of literals, codes of characters, 0 and 1 of a bool. Its id
    /// is one more than that of the member before it, and 1 of the first.
    #[must_use]
    pub fn case(self, name: &str, labels: &[i64], ty: impl Into<TypeDraft>) -> Self {
        self.add(name, labels, Some(ty.into()))
    }

    /// Adds a case without a member.
    #[must_use]
    pub fn empty_case(self, name: &str, labels: &[i64]) -> Self {
        self.add(name, labels, None)
    }

    /// Adds a member that all other discriminators select.
    #[must_use]
    pub fn default_case(self, name: &str, ty: impl Into<TypeDraft>) -> Self {
        self.case(name, &[], ty).or_default()
    }

    fn last(mut self, change: impl FnOnce(&mut CaseDraft)) -> Self {
        match self.cases.last_mut() {
            Some(case) => change(case),
            None => self.is_out_of_order = true,
        }
        self
    }

    /// All other discriminators select the case that was added last as well.
    #[must_use]
    pub fn or_default(self) -> Self {
        self.last(|case| case.is_default = true)
    }

    /// The member of the case that was added last has this id.
    #[must_use]
    pub fn id(self, id: u32) -> Self {
        self.last(|case| case.id = Some(id))
    }

    /// What becomes of a value that the type of the member that was added last cannot hold.
    #[must_use]
    pub fn try_construct_member(self, try_construct: TryConstruct) -> Self {
        self.last(|case| case.try_construct = try_construct)
    }
}

/// An enum; from [`DynamicType::enumeration`]. It is appendable unless it says otherwise, and has 32 bits.
#[derive(Debug, Clone)]
pub struct EnumBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) literals: Vec<Literal>,
    pub(super) default: Option<String>,
}

impl EnumBuilder {
    pub(super) fn new(name: &str) -> Self {
        let extensibility = Extensibility::Appendable;
        Self { name: name.to_owned(), extensibility, bit_bound: 32, literals: Vec::new(), default: None }
    }

    /// How it may grow.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Adds a literal, whose number is one more than that of the one before it, and 0 of the first.
    #[must_use]
    pub fn literal(self, name: &str) -> Self {
        let value = self.literals.last().map_or(0, |last| last.value.saturating_add(1));
        self.literal_of(name, value)
    }

    /// Adds a literal with this number.
    #[must_use]
    pub fn literal_of(mut self, name: &str, value: i32) -> Self {
        self.literals.push(Literal { name: name.into(), value });
        self
    }

    /// The literal that a value has at first, instead of the first one.
    #[must_use]
    pub fn default_literal(mut self, name: &str) -> Self {
        self.default = Some(name.to_owned());
        self
    }

    /// How many bits the numbers have: 1 to 32.
    #[must_use]
    pub fn bit_bound(mut self, bit_bound: u8) -> Self {
        self.bit_bound = bit_bound;
        self
    }
}

/// A bitmask; from [`DynamicType::bitmask`]. It is appendable unless it says otherwise, and has 32 bits.
#[derive(Debug, Clone)]
pub struct BitmaskBuilder {
    pub(super) name: String,
    pub(super) extensibility: Extensibility,
    pub(super) bit_bound: u8,
    pub(super) flags: Vec<Flag>,
}

impl BitmaskBuilder {
    pub(super) fn new(name: &str) -> Self {
        let extensibility = Extensibility::Appendable;
        Self { name: name.to_owned(), extensibility, bit_bound: 32, flags: Vec::new() }
    }

    /// How it may grow.
    #[must_use]
    pub fn extensibility(mut self, extensibility: Extensibility) -> Self {
        self.extensibility = extensibility;
        self
    }

    /// Adds a flag behind the one that was added last, from bit 0 on.
    #[must_use]
    pub fn flag(self, name: &str) -> Self {
        let position = self.flags.last().map_or(0, |last| last.position.saturating_add(1));
        self.flag_at(name, position)
    }

    /// Adds a flag at this position; 0 is the least significant bit.
    #[must_use]
    pub fn flag_at(mut self, name: &str, position: u8) -> Self {
        self.flags.push(Flag { name: name.into(), position });
        self
    }

    /// How many bits there are: 1 to 64.
    #[must_use]
    pub fn bit_bound(mut self, bit_bound: u8) -> Self {
        self.bit_bound = bit_bound;
        self
    }
}

/// A bitset; from [`DynamicType::bitset`].
#[derive(Debug, Clone)]
pub struct BitsetBuilder {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    position: u8,
}

impl BitsetBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), fields: Vec::new(), position: 0 }
    }

    fn add(mut self, name: &str, bit_count: u8, is_signed: bool) -> Self {
        self.fields.push(Field { name: name.into(), position: self.position, bit_count, is_signed });
        self.position = self.position.saturating_add(bit_count);
        self
    }

    /// Adds a field of so many bits behind the one that was added last, from the least significant bit on.
    #[must_use]
    pub fn field(self, name: &str, bit_count: u8) -> Self {
        self.add(name, bit_count, false)
    }

    /// Adds a field whose number has a sign.
    #[must_use]
    pub fn signed_field(self, name: &str, bit_count: u8) -> Self {
        self.add(name, bit_count, true)
    }

    /// Leaves bits without a name.
    #[must_use]
    pub fn padding(mut self, bit_count: u8) -> Self {
        self.position = self.position.saturating_add(bit_count);
        self
    }
}
