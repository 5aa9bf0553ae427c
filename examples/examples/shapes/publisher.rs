//! Publishes a moving shape.

use crate::options::{FinalInstanceState, Options};
use crate::say;
use crate::shape::Shape;
use dds_core::qos::PublisherQos;
use dds_core::{DataWriter, DomainParticipant, WriterEvent};
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::Duration;

const WIDTH: i32 = 240;
const HEIGHT: i32 = 270;

/// Runs the rounds, then takes leave.
///
/// # Errors
/// If an entity cannot be made or a sample cannot be written.
pub(crate) fn run(participant: &DomainParticipant, options: &Options) -> Result<(), Box<dyn Error>> {
    let topic = &options.topic;
    say(&format!("Create topic: {topic}"));
    say(&format!("Create writer for topic: {topic} color: {}", options.color));
    let publisher = participant.publisher(PublisherQos::default().partition(&options.partition))?;
    let builder = publisher.writer_builder::<Shape>(topic).qos(options.writer_qos());
    let writer = builder.on_event(tell_event).build()?;

    let mut velocity = velocity();
    let mut shape = Shape {
        color: options.color.clone(),
        x: WIDTH / 2,
        y: HEIGHT / 2,
        shapesize: options.shape_size,
        additional_payload_size: vec![255; options.additional_payload_size],
    };
    let mut round = 0;
    while options.iterations.is_none_or(|iterations| round < iterations) {
        round += 1;
        step(&mut shape.x, &mut velocity.0, WIDTH);
        step(&mut shape.y, &mut velocity.1, HEIGHT);
        if options.shape_size == 0 {
            shape.shapesize += 1;
        }
        writer.write(&shape)?;
        if options.print_written {
            say(&shape.line(topic));
        }
        thread::sleep(options.write_period);
    }
    take_leave(&writer, &shape.color, options)
}

fn take_leave(writer: &DataWriter<Shape>, color: &String, options: &Options) -> Result<(), Box<dyn Error>> {
    match options.final_instance_state {
        None => {}
        Some(FinalInstanceState::Unregistered) => writer.unregister_instance(color)?,
        Some(FinalInstanceState::Disposed) => writer.dispose(color)?,
    }
    // A reader that does not answer any more must not keep us; what it lacks it will never get.
    let _ = writer.acknowledged().block_for(Duration::from_secs(1));
    Ok(())
}

fn tell_event(writer: &DataWriter<Shape>, event: WriterEvent) {
    let place = format!("topic: '{}'  type: '{}'", writer.topic_name(), writer.type_name());
    match event {
        WriterEvent::Matched(status) => say(&format!(
            "on_publication_matched() {place} : matched readers {} (change = {})",
            status.current_count, status.current_count_change
        )),
        WriterEvent::IncompatibleQos(status) => {
            if let Some(policy) = status.last_policy_id {
                say(&format!("on_offered_incompatible_qos() {place} : {} ({policy})", policy as u8));
            }
        }
        WriterEvent::DeadlineMissed(status) => say(&format!(
            "on_offered_deadline_missed() {place} : (total = {}, change = {})",
            status.total_count, status.total_count_change
        )),
        _ => {}
    }
}

/// One to five steps a round in each direction.
fn velocity() -> (i32, i32) {
    let random = RandomState::new().hash_one(0);
    let part = |shift: u32| 1 + i32::from((random >> shift) as u8 % 5);
    (part(0), part(8))
}

/// Moves, and turns round at the walls.
fn step(position: &mut i32, velocity: &mut i32, end: i32) {
    *position += *velocity;
    if *position <= 0 || *position >= end {
        *velocity = -*velocity;
        *position = (*position).clamp(0, end);
    }
}
