//! Types with unions, bits, maps and wide text, which [`types`](super::types) does not have.

use super::types::{Gear, Label, Point};
use crate::cdr::{Char16, F128, WString};
use dds_macros::DdsType;
use std::collections::{BTreeMap, HashMap};

/// `union switch (long) { case 1: case 2: double; case -3: string<8>; case 4: Point; case 5: ; default: octet; }`
macro_rules! union_of {
    ($name:ident, $extensibility:ident) => {
        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        pub(super) enum $name {
            #[dds(case = [1, 2])]
            Number {
                #[dds(discriminator)]
                kind: i32,
                value: f64,
            },
            #[dds(case = -3, bound = 8)]
            Text(String),
            #[dds(case = 4)]
            Point(Point),
            #[dds(case = 5)]
            Nothing,
            #[dds(case = 6)]
            Nested(Vec<$name>),
            #[dds(default, octet)]
            Other(#[dds(discriminator)] i32, u8),
        }
    };
}

union_of!(FinalUnion, final);
union_of!(AppendableUnion, appendable);
union_of!(MutableUnion, mutable);

/// Without attributes, cases are numbered from 0, and there is no default.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested)]
pub(super) enum Plain {
    Flag(bool),
    Wide(F128),
    Nothing,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, appendable, discriminator = Gear)]
pub(super) enum ByGear {
    #[dds(case = Gear::Reverse)]
    Text(String),
    #[dds(case = [Gear::First, Gear::Neutral])]
    Numbers(Vec<u16>),
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested, discriminator = bool)]
pub(super) enum ByBool {
    #[dds(case = true)]
    Yes(i64),
    #[dds(case = false)]
    No,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, mutable, discriminator = char, autoid = "hash")]
pub(super) enum ByChar {
    #[dds(case = 'a')]
    A(u16),
    #[dds(case = ['b', 'c'], hashid = "other", name = "B")]
    BOrC(Label),
    #[dds(default, case = 'z')]
    Rest,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", nested, discriminator = u64)]
pub(super) enum ByU64 {
    #[dds(case = 18_446_744_073_709_551_615)]
    Largest(u8),
    #[dds(default)]
    Rest(i16),
}

/// Members of all bit bounds.
#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(crate = "crate", bitmask, flags(READ, WRITE, ADMIN = 7))]
pub(super) struct Rights(pub(super) u8);

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(crate = "crate", bitmask, bit_bound = 12, flags(LOW, HIGH = 11))]
pub(super) struct Twelve(pub(super) u16);

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(crate = "crate", bitmask, bit_bound = 20)]
pub(super) struct Twenty(pub(super) u32);

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(crate = "crate", bitmask, flags(TOP = 63))]
pub(super) struct All(pub(super) u64);

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(crate = "crate", bitset)]
pub(super) struct Packed {
    #[dds(bits = 3)]
    pub(super) low: u8,
    pub(super) flag: bool,
    #[dds(bits = 5)]
    pub(super) signed: i16,
    #[dds(bits = 20)]
    pub(super) high: u32,
}

macro_rules! all_others {
    ($name:ident, $extensibility:ident) => {
        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        pub(super) struct $name {
            pub(super) before: u8,
            pub(super) a: FinalUnion,
            pub(super) b: AppendableUnion,
            pub(super) c: MutableUnion,
            #[dds(key)]
            pub(super) by_bool: ByBool,
            pub(super) by_gear: ByGear,
            pub(super) by_char: ByChar,
            #[dds(key)]
            pub(super) by_u64: ByU64,
            pub(super) plain: [Plain; 2],
            #[dds(key)]
            pub(super) rights: Rights,
            #[dds(key)]
            pub(super) twelve: Twelve,
            pub(super) twenties: Vec<Twenty>,
            pub(super) all: [[All; 2]; 2],
            #[dds(key)]
            pub(super) packed: Packed,
            pub(super) numbers: BTreeMap<u16, f64>,
            #[dds(bound = 4)]
            pub(super) names: BTreeMap<String, Vec<Label>>,
            pub(super) unordered: HashMap<i64, String>,
            pub(super) units: Vec<Char16>,
            #[dds(key)]
            pub(super) wide: WString,
            #[dds(key)]
            pub(super) float: F128,
            pub(super) floats: [F128; 2],
            pub(super) maybe: Option<FinalUnion>,
            pub(super) maybe_map: Option<BTreeMap<bool, WString>>,
            pub(super) boxed: Box<AppendableUnion>,
            pub(super) unions: Vec<MutableUnion>,
            pub(super) last: u64,
        }
    };
}

all_others!(OthersFinal, final);
all_others!(OthersAppendable, appendable);
all_others!(OthersMutable, mutable);
