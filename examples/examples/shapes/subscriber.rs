//! Prints the shapes that arrive.

use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::say;
use crate::shape::Shape;
use dds_core::error::ReadError;
use dds_core::filter::FilterExpression;
use dds_core::{DataReader, DomainParticipant, InstanceHandle, InstanceState, Samples, Topic};
use std::collections::HashMap;
use std::error::Error;

/// Colors of the known instances.
///
/// The reader may have removed an instance before its end is printed, because its writer is gone.
type Colors = HashMap<InstanceHandle, String>;

/// Reads and prints samples in each round.
///
/// # Errors
/// Returns an error if an entity cannot be created or a reader fails.
pub(crate) fn run(
    participant: &DomainParticipant,
    topics: &[Topic<Shape>],
    options: &Options,
    interrupt: &Interrupt,
) -> Result<(), Box<dyn Error>> {
    let subscriber = participant.subscriber(options.subscriber_qos())?;
    let mut readers = Vec::new();
    for topic in topics {
        let reader = match options.filter() {
            None => {
                say(&format!("Create reader for topic: {}", topic.name()));
                (topic.name().to_owned(), subscriber.reader_builder::<Shape>(topic).qos(options.reader_qos()).build()?)
            }
            Some((expression, parameters)) => {
                let filtered =
                    participant.filtered_topic(topic, FilterExpression::new(expression).parameters(parameters));
                let filtered = filtered.inspect_err(|_| say("failed to create content filtered topic"))?;
                say(&format!("Create reader for topic: {}", filtered.name()));
                let reader = subscriber.reader_builder::<Shape>(&filtered).qos(options.reader_qos()).build()?;
                (filtered.name().to_owned(), reader)
            }
        };
        readers.push((reader, Colors::new()));
    }
    let mut round = 0;
    while options.iterations.is_none_or(|iterations| round < iterations) {
        round += 1;
        if options.coherent {
            say(&format!("Reading coherent sets, iteration {round}"));
        }
        if options.ordered {
            say(&format!("Reading with ordered access, iteration {round}"));
        }
        let access = if options.coherent || options.ordered { Some(subscriber.access()?) } else { None };
        for ((topic, reader), colors) in &mut readers {
            let count = if options.take_read {
                print_all(topic, reader, colors, options)?
            } else {
                print_instances(topic, reader, colors, options)?
            };
            if options.is_verbose() {
                eprintln!("round {round}: {count} samples of {topic}");
            }
        }
        drop(access);
        if interrupt.arrives_within(options.read_period()) {
            break;
        }
    }
    Ok(())
}

/// Prints all samples with one call of `read` or `take`.
fn print_all(
    topic: &str,
    reader: &DataReader<Shape>,
    colors: &mut Colors,
    options: &Options,
) -> Result<usize, ReadError> {
    let samples = if options.read { reader.read()? } else { reader.take()? };
    let count = samples.len();
    print_samples(topic, reader, colors, samples);
    Ok(count)
}

/// Prints the samples of one instance after the other.
fn print_instances(
    topic: &str,
    reader: &DataReader<Shape>,
    colors: &mut Colors,
    options: &Options,
) -> Result<usize, ReadError> {
    let (mut instance, mut count) = (InstanceHandle::NIL, 0);
    loop {
        let next = reader.select().next_instance(instance);
        let samples = if options.read { next.read()? } else { next.take()? };
        let Some(first) = samples.iter().next() else { return Ok(count) };
        instance = first.info().instance_handle;
        count += samples.len();
        print_samples(topic, reader, colors, samples);
    }
}

/// Prints samples. After the last one of an instance it prints the instance state, unless the instance is alive.
///
/// The state belongs to each sample: if an unread sample exists, the end of the instance has no sample of its own.
fn print_samples(topic: &str, reader: &DataReader<Shape>, colors: &mut Colors, samples: Samples<Shape>) {
    let mut samples = samples.into_iter().peekable();
    while let Some(sample) = samples.next() {
        let instance = sample.info.instance_handle;
        if let Some(shape) = sample.data {
            say(&shape.line(topic));
            colors.entry(instance).or_insert(shape.color);
        }
        if samples.peek().is_some_and(|next| next.info.instance_handle == instance) {
            continue;
        }
        let state = match sample.info.instance_state {
            InstanceState::NotAliveDisposed => "NOT_ALIVE_DISPOSED_INSTANCE_STATE",
            InstanceState::NotAliveNoWriters => "NOT_ALIVE_NO_WRITERS_INSTANCE_STATE",
            _ => continue,
        };
        let color = colors.get(&instance).cloned().or_else(|| reader.key_value(instance)).unwrap_or_default();
        say(&format!("{topic:<10} {color:<10} {state}"));
    }
}
