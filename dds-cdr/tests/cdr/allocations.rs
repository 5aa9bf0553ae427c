//! With existing buffers, encoding, key hashing and decoding in place allocate no memory.

use allocation_counter::measure;
use dds_cdr::cdr::{
    Encoding, KeyHasher, Keyed, Run, TypeInfo, decode_payload, decode_payload_into, encode_key_payload, encode_payload,
    instance_of_payload, key_hash_of, key_hash_of_payload,
};
use dds_macros::DdsType;

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", appendable)]
struct Robot {
    #[dds(key, bound = 128)]
    name: String,
    #[dds(key, id = 20)]
    number: u32,
    #[dds(id = 10, key)]
    site: [u16; 2],
    #[dds(id = 30)]
    position: Option<Position>,
    path: Vec<Position>,
    ranges: Vec<f32>,
    labels: Vec<String>,
    image: Vec<u8>,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", nested)]
struct Position {
    x: f64,
    y: f64,
    frame: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_cdr")]
struct Frame<'a> {
    #[dds(key)]
    camera: u32,
    format: &'a str,
    image: &'a [u8],
    depth: Run<'a, f32>,
}

/// [`Robot`] with member ids on the wire, and too long for the short headers of XCDR1.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "dds_cdr", mutable, autoid = "hash")]
struct Drone {
    #[dds(key, bound = 128)]
    name: String,
    #[dds(key)]
    number: u32,
    position: Option<Position>,
    path: Vec<Position>,
    image: Vec<u8>,
}

fn drone() -> Drone {
    let robot = robot();
    Drone { name: robot.name, number: 8, position: robot.position, path: robot.path, image: vec![1; 70_000] }
}

fn robot() -> Robot {
    let position = Position { x: 1.0, y: 2.0, frame: "map".into() };
    Robot {
        name: "r2d2".into(),
        number: 7,
        site: [1, 2],
        position: Some(position.clone()),
        path: vec![position; 20],
        ranges: vec![1.0; 100],
        labels: vec!["a".into(), "bc".into()],
        image: vec![9; 10_000],
    }
}

#[test]
fn steady_state_allocates_nothing() {
    let sample = robot();
    let key = sample.key();
    let frame = Frame { camera: 1, format: "rgb8", image: &sample.image, depth: Run::from(&sample.ranges[..]) };
    let (drone, mut read_drone) = (drone(), drone());
    let (mut payload, mut frame_payload, mut key_payload, mut scratch) = (vec![], vec![], vec![], vec![]);
    let mut read = sample.clone();
    let mut key_scratch = vec![];
    let hasher = KeyHasher::new(Robot::DESCRIPTION, true);
    let drone_hasher = KeyHasher::new(Drone::DESCRIPTION, true);
    let mut round = |encoding| {
        encode_payload(&sample, encoding, &mut payload).unwrap();
        encode_payload(&frame, encoding, &mut frame_payload).unwrap();
        encode_key_payload::<Robot>(&key, encoding, &mut key_payload).unwrap();
        let handle = hasher.of_sample(&sample, &mut scratch).unwrap();
        assert_eq!(hasher.of_key::<Robot>(&key, &mut scratch).unwrap(), handle);
        assert_eq!(hasher.of_payload(&payload, false, &mut scratch).unwrap(), handle);
        assert_eq!(
            key_hash_of_payload(Robot::DESCRIPTION, &payload, false, &mut scratch).unwrap(),
            key_hash_of(&sample, encoding, &mut key_scratch).unwrap()
        );
        assert_eq!(instance_of_payload(Robot::DESCRIPTION, &payload, false, &mut scratch).unwrap(), handle);
        assert_eq!(instance_of_payload(Robot::DESCRIPTION, &key_payload, true, &mut scratch).unwrap(), handle);
        decode_payload_into(&payload, &mut read).unwrap();
        assert_eq!(read, sample);
        encode_payload(&drone, encoding, &mut payload).unwrap();
        let handle = drone_hasher.of_sample(&drone, &mut scratch).unwrap();
        assert_eq!(instance_of_payload(Drone::DESCRIPTION, &payload, false, &mut scratch).unwrap(), handle);
        decode_payload_into(&payload, &mut read_drone).unwrap();
        assert_eq!(read_drone, drone);
        let view: Frame<'_> = decode_payload(&frame_payload).unwrap();
        assert_eq!((view.camera, view.format, view.image.len(), view.depth.len()), (1, "rgb8", 10_000, 100));
    };
    assert!(measure(|| round(Encoding::Xcdr1)).count_total > 0, "nothing is counted");
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        round(encoding);
        let counted = measure(|| {
            for _ in 0..500 {
                round(encoding);
            }
        });
        assert_eq!(counted.count_total, 0);
    }
}
