//! `dds shapes`: moving shapes of the demo that every DDS vendor ships.

use super::sample_pacer::SamplePacer;
use super::text::write_json;
use crate::error::ToolError;
use crate::network;
use crate::options::{EndOptions, NetworkOptions, OutputOptions, rate};
use crate::stop::Stop;
use clap::{Args, ValueEnum};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{Change, DataReader, DataWriter, DdsType, DomainParticipant};
use serde_json::json;
use std::io::Write;

/// Size of the area in pixels, as in the demos of all vendors.
const WIDTH: i32 = 240;
const HEIGHT: i32 = 270;
/// Pixels of a step. Both are odd, so the path takes long to repeat.
const VELOCITY: (i32, i32) = (3, 5);

/// Options of `shapes`.
#[derive(Debug, Clone, Args)]
pub struct ShapesOptions {
    /// The shape. Its name is the name of the topic.
    #[arg(value_enum, default_value_t = ShapeKind::Square)]
    pub shape: ShapeKind,
    /// Print the shapes of others rather than publish one.
    #[arg(short, long)]
    pub subscribe: bool,
    /// Color of the published shape, which is its key.
    #[arg(short, long, default_value = "BLUE", conflicts_with = "subscribe")]
    pub color: String,
    /// Size of the published shape in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 30, conflicts_with = "subscribe")]
    pub size: i32,
    /// Steps of the published shape for each second.
    #[arg(short, long, value_name = "HZ", default_value = "30", value_parser = rate, conflicts_with = "subscribe")]
    pub rate: f64,
    /// Use a best-effort endpoint.
    #[arg(long)]
    pub best_effort: bool,
    /// The end.
    #[command(flatten)]
    pub end: EndOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// A shape of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeKind {
    /// Topic `Square`.
    Square,
    /// Topic `Circle`.
    Circle,
    /// Topic `Triangle`.
    Triangle,
}

impl ShapeKind {
    const fn topic(self) -> &'static str {
        match self {
            Self::Square => "Square",
            Self::Circle => "Circle",
            Self::Triangle => "Triangle",
        }
    }
}

/// The type of the demo.
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "ShapeType", extensibility = "appendable")]
struct ShapeType {
    #[dds(key, bound = 128)]
    color: String,
    x: i32,
    y: i32,
    shapesize: i32,
}

/// Publishes a moving shape, or prints the shapes of others.
///
/// # Errors
/// Fails if the participant, the writer or the reader fails.
pub fn run(options: &ShapesOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let stop = stop.after(options.end.duration);
    if options.subscribe {
        print_shapes(options, &participant, output, &stop)
    } else {
        publish(options, &participant, &stop)
    }
}

fn publish(options: &ShapesOptions, participant: &DomainParticipant, stop: &Stop) -> Result<(), ToolError> {
    let qos = DataWriterQos::default();
    let qos = if options.best_effort { qos.best_effort() } else { qos.reliable() };
    let writer: DataWriter<ShapeType> = participant.writer_builder(options.shape.topic()).qos(qos).build()?;
    let mut shape = ShapeType { color: options.color.clone(), x: WIDTH / 2, y: HEIGHT / 2, shapesize: options.size };
    let (mut velocity, mut pacer, mut steps) = (VELOCITY, SamplePacer::new(Some(options.rate)), 0);
    while !stop.is_due() && options.end.count.is_none_or(|count| steps < count) {
        pacer.wait(stop);
        (shape.x, velocity.0) = step(shape.x, velocity.0, WIDTH);
        (shape.y, velocity.1) = step(shape.y, velocity.1, HEIGHT);
        writer.write(&shape)?;
        steps += 1;
    }
    Ok(writer.dispose(&options.color)?)
}

/// Moves a position, and turns at a wall. Returns the position and the velocity.
fn step(position: i32, velocity: i32, end: i32) -> (i32, i32) {
    let moved = position + velocity;
    let is_inside = (0..=end).contains(&moved);
    (moved.clamp(0, end), if is_inside { velocity } else { -velocity })
}

fn print_shapes(
    options: &ShapesOptions,
    participant: &DomainParticipant,
    output: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let qos = DataReaderQos::default();
    let qos = if options.best_effort { qos.best_effort() } else { qos.reliable() };
    let topic = options.shape.topic();
    let reader: DataReader<ShapeType> = participant.reader_builder(topic).qos(qos).build()?;
    let mut printed = 0;
    while !stop.is_due() && options.end.count.is_none_or(|count| printed < count) {
        // A time-out is no failure: the loop looks at the request to stop.
        let _ = reader.readable().block_for(stop.step());
        for change in reader.take()?.into_changes() {
            let is_open = options.end.count.is_none_or(|count| printed < count);
            match change {
                Change::Data(shape) if is_open => {
                    printed += 1;
                    print_shape(options, topic, &shape, output)?;
                }
                Change::Disposed(color) | Change::NoWriters(color) => print_end(options, topic, &color, output)?,
                // Samples beyond the count are not printed.
                _ => {}
            }
        }
        output.flush().map_err(ToolError::output)?;
    }
    Ok(())
}

fn print_shape(
    options: &ShapesOptions,
    topic: &str,
    shape: &ShapeType,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let ShapeType { color, x, y, shapesize } = shape;
    if options.output.json {
        return write_json(output, &json!({ "topic": topic, "color": color, "x": x, "y": y, "shapesize": shapesize }));
    }
    writeln!(output, "{topic:<10} {color:<10} {x:03} {y:03} [{shapesize}]").map_err(ToolError::output)
}

fn print_end(options: &ShapesOptions, topic: &str, color: &str, output: &mut dyn Write) -> Result<(), ToolError> {
    if options.output.json {
        return write_json(output, &json!({ "topic": topic, "color": color, "instance_state": "ended" }));
    }
    writeln!(output, "{topic:<10} {color:<10} left").map_err(ToolError::output)
}

#[cfg(test)]
mod tests {
    use super::{HEIGHT, VELOCITY, step};

    #[test]
    fn shape_stays_inside_and_reaches_both_walls() {
        let (mut position, mut velocity) = (HEIGHT / 2, VELOCITY.1);
        let mut seen = Vec::new();
        for _ in 0..500 {
            (position, velocity) = step(position, velocity, HEIGHT);
            seen.push(position);
        }
        assert_eq!((seen.iter().min(), seen.iter().max()), (Some(&0), Some(&HEIGHT)));
    }
}
