//! The cases of the OMG's interoperability suite (omg-dds/dds-rtps), where `shapes` is every program.
//!
//! The parent module tests content filters (`Cft`). The cases of ordered access and coherent sets (`OrderedAccess`,
//! `CoherentSets`) are a selection of the suite's.
//!
//! In the suite a case fails if no sample arrives within 15 s. Here no result depends on time: a subscriber that must
//! not receive from one publisher receives from a third program instead.

use super::{Shape, Shapes, Stage};
use crate::running::Running;
use std::collections::HashMap;

/// The expected outcome of a case.
#[derive(Debug, Clone, Copy)]
enum Expected {
    /// Samples arrive.
    Data,
    /// Both sides report incompatible policies.
    Incompatible,
    /// The publisher and the subscriber do not match; each matches a program named here.
    Apart { publisher: &'static str, subscriber: &'static str },
    /// The sizes of each color grow.
    Growing,
    /// The sizes of each color grow by one.
    NothingLost,
    /// Samples of both publishers first, then of the second one only.
    SecondAlone,
    /// Samples of both publishers.
    Both,
    /// Samples of the first publisher only; the second one is not matched.
    FirstAlone,
    /// Both sides report missed deadlines.
    DeadlineMissed,
    /// The late subscriber starts with a current sample.
    Later,
    /// The late subscriber starts with the first sample.
    FromTheFirst,
    /// The sizes of each color have gaps: samples in between were filtered or have expired.
    Gaps,
    /// Each color ends in this state.
    Ends(&'static str),
    /// The last byte of a large sample arrives.
    Large,
    /// The sizes of each color grow by one, in announced rounds. A coherent set has three rounds.
    Presented { coherent: bool, ordered: bool },
}

type Case = (&'static str, &'static [&'static str], Expected);

const DISPOSED: Expected = Expected::Ends("NOT_ALIVE_DISPOSED_INSTANCE_STATE");
const NO_WRITERS: Expected = Expected::Ends("NOT_ALIVE_NO_WRITERS_INSTANCE_STATE");

#[rustfmt::skip]
const MATCHING: &[Case] = &[
    ("Domain_0", &["-P -t Square -d 0", "-S -t Square -d 0 -b"], Expected::Data),
    ("Domain_1", &["-P -t Square -d 0", "-S -t Square -d 1"],
        Expected::Apart { publisher: "-P -t Square -d 1 -c GREEN", subscriber: "-S -t Square -d 0" }),
    ("Domain_2", &["-P -t Square -d 1", "-S -t Square -d 1 -b"], Expected::Data),
    ("DataRepresentation_0", &["-P -t Square -x 1", "-S -t Square -x 1"], Expected::Data),
    ("DataRepresentation_1", &["-P -t Square -x 1", "-S -t Square -x 2"], Expected::Incompatible),
    ("DataRepresentation_2", &["-P -t Square -x 2", "-S -t Square -x 1"], Expected::Incompatible),
    ("DataRepresentation_3", &["-P -t Square -x 2", "-S -t Square -x 2 -b"], Expected::Data),
    ("Topic_0", &["-P -t Circle", "-S -t Circle"], Expected::Data),
    ("Topic_1", &["-P -t Square", "-S -t Circle"],
        Expected::Apart { publisher: "-P -t Circle -c GREEN", subscriber: "-S -t Square" }),
    ("Partition_0", &["-P -t Square -p p1", "-S -t Square -p p1"], Expected::Data),
    ("Partition_1", &["-P -t Square -p p1", "-S -t Square -p p2"],
        Expected::Apart { publisher: "-P -t Square -p p2 -c GREEN", subscriber: "-S -t Square -p p1" }),
    ("Partition_2", &["-P -t Square -p p1 -c BLUE", "-P -t Square -p x1 -c RED", "-S -t Square -p p*"], Expected::FirstAlone),
];

#[rustfmt::skip]
const RELIABILITY: &[Case] = &[
    ("Reliability_0", &["-P -t Square -b -z 0", "-S -t Square -b"], Expected::Growing),
    ("Reliability_1", &["-P -t Square -b", "-S -t Square -r"], Expected::Incompatible),
    ("Reliability_2", &["-P -t Square -r", "-S -t Square -b"], Expected::Data),
    ("Reliability_3", &["-P -t Square -r", "-S -t Square -r"], Expected::Data),
    ("Reliability_4", &["-P -t Square -r -k 0 -z 0", "-S -t Square -r -k 0"], Expected::NothingLost),
    ("Reliability_5", &["-P -t Square -r -k 0 -z 0 --num-instances 4", "-S -t Square -r -k 0"], Expected::NothingLost),
    // The suite allows no gap. KEEP_LAST guarantees that only if no program is 50 ms late.
    ("History_0", &["-P -t Square -r -k 5 -z 0 --write-period 50", "-S -t Square -r -k 5 --read-period 200"], Expected::Growing),
    ("History_1", &["-P -t Square -r -k 5 -z 0 --write-period 50 --num-instances 4", "-S -t Square -r -k 5 --read-period 200"],
        Expected::Growing),
    ("LargeData_0", &["-P -t Square -r -k 0 --additional-payload-size 100000", "-S -t Square -r -k 0"], Expected::Large),
];

#[rustfmt::skip]
const OWNERSHIP_AND_DEADLINE: &[Case] = &[
    ("Ownership_0", &["-P -t Square -s -1", "-S -t Square -s -1"], Expected::Data),
    ("Ownership_1", &["-P -t Square -s -1", "-S -t Square -s 1"], Expected::Incompatible),
    ("Ownership_2", &["-P -t Square -s 3", "-S -t Square -s -1"], Expected::Incompatible),
    ("Ownership_3", &["-P -t Square -s 3 -r -k 0 -c BLUE -z 20", "-P -t Square -s 4 -r -k 0 -c BLUE -z 30", "-S -t Square -s 1 -r -k 0"],
        Expected::SecondAlone),
    ("Ownership_4", &["-P -t Square -s 3 -r -k 0 -c BLUE -z 20", "-P -t Square -s 4 -r -k 0 -c RED -z 30", "-S -t Square -s 1 -r -k 0"],
        Expected::Both),
    ("Ownership_5", &["-P -t Square -s -1 -r -k 0 -c BLUE -z 20", "-P -t Square -s -1 -r -k 0 -c BLUE -z 30", "-S -t Square -s -1 -r -k 0"],
        Expected::Both),
    ("Ownership_6", &["-P -t Square -s -1 -r -k 0 -c BLUE -z 20", "-P -t Square -s -1 -r -k 0 -c RED -z 30", "-S -t Square -s -1 -r -k 0"],
        Expected::Both),
    ("Deadline_0", &["-P -t Square -f 3000", "-S -t Square -f 5000"], Expected::Data),
    ("Deadline_1", &["-P -t Square -f 5000", "-S -t Square -f 5000"], Expected::Data),
    ("Deadline_2", &["-P -t Square -f 7000", "-S -t Square -f 5000"], Expected::Incompatible),
    ("Deadline_3", &["-P -t Square -f 2000 -w --write-period 3000", "-S -t Square -f 2000"], Expected::DeadlineMissed),
];

#[rustfmt::skip]
const DURABILITY: &[Case] = &[
    ("Durability_0", &["-P -t Square -D v", "-S -t Square -D v"], Expected::Data),
    ("Durability_1", &["-P -t Square -D v", "-S -t Square -D l"], Expected::Incompatible),
    ("Durability_2", &["-P -t Square -D v", "-S -t Square -D t"], Expected::Incompatible),
    ("Durability_3", &["-P -t Square -D v", "-S -t Square -D p"], Expected::Incompatible),
    ("Durability_4", &["-P -t Square -D l", "-S -t Square -D v"], Expected::Data),
    ("Durability_5", &["-P -t Square -D l", "-S -t Square -D l"], Expected::Data),
    ("Durability_6", &["-P -t Square -D l", "-S -t Square -D t"], Expected::Incompatible),
    ("Durability_7", &["-P -t Square -D l", "-S -t Square -D p"], Expected::Incompatible),
    ("Durability_8", &["-P -t Square -D t", "-S -t Square -D v"], Expected::Data),
    ("Durability_9", &["-P -t Square -D t", "-S -t Square -D l"], Expected::Data),
    ("Durability_10", &["-P -t Square -D t", "-S -t Square -D t"], Expected::Data),
    ("Durability_11", &["-P -t Square -D t", "-S -t Square -D p"], Expected::Incompatible),
    ("Durability_12", &["-P -t Square -D p", "-S -t Square -D v"], Expected::Data),
    ("Durability_13", &["-P -t Square -D p", "-S -t Square -D l"], Expected::Data),
    ("Durability_14", &["-P -t Square -D p", "-S -t Square -D t"], Expected::Data),
    ("Durability_15", &["-P -t Square -D p", "-S -t Square -D p"], Expected::Data),
    ("Durability_16", &["-P -t Square -z 0 -r -k 0 -D v -w", "-S -t Square -r -k 0 -D v"], Expected::Later),
    ("Durability_17", &["-P -t Square -z 0 -r -k 0 -D l -w", "-S -t Square -r -k 0 -D l"], Expected::FromTheFirst),
];

#[rustfmt::skip]
const TIME: &[Case] = &[
    ("TimeBasedFilter_0", &["-P -t Square -r -k 0 -z 0 --write-period 100", "-S -t Square -r -k 0 --time-filter 1000"], Expected::Gaps),
    ("TimeBasedFilter_1", &["-P -t Square -r -k 0 -z 0 --write-period 100 --num-instances 4", "-S -t Square -r -k 0 --time-filter 1000"],
        Expected::Gaps),
    ("Lifespan_0", &["-P -t Square -r -k 0 -z 0 --write-period 100 --lifespan 250", "-S -t Square -r -k 0 --read-period 500"], Expected::Gaps),
    ("Lifespan_1", &["-P -t Square -r -k 0 -z 0 --write-period 100 --lifespan 250 --num-instances 4", "-S -t Square -r -k 0 --read-period 500"],
        Expected::Gaps),
    ("Lifespan_2", &["-P -t Square -r -k 0 -z 0 --write-period 400 --lifespan 1000", "-S -t Square -r -k 0 --read-period 2000"], Expected::Gaps),
    ("Lifespan_3", &["-P -t Square -r -k 0 -z 0 --write-period 400 --lifespan 1000 --num-instances 4", "-S -t Square -r -k 0 --read-period 2000"],
        Expected::Gaps),
    ("Lifespan_4", &["-P -t Square -b -z 0 --write-period 100 --lifespan 250", "-S -t Square -b -k 0 --read-period 500"], Expected::Gaps),
    ("Lifespan_5", &["-P -t Square -b -z 0 --write-period 100 --lifespan 250 --num-instances 4", "-S -t Square -b -k 0 --read-period 500"],
        Expected::Gaps),
    ("Lifespan_6", &["-P -t Square -b -z 0 --write-period 400 --lifespan 1000", "-S -t Square -b -k 0 --read-period 2000"], Expected::Gaps),
    ("Lifespan_7", &["-P -t Square -b -z 0 --write-period 400 --lifespan 1000 --num-instances 4", "-S -t Square -b -k 0 --read-period 2000"],
        Expected::Gaps),
    ("FinalInstanceState_0", &["-P -t Square --num-iterations 200 --num-instances 4 --final-instance-state u", "-S -t Square"], NO_WRITERS),
    ("FinalInstanceState_1", &["-P -t Square --num-iterations 200 --num-instances 4 --final-instance-state d", "-S -t Square"], DISPOSED),
    ("FinalInstanceState_2", &["-P -t Square --num-iterations 200 --num-instances 4", "-S -t Square"], NO_WRITERS),
];

/// Each offered scope with each requested scope; then coherent sets of instances, of a topic and of a group.
#[rustfmt::skip]
const COHERENT: &[Case] = &[
    ("CoherentSets i i", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope i"], Expected::Data),
    ("CoherentSets t i", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope i"], Expected::Data),
    ("CoherentSets t t", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope t"], Expected::Data),
    ("CoherentSets g i", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope i"], Expected::Data),
    ("CoherentSets g t", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope t"], Expected::Data),
    ("CoherentSets g g", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope g"], Expected::Data),
    ("CoherentSets i t", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope t"], Expected::Incompatible),
    ("CoherentSets i g", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope g"], Expected::Incompatible),
    ("CoherentSets t g", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope g"], Expected::Incompatible),
    ("CoherentSets only asked for", &["-P -t Square", "-S -t Square --coherent"], Expected::Incompatible),
    ("CoherentSets only offered", &["-P -t Square --coherent", "-S -t Square"], Expected::Data),
    ("CoherentSets of instances", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope i --coherent-sample-count 3",
        "-S -t Square -r -k 0 --coherent --access-scope i"], Expected::Presented { coherent: true, ordered: false }),
    ("CoherentSets of a topic", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope t --coherent-sample-count 3 --num-instances 4",
        "-S -t Square -r -k 0 --coherent --access-scope t"], Expected::Presented { coherent: true, ordered: false }),
    ("CoherentSets of a group", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope g --coherent-sample-count 3 --num-instances 4 --num-topics 3",
        "-S -t Square -r -k 0 --coherent --access-scope g --num-topics 3"], Expected::Presented { coherent: true, ordered: false }),
];

#[rustfmt::skip]
const ORDERED: &[Case] = &[
    ("OrderedAccess i i", &["-P -t Square --ordered --access-scope i", "-S -t Square --ordered --access-scope i"], Expected::Data),
    ("OrderedAccess t t", &["-P -t Square --ordered --access-scope t", "-S -t Square --ordered --access-scope t"], Expected::Data),
    ("OrderedAccess g g", &["-P -t Square --ordered --access-scope g", "-S -t Square --ordered --access-scope g"], Expected::Data),
    ("OrderedAccess i t", &["-P -t Square --ordered --access-scope i", "-S -t Square --ordered --access-scope t"], Expected::Incompatible),
    ("OrderedAccess t g", &["-P -t Square --ordered --access-scope t", "-S -t Square --ordered --access-scope g"], Expected::Incompatible),
    ("OrderedAccess only asked for", &["-P -t Square", "-S -t Square --ordered"], Expected::Incompatible),
    ("OrderedAccess of a topic", &["-P -t Square -r -k 0 -z 0 --ordered --access-scope t --num-instances 4",
        "-S -t Square -r -k 0 --ordered --access-scope t --take-read"], Expected::Presented { coherent: false, ordered: true }),
    ("OrderedAccess of a group", &["-P -t Square -r -k 0 -z 0 --ordered --access-scope g --num-instances 4 --num-topics 3",
        "-S -t Square -r -k 0 --ordered --access-scope g --num-topics 3 --take-read"], Expected::Presented { coherent: false, ordered: true }),
];

/// Starts the programs of a case in the order of the suite: publishers first.
fn start(stage: &Stage, programs: &[&str], expected: Expected) -> (Vec<Running>, Running) {
    let (subscriber, publishers) = programs.split_last().unwrap();
    let mut publishers: Vec<Running> = publishers.iter().map(|arguments| stage.ready(arguments)).collect();
    if matches!(expected, Expected::Later | Expected::FromTheFirst) {
        while publishers[0].shape().size < 10 {}
    }
    (publishers, stage.ready(subscriber))
}

fn run(&(name, programs, expected): &Case) {
    let stage = Stage::new();
    let (mut publishers, mut subscriber) = start(&stage, programs, expected);
    let matched = |line: &str| line.starts_with("on_publication_matched()");
    match expected {
        Expected::Incompatible => {
            publishers[0].says("on_offered_incompatible_qos()");
            subscriber.says("on_requested_incompatible_qos()");
            return;
        }
        Expected::Apart { publisher, subscriber: other } => {
            let _third = stage.start(publisher);
            let mut fourth = stage.start(other);
            for _ in 0..5 {
                assert_eq!(subscriber.shape().color, "GREEN", "{name}");
            }
            for _ in 0..5 {
                assert_eq!(fourth.shape().color, "BLUE", "{name}");
            }
            assert_eq!(publishers[0].wait_for(matched).matches("matched readers 1 ").count(), 1, "{name}");
            return;
        }
        Expected::Ends(state) => {
            let mut ended: Vec<String> =
                (0..4).map(|_| subscriber.wait_for(|line| line.contains("NOT_ALIVE"))).collect();
            ended.sort();
            let colors = ["BLUE", "BLUE1", "BLUE2", "BLUE3"];
            assert_eq!(ended, colors.map(|color| format!("Square     {color:<10} {state}")), "{name}");
            publishers[0].wait_for(|line| line == "Done.");
            return;
        }
        Expected::DeadlineMissed => {
            subscriber.shape();
            subscriber.says("on_requested_deadline_missed()");
            publishers[0].wait_for(matched);
            publishers[0].says("on_offered_deadline_missed()");
            return;
        }
        Expected::FirstAlone => {
            for _ in 0..20 {
                assert_eq!(subscriber.shape().color, "BLUE", "{name}");
            }
            assert!(!publishers[1].passed_over.iter().any(|line| matched(line)), "{name}");
        }
        Expected::SecondAlone => {
            while subscriber.shape().size != 30 {}
            for _ in 0..30 {
                assert_eq!(subscriber.shape().size, 30, "{name}");
            }
        }
        Expected::Both => {
            for size in [20, 30] {
                while subscriber.shape().size != size {}
            }
        }
        Expected::Data => drop(subscriber.shape()),
        Expected::Presented { coherent, ordered } => presented(name, &mut subscriber, coherent, ordered),
        Expected::Large => assert_eq!(subscriber.shape().last_byte, Some(255), "{name}"),
        Expected::Later => assert!(subscriber.shape().size >= 10, "{name}"),
        Expected::FromTheFirst => assert_eq!(subscriber.shape().size, 1, "{name}"),
        Expected::Growing => {
            for step in steps(&mut subscriber, 40) {
                assert!(step > 0, "{name}: {step}");
            }
        }
        Expected::NothingLost => {
            for step in steps(&mut subscriber, 100) {
                assert_eq!(step, 1, "{name}");
            }
        }
        Expected::Gaps => {
            let steps = steps(&mut subscriber, 12);
            assert!(steps.iter().all(|step| *step > 0) && steps.iter().any(|step| *step > 1), "{name}: {steps:?}");
        }
    }
    publishers[0].wait_for(matched);
}

/// Checks that each round is announced and that the sizes of each color have no gap.
///
/// A round contains coherent sets as a whole.
fn presented(name: &str, subscriber: &mut Running, coherent: bool, ordered: bool) {
    let mut sizes: HashMap<String, Vec<i32>> = HashMap::new();
    let mut rounds = 0;
    while rounds < 60 && sizes.values().all(|sizes| sizes.len() < 12) {
        let line = subscriber.wait_for(|line| line.starts_with("Reading ") || line.contains('['));
        if line.starts_with("Reading ") {
            let is_coherent = !coherent || line.starts_with("Reading coherent sets, iteration ");
            let is_ordered = ordered && line.starts_with("Reading with ordered access, iteration ");
            assert!(is_coherent || is_ordered, "{name}");
            rounds += 1;
            if coherent {
                assert!(sizes.values().all(|sizes| sizes.len() % 3 == 0), "{name}: {sizes:?}");
            }
            continue;
        }
        let mut words = line.split_whitespace();
        let key = format!("{} {}", words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let size = line.split(['[', ']']).nth(1).and_then(|size| size.parse().ok()).unwrap();
        sizes.entry(key).or_default().push(size);
    }
    assert!(!sizes.is_empty(), "{name}");
    for (key, sizes) in sizes {
        assert!(sizes.windows(2).all(|two| two[1] == two[0] + 1), "{name}: {key} {sizes:?}");
        assert!(!coherent || sizes[0] % 3 == 1, "{name}: {key} {sizes:?}");
    }
}

/// Differences between consecutive sizes of the same color.
fn steps(subscriber: &mut Running, count: usize) -> Vec<i32> {
    let mut last: HashMap<String, i32> = HashMap::new();
    let mut steps = Vec::new();
    while steps.len() < count {
        let Shape { color, size, .. } = subscriber.shape();
        if let Some(before) = last.insert(color, size) {
            steps.push(size - before);
        }
    }
    steps
}

/// Runs all cases in parallel: they mostly wait.
fn run_all(cases: &'static [Case]) {
    std::thread::scope(|scope| {
        for case in cases {
            std::thread::Builder::new().name(case.0.to_owned()).spawn_scoped(scope, || run(case)).unwrap();
        }
    });
}

#[test]
fn domains_representations_topics_and_partitions() {
    run_all(MATCHING);
}

#[test]
fn reliability_history_and_large_data() {
    run_all(RELIABILITY);
}

#[test]
fn ownership_and_deadline() {
    run_all(OWNERSHIP_AND_DEADLINE);
}

#[test]
fn durability() {
    run_all(DURABILITY);
}

#[test]
fn filters_lifespans_and_ends() {
    run_all(TIME);
}

#[test]
fn coherent_sets() {
    run_all(COHERENT);
}

#[test]
fn ordered_access() {
    run_all(ORDERED);
}
