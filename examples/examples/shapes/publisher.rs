//! Publishes a moving shape, in one or more colors and on one or more topics.

use crate::interrupt::Interrupt;
use crate::options::{FinalInstanceState, Options};
use crate::say;
use crate::shape::Shape;
use dds_core::error::{ReturnCode, WriteError};
use dds_core::{DataWriter, DomainParticipant, Publisher, Topic};
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const WIDTH: i32 = 240;
const HEIGHT: i32 = 270;

/// Publishes each round, then ends the instances.
///
/// # Errors
/// Returns an error if an entity cannot be created or a sample cannot be written.
pub(crate) fn run(
    participant: &DomainParticipant,
    topics: &[Topic<Shape>],
    options: &Options,
    interrupt: &Interrupt,
) -> Result<(), Box<dyn Error>> {
    let publisher = participant.publisher(options.publisher_qos())?;
    let colors = options.colors();
    let mut writers = Vec::new();
    for topic in topics {
        say(&format!("Create writer for topic: {} color: {}", topic.name(), colors[0]));
        writers.push(publisher.writer_builder::<Shape>(topic).qos(options.writer_qos()).build()?);
    }
    let mut velocity = velocity();
    let mut shape = Shape {
        color: colors[0].clone(),
        x: WIDTH / 2,
        y: HEIGHT / 2,
        shapesize: options.shape_size,
        additional_payload_size: vec![255; options.additional_payload_size],
    };
    let (mut round, mut set) = (0, None);
    while options.iterations.is_none_or(|iterations| round < iterations) {
        if options.rounds_in_a_set().is_some_and(|rounds| round % rounds == 0) {
            say("Started Coherent Set");
            set = Some(publisher.coherent_changes()?);
        }
        round += 1;
        step(&mut shape.x, &mut velocity.0, WIDTH);
        step(&mut shape.y, &mut velocity.1, HEIGHT);
        if options.shape_size == 0 {
            shape.shapesize = options.size_modulo.map_or(shape.shapesize, |modulo| shape.shapesize % modulo) + 1;
        }
        for writer in &writers {
            for color in &colors {
                shape.color.clone_from(color);
                write(writer, &shape)?;
                if options.print_written {
                    say(&shape.line(writer.topic_name()));
                }
            }
        }
        if options.rounds_in_a_set().is_some_and(|rounds| round % rounds == 0) {
            if let Some(set) = set.take() {
                set.end()?;
            }
            say("Finished Coherent Set");
        }
        if options.is_verbose() {
            eprintln!("round {round}: {} samples", writers.len() * colors.len());
        }
        if interrupt.arrives_within(options.write_period()) {
            break;
        }
    }
    drop(set);
    end_instances(&publisher, &writers, &colors, options)
}

/// Writes a sample and retries after each timeout: with KEEP_ALL a slow reader blocks the writer.
fn write(writer: &DataWriter<Shape>, shape: &Shape) -> Result<(), WriteError> {
    loop {
        match writer.write(shape) {
            Err(error) if error.return_code() == ReturnCode::Timeout => eprintln!("shapes: {error}"),
            outcome => return outcome,
        }
    }
}

fn end_instances(
    publisher: &Publisher,
    writers: &[DataWriter<Shape>],
    colors: &[String],
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    for writer in writers {
        for color in colors {
            match options.final_instance_state {
                None => {}
                Some(FinalInstanceState::Unregistered) => writer.unregister_instance(color)?,
                Some(FinalInstanceState::Disposed) => writer.dispose(color)?,
            }
        }
    }
    // An unresponsive reader must not block the end of the program. It loses the samples it did not acknowledge.
    let _ = publisher.acknowledged().block_for(Duration::from_secs(1));
    Ok(())
}

/// A random velocity of one to five pixels per round in each direction.
fn velocity() -> (i32, i32) {
    let random = RandomState::new().hash_one(0);
    let part = |shift: u32| 1 + i32::from((random >> shift) as u8 % 5);
    (part(0), part(8))
}

/// Moves the shape; at a wall it reverses.
fn step(position: &mut i32, velocity: &mut i32, end: i32) {
    *position += *velocity;
    if *position <= 0 || *position >= end {
        *velocity = -*velocity;
        *position = (*position).clamp(0, end);
    }
}
