//! Why does nothing arrive? A reader and some writers, each with another obstacle, and what the library says about them.
//!
//! ```text
//! doctor                       the writers are made in this process, each in a participant of its own
//! ```

use dds_core::qos::{Preset, PublisherQos};
use dds_core::{DdsType, DomainParticipant, Entity, MatchReport, Obstacle, Result, Scope, Verdict, WaitSet};
use std::time::Duration;

/// What a laser sees.
#[derive(DdsType)]
struct Scan {
    ranges: Vec<f32>,
}

/// The same topic, by somebody who has changed the type since.
#[derive(DdsType)]
#[dds(name = "Scan")]
struct NewScan {
    ranges: Vec<f64>,
}

fn main() -> Result<()> {
    let station = participant("station")?;
    let reader = station.reader_builder::<Scan>("scan").qos(Preset::Command).build()?;

    let (unreliable, updated, hidden, misspelt) =
        (participant("unreliable")?, participant("updated")?, participant("hidden")?, participant("misspelt")?);
    let _unreliable = unreliable.writer_builder::<Scan>("scan").qos(Preset::SensorData).build()?;
    let _updated = updated.writer::<NewScan>("scan")?;
    let publisher = hidden.publisher(PublisherQos::default().partition(["cellar"]))?;
    let _hidden = publisher.writer::<Scan>("scan")?;
    let _misspelt = misspelt.writer::<Scan>("scans")?;
    let fitting = participant("fitting")?;
    let writer = fitting.writer_builder::<Scan>("scan").qos(Preset::Command).build()?;

    // The reader's status tells of matches and of policies that do not fit; the reports tell of everything.
    let changes = WaitSet::new(&station);
    let status = reader.status_condition();
    changes.attach(&status);
    let is_known = |report: &MatchReport| match &report.verdict {
        Verdict::NotMatched(obstacles) => !obstacles.contains(&Obstacle::TypePending),
        Verdict::Matched => true,
    };
    while reader.explain_matches().iter().filter(|report| is_known(report)).count() < 4 {
        // Endpoints that differ in type or partition change no status: look again soon.
        let _ = changes.wait().block_for(Duration::from_millis(50));
    }
    for report in reader.explain_matches() {
        println!("{report}");
    }
    let repairable = reader.explain_matches().into_iter().filter_map(|report| match report.verdict {
        Verdict::NotMatched(obstacles) => obstacles.into_iter().next(),
        Verdict::Matched => None,
    });
    for obstacle in repairable {
        let kind = match obstacle {
            Obstacle::Qos { .. } => "a policy",
            Obstacle::Partition { .. } => "a partition",
            Obstacle::Type { .. } | Obstacle::TypeName { .. } => "a type",
            _ => "something else",
        };
        println!("to be repaired: {kind}");
    }

    writer.wait_for_readers(1).block_for(Duration::from_secs(10))?;
    writer.write(&Scan { ranges: vec![0.5; 3] })?;
    let scan = reader.next_sample().block_for(Duration::from_secs(10))?.data;
    println!("{} ranges of {}", scan.map_or(0, |scan| scan.ranges.len()), writer.guid());

    // What matches and still does not arrive: counted for each writer, by cause.
    println!("{}", reader.losses()?);

    // A reader that meets nobody is told of names that look like its own.
    drop((reader, writer));
    let lonely = station.reader::<Scan>("scanss")?;
    println!("{}", lonely.explain_matches().first().map_or("nothing is like it".to_owned(), ToString::to_string));
    Ok(())
}

fn participant(name: &str) -> Result<DomainParticipant> {
    Ok(DomainParticipant::builder(0).name(name).scope(Scope::Host).build()?)
}
