//! Prints the shapes that arrive.

use crate::options::Options;
use crate::say;
use crate::shape::Shape;
use dds_core::qos::SubscriberQos;
use dds_core::{DataReader, DomainParticipant, InstanceHandle, InstanceState, ReadError, ReaderEvent};
use std::error::Error;
use std::thread;

/// Runs the rounds.
///
/// # Errors
/// If an entity cannot be made or the reader fails.
pub(crate) fn run(participant: &DomainParticipant, options: &Options) -> Result<(), Box<dyn Error>> {
    let topic = &options.topic;
    say(&format!("Create topic: {topic}"));
    say(&format!("Create reader for topic: {topic}"));
    let subscriber = participant.subscriber(SubscriberQos::default().partition(&options.partition))?;
    let builder = subscriber.reader_builder::<Shape>(topic).qos(options.reader_qos());
    let reader = builder.on_event(tell_event).build()?;

    let mut round = 0;
    while options.iterations.is_none_or(|iterations| round < iterations) {
        round += 1;
        tell_instances(&reader, topic)?;
        thread::sleep(options.read_period);
    }
    Ok(())
}

/// Takes everything, instance by instance.
fn tell_instances(reader: &DataReader<Shape>, topic: &str) -> Result<(), ReadError> {
    let mut instance = InstanceHandle::NIL;
    loop {
        let samples = reader.select().next_instance(instance).take()?;
        let mut state = InstanceState::Alive;
        let Some(first) = samples.iter().next() else { return Ok(()) };
        instance = first.info().instance_handle;
        for sample in samples {
            state = sample.info.instance_state;
            if let Some(shape) = sample.data {
                say(&shape.line(topic));
            }
        }
        let state = match state {
            InstanceState::NotAliveDisposed => "NOT_ALIVE_DISPOSED_INSTANCE_STATE",
            InstanceState::NotAliveNoWriters => "NOT_ALIVE_NO_WRITERS_INSTANCE_STATE",
            _ => continue,
        };
        let color = reader.key_value(instance).unwrap_or_default();
        say(&format!("{topic:<10} {color:<10} {state}"));
    }
}

fn tell_event(reader: &DataReader<Shape>, event: ReaderEvent) {
    let place = format!("topic: '{}'  type: '{}'", reader.topic_name(), reader.type_name());
    match event {
        ReaderEvent::Matched(status) => say(&format!(
            "on_subscription_matched() {place} : matched writers {} (change = {})",
            status.current_count, status.current_count_change
        )),
        ReaderEvent::IncompatibleQos(status) => {
            if let Some(policy) = status.last_policy_id {
                say(&format!("on_requested_incompatible_qos() {place} : {} ({policy})", policy as u8));
            }
        }
        _ => {}
    }
}
