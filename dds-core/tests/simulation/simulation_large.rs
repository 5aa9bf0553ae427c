//! Large samples over networks with little room: a switch, a receive buffer, a narrow radio link.

use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DdsType, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Image {
    bytes: Vec<u8>,
}

const MIB: usize = 1 << 20;

/// The default limit of Linux.
const RECEIVE_BUFFER: usize = 212_992;

fn image(len: usize, number: usize) -> Image {
    Image { bytes: (0..len).map(|index| (index ^ (index >> 8) ^ number) as u8).collect() }
}

/// Sends samples one after the other. Returns the received samples, and the bytes sent per written byte.
fn send(conditions: Conditions, preset: Preset, len: usize, samples: usize) -> (usize, f64) {
    let simulation = Simulation::new(11);
    simulation.set_network(conditions);
    let (robot, station) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
    simulation.host("station").set_receive_buffer(RECEIVE_BUFFER);
    let reader = station.reader_builder::<Image>("images").qos(preset.reader()).build().unwrap();
    let writer = robot.writer_builder::<Image>("images").qos(preset.writer()).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    simulation.run_for(Duration::from_secs(1));
    let before = robot.traffic().sent_bytes;
    let mut arrived = 0;
    for number in 0..samples {
        let sent = image(len, number);
        writer.write(&sent).unwrap();
        if let Ok(sample) = reader.next_sample().block_for(Duration::from_secs(30)) {
            assert!(sample.data.unwrap() == sent, "sample {number} is damaged");
            arrived += 1;
        }
    }
    let bytes = robot.traffic().sent_bytes - before;
    (arrived, bytes as f64 / (len * samples) as f64)
}

#[test]
fn large_reliable_samples_are_rarely_resent() {
    // The hall itself loses a seventh: one frame in twenty, and nine in ten for a while.
    for (name, conditions, limit) in [
        ("ethernet", Conditions::ethernet(), 1.12),
        ("office", Conditions::office_wifi(), 1.3),
        ("hall", Conditions::hall_wifi(), 1.8),
    ] {
        let (arrived, share) = send(conditions, Preset::Event, 2 * MIB, 3);
        println!("{name}: {share:.3}");
        assert_eq!(arrived, 3, "{name}");
        assert!(share < limit, "{name}: {share:.2} of the bytes");
    }
}

#[test]
fn large_best_effort_samples_fit_switch_buffer() {
    let (arrived, _) = send(Conditions::ethernet(), Preset::SensorData, 2 * MIB, 5);
    assert_eq!(arrived, 5);
}
