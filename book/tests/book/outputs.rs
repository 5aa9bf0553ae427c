//! Output that the documents show: match reports, ledgers of losses, time-outs and log lines, from simulated programs.
//!
//! A simulation repeats each run exactly, so the shown text is exact too.

use crate::reference::check_generated;
use dds_core::qos::{Preset, PublisherQos};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, Duration};
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

#[derive(DdsType, Debug, Clone)]
struct Scan {
    ranges: Vec<f32>,
}

/// A later version of the type, with the same name.
#[derive(DdsType)]
#[dds(name = "Scan")]
struct NewScan {
    ranges: Vec<f64>,
}

fn simulation() -> Simulation {
    Simulation::with_interference(1, Interference::NONE)
}

/// A writer and a reader of `scan` on two hosts.
fn pair(simulation: &Simulation, preset: Preset) -> (DataWriter<Scan>, DataReader<Scan>) {
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = robot.writer_builder("scan").qos(preset).build().unwrap();
    let reader = station.reader_builder("scan").qos(preset).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    (writer, reader)
}

/// A code block. Lines of more than 110 columns continue with an indent of four.
fn shown(text: &str) -> String {
    let mut block = "```text\n".to_owned();
    for line in text.lines() {
        let mut columns = 0;
        for word in line.split_inclusive(' ') {
            if columns + word.trim_end().len() > 110 && columns > 4 {
                block.truncate(block.trim_end().len());
                block += "\n    ";
                columns = 4;
            }
            block += word;
            columns += word.len();
        }
        block += "\n";
    }
    block + "```\n"
}

#[test]
fn explain_output_is_shown() {
    let simulation = simulation();
    let station = simulation.participant("station", 0).unwrap();
    let reader = station.reader_builder::<Scan>("scan").qos(Preset::Command).build().unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let _unreliable = robot.writer_builder::<Scan>("scan").qos(Preset::SensorData).build().unwrap();
    simulation.run_for(Duration::from_secs(2));
    let report = reader.explain_matches()[0].to_string();
    check_generated("book/src/troubleshooting.md", "explain", &shown(&report));
    check_generated("README.md", "explain", &shown(&report));

    let updated = simulation.participant("updated", 0).unwrap();
    let _updated = updated.writer_builder::<NewScan>("scan").qos(Preset::Command).build().unwrap();
    let hidden = simulation.participant("hidden", 0).unwrap();
    let publisher = hidden.publisher(PublisherQos::default().partition(["cellar"])).unwrap();
    let _hidden = publisher.writer_builder::<Scan>("scan").qos(Preset::Command).build().unwrap();
    simulation.run_for(Duration::from_secs(2));
    let mut reports: Vec<String> = reader.explain_matches().iter().map(ToString::to_string).collect();
    reports.retain(|report| !report.contains("RELIABILITY"));
    reports.sort_by_key(|report| report.contains("partition"));
    check_generated("book/src/troubleshooting.md", "explain-others", &shown(&reports.join("\n")));
}

#[test]
fn losses_output_is_shown() {
    let simulation = simulation();
    simulation.set_network(Conditions::hall_wifi());
    let (writer, reader) = pair(&simulation, Preset::SensorData);
    let scan = Scan { ranges: vec![0.5; 1500] };
    for number in 0..200 {
        writer.write(&scan).unwrap();
        simulation.run_for(Duration::from_millis(20));
        // The program is busy for a second after the first half.
        if !(100..=150).contains(&number) {
            reader.take().unwrap();
        }
    }
    let losses = reader.losses().to_string();
    check_generated("book/src/troubleshooting.md", "losses", &shown(&losses));
    check_generated("README.md", "losses", &shown(&losses));
}

#[test]
fn burst_with_default_qos_is_shown() {
    let simulation = simulation();
    let (writer, reader) = pair(&simulation, Preset::Default);
    for _ in 0..100 {
        writer.write(&Scan { ranges: vec![0.5] }).unwrap();
    }
    simulation.run_for(Duration::from_secs(1));
    let seen = reader.take().unwrap().len();
    let text = format!("{seen} seen\n{}", reader.losses());
    check_generated("book/src/troubleshooting.md", "burst", &shown(&text));
}

#[test]
fn timeout_texts_are_shown() {
    let simulation = simulation();
    let limit = Duration::from_secs(3);
    let station = simulation.participant("station", 0).unwrap();
    let reader = station.reader_builder::<Scan>("scan").qos(Preset::Command).build().unwrap();
    let mut errors = vec![reader.next_sample().block_for(limit).unwrap_err()];
    let robot = simulation.participant("robot", 0).unwrap();
    errors.push(reader.next_sample().block_for(limit).unwrap_err());
    let _unreliable = robot.writer_builder::<Scan>("scan").qos(Preset::SensorData).build().unwrap();
    errors.push(reader.next_sample().block_for(limit).unwrap_err());
    let _writer = robot.writer_builder::<Scan>("scan").qos(Preset::Command).build().unwrap();
    errors.push(reader.next_sample().block_for(limit).unwrap_err());
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    check_generated("book/src/troubleshooting.md", "timeout", &shown(&texts.join("\n")));
}

/// Collects log lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[test]
fn warnings_of_the_log_are_shown() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().with_writer(lines.clone()).with_ansi(false).without_time().finish();
    tracing::subscriber::with_default(subscriber, || {
        let simulation = simulation();
        let station = simulation.participant("station", 0).unwrap();
        let reader = station.reader_builder::<Scan>("scan").qos(Preset::Command).build().unwrap();
        let robot = simulation.participant("robot", 0).unwrap();
        let _writer = robot.writer_builder::<Scan>("scan").qos(Preset::SensorData).build().unwrap();
        reader.next_sample().block_for(Duration::from_secs(3)).unwrap_err();
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let warnings: Vec<&str> = text.lines().filter(|line| line.contains("WARN")).collect();
    check_generated("book/src/troubleshooting.md", "log", &shown(&warnings.join("\n")));
}
