//! Types with a field of each kind, in all three extensibilities, with direct access to the fields by name.

use super::split_mix::SplitMix64;
use crate::cdr::{Char16, WString};
use dds_macros::DdsType;

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate")]
pub(super) enum Color {
    Red,
    Green,
    Blue = 7,
}

/// The value of a field as the application sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    Absent,
    Integer(i128),
    Float(f64),
    Text(String),
}

pub(super) trait Fields {
    fn field(&self, name: &str) -> Seen;
    fn random(dice: &mut SplitMix64) -> Self;
}

/// The fields that `Fields::field` supports, by kind.
pub(super) const INTEGERS: [&str; 14] = [
    "id",
    "small",
    "wide",
    "big",
    "octet",
    "maybe",
    "inner.a",
    "inner.deep.n",
    "list[0]",
    "list[2]",
    "inners[1].a",
    "grid[1][2]",
    "choice._d",
    "choice.Number",
];
pub(super) const FLOATS: [&str; 3] = ["ratio", "exact", "choice.Pair.a"];
pub(super) const TEXTS: [&str; 6] = ["name", "title", "inner.deep.s", "names[1]", "inners[0].deep.s", "choice.Text"];

pub(super) fn small(dice: &mut SplitMix64) -> i64 {
    (dice.draw() % 7) as i64 - 3
}

pub(super) fn word(dice: &mut SplitMix64) -> String {
    const WORDS: [&str; 7] = ["", "a", "ab", "ba", "aab", "\u{e4}b", "a\u{1f600}"];
    WORDS[(dice.draw() % 7) as usize].to_owned()
}

fn chance(dice: &mut SplitMix64) -> bool {
    dice.draw() % 2 == 0
}

fn several<T>(dice: &mut SplitMix64, mut one: impl FnMut(&mut SplitMix64) -> T) -> Vec<T> {
    (0..dice.draw() % 4).map(|_| one(dice)).collect()
}

macro_rules! sample {
    ($module:ident, $extensibility:literal) => {
        pub(super) mod $module {
            use super::*;

            #[derive(DdsType, Debug, Clone, PartialEq)]
            #[dds(crate = "crate", extensibility = $extensibility)]
            pub(in crate::filter::tests) struct Deep {
                pub s: String,
                pub n: i8,
            }

            #[derive(DdsType, Debug, Clone, PartialEq)]
            #[dds(crate = "crate", extensibility = $extensibility)]
            pub(in crate::filter::tests) struct Inner {
                pub a: u16,
                pub rest: Vec<f64>,
                pub deep: Deep,
                pub last: u8,
            }

            #[derive(DdsType, Debug, Clone, PartialEq)]
            #[dds(crate = "crate")]
            pub(in crate::filter::tests) struct Pair {
                pub before: u8,
                pub a: f64,
            }

            #[derive(DdsType, Debug, Clone, PartialEq)]
            #[dds(crate = "crate", nested, extensibility = $extensibility)]
            pub(in crate::filter::tests) enum Choice {
                #[dds(case = -1)]
                Nothing,
                #[dds(case = 1)]
                Number(i64),
                #[dds(case = 2)]
                Text(String),
                #[dds(case = 3)]
                Pair(Pair),
            }

            #[derive(DdsType, Debug, Clone, PartialEq)]
            #[dds(crate = "crate", extensibility = $extensibility)]
            pub(in crate::filter::tests) struct Sample {
                pub octet: u8,
                #[dds(key)]
                pub id: i32,
                pub flag: bool,
                pub wide: i64,
                pub title: WString,
                pub small: u8,
                pub big: u64,
                pub maybe: Option<i16>,
                pub ratio: f32,
                pub letter: char,
                pub wide_letter: Char16,
                pub list: Vec<u16>,
                pub exact: f64,
                pub names: Vec<String>,
                #[dds(key)]
                pub name: String,
                pub inners: Vec<Inner>,
                pub color: Color,
                pub map: std::collections::BTreeMap<u8, String>,
                pub grid: [[i16; 3]; 2],
                pub choice: Choice,
                pub inner: Inner,
                pub absent: Option<Inner>,
                pub tail: u32,
            }

            impl Inner {
                fn random(dice: &mut SplitMix64) -> Self {
                    let deep = Deep { s: word(dice), n: small(dice) as i8 };
                    let rest = several(dice, |dice| small(dice) as f64);
                    Self { a: small(dice).unsigned_abs() as u16, rest, deep, last: 9 }
                }
            }

            impl Fields for Sample {
                fn field(&self, name: &str) -> Seen {
                    let integer = |number: Option<i128>| number.map_or(Seen::Absent, Seen::Integer);
                    let text = |text: Option<&str>| text.map_or(Seen::Absent, |text| Seen::Text(text.to_owned()));
                    match name {
                        "id" => Seen::Integer(self.id.into()),
                        "octet" => Seen::Integer(self.octet.into()),
                        "small" => Seen::Integer(self.small.into()),
                        "wide" => Seen::Integer(self.wide.into()),
                        "big" => Seen::Integer(self.big.into()),
                        "flag" => Seen::Integer(self.flag.into()),
                        "letter" => Seen::Integer(u32::from(self.letter).into()),
                        "maybe" => integer(self.maybe.map(Into::into)),
                        "inner.a" => Seen::Integer(self.inner.a.into()),
                        "inner.deep.n" => Seen::Integer(self.inner.deep.n.into()),
                        "list[0]" => integer(self.list.first().copied().map(Into::into)),
                        "list[2]" => integer(self.list.get(2).copied().map(Into::into)),
                        "inners[1].a" => integer(self.inners.get(1).map(|inner| inner.a.into())),
                        "grid[1][2]" => Seen::Integer(self.grid[1][2].into()),
                        "choice._d" => Seen::Integer(match self.choice {
                            Choice::Nothing => -1,
                            Choice::Number(_) => 1,
                            Choice::Text(_) => 2,
                            Choice::Pair(_) => 3,
                        }),
                        "choice.Number" => match self.choice {
                            Choice::Number(number) => Seen::Integer(number.into()),
                            _ => Seen::Absent,
                        },
                        "choice.Text" => match &self.choice {
                            Choice::Text(text) => Seen::Text(text.clone()),
                            _ => Seen::Absent,
                        },
                        "choice.Pair.a" => match &self.choice {
                            Choice::Pair(pair) => Seen::Float(pair.a),
                            _ => Seen::Absent,
                        },
                        "ratio" => Seen::Float(self.ratio.into()),
                        "exact" => Seen::Float(self.exact),
                        "name" => text(Some(&self.name)),
                        "title" => text(Some(self.title.as_str())),
                        "inner.deep.s" => text(Some(&self.inner.deep.s)),
                        "names[1]" => text(self.names.get(1).map(String::as_str)),
                        "inners[0].deep.s" => text(self.inners.first().map(|inner| inner.deep.s.as_str())),
                        "color" => Seen::Integer(self.color as i128),
                        "tail" => Seen::Integer(self.tail.into()),
                        other => panic!("{other}"),
                    }
                }

                fn random(dice: &mut SplitMix64) -> Self {
                    Self {
                        octet: small(dice).unsigned_abs() as u8,
                        id: small(dice) as i32,
                        flag: chance(dice),
                        wide: small(dice),
                        title: WString::from(word(dice)),
                        small: small(dice).unsigned_abs() as u8,
                        big: small(dice).unsigned_abs(),
                        maybe: chance(dice).then(|| small(dice) as i16),
                        ratio: small(dice) as f32 / 2.0,
                        letter: if chance(dice) { 'a' } else { '\u{e4}' },
                        wide_letter: Char16::try_from('x').unwrap(),
                        list: several(dice, |dice| small(dice).unsigned_abs() as u16),
                        exact: if dice.draw() % 9 == 0 { f64::NAN } else { small(dice) as f64 / 2.0 },
                        names: several(dice, word),
                        name: word(dice),
                        inners: several(dice, Inner::random),
                        color: [Color::Red, Color::Green, Color::Blue][(dice.draw() % 3) as usize],
                        map: several(dice, |dice| (dice.draw() as u8, word(dice))).into_iter().collect(),
                        grid: [[1, 2, 3], [4, 5, small(dice) as i16]],
                        choice: match dice.draw() % 4 {
                            0 => Choice::Nothing,
                            1 => Choice::Number(small(dice)),
                            2 => Choice::Text(word(dice)),
                            _ => Choice::Pair(Pair { before: 1, a: small(dice) as f64 }),
                        },
                        inner: Inner::random(dice),
                        absent: chance(dice).then(|| Inner::random(dice)),
                        tail: 5,
                    }
                }
            }
        }
    };
}

sample!(fixed, "final");
sample!(appendable, "appendable");
sample!(mutable, "mutable");
