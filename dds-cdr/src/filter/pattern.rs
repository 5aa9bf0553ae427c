//! Patterns of `LIKE` and `MATCH`.
//!
//! A pattern is a row of at most [`CHARACTERS_MAX`] places, each for one character, with `%` or `*` between them. It is
//! compared by keeping the set of all places that could come next, as bits of one number: each character of the text costs
//! the same, whatever the pattern. Going back, as is usual, would let a peer's pattern cost the product of both lengths.
//!
//! All patterns of an expression share one [`Budget`]: a parameter is compiled at each mention, and with a few bytes each a
//! long list could be named a thousand times.

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
    /// By character of ASCII, which of `places` are its own.
    ascii: Box<[u8; 128]>,
    /// The same of characters that are none of ASCII, in order.
    others: Vec<(char, u8)>,
    /// The places of each different character, and first those of all that have none.
    places: Vec<u128>,
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

/// Patterns of one expression, those of lists among them. Each looks at every character of a text: some 2 ns.
pub(super) const PATTERNS_MAX: usize = 64;

/// Places of all patterns of one expression: a list that uses all of its bounds fits. Each takes 24 bytes at most.
pub(super) const PLACES_MAX: usize = 4_096;

/// Characters and ranges in all sets of one expression. Each may be compared with every character of a text: some 2 ns.
pub(super) const RANGES_MAX: usize = 256;

/// What is left for the patterns of one expression.
#[derive(Debug)]
pub(super) struct Budget {
    patterns: usize,
    places: usize,
    ranges: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { patterns: PATTERNS_MAX, places: PLACES_MAX, ranges: RANGES_MAX }
    }
}

/// Takes one of what is left.
fn take(left: &mut usize, of: &'static str, max: usize) -> Result<(), FilterErrorKind> {
    *left = left.checked_sub(1).ok_or(FilterErrorKind::PatternsTooLarge { of, max })?;
    Ok(())
}

impl Pattern {
    pub(super) fn new(text: &str, language: Language, budget: &mut Budget) -> Result<Self, FilterErrorKind> {
        let mut alternatives = match language {
            Language::Sql => vec![sql(text, budget)?],
            Language::Shell => shell(text, budget)?,
        };
        alternatives.shrink_to_fit();
        alternatives.iter_mut().for_each(Alternative::shrink_to_fit);
        Ok(Self { alternatives })
    }

    pub(super) fn fits(&self, value: FieldValue<'_>) -> bool {
        matches!(value, FieldValue::Text(_) | FieldValue::WideText(..))
            && self.alternatives.iter().any(|alternative| alternative.fits(value.characters()))
    }
}

impl Alternative {
    fn new(budget: &mut Budget) -> Result<Self, FilterErrorKind> {
        take(&mut budget.patterns, "patterns", PATTERNS_MAX)?;
        let (ascii, others, places) = (Box::new([0; 128]), Vec::new(), vec![0]);
        Ok(Self { ascii, others, places, any: 0, sets: Vec::new(), repeats: 0, len: 0 })
    }

    fn place(&mut self, budget: &mut Budget) -> Result<u128, FilterErrorKind> {
        take(&mut budget.places, "characters", PLACES_MAX)?;
        if self.len == CHARACTERS_MAX {
            return Err(FilterErrorKind::PatternTooLong { max: CHARACTERS_MAX });
        }
        self.len += 1;
        Ok(1 << (self.len - 1))
    }

    fn character(&mut self, character: char, budget: &mut Budget) -> Result<(), FilterErrorKind> {
        let place = self.place(budget)?;
        // There are no more different characters than places, so that they have numbers up to 127.
        let next = self.places.len() as u8;
        let row = match self.ascii.get_mut(character as usize) {
            Some(row) if *row == 0 => std::mem::replace(row, next).max(next),
            Some(row) => *row,
            None => match self.others.binary_search_by_key(&character, |(other, _)| *other) {
                Ok(at) => self.others.get(at).map_or(next, |(_, row)| *row),
                Err(at) => {
                    self.others.insert(at, (character, next));
                    next
                }
            },
        };
        match self.places.get_mut(usize::from(row)) {
            Some(places) => *places |= place,
            None => self.places.push(place),
        }
        Ok(())
    }

    fn any(&mut self, budget: &mut Budget) -> Result<(), FilterErrorKind> {
        self.any |= self.place(budget)?;
        Ok(())
    }

    fn repeat(&mut self) {
        self.repeats |= 1 << self.len;
    }

    fn set(&mut self, set: Set, budget: &mut Budget) -> Result<(), FilterErrorKind> {
        let place = self.place(budget)?;
        self.sets.push((place, set));
        Ok(())
    }

    fn shrink_to_fit(&mut self) {
        self.others.shrink_to_fit();
        self.places.shrink_to_fit();
        self.sets.shrink_to_fit();
        self.sets.iter_mut().for_each(|(_, set)| set.ranges.shrink_to_fit());
    }

    /// The places where a character may stand.
    fn places_of(&self, character: char) -> u128 {
        let row = match self.ascii.get(character as usize) {
            Some(row) => *row,
            None => {
                let found = self.others.binary_search_by_key(&character, |(other, _)| *other).ok();
                found.and_then(|at| self.others.get(at)).map_or(0, |(_, row)| *row)
            }
        };
        let literal = self.places.get(usize::from(row)).copied().unwrap_or_default();
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

#[cfg(test)]
impl Pattern {
    /// Bytes that it has allocated.
    pub(super) fn memory(&self) -> usize {
        let of_set =
            |(_, set): &(u128, Set)| size_of::<(u128, Set)>() + set.ranges.capacity() * size_of::<(char, char)>();
        let of_alternative = |one: &Alternative| {
            let table = 128 + one.others.capacity() * size_of::<(char, u8)>() + one.places.capacity() * 16;
            size_of::<Alternative>() + table + one.sets.iter().map(of_set).sum::<usize>()
        };
        self.alternatives.iter().map(of_alternative).sum()
    }
}

impl Set {
    fn has(&self, character: char) -> bool {
        let is_in = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        is_in != self.is_negated
    }
}

fn sql(text: &str, budget: &mut Budget) -> Result<Alternative, FilterErrorKind> {
    let mut pattern = Alternative::new(budget)?;
    for character in text.chars() {
        match character {
            '%' => pattern.repeat(),
            '_' => pattern.any(budget)?,
            other => pattern.character(other, budget)?,
        }
    }
    Ok(pattern)
}

/// `*`, `?`, `[a-z]`, `[!a-z]` or `[^a-z]`, `\` before what would mean something, `,` between patterns.
fn shell(text: &str, budget: &mut Budget) -> Result<Vec<Alternative>, FilterErrorKind> {
    let (mut alternatives, mut pattern) = (Vec::new(), Alternative::new(budget)?);
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ',' if alternatives.len() + 1 == ALTERNATIVES_MAX => {
                return Err(FilterErrorKind::PatternTooLong { max: ALTERNATIVES_MAX });
            }
            ',' => alternatives.push(std::mem::replace(&mut pattern, Alternative::new(budget)?)),
            '*' => pattern.repeat(),
            '?' => pattern.any(budget)?,
            '[' => pattern.set(set(&mut rest, budget)?, budget)?,
            '\\' => pattern.character(rest.next().unwrap_or('\\'), budget)?,
            other => pattern.character(other, budget)?,
        }
    }
    alternatives.push(pattern);
    Ok(alternatives)
}

/// What stands between brackets. A `]` that comes first is a character of the set, as POSIX says.
fn set(rest: &mut std::str::Chars<'_>, budget: &mut Budget) -> Result<Set, FilterErrorKind> {
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
        take(&mut budget.ranges, "characters and ranges in sets", RANGES_MAX)?;
        set.ranges.push((first, last));
    }
}
