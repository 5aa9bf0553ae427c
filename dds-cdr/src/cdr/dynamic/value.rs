//! A compact value without its type: the memory of a dynamic sample.
//!
//! Bound: only parts that the sample contains are stored. Other parts are [`Value::Default`] and take no memory:
//! members that the sender's older type lacks, and values that take no bytes. Therefore a sample of any type takes at
//! most some hundred times its encoded bytes.

/// A value. Its type gives it a meaning.
#[derive(Debug, Clone, Default)]
pub(in crate::cdr) enum Value {
    /// The default of the type. For an optional member: absent.
    #[default]
    Default,
    /// A number with sign extension, a float's bits, a character's code, or a literal's value.
    Bits(u64),
    /// A number of 128 bits.
    Wide(Box<u128>),
    /// A string or wide string.
    Text(String),
    /// A sequence or array of primitives.
    Primitives(Primitives),
    /// A sequence or array of other elements.
    List(List),
    /// A map, in the order of insertion.
    Map(Vec<(Value, Value)>),
    /// The stored members of a struct with their index, in ascending order. Other members have their defaults.
    Struct(Vec<(u32, Value)>),
    /// A union.
    Union(Box<UnionValue>),
}

/// The value of all parts that are not stored.
pub(super) static DEFAULT: Value = Value::Default;

/// The bits of several primitives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cdr) enum Primitives {
    /// One byte each. Bools are 0 and 1.
    Of1(Vec<u8>),
    /// Two bytes each.
    Of2(Vec<u16>),
    /// Four bytes each.
    Of4(Vec<u32>),
    /// Eight bytes each.
    Of8(Vec<u64>),
    /// Sixteen bytes each.
    Of16(Vec<u128>),
}

/// Elements that are not primitives.
#[derive(Debug, Clone)]
pub(in crate::cdr) struct List {
    /// The number of elements.
    pub(super) len: u32,
    /// The first elements. All others have their default.
    pub(super) items: Vec<Value>,
}

/// The content of a union.
#[derive(Debug, Clone)]
pub(in crate::cdr) struct UnionValue {
    pub(super) discriminator: i64,
    pub(super) value: Value,
}

impl Primitives {
    /// No primitives yet, with `size` bytes each.
    pub(super) fn new(size: usize) -> Self {
        match size {
            1 => Self::Of1(Vec::new()),
            2 => Self::Of2(Vec::new()),
            4 => Self::Of4(Vec::new()),
            8 => Self::Of8(Vec::new()),
            // The only other size of a primitive is 16 bytes.
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

    /// Sets the length. New elements are zero, the default of every primitive.
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

    /// The bits of an element, without sign extension.
    pub(super) fn get(&self, index: usize) -> Option<u128> {
        match self {
            Self::Of1(run) => run.get(index).copied().map(u128::from),
            Self::Of2(run) => run.get(index).copied().map(u128::from),
            Self::Of4(run) => run.get(index).copied().map(u128::from),
            Self::Of8(run) => run.get(index).copied().map(u128::from),
            Self::Of16(run) => run.get(index).copied(),
        }
    }

    /// Sets an element to the low bits, if the element exists.
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
            // A value of 128 bits that is not stored is the default, which is zero.
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

    /// The member of a struct with this index, if it is stored.
    pub(super) fn member(&self, index: u32) -> Option<&Value> {
        let Self::Struct(members) = self else { return None };
        // Fast path: if all members are stored, each is at its index.
        match members.get(index as usize) {
            Some((other, value)) if *other == index => Some(value),
            _ => {
                // Members with defaults are not stored, so the index in the list may be smaller.
                let found = members.binary_search_by_key(&index, |(index, _)| *index).ok()?;
                members.get(found).map(|(_, value)| value)
            }
        }
    }

    /// The number of nested levels, including this value.
    pub(super) fn depth(&self) -> usize {
        let mut deepest = 0;
        match self {
            Self::List(list) => {
                for item in &list.items {
                    deepest = deepest.max(item.depth());
                }
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    deepest = deepest.max(key.depth()).max(value.depth());
                }
            }
            Self::Struct(members) => {
                for (_, value) in members {
                    deepest = deepest.max(value.depth());
                }
            }
            Self::Union(selection) => deepest = selection.value.depth(),
            _ => {}
        }
        1 + deepest
    }
}

/// Most levels of nested values, equal to the limit for skipping values in a payload.
///
/// Deeper values are neither created nor decoded. Therefore recursion over a value fits into the stack of a small
/// thread.
pub(in crate::cdr) const DEPTH_MAX: usize = 4 * crate::cdr::NESTING_MAX as usize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_has_at_most_40_bytes() {
        assert!(size_of::<Value>() <= 40);
    }
}
