//! What is said of types and members in single bits (XTYPES 1.3, annex B: MemberFlag, TypeFlag).

use crate::cdr::{Extensibility, TryConstruct};

/// What is said of a member, a discriminator, an element or a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MemberFlags(pub u16);

/// What is said of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TypeFlags(pub u16);

impl MemberFlags {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Its value lies elsewhere.
    pub const EXTERNAL: Self = Self(1 << 2);
    /// It may be absent.
    pub const OPTIONAL: Self = Self(1 << 3);
    /// Who does not know it must refuse the sample.
    pub const MUST_UNDERSTAND: Self = Self(1 << 4);
    /// It is part of the key.
    pub const KEY: Self = Self(1 << 5);
    /// The default case of a union, or the default literal of an enum.
    pub const DEFAULT: Self = Self(1 << 6);
    /// The two bits that say what becomes of a value that the type cannot hold.
    const TRY_CONSTRUCT: u16 = 0b11;

    /// The flags that say what becomes of a value that the type cannot hold.
    #[must_use]
    pub const fn of_try_construct(try_construct: TryConstruct) -> Self {
        match try_construct {
            TryConstruct::Discard => Self(0b01),
            TryConstruct::UseDefault => Self(0b10),
            TryConstruct::Trim => Self(0b11),
        }
    }

    /// What becomes of a value that the type cannot hold. 0, which is invalid, counts as the default; it is what Cyclone DDS's
    /// Python writes of elements of maps.
    #[must_use]
    pub const fn try_construct(self) -> TryConstruct {
        match self.0 & Self::TRY_CONSTRUCT {
            0b10 => TryConstruct::UseDefault,
            0b11 => TryConstruct::Trim,
            _ => TryConstruct::Discard,
        }
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These, if `condition` holds with `other`.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { self.union(other) } else { self }
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl TypeFlags {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// It cannot grow.
    pub const FINAL: Self = Self(1 << 0);
    /// It may grow at its end.
    pub const APPENDABLE: Self = Self(1 << 1);
    /// It may grow anywhere.
    pub const MUTABLE: Self = Self(1 << 2);
    /// It is no topic's type.
    pub const NESTED: Self = Self(1 << 3);
    /// The ids of its members are hashes of their names.
    pub const AUTOID_HASH: Self = Self(1 << 4);

    /// The flag that says how a type may grow.
    #[must_use]
    pub const fn of_extensibility(extensibility: Extensibility) -> Self {
        match extensibility {
            Extensibility::Final => Self::FINAL,
            Extensibility::Appendable => Self::APPENDABLE,
            Extensibility::Mutable => Self::MUTABLE,
        }
    }

    /// How a type may grow. Who says nothing means appendable (XTYPES 1.3, 7.3.3.1).
    #[must_use]
    pub const fn extensibility(self) -> Extensibility {
        match self.0 & 0b111 {
            1 => Extensibility::Final,
            4 => Extensibility::Mutable,
            _ => Extensibility::Appendable,
        }
    }

    /// These, if `condition` holds with `other`.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }

    /// Whether all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

macro_rules! transparent {
    ($($name:ident)+) => { $(
        impl crate::cdr::Encode for $name {
            fn encode(&self, e: &mut crate::cdr::Encoder<'_>) -> Result<(), crate::cdr::EncodeError> {
                self.0.encode(e)
            }

            fn encode_key(&self, e: &mut crate::cdr::Encoder<'_>) -> Result<(), crate::cdr::EncodeError> {
                self.0.encode(e)
            }
        }

        impl<'de> crate::cdr::Decode<'de> for $name {
            fn decode(d: &mut crate::cdr::Decoder<'de>) -> Result<Self, crate::cdr::DecodeError> {
                crate::cdr::Decode::decode(d).map(Self)
            }
        }
    )+ };
}

transparent!(MemberFlags TypeFlags);
