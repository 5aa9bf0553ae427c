//! Patterns of `LIKE` and `MATCH`.
//!
//! A pattern is a sequence of at most [`CHARACTERS_MAX`] positions of one character each, with `%` or `*` between them.
//! Matching keeps the set of all possible next positions as the bits of one integer. Each character of the text takes
//! the same time for any pattern. With backtracking, a peer's pattern could take time proportional to the product of
//! both lengths.
//!
//! All patterns of an expression share one [`PatternBudget`]. A parameter is compiled at each use, and an expression
//! could use a long list a thousand times.

use super::error::ExpressionErrorKind;
use super::syntax::Language;
use crate::cdr::FieldValue;

/// A pattern, or a list of patterns of which one must match.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone)]
struct Alternative {
    /// For each ASCII character, its index in `positions`.
    ascii: Box<[u8; 128]>,
    /// The same for other characters, in ascending order.
    others: Vec<(char, u8)>,
    /// The positions of each different character. Index 0 is empty, for characters that the pattern does not contain.
    positions: Vec<u128>,
    /// The positions that accept any character.
    any: u128,
    /// The positions that accept a character of a set.
    sets: Vec<(u128, CharacterSet)>,
    /// The positions with `%` or `*` before them.
    repeats: u128,
    /// The number of positions.
    len: usize,
}

#[derive(Debug, Clone)]
struct CharacterSet {
    is_negated: bool,
    ranges: Vec<(char, char)>,
}

/// Most positions of one pattern: one less than the bits of a `u128`.
pub(super) const CHARACTERS_MAX: usize = 127;

/// Most patterns of one list.
pub(super) const ALTERNATIVES_MAX: usize = 32;

/// Most patterns of one expression, including those in lists. Each takes about 2 ns for a character of a text.
pub(super) const PATTERNS_MAX: usize = 64;

/// Most positions of all patterns of one expression: enough for one list of maximum size. Each takes at most 24 bytes.
pub(super) const POSITIONS_MAX: usize = 4_096;

/// Most characters and ranges in all sets of one expression. Each takes about 2 ns for a character of a text.
pub(super) const RANGES_MAX: usize = 256;

/// The remaining capacity for patterns of one expression.
#[derive(Debug)]
pub(super) struct PatternBudget {
    patterns: usize,
    positions: usize,
    ranges: usize,
}

impl PatternBudget {
    pub(super) fn new() -> Self {
        Self { patterns: PATTERNS_MAX, positions: POSITIONS_MAX, ranges: RANGES_MAX }
    }
}

/// Takes one unit of a budget.
fn take(left: &mut usize, of: &'static str, max: usize) -> Result<(), ExpressionErrorKind> {
    // One budget for all patterns of an expression, because a peer may send many of them.
    *left = left.checked_sub(1).ok_or(ExpressionErrorKind::PatternsTooLarge { of, max })?;
    Ok(())
}

impl Pattern {
    pub(super) fn new(text: &str, language: Language, budget: &mut PatternBudget) -> Result<Self, ExpressionErrorKind> {
        let mut alternatives = match language {
            Language::Sql => vec![sql(text, budget)?],
            Language::Shell => shell(text, budget)?,
        };
        alternatives.shrink_to_fit();
        for alternative in &mut alternatives {
            alternative.shrink_to_fit();
        }
        Ok(Self { alternatives })
    }

    pub(super) fn matches(&self, value: FieldValue<'_>) -> bool {
        // An absent field matches no pattern, not even `%`.
        if !matches!(value, FieldValue::Text(_) | FieldValue::WideText(..)) {
            return false;
        }
        for alternative in &self.alternatives {
            if alternative.matches(value.characters()) {
                return true;
            }
        }
        false
    }
}

impl Alternative {
    fn new(budget: &mut PatternBudget) -> Result<Self, ExpressionErrorKind> {
        take(&mut budget.patterns, "patterns", PATTERNS_MAX)?;
        let (ascii, others, positions) = (Box::new([0; 128]), Vec::new(), vec![0]);
        Ok(Self { ascii, others, positions, any: 0, sets: Vec::new(), repeats: 0, len: 0 })
    }

    fn position(&mut self, budget: &mut PatternBudget) -> Result<u128, ExpressionErrorKind> {
        take(&mut budget.positions, "characters", POSITIONS_MAX)?;
        // Bit 127 is the end of the pattern.
        if self.len == CHARACTERS_MAX {
            return Err(ExpressionErrorKind::PatternTooLong { max: CHARACTERS_MAX });
        }
        self.len += 1;
        // Each position is one bit, so that a step moves all positions at once.
        Ok(1 << (self.len - 1))
    }

    fn character(&mut self, character: char, budget: &mut PatternBudget) -> Result<(), ExpressionErrorKind> {
        let position = self.position(budget)?;
        // There are at most as many different characters as positions, so the index is at most 127.
        debug_assert!(self.positions.len() <= CHARACTERS_MAX, "at most one index for each position");
        let next = self.positions.len() as u8;
        let index = match self.ascii.get_mut(character as usize) {
            Some(index) => {
                if *index == 0 {
                    *index = next;
                }
                *index
            }
            None => match self.others.binary_search_by_key(&character, |(other, _)| *other) {
                Ok(at) => self.others.get(at).map_or(next, |(_, index)| *index),
                Err(at) => {
                    self.others.insert(at, (character, next));
                    next
                }
            },
        };
        match self.positions.get_mut(usize::from(index)) {
            Some(positions) => *positions |= position,
            None => self.positions.push(position),
        }
        Ok(())
    }

    fn any(&mut self, budget: &mut PatternBudget) -> Result<(), ExpressionErrorKind> {
        self.any |= self.position(budget)?;
        Ok(())
    }

    fn repeat(&mut self) {
        // Before the next position, or at the end, any number of characters may stand.
        self.repeats |= 1 << self.len;
    }

    fn set(&mut self, set: CharacterSet, budget: &mut PatternBudget) -> Result<(), ExpressionErrorKind> {
        let position = self.position(budget)?;
        self.sets.push((position, set));
        Ok(())
    }

    fn shrink_to_fit(&mut self) {
        self.others.shrink_to_fit();
        self.positions.shrink_to_fit();
        self.sets.shrink_to_fit();
        for (_, set) in &mut self.sets {
            set.ranges.shrink_to_fit();
        }
    }

    /// The positions that accept a character.
    fn positions_of(&self, character: char) -> u128 {
        let index = match self.ascii.get(character as usize) {
            Some(index) => *index,
            None => {
                // Index 0 stands for the characters that the pattern does not name.
                let found = self.others.binary_search_by_key(&character, |(other, _)| *other);
                match found.ok().and_then(|at| self.others.get(at)) {
                    Some((_, index)) => *index,
                    None => 0,
                }
            }
        };
        let mut positions = self.any | self.positions.get(usize::from(index)).copied().unwrap_or_default();
        for (position, set) in &self.sets {
            if set.has(character) {
                positions |= position;
            }
        }
        positions
    }

    fn matches(&self, text: impl Iterator<Item = char>) -> bool {
        // Bit `n` is set if the text so far can be followed by position `n`. Bit `len` is the end of the pattern.
        let mut next = 1_u128;
        for character in text {
            // Matching characters move on, repeats stay: the time is linear in the text.
            next = (next & self.positions_of(character)) << 1 | next & self.repeats;
            if next == 0 {
                return false;
            }
        }
        next >> self.len & 1 == 1
    }
}

#[cfg(test)]
impl Pattern {
    /// Allocated bytes.
    pub(super) fn memory(&self) -> usize {
        let of_set = |(_, set): &(u128, CharacterSet)| {
            size_of::<(u128, CharacterSet)>() + set.ranges.capacity() * size_of::<(char, char)>()
        };
        let of_alternative = |one: &Alternative| {
            let table = 128 + one.others.capacity() * size_of::<(char, u8)>() + one.positions.capacity() * 16;
            size_of::<Alternative>() + table + one.sets.iter().map(of_set).sum::<usize>()
        };
        self.alternatives.iter().map(of_alternative).sum()
    }
}

impl CharacterSet {
    fn has(&self, character: char) -> bool {
        let is_in = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        is_in != self.is_negated
    }
}

fn sql(text: &str, budget: &mut PatternBudget) -> Result<Alternative, ExpressionErrorKind> {
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

/// Parses `*`, `?`, `[a-z]`, `[!a-z]` or `[^a-z]`, `\` as an escape, and `,` between patterns.
fn shell(text: &str, budget: &mut PatternBudget) -> Result<Vec<Alternative>, ExpressionErrorKind> {
    let (mut alternatives, mut pattern) = (Vec::new(), Alternative::new(budget)?);
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ',' if alternatives.len() + 1 == ALTERNATIVES_MAX => {
                return Err(ExpressionErrorKind::PatternTooLong { max: ALTERNATIVES_MAX });
            }
            ',' => alternatives.push(std::mem::replace(&mut pattern, Alternative::new(budget)?)),
            '*' => pattern.repeat(),
            '?' => pattern.any(budget)?,
            '[' => pattern.set(set(&mut rest, budget)?, budget)?,
            // A backslash at the end stands for itself.
            '\\' => pattern.character(rest.next().unwrap_or('\\'), budget)?,
            other => pattern.character(other, budget)?,
        }
    }
    alternatives.push(pattern);
    Ok(alternatives)
}

/// Parses a set after its `[`. A `]` at the first position is a character of the set, as in POSIX.
fn set(rest: &mut std::str::Chars<'_>, budget: &mut PatternBudget) -> Result<CharacterSet, ExpressionErrorKind> {
    let mut set = CharacterSet { is_negated: false, ranges: Vec::new() };
    if rest.as_str().starts_with(['!', '^']) {
        set.is_negated = true;
        rest.next();
    }
    loop {
        let first = match rest.next().ok_or(ExpressionErrorKind::OpenSet)? {
            // As in a shell, `]` as the first character belongs to the set.
            ']' if !set.ranges.is_empty() => return Ok(set),
            '\\' => rest.next().ok_or(ExpressionErrorKind::OpenSet)?,
            other => other,
        };
        let mut ahead = rest.clone();
        let last = match (ahead.next(), ahead.next()) {
            // `-` before the end of the set stands for itself.
            (Some('-'), Some(last)) if last != ']' => {
                *rest = ahead;
                if last == '\\' { rest.next().ok_or(ExpressionErrorKind::OpenSet)? } else { last }
            }
            _ => first,
        };
        take(&mut budget.ranges, "characters and ranges in sets", RANGES_MAX)?;
        set.ranges.push((first, last));
    }
}
