//! Content filters that a scenario draws, and what they let in.

use super::dice::Dice;
use super::logs::SHARED;
use std::fmt::Write;

/// What a reader wants to see of a topic. It asks for nothing that changes from try to try: the number and the writer of a
/// sample say what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Numbers that are let in, from … to; none: it asks for the key only.
    bands: Vec<(u32, u32)>,
    /// A writer of which nothing is.
    unwanted: u32,
    /// Only instances of one writer, or only those of several, or both.
    shared: Option<bool>,
}

impl Filter {
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        if dice.falls(15) {
            return Self { bands: Vec::new(), unwanted: 0, shared: Some(dice.falls(50)) };
        }
        let mut next = 1;
        let mut band = || {
            let from = next + dice.below(12) as u32;
            let to = from + dice.below(12) as u32;
            next = to + 2;
            (from, to)
        };
        let mut bands: Vec<(u32, u32)> = (0..4).map(|_| band()).collect();
        // The rest of its life, so that what is said last is seen, or not.
        if dice.falls(70) {
            bands.push((next + 5, 1_000_000));
        }
        let unwanted = dice.below(8) as u32;
        Self { bands, unwanted, shared: dice.falls(30).then(|| dice.falls(50)) }
    }

    /// In the words of DDS, with all values as parameters.
    pub(crate) fn expression(&self) -> String {
        let key = match self.shared {
            Some(true) => format!("instance >= {SHARED}"),
            Some(false) => format!("NOT (instance >= {SHARED})"),
            None => String::new(),
        };
        if self.bands.is_empty() {
            return key;
        }
        let mut expression = String::from("writer <> %0 AND (");
        for at in 0..self.bands.len() {
            let (or, from) = (if at > 0 { " OR " } else { "" }, 2 * at + 1);
            write!(expression, "{or}number BETWEEN %{from} AND %{}", from + 1).unwrap();
        }
        let and = if key.is_empty() { "" } else { " AND " };
        expression + ")" + and + &key
    }

    pub(crate) fn parameters(&self) -> Vec<u32> {
        if self.bands.is_empty() {
            return Vec::new();
        }
        let bounds = self.bands.iter().flat_map(|(from, to)| [*from, *to]);
        std::iter::once(self.unwanted).chain(bounds).collect()
    }

    /// Whether a sample is let in.
    pub(crate) fn passes(&self, writer: u32, number: u32, instance: u32) -> bool {
        let is_wanted = || self.bands.iter().any(|(from, to)| (*from..=*to).contains(&number));
        self.fits_key(instance) && (self.bands.is_empty() || (writer != self.unwanted && is_wanted()))
    }

    /// Whether the end of an instance is: if the filter asks for more than the key, it may have let samples of it in.
    pub(crate) fn passes_end(&self, instance: u32) -> bool {
        !self.bands.is_empty() || self.fits_key(instance)
    }

    fn fits_key(&self, instance: u32) -> bool {
        self.shared.is_none_or(|shared| shared == (instance >= SHARED))
    }
}
