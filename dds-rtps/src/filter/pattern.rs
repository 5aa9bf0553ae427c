//! Patterns of `LIKE` and `MATCH`.
//!
//! A pattern is a row of at most [`CHARACTERS_MAX`] places, each for one character, with `%` or `*` between them. It is
//! compared by keeping the set of all places that could come next, as bits of one number: each character of the text costs
//! the same, whatever the pattern. Going back, as is usual, would let a peer's pattern cost the product of both lengths.

use super::error::FilterErrorKind;
use super::syntax::Language;
use crate::cdr::FieldValue;

/// A pattern, or several of which one must fit.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone)]
struct Alternative {
    /// By character of ASCII, the places where it may stand.
    ascii: Box<[u128; 128]>,
    /// Where a character stands that is none of ASCII.
    others: Vec<(char, u128)>,
    /// Where any character may stand.
    any: u128,
    /// Where a character of a set may stand.
    sets: Vec<(u128, Set)>,
    /// In front of which places any number of characters may stand.
    repeats: u128,
    /// How many places there are.
    len: usize,
}

#[derive(Debug, Clone)]
struct Set {
    is_negated: bool,
    ranges: Vec<(char, char)>,
}

/// Places of one pattern: one less than a number has bits.
pub(super) const CHARACTERS_MAX: usize = 127;

/// Patterns of one list.
pub(super) const ALTERNATIVES_MAX: usize = 32;

impl Pattern {
    pub(super) fn new(text: &str, language: Language) -> Result<Self, FilterErrorKind> {
        let alternatives = match language {
            Language::Sql => vec![sql(text)?],
            Language::Shell => shell(text)?,
        };
        Ok(Self { alternatives })
    }

    pub(super) fn fits(&self, value: FieldValue<'_>) -> bool {
        matches!(value, FieldValue::Text(_) | FieldValue::WideText(..))
            && self.alternatives.iter().any(|alternative| alternative.fits(value.characters()))
    }
}

impl Alternative {
    fn new() -> Self {
        Self { ascii: Box::new([0; 128]), others: Vec::new(), any: 0, sets: Vec::new(), repeats: 0, len: 0 }
    }

    fn place(&mut self) -> Result<u128, FilterErrorKind> {
        if self.len == CHARACTERS_MAX {
            return Err(FilterErrorKind::PatternTooLong { max: CHARACTERS_MAX });
        }
        self.len += 1;
        Ok(1 << (self.len - 1))
    }

    fn character(&mut self, character: char) -> Result<(), FilterErrorKind> {
        let place = self.place()?;
        match self.ascii.get_mut(character as usize) {
            Some(places) => *places |= place,
            None => match self.others.binary_search_by_key(&character, |(other, _)| *other) {
                Ok(at) => self.others.iter_mut().skip(at).take(1).for_each(|(_, places)| *places |= place),
                Err(at) => self.others.insert(at, (character, place)),
            },
        }
        Ok(())
    }

    fn any(&mut self) -> Result<(), FilterErrorKind> {
        self.any |= self.place()?;
        Ok(())
    }

    fn repeat(&mut self) {
        self.repeats |= 1 << self.len;
    }

    fn set(&mut self, set: Set) -> Result<(), FilterErrorKind> {
        let place = self.place()?;
        self.sets.push((place, set));
        Ok(())
    }

    /// The places where a character may stand.
    fn places_of(&self, character: char) -> u128 {
        let literal = match self.ascii.get(character as usize) {
            Some(places) => *places,
            None => {
                let found = self.others.binary_search_by_key(&character, |(other, _)| *other).ok();
                found.and_then(|at| self.others.get(at)).map_or(0, |(_, places)| *places)
            }
        };
        let sets = self.sets.iter().filter(|(_, set)| set.has(character)).fold(0, |places, (place, _)| places | place);
        literal | self.any | sets
    }

    fn fits(&self, text: impl Iterator<Item = char>) -> bool {
        let mut next = 1_u128;
        for character in text {
            next = (next & self.places_of(character)) << 1 | next & self.repeats;
            if next == 0 {
                return false;
            }
        }
        next >> self.len & 1 == 1
    }
}

impl Set {
    fn has(&self, character: char) -> bool {
        let is_in = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        is_in != self.is_negated
    }
}

fn sql(text: &str) -> Result<Alternative, FilterErrorKind> {
    let mut pattern = Alternative::new();
    for character in text.chars() {
        match character {
            '%' => pattern.repeat(),
            '_' => pattern.any()?,
            other => pattern.character(other)?,
        }
    }
    Ok(pattern)
}

/// `*`, `?`, `[a-z]`, `[!a-z]` or `[^a-z]`, `\` before what would mean something, `,` between patterns.
fn shell(text: &str) -> Result<Vec<Alternative>, FilterErrorKind> {
    let (mut alternatives, mut pattern) = (Vec::new(), Alternative::new());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ',' if alternatives.len() + 1 == ALTERNATIVES_MAX => {
                return Err(FilterErrorKind::PatternTooLong { max: ALTERNATIVES_MAX });
            }
            ',' => alternatives.push(std::mem::replace(&mut pattern, Alternative::new())),
            '*' => pattern.repeat(),
            '?' => pattern.any()?,
            '[' => pattern.set(set(&mut rest)?)?,
            '\\' => pattern.character(rest.next().unwrap_or('\\'))?,
            other => pattern.character(other)?,
        }
    }
    alternatives.push(pattern);
    Ok(alternatives)
}

/// What stands between brackets. A `]` that comes first is a character of the set, as POSIX says.
fn set(rest: &mut std::str::Chars<'_>) -> Result<Set, FilterErrorKind> {
    let mut set = Set { is_negated: false, ranges: Vec::new() };
    if rest.as_str().starts_with(['!', '^']) {
        set.is_negated = true;
        rest.next();
    }
    loop {
        let first = match rest.next().ok_or(FilterErrorKind::OpenSet)? {
            ']' if !set.ranges.is_empty() => return Ok(set),
            '\\' => rest.next().ok_or(FilterErrorKind::OpenSet)?,
            other => other,
        };
        let mut ahead = rest.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *rest = ahead;
                if last == '\\' { rest.next().ok_or(FilterErrorKind::OpenSet)? } else { last }
            }
            _ => first,
        };
        set.ranges.push((first, last));
    }
}
