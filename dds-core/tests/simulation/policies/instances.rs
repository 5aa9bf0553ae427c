//! Sample information about instances (DDS 1.4, 2.2.2.5.1 and 2.2.2.5.5): states, generations, ranks.

use super::*;
use dds_core::qos::WriterDataLifecycle;
use dds_core::reader::States;
use dds_core::reader::{SampleState, ViewState};
use dds_core::writer::SequenceNumber;

/// A writer whose unregister does not dispose, and a KEEP_ALL reader.
fn endpoints(pair: &Pair) -> (DataWriter<Pose>, DataReader<Pose>) {
    let lifecycle = WriterDataLifecycle::KEEP;
    let writer = pair.writer(DataWriterQos::default().keep_all().writer_data_lifecycle(lifecycle));
    let reader = pair.reader(DataReaderQos::default().reliable().keep_all());
    pair.settle();
    (writer, reader)
}

fn infos(samples: &dds_core::Samples<Pose>) -> Vec<SampleInfo> {
    samples.iter().map(|sample| sample.info().clone()).collect()
}

fn take(reader: &DataReader<Pose>) -> Vec<SampleInfo> {
    infos(&reader.take().unwrap())
}

/// View state, instance state and both generation counts of the only sample.
fn only(reader: &DataReader<Pose>) -> (ViewState, InstanceState, (u32, u32)) {
    let [info] = &take(reader)[..] else { panic!("another number of samples") };
    (info.view_state, info.instance_state, (info.disposed_generation_count, info.no_writers_generation_count))
}

#[test]
fn sample_info_names_writer_time_and_instance() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = endpoints(pair);
        let before = pair.from.now();
        writer.write(&Pose { robot: 7, x: 1 }).unwrap();
        let after = pair.from.now();
        pair.run(50);
        let [info] = &infos(&reader.read().unwrap())[..] else { panic!("another number of samples") };
        assert_eq!((info.publication_handle, info.sequence_number), (writer.instance_handle(), SequenceNumber(1)));
        assert_eq!(Some(info.instance_handle), writer.lookup_instance(&7));
        // The timestamp is the time of the write, not of the delivery.
        assert!(before <= info.source_timestamp && info.source_timestamp <= after, "{info:?}");
        assert!(info.source_timestamp <= info.reception_timestamp && info.reception_timestamp <= pair.to.now());
        assert_eq!((info.sample_state, info.valid_data, info.related_sample), (SampleState::NotRead, true, None));
        assert_eq!(take(&reader)[0].sample_state, SampleState::Read);
        // The end of an instance is a sample without data.
        writer.dispose(&7).unwrap();
        pair.run(50);
        let ended = &take(&reader)[0];
        assert_eq!((ended.valid_data, ended.instance_handle), (false, info.instance_handle));
    });
}

#[test]
fn instance_is_new_in_each_generation_until_read() {
    use {InstanceState::*, ViewState::*};
    Pair::on_every_way(|pair| {
        let (writer, reader) = endpoints(pair);
        pair.write(&writer, 1, 1);
        assert_eq!(only(&reader), (New, Alive, (0, 0)));
        pair.write(&writer, 1, 2);
        assert_eq!(only(&reader), (NotNew, Alive, (0, 0)));
        writer.dispose(&1).unwrap();
        pair.run(50);
        assert_eq!(only(&reader), (NotNew, NotAliveDisposed, (0, 0)));
        pair.write(&writer, 1, 3);
        assert_eq!(only(&reader), (New, Alive, (1, 0)));
        // The sample stays in the reader, so the instance is not evicted without writers.
        pair.write(&writer, 1, 4);
        assert_eq!(reader.read().unwrap().len(), 1);
        writer.unregister_instance(&1).unwrap();
        pair.run(50);
        assert_eq!(take(&reader).last().map(|info| info.instance_state), Some(NotAliveNoWriters));
    });
}

#[test]
fn generation_counts_and_ranks_follow_spec() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = endpoints(pair);
        pair.write(&writer, 1, 1);
        writer.dispose(&1).unwrap();
        pair.write(&writer, 1, 2);
        writer.unregister_instance(&1).unwrap();
        pair.write(&writer, 1, 3);
        // A second instance, which must not affect the ranks of the first.
        pair.write(&writer, 2, 4);
        let with_data = |infos: Vec<SampleInfo>| infos.into_iter().filter(|info| info.valid_data).collect::<Vec<_>>();
        let one = writer.lookup_instance(&1).unwrap();
        let all = infos(&reader.select().instance(one).read().unwrap());
        let lives: Vec<_> = with_data(all.clone())
            .iter()
            .map(|info| (info.disposed_generation_count, info.no_writers_generation_count))
            .collect();
        assert_eq!(lives, [(0, 0), (1, 0), (1, 1)]);
        let ranks = |infos: &[SampleInfo]| {
            let rank = |info: &SampleInfo| (info.sample_rank, info.generation_rank, info.absolute_generation_rank);
            infos.iter().map(rank).collect::<Vec<_>>()
        };
        // Including samples without data in between.
        let count = all.len() as u32;
        assert_eq!(all.iter().map(|info| info.sample_rank).collect::<Vec<_>>(), (0..count).rev().collect::<Vec<_>>());
        let generations = with_data(all);
        assert_eq!(
            ranks(&generations).iter().map(|rank| (rank.1, rank.2)).collect::<Vec<_>>(),
            [(2, 2), (1, 1), (0, 0)]
        );
        // In a partial take, ranks refer to its last sample, except for the absolute rank.
        let first = infos(&reader.select().instance(one).max_samples(1).take().unwrap());
        assert_eq!(ranks(&first), [(0, 0, 2)]);
        let other = infos(&reader.select().instance(writer.lookup_instance(&2).unwrap()).take().unwrap());
        assert_eq!(ranks(&other), [(0, 0, 0)], "instances do not count each other");
    });
}

#[test]
fn view_state_selects_new_instances() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = endpoints(pair);
        pair.write(&writer, 1, 1);
        // Robot 1 is not new after this read.
        reader.read().unwrap();
        pair.write(&writer, 2, 2);
        pair.write(&writer, 1, 3);
        let seen = |states| {
            let samples = reader.select().states(states).take().unwrap();
            samples.into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>()
        };
        assert_eq!(seen(States::NEW), [2]);
        assert_eq!(seen(States::NEW), Vec::<u32>::new());
        assert_eq!(seen(States::NOT_NEW & States::READ), [1]);
        assert_eq!(seen(States::NOT_NEW & States::NOT_READ), [3]);
    });
}

#[test]
fn instance_without_samples_or_writers_is_gone() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = endpoints(pair);
        pair.write(&writer, 1, 1);
        let instance = reader.lookup_instance(&1).unwrap();
        assert_eq!(take(&reader).len(), 1);
        assert_eq!(reader.lookup_instance(&1), Some(instance), "it has a writer");
        writer.unregister_instance(&1).unwrap();
        pair.run(50);
        assert_eq!(reader.lookup_instance(&1), Some(instance), "its end is to be seen");
        assert_eq!(states(&reader), [InstanceState::NotAliveNoWriters]);
        // The key of the instance taken last stays available until the next take.
        assert_eq!(reader.key_value(instance), Some(1));
        // This take removes the last sample, so the instance is evicted.
        assert!(take(&reader).is_empty());
        assert_eq!((reader.lookup_instance(&1), reader.key_value(instance)), (None, None));
        // The instance is new, and not a new generation of the former one.
        pair.write(&writer, 1, 2);
        assert_eq!(only(&reader), (ViewState::New, InstanceState::Alive, (0, 0)));
    });
}
