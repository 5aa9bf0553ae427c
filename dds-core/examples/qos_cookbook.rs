//! QoS by need, one function for each. The program creates each pair of endpoints and checks that it matches.

use dds_core::qos::{
    DataReaderQos, DataWriterQos, Liveliness, LivelinessKind, Ownership, Preset, PublisherQos, SubscriberQos,
};
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Result, Scope};

#[derive(DdsType)]
struct Sample {
    #[dds(key)]
    device: u32,
    value: f64,
}

type Pair = Result<(DataWriter<Sample>, DataReader<Sample>)>;

/// Creates a writer and a reader of one topic.
fn pair(
    participant: &DomainParticipant,
    topic: &str,
    writer: impl Into<DataWriterQos>,
    reader: impl Into<DataReaderQos>,
) -> Pair {
    Ok((participant.writer_builder(topic).qos(writer).build()?, participant.reader_builder(topic).qos(reader).build()?))
}

/// "The newest value is enough, and late is worse than lost": scans, odometry, video.
fn newest_wins(participant: &DomainParticipant) -> Pair {
    pair(participant, "newest", Preset::SensorData, Preset::SensorData)
}

/// "A program that starts later needs the present value": poses, states, maps.
fn late_joiners_get_the_state(participant: &DomainParticipant) -> Pair {
    pair(participant, "state", Preset::State, Preset::State)
}

/// "Each command must arrive, in order": goals, orders. A reader that is 10 behind loses the oldest.
fn commands_arrive(participant: &DomainParticipant) -> Pair {
    pair(participant, "command", Preset::Command, Preset::Command)
}

/// "No event may be lost, not even to a slow reader": a full history blocks the writer.
fn no_event_is_lost(participant: &DomainParticipant) -> Pair {
    pair(participant, "event", Preset::Event, Preset::Event)
}

/// As above, but one slow reader must not stop the others: after 200 ms the writer stops waiting for it.
fn slow_readers_do_not_block(participant: &DomainParticipant) -> Pair {
    let demote = SlowReader::Demote { after: Duration::from_millis(200) };
    Ok((
        participant.writer_builder("demoted").qos(Preset::Event).slow_reader(demote).build()?,
        participant.reader_builder("demoted").qos(Preset::Event).build()?,
    ))
}

/// "Several programs set a parameter, and all readers must agree on the last value."
fn last_setting_wins(participant: &DomainParticipant) -> Pair {
    pair(participant, "parameter", Preset::Parameter, Preset::Parameter)
}

/// "Tell me if a device misses its cycle": the events `DeadlineMissed` of the reader.
fn missed_cycles_are_noticed(participant: &DomainParticipant) -> Pair {
    let writer = Preset::SensorData.writer().deadline(Duration::from_millis(50));
    let reader = Preset::SensorData.reader().deadline(Duration::from_millis(100)); // not shorter than the writer's
    pair(participant, "cycle", writer, reader)
}

/// "Tell me within a second if a program hangs": the writer asserts its liveliness with each write.
fn hanging_programs_are_noticed(participant: &DomainParticipant) -> Pair {
    let mut liveliness = Liveliness::default();
    (liveliness.kind, liveliness.lease_duration) = (LivelinessKind::ManualByTopic, Duration::from_secs(1));
    let writer = Preset::Command.writer().liveliness(liveliness);
    let reader = Preset::Command.reader().liveliness(liveliness);
    pair(participant, "alive", writer, reader)
}

/// "An old sample is worthless": it expires 200 ms after the write, in the writer and in the reader.
fn old_samples_expire(participant: &DomainParticipant) -> Pair {
    let writer = Preset::State.writer().lifespan(Duration::from_millis(200));
    pair(participant, "fresh", writer, Preset::State)
}

/// "A display needs ten values a second, not a thousand."
fn slow_displays_get_fewer_samples(participant: &DomainParticipant) -> Pair {
    let reader = Preset::SensorData.reader().time_based_filter(Duration::from_millis(100));
    pair(participant, "display", Preset::SensorData, reader)
}

/// "Only some values matter here": the writer of another participant does not even send the others.
fn only_matching_values(participant: &DomainParticipant) -> Pair {
    Ok((
        participant.writer_builder("filtered").qos(Preset::Command).build()?,
        participant.reader_builder("filtered").qos(Preset::Command).filter("value > 10").build()?,
    ))
}

/// "A spare takes over when the main controller fails": readers take samples of the strongest living writer only.
fn spare_takes_over(participant: &DomainParticipant) -> Pair {
    let writer = Preset::Command.writer().ownership(Ownership::Exclusive).ownership_strength(10);
    let reader = Preset::Command.reader().ownership(Ownership::Exclusive);
    pair(participant, "spare", writer, reader)
}

/// "Two cells of a plant use the same topics": endpoints match only within a partition.
fn cells_do_not_mix(participant: &DomainParticipant) -> Pair {
    let publisher = participant.publisher(PublisherQos::default().partition(["cell 1"]))?;
    let subscriber = participant.subscriber(SubscriberQos::default().partition(["cell 1"]))?;
    Ok((publisher.writer("partitioned")?, subscriber.reader("partitioned")?))
}

fn main() -> Result<()> {
    let participant = DomainParticipant::builder(0).scope(Scope::Host).build()?;
    let needs = [
        newest_wins,
        late_joiners_get_the_state,
        commands_arrive,
        no_event_is_lost,
        slow_readers_do_not_block,
        last_setting_wins,
        missed_cycles_are_noticed,
        hanging_programs_are_noticed,
        old_samples_expire,
        slow_displays_get_fewer_samples,
        only_matching_values,
        spare_takes_over,
        cells_do_not_mix,
    ];
    for need in needs {
        let (writer, reader) = need(&participant)?;
        writer.wait_for_readers(1).block_for(Duration::from_secs(10))?;
        writer.write(&Sample { device: 1, value: 20.0 })?;
        let sample = reader.next_sample().block_for(Duration::from_secs(10))?;
        println!("{}: received {:?}", reader.topic_name(), sample.data.map(|data| (data.device, data.value)));
    }
    Ok(())
}
