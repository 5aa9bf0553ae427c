//! A value without its type, as small as it can be: what a sample of a dynamic type takes of memory.
//!
//! Bound: whatever is kept was in the sample. What a sample does not have (members that its sender's older type lacks,
//! values that take no bytes) is [`Value::Default`], which is nothing until it is changed. So a sample takes some hundred
//! times its bytes at most, whatever its type.

/// A value. Only together with its type it says anything.
#[derive(Debug, Clone, Default)]
pub(in crate::cdr) enum Value {
    /// What its type has at first. Of an optional member: absent.
    #[default]
    Default,
    /// A number, with copies of its sign in front if it has one; the bits of a float; the code of a character; the number of
    /// a literal.
    Bits(u64),
    /// A number of 128 bits.
    Wide(Box<u128>),
    /// A string, of either kind.
    Text(String),
    /// A sequence of primitives, or an array.
    Run(Run),
    /// A sequence of others, or an array.
    List(List),
    /// A map, in the order of its keys as they came.
    Map(Vec<(Value, Value)>),
    /// Of a struct the members that differ from what they are at first, by their index and in its order.
    Struct(Vec<(u32, Value)>),
    /// A union.
    Union(Box<Selection>),
}

/// What stands for all that is not there.
pub(super) static DEFAULT: Value = Value::Default;

/// A run of primitives: their bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cdr) enum Run {
    /// Of one byte each. Bools are 0 and 1.
    Of1(Vec<u8>),
    /// Of two bytes.
    Of2(Vec<u16>),
    /// Of four bytes.
    Of4(Vec<u32>),
    /// Of eight bytes.
    Of8(Vec<u64>),
    /// Of sixteen bytes.
    Of16(Vec<u128>),
}

/// Elements that are no primitives.
#[derive(Debug, Clone)]
pub(in crate::cdr) struct List {
    /// How many there are.
    pub(super) len: u32,
    /// The first of them; all others are what they are at first.
    pub(super) items: Vec<Value>,
}

/// What a union has.
#[derive(Debug, Clone)]
pub(in crate::cdr) struct Selection {
    pub(super) discriminator: i64,
    pub(super) value: Value,
}

impl Run {
    /// An empty run of numbers of `size` bytes.
    pub(super) fn new(size: usize) -> Self {
        match size {
            1 => Self::Of1(Vec::new()),
            2 => Self::Of2(Vec::new()),
            4 => Self::Of4(Vec::new()),
            8 => Self::Of8(Vec::new()),
            _ => Self::Of16(Vec::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Of1(run) => run.len(),
            Self::Of2(run) => run.len(),
            Self::Of4(run) => run.len(),
            Self::Of8(run) => run.len(),
            Self::Of16(run) => run.len(),
        }
    }

    /// Makes it this long: with zeros, which is what every primitive is at first.
    pub(super) fn resize(&mut self, len: usize) {
        match self {
            Self::Of1(run) => run.resize(len, 0),
            Self::Of2(run) => run.resize(len, 0),
            Self::Of4(run) => run.resize(len, 0),
            Self::Of8(run) => run.resize(len, 0),
            Self::Of16(run) => run.resize(len, 0),
        }
    }

    pub(super) fn remove(&mut self, index: usize) {
        match self {
            Self::Of1(run) => drop(run.remove(index)),
            Self::Of2(run) => drop(run.remove(index)),
            Self::Of4(run) => drop(run.remove(index)),
            Self::Of8(run) => drop(run.remove(index)),
            Self::Of16(run) => drop(run.remove(index)),
        }
    }

    /// The bits of an element, as they are in memory: without copies of a sign.
    pub(super) fn get(&self, index: usize) -> Option<u128> {
        match self {
            Self::Of1(run) => run.get(index).map(|bits| (*bits).into()),
            Self::Of2(run) => run.get(index).map(|bits| (*bits).into()),
            Self::Of4(run) => run.get(index).map(|bits| (*bits).into()),
            Self::Of8(run) => run.get(index).map(|bits| (*bits).into()),
            Self::Of16(run) => run.get(index).copied(),
        }
    }

    /// Puts the low bits in the place of an element, if it is there.
    pub(super) fn set(&mut self, index: usize, bits: u128) {
        match self {
            Self::Of1(run) => put(run, index, bits as u8),
            Self::Of2(run) => put(run, index, bits as u16),
            Self::Of4(run) => put(run, index, bits as u32),
            Self::Of8(run) => put(run, index, bits as u64),
            Self::Of16(run) => put(run, index, bits),
        }
    }
}

fn put<T>(run: &mut [T], index: usize, bits: T) {
    if let Some(place) = run.get_mut(index) {
        *place = bits;
    }
}

impl Value {
    /// A number of up to 64 bits.
    pub(super) fn bits(&self, default: u64) -> u64 {
        match self {
            Self::Bits(bits) => *bits,
            _ => default,
        }
    }

    /// A number of 128 bits.
    pub(super) fn wide(&self) -> u128 {
        match self {
            Self::Wide(bits) => **bits,
            _ => 0,
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    pub(super) fn entries(&self) -> &[(Value, Value)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The member of a struct with this index, if it is kept.
    pub(super) fn member(&self, index: u32) -> Option<&Value> {
        let Self::Struct(members) = self else { return None };
        // Where all members are kept, each is at its index.
        match members.get(index as usize) {
            Some((other, value)) if *other == index => Some(value),
            _ => {
                let found = members.binary_search_by_key(&index, |(index, _)| *index).ok()?;
                members.get(found).map(|(_, value)| value)
            }
        }
    }

    /// How many values lie within each other here, this one included.
    pub(super) fn depth(&self) -> usize {
        1 + match self {
            Self::List(list) => list.items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Map(entries) => entries.iter().map(|(key, value)| key.depth().max(value.depth())).max().unwrap_or(0),
            Self::Struct(members) => members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            Self::Union(selection) => selection.value.depth(),
            _ => 0,
        }
    }
}

/// How deep values may lie within each other: as deep as the walk through a payload goes. Deeper ones are neither made nor
/// decoded, so that nothing that goes through a value needs more stack than a small thread has.
pub(in crate::cdr) const DEPTH_MAX: usize = 4 * crate::cdr::NESTING_MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 40);
    }
}
