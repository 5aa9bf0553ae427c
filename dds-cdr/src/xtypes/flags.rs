//! Flags of types and members (XTYPES 1.3, annex B: MemberFlag, TypeFlag).

use crate::cdr::{Extensibility, TryConstruct};

/// Flags of a member, a discriminator, an element or a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MemberFlags(pub u16);

/// Flags of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TypeFlags(pub u16);

impl MemberFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The value is stored outside of the containing type (`@external`).
    pub const EXTERNAL: Self = Self(1 << 2);
    /// The member may be absent.
    pub const OPTIONAL: Self = Self(1 << 3);
    /// A reader that does not know the member must reject the sample.
    pub const MUST_UNDERSTAND: Self = Self(1 << 4);
    /// The member is part of the key.
    pub const KEY: Self = Self(1 << 5);
    /// The default case of a union, or the default literal of an enum.
    pub const DEFAULT: Self = Self(1 << 6);
    /// The two bits of `@try_construct`.
    const TRY_CONSTRUCT: u16 = 0b11;

    /// The flags of a `@try_construct` behavior: the handling of values that the type cannot hold.
    #[must_use]
    pub const fn of_try_construct(try_construct: TryConstruct) -> Self {
        match try_construct {
            TryConstruct::Discard => Self(0b01),
            TryConstruct::UseDefault => Self(0b10),
            TryConstruct::Trim => Self(0b11),
        }
    }

    /// How a value that the type cannot hold is handled.
    ///
    /// The invalid value 0 counts as the default: Cyclone DDS's Python binding writes it for map elements.
    #[must_use]
    pub const fn try_construct(self) -> TryConstruct {
        match self.0 & Self::TRY_CONSTRUCT {
            0b10 => TryConstruct::UseDefault,
            0b11 => TryConstruct::Trim,
            // 0 is no value of the standard. The default is the strictest reading.
            _ => TryConstruct::Discard,
        }
    }

    /// The flags of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These flags, and `other` as well if `condition` holds.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { self.union(other) } else { self }
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl TypeFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The type cannot grow.
    pub const FINAL: Self = Self(1 << 0);
    /// The type may grow at its end.
    pub const APPENDABLE: Self = Self(1 << 1);
    /// The type may grow anywhere.
    pub const MUTABLE: Self = Self(1 << 2);
    /// The type is not the type of a topic.
    pub const NESTED: Self = Self(1 << 3);
    /// The member ids are hashes of the member names.
    pub const AUTOID_HASH: Self = Self(1 << 4);

    /// The flag of an extensibility kind.
    #[must_use]
    pub const fn of_extensibility(extensibility: Extensibility) -> Self {
        match extensibility {
            Extensibility::Final => Self::FINAL,
            Extensibility::Appendable => Self::APPENDABLE,
            Extensibility::Mutable => Self::MUTABLE,
        }
    }

    /// The extensibility kind. Default: appendable (XTYPES 1.3, 7.3.3.1).
    #[must_use]
    pub const fn extensibility(self) -> Extensibility {
        match self.0 & 0b111 {
            1 => Extensibility::Final,
            4 => Extensibility::Mutable,
            _ => Extensibility::Appendable,
        }
    }

    /// These flags, and `other` as well if `condition` holds.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }

    /// Whether all flags of `other` are set.
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
