//! Content filters that a scenario draws, and the samples that pass them.

use super::dice::Dice;
use super::logs::SHARED;
use dds_core::filter::FilterExpression;
use std::fmt::Write;

/// A reader's filter of a topic.
///
/// It uses only fields that are the same in every run: number and writer of a sample determine the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Ranges of numbers that pass. Empty: the filter uses only the key.
    bands: Vec<(u32, u32)>,
    /// A writer whose samples do not pass.
    unwanted: u32,
    /// Selects instances of one writer, of several writers, or both.
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
        // The rest of its life, so that the last sample passes or not.
        if dice.falls(70) {
            bands.push((next + 5, 1_000_000));
        }
        let unwanted = dice.below(8) as u32;
        Self { bands, unwanted, shared: dice.falls(30).then(|| dice.falls(50)) }
    }

    /// The DDS filter expression, with all values as parameters.
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

    pub(crate) fn with_parameters(&self) -> FilterExpression {
        FilterExpression::new(self.expression()).parameters(self.parameters())
    }

    pub(crate) fn parameters(&self) -> Vec<u32> {
        if self.bands.is_empty() {
            return Vec::new();
        }
        let bounds = self.bands.iter().flat_map(|(from, to)| [*from, *to]);
        std::iter::once(self.unwanted).chain(bounds).collect()
    }

    /// Returns whether a sample passes.
    pub(crate) fn passes(&self, writer: u32, number: u32, instance: u32) -> bool {
        let is_wanted = || self.bands.iter().any(|(from, to)| (*from..=*to).contains(&number));
        self.fits_key(instance) && (self.bands.is_empty() || (writer != self.unwanted && is_wanted()))
    }

    /// Returns whether the end of an instance passes.
    ///
    /// If the filter uses more than the key, samples of the instance may have passed before.
    pub(crate) fn passes_end(&self, instance: u32) -> bool {
        !self.bands.is_empty() || self.fits_key(instance)
    }

    fn fits_key(&self, instance: u32) -> bool {
        self.shared.is_none_or(|shared| shared == (instance >= SHARED))
    }
}
