//! Explains why samples do not arrive: a reader, and several writers that do not match it for different reasons.
//!
//! The program takes no arguments. It creates each writer in its own participant.

use dds_core::condition::WaitSet;
use dds_core::matching::{MatchReport, Obstacle};
use dds_core::qos::{Preset, PublisherQos};
use dds_core::{DdsType, DomainParticipant, Result, Scope};
use std::time::Duration;

/// One scan of a laser.
#[derive(DdsType)]
struct Scan {
    ranges: Vec<f32>,
}

/// A later version of the type, with the same name.
#[derive(DdsType)]
#[dds(name = "Scan")]
struct NewScan {
    ranges: Vec<f64>,
}

fn main() -> Result<()> {
    let station = participant("station")?;
    let reader = station.reader_builder::<Scan>("scan").qos(Preset::Command).build()?;

    let (unreliable, updated, hidden, misspelled) =
        (participant("unreliable")?, participant("updated")?, participant("hidden")?, participant("misspelled")?);
    let _unreliable = unreliable.writer_builder::<Scan>("scan").qos(Preset::SensorData).build()?;
    let _updated = updated.writer::<NewScan>("scan")?;
    let publisher = hidden.publisher(PublisherQos::default().partition(["cellar"]))?;
    let _hidden = publisher.writer::<Scan>("scan")?;
    let _misspelled = misspelled.writer::<Scan>("scans")?;
    let fitting = participant("fitting")?;
    let writer = fitting.writer_builder::<Scan>("scan").qos(Preset::Command).build()?;

    // The status of the reader reports matches and incompatible policies. The match reports cover all obstacles.
    let changes = WaitSet::new(&station);
    let status = reader.status_condition();
    changes.attach(&status);
    // Such an obstacle lasts a moment, until the peer has answered.
    let is_passing = |obstacle: &Obstacle| matches!(obstacle, Obstacle::TypePending | Obstacle::NoAnswer { .. });
    let is_known = |report: &MatchReport| !report.obstacles.iter().any(is_passing);
    while reader.explain_matches().iter().filter(|report| is_known(report)).count() < 4 {
        // A mismatch of types or partitions does not change a status, so the wait is short.
        let _ = changes.wait().block_for(Duration::from_millis(50));
    }
    for report in reader.explain_matches() {
        println!("{report}");
    }
    for report in reader.explain_matches() {
        let kind = match report.obstacles.first() {
            Some(Obstacle::Qos { .. }) => "a policy",
            Some(Obstacle::Partition { .. }) => "a partition",
            Some(Obstacle::Type { .. } | Obstacle::TypeName { .. }) => "a type",
            Some(_) => "another setting",
            None => continue,
        };
        println!("to fix: {kind}");
    }

    writer.wait_for_readers(1).block_for(Duration::from_secs(10))?;
    writer.write(&Scan { ranges: vec![0.5; 3] })?;
    let scan = reader.next_sample().block_for(Duration::from_secs(10))?.data;
    println!("{} ranges of {}", scan.map_or(0, |scan| scan.ranges.len()), writer.guid());

    // Lost samples of matched writers, counted by cause.
    println!("{}", reader.losses());

    // Without a writer of its topic, the reader learns of topics with similar names.
    drop((reader, writer));
    let unmatched = station.reader::<Scan>("scanss")?;
    match unmatched.explain_matches().first() {
        Some(report) => println!("{report}"),
        None => println!("no similar topic"),
    }
    Ok(())
}

fn participant(name: &str) -> Result<DomainParticipant> {
    Ok(DomainParticipant::builder(0).name(name).scope(Scope::Host).build()?)
}
