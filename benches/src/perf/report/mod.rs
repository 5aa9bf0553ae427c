//! `report`: results as one HTML file without scripts and external resources.
//!
//! | file | content |
//! |---|---|
//! | `figure` | lines in a frame, as SVG |
//! | `axis` | axes and their marks |
//! | `page` | the page: figures, tables, text |
//! | `page.css` | its style, light and dark |

mod axis;
mod figure;
mod page;

pub(crate) use figure::escaped;

use crate::perf::options::Report;
use crate::perf::record::{self, Interval, Outcome, Record};
use crate::perf::{Failure, Result, summary};

/// One result and its intervals.
#[derive(Debug, Clone)]
struct Measured {
    outcome: Outcome,
    intervals: Vec<Interval>,
}

/// Reads the files and writes the page.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written, or if no file has a result.
pub fn run(report: &Report) -> Result<()> {
    let mut records = Vec::new();
    for file in &report.files {
        records.extend(record::read(file)?);
    }
    let measured = sort(records);
    if measured.is_empty() {
        return Err(Failure::new("expected at least one result: a run that ended early has none"));
    }
    let html = page::of(&report.title, &measured);
    std::fs::write(&report.output, html)
        .map_err(|error| Failure::new(format!("--output {}: {error}", report.output.display())))?;
    Ok(summary::print(&format!("{}: {} results", report.output.display(), measured.len()))?)
}

/// Assigns the intervals to their results.
fn sort(records: Vec<Record>) -> Vec<Measured> {
    let (mut outcomes, mut intervals) = (Vec::new(), Vec::new());
    for record in records {
        match record {
            Record::Interval(interval) => intervals.push(*interval),
            Record::Result(outcome) => outcomes.push(*outcome),
        }
    }
    let of = |outcome: Outcome| {
        let own = |interval: &&Interval| interval.run == outcome.run && interval.case == outcome.case;
        let intervals = intervals.iter().filter(own).cloned().collect();
        Measured { outcome, intervals }
    };
    outcomes.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::record::tests::{interval, outcome};

    #[test]
    fn page_has_each_result_and_no_external_resource() {
        let latencies: Vec<u64> = (0..2000).map(|n| 10_000 + n * n).collect();
        let mut other = outcome("second <b>", &latencies);
        other.run = "other".into();
        other.floor = Some(other.latency.clone());
        let records = vec![
            Record::Interval(Box::new(interval(1.0, 12_000))),
            Record::Interval(Box::new(interval(2.0, 13_000))),
            Record::Result(Box::new(outcome("first", &latencies))),
            Record::Result(Box::new(other)),
        ];
        let measured = sort(records);
        assert_eq!(measured.iter().map(|one| one.intervals.len()).collect::<Vec<_>>(), [2, 0]);
        let html = page::of("Some & title", &measured);
        for part in ["first", "second &lt;b&gt;", "Some &amp; title", "<svg", "99.9 %", "prefers-color-scheme: dark"] {
            assert!(html.contains(part), "{part} is missing");
        }
        for foreign in ["http://", "https://", "<script", "@import", "url(", "second <b>"] {
            assert!(!html.contains(foreign), "{foreign} is in it");
        }
        for tag in ["svg", "table", "section", "ul", "details"] {
            let count = |what: String| html.matches(&what).count();
            assert_eq!(count(format!("<{tag}")), count(format!("</{tag}>")), "{tag}");
        }
    }

    #[test]
    fn result_without_samples_is_shown() {
        let html = page::of("empty", &sort(vec![Record::Result(Box::new(outcome("nothing", &[])))]));
        assert!(html.contains("nothing") && !html.contains("NaN") && !html.contains("inf"));
    }
}
