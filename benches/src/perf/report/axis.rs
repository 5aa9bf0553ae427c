//! Axes of a figure and their marks.

/// The mapping of values to positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Logarithmic,
}

/// One side of a frame.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) label: &'static str,
    scale: Scale,
    min: f64,
    max: f64,
    /// Value and text.
    pub(super) marks: Vec<(f64, String)>,
}

impl Axis {
    /// From zero to the largest value.
    pub(super) fn linear(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let largest = values.fold(0.0, f64::max);
        let step = step(largest);
        let steps = (largest / step).ceil().max(1.0);
        let marks = (0..=steps as u32).map(|at| f64::from(at) * step).map(|value| (value, short(value))).collect();
        Self { label, scale: Scale::Linear, min: 0.0, max: steps * step, marks }
    }

    /// Around all values, which are more than zero.
    pub(super) fn logarithmic(label: &'static str, values: impl Iterator<Item = f64> + Clone) -> Self {
        let values = values.filter(|value| *value > 0.0);
        let smallest = values.clone().fold(f64::INFINITY, f64::min);
        let largest = values.fold(0.0, f64::max);
        let (smallest, largest) = if smallest <= largest { (smallest, largest) } else { (1.0, 10.0) };
        let all = || (-3..=12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let min = all().rfind(|mark| *mark <= smallest).unwrap_or(smallest);
        let max = all().find(|mark| *mark >= largest && *mark > min).unwrap_or(largest);
        let is_wide = max / min > 1000.0;
        let is_power = |mark: f64| (mark.log10() - mark.log10().round()).abs() < 1e-9;
        let marks = all().filter(|mark| (min..=max).contains(mark) && (!is_wide || is_power(*mark)));
        Self { label, scale: Scale::Logarithmic, min, max, marks: marks.map(|mark| (mark, short(mark))).collect() }
    }

    /// Marks at 0, 90, 99, 99.9 … %, up to the resolution of `values`. Positions are [`percentile`]s.
    pub(super) fn percentiles(values: u64) -> Self {
        let nines = (values.max(10) as f64).log10().ceil().min(7.0);
        let text = |nines: u32| match nines {
            0 => "0 %".to_owned(),
            1 | 2 => format!("{} %", 100 - 10_u32.pow(2 - nines)),
            _ => format!("99.{} %", "9".repeat(nines as usize - 2)),
        };
        let marks = (0..=nines as u32).map(|at| (f64::from(at), text(at))).collect();
        Self { label: "percentile", scale: Scale::Linear, min: 0.0, max: nines, marks }
    }

    /// From 0 to 1, for values inside of it.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.min) / (self.max - self.min),
            Scale::Logarithmic => (value.max(self.min) / self.min).ln() / (self.max / self.min).ln(),
        };
        place.clamp(0.0, 1.0)
    }
}

/// The position of a quantile on an axis of percentiles: its number of nines.
pub(super) fn percentile(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-12).log10()
}

/// A round number of which about five reach `largest`.
fn step(largest: f64) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let rough = largest / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= rough * 0.999).unwrap_or(10.0);
    digit * power
}

/// With k and M.
pub(super) fn short(value: f64) -> String {
    let (value, unit) = match value {
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.marks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn linear_marks_are_round_and_exceed_the_largest() {
        let axis = Axis::linear("", [3.0, 47.0].into_iter());
        assert_eq!(texts(&axis), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!((axis.place(0.0), axis.place(25.0), axis.place(50.0)), (0.0, 0.5, 1.0));
        assert_eq!(texts(&Axis::linear("", [151_000.0].into_iter())), ["0", "50k", "100k", "150k", "200k"]);
        assert_eq!(texts(&Axis::linear("", std::iter::empty())), ["0", "1"]);
    }

    #[test]
    fn logarithmic_marks_enclose_all_values() {
        let axis = Axis::logarithmic("", [12.0, 90.0].into_iter());
        assert_eq!(texts(&axis), ["10", "20", "50", "100"]);
        assert!((axis.place(31.622_776_6) - 0.5).abs() < 1e-6);
        assert_eq!(texts(&Axis::logarithmic("", [12.0, 90_000.0].into_iter())), ["10", "100", "1k", "10k", "100k"]);
        assert!(Axis::logarithmic("", std::iter::empty()).place(5.0).is_finite());
    }

    #[test]
    fn percentile_marks_match_the_number_of_values() {
        assert_eq!(texts(&Axis::percentiles(5000)), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        let axis = Axis::percentiles(1000);
        assert!((axis.place(percentile(0.99)) - 2.0 / 3.0).abs() < 1e-9);
        assert!((axis.place(percentile(1.0)) - 1.0).abs() < 1e-9);
    }
}
