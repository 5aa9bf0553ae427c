//! The cases of the OMG's interoperability suite (omg-dds/dds-rtps) with ourselves on all sides: their names, their programs,
//! and what must be seen. Those of content filters (`Cft`) stand in `main.rs`. Those of ordered access and coherent sets
//! (`OrderedAccess`, `CoherentSets`) are our own choice of what the suite tries.
//!
//! The suite goes by time: it calls it a failure if nothing comes for 15 s. Here a program that must hear nothing gets a third one
//! that it does hear, so that nothing depends on how long a machine takes.

use super::{Shape, Shapes, Stage};
use crate::running::Running;
use std::collections::HashMap;

/// What a case wants to see.
#[derive(Debug, Clone, Copy)]
enum Seen {
    /// Samples.
    Data,
    /// Both sides say that policies do not fit.
    Incompatible,
    /// The publisher and the subscriber do not meet; each meets one that is named here.
    Apart { publisher: &'static str, subscriber: &'static str },
    /// Sizes that grow, of each color.
    Growing,
    /// Sizes that grow by one, of each color.
    NothingLost,
    /// First either, then the second publisher alone.
    SecondAlone,
    /// Both publishers.
    Both,
    /// The first publisher alone; the second is not matched.
    FirstAlone,
    /// Both sides miss deadlines.
    DeadlineMissed,
    /// The subscriber, which comes late, begins where the publisher is.
    Later,
    /// … or with the first sample.
    FromTheFirst,
    /// Sizes that jump, of each color: what is in between was held back or has expired.
    Gaps,
    /// Every color ends so.
    Ends(&'static str),
    /// Its last byte.
    Large,
    /// Sizes that grow by one, of each color, in rounds that are announced; coherent sets of three rounds, if they are coherent.
    Presented { coherent: bool, ordered: bool },
}

type Case = (&'static str, &'static [&'static str], Seen);

const DISPOSED: Seen = Seen::Ends("NOT_ALIVE_DISPOSED_INSTANCE_STATE");
const NO_WRITERS: Seen = Seen::Ends("NOT_ALIVE_NO_WRITERS_INSTANCE_STATE");

#[rustfmt::skip]
const MATCHING: &[Case] = &[
    ("Domain_0", &["-P -t Square -d 0", "-S -t Square -d 0 -b"], Seen::Data),
    ("Domain_1", &["-P -t Square -d 0", "-S -t Square -d 1"],
        Seen::Apart { publisher: "-P -t Square -d 1 -c GREEN", subscriber: "-S -t Square -d 0" }),
    ("Domain_2", &["-P -t Square -d 1", "-S -t Square -d 1 -b"], Seen::Data),
    ("DataRepresentation_0", &["-P -t Square -x 1", "-S -t Square -x 1"], Seen::Data),
    ("DataRepresentation_1", &["-P -t Square -x 1", "-S -t Square -x 2"], Seen::Incompatible),
    ("DataRepresentation_2", &["-P -t Square -x 2", "-S -t Square -x 1"], Seen::Incompatible),
    ("DataRepresentation_3", &["-P -t Square -x 2", "-S -t Square -x 2 -b"], Seen::Data),
    ("Topic_0", &["-P -t Circle", "-S -t Circle"], Seen::Data),
    ("Topic_1", &["-P -t Square", "-S -t Circle"],
        Seen::Apart { publisher: "-P -t Circle -c GREEN", subscriber: "-S -t Square" }),
    ("Partition_0", &["-P -t Square -p p1", "-S -t Square -p p1"], Seen::Data),
    ("Partition_1", &["-P -t Square -p p1", "-S -t Square -p p2"],
        Seen::Apart { publisher: "-P -t Square -p p2 -c GREEN", subscriber: "-S -t Square -p p1" }),
    ("Partition_2", &["-P -t Square -p p1 -c BLUE", "-P -t Square -p x1 -c RED", "-S -t Square -p p*"], Seen::FirstAlone),
];

#[rustfmt::skip]
const RELIABILITY: &[Case] = &[
    ("Reliability_0", &["-P -t Square -b -z 0", "-S -t Square -b"], Seen::Growing),
    ("Reliability_1", &["-P -t Square -b", "-S -t Square -r"], Seen::Incompatible),
    ("Reliability_2", &["-P -t Square -r", "-S -t Square -b"], Seen::Data),
    ("Reliability_3", &["-P -t Square -r", "-S -t Square -r"], Seen::Data),
    ("Reliability_4", &["-P -t Square -r -k 0 -z 0", "-S -t Square -r -k 0"], Seen::NothingLost),
    ("Reliability_5", &["-P -t Square -r -k 0 -z 0 --num-instances 4", "-S -t Square -r -k 0"], Seen::NothingLost),
    // The suite wants no gap, which KEEP_LAST promises only if nobody is late by 50 ms.
    ("History_0", &["-P -t Square -r -k 5 -z 0 --write-period 50", "-S -t Square -r -k 5 --read-period 200"], Seen::Growing),
    ("History_1", &["-P -t Square -r -k 5 -z 0 --write-period 50 --num-instances 4", "-S -t Square -r -k 5 --read-period 200"],
        Seen::Growing),
    ("LargeData_0", &["-P -t Square -r -k 0 --additional-payload-size 100000", "-S -t Square -r -k 0"], Seen::Large),
];

#[rustfmt::skip]
const OWNERSHIP_AND_DEADLINE: &[Case] = &[
    ("Ownership_0", &["-P -t Square -s -1", "-S -t Square -s -1"], Seen::Data),
    ("Ownership_1", &["-P -t Square -s -1", "-S -t Square -s 1"], Seen::Incompatible),
    ("Ownership_2", &["-P -t Square -s 3", "-S -t Square -s -1"], Seen::Incompatible),
    ("Ownership_3", &["-P -t Square -s 3 -r -k 0 -c BLUE -z 20", "-P -t Square -s 4 -r -k 0 -c BLUE -z 30", "-S -t Square -s 1 -r -k 0"],
        Seen::SecondAlone),
    ("Ownership_4", &["-P -t Square -s 3 -r -k 0 -c BLUE -z 20", "-P -t Square -s 4 -r -k 0 -c RED -z 30", "-S -t Square -s 1 -r -k 0"],
        Seen::Both),
    ("Ownership_5", &["-P -t Square -s -1 -r -k 0 -c BLUE -z 20", "-P -t Square -s -1 -r -k 0 -c BLUE -z 30", "-S -t Square -s -1 -r -k 0"],
        Seen::Both),
    ("Ownership_6", &["-P -t Square -s -1 -r -k 0 -c BLUE -z 20", "-P -t Square -s -1 -r -k 0 -c RED -z 30", "-S -t Square -s -1 -r -k 0"],
        Seen::Both),
    ("Deadline_0", &["-P -t Square -f 3000", "-S -t Square -f 5000"], Seen::Data),
    ("Deadline_1", &["-P -t Square -f 5000", "-S -t Square -f 5000"], Seen::Data),
    ("Deadline_2", &["-P -t Square -f 7000", "-S -t Square -f 5000"], Seen::Incompatible),
    ("Deadline_3", &["-P -t Square -f 2000 -w --write-period 3000", "-S -t Square -f 2000"], Seen::DeadlineMissed),
];

#[rustfmt::skip]
const DURABILITY: &[Case] = &[
    ("Durability_0", &["-P -t Square -D v", "-S -t Square -D v"], Seen::Data),
    ("Durability_1", &["-P -t Square -D v", "-S -t Square -D l"], Seen::Incompatible),
    ("Durability_2", &["-P -t Square -D v", "-S -t Square -D t"], Seen::Incompatible),
    ("Durability_3", &["-P -t Square -D v", "-S -t Square -D p"], Seen::Incompatible),
    ("Durability_4", &["-P -t Square -D l", "-S -t Square -D v"], Seen::Data),
    ("Durability_5", &["-P -t Square -D l", "-S -t Square -D l"], Seen::Data),
    ("Durability_6", &["-P -t Square -D l", "-S -t Square -D t"], Seen::Incompatible),
    ("Durability_7", &["-P -t Square -D l", "-S -t Square -D p"], Seen::Incompatible),
    ("Durability_8", &["-P -t Square -D t", "-S -t Square -D v"], Seen::Data),
    ("Durability_9", &["-P -t Square -D t", "-S -t Square -D l"], Seen::Data),
    ("Durability_10", &["-P -t Square -D t", "-S -t Square -D t"], Seen::Data),
    ("Durability_11", &["-P -t Square -D t", "-S -t Square -D p"], Seen::Incompatible),
    ("Durability_12", &["-P -t Square -D p", "-S -t Square -D v"], Seen::Data),
    ("Durability_13", &["-P -t Square -D p", "-S -t Square -D l"], Seen::Data),
    ("Durability_14", &["-P -t Square -D p", "-S -t Square -D t"], Seen::Data),
    ("Durability_15", &["-P -t Square -D p", "-S -t Square -D p"], Seen::Data),
    ("Durability_16", &["-P -t Square -z 0 -r -k 0 -D v -w", "-S -t Square -r -k 0 -D v"], Seen::Later),
    ("Durability_17", &["-P -t Square -z 0 -r -k 0 -D l -w", "-S -t Square -r -k 0 -D l"], Seen::FromTheFirst),
];

#[rustfmt::skip]
const TIME: &[Case] = &[
    ("TimeBasedFilter_0", &["-P -t Square -r -k 0 -z 0 --write-period 100", "-S -t Square -r -k 0 --time-filter 1000"], Seen::Gaps),
    ("TimeBasedFilter_1", &["-P -t Square -r -k 0 -z 0 --write-period 100 --num-instances 4", "-S -t Square -r -k 0 --time-filter 1000"],
        Seen::Gaps),
    ("Lifespan_0", &["-P -t Square -r -k 0 -z 0 --write-period 100 --lifespan 250", "-S -t Square -r -k 0 --read-period 500"], Seen::Gaps),
    ("Lifespan_1", &["-P -t Square -r -k 0 -z 0 --write-period 100 --lifespan 250 --num-instances 4", "-S -t Square -r -k 0 --read-period 500"],
        Seen::Gaps),
    ("Lifespan_2", &["-P -t Square -r -k 0 -z 0 --write-period 400 --lifespan 1000", "-S -t Square -r -k 0 --read-period 2000"], Seen::Gaps),
    ("Lifespan_3", &["-P -t Square -r -k 0 -z 0 --write-period 400 --lifespan 1000 --num-instances 4", "-S -t Square -r -k 0 --read-period 2000"],
        Seen::Gaps),
    ("Lifespan_4", &["-P -t Square -b -z 0 --write-period 100 --lifespan 250", "-S -t Square -b -k 0 --read-period 500"], Seen::Gaps),
    ("Lifespan_5", &["-P -t Square -b -z 0 --write-period 100 --lifespan 250 --num-instances 4", "-S -t Square -b -k 0 --read-period 500"],
        Seen::Gaps),
    ("Lifespan_6", &["-P -t Square -b -z 0 --write-period 400 --lifespan 1000", "-S -t Square -b -k 0 --read-period 2000"], Seen::Gaps),
    ("Lifespan_7", &["-P -t Square -b -z 0 --write-period 400 --lifespan 1000 --num-instances 4", "-S -t Square -b -k 0 --read-period 2000"],
        Seen::Gaps),
    ("FinalInstanceState_0", &["-P -t Square --num-iterations 200 --num-instances 4 --final-instance-state u", "-S -t Square"], NO_WRITERS),
    ("FinalInstanceState_1", &["-P -t Square --num-iterations 200 --num-instances 4 --final-instance-state d", "-S -t Square"], DISPOSED),
    ("FinalInstanceState_2", &["-P -t Square --num-iterations 200 --num-instances 4", "-S -t Square"], NO_WRITERS),
];

/// Of the scopes each offer with each request, and what is presented: instances of one topic, and several topics.
#[rustfmt::skip]
const COHERENT: &[Case] = &[
    ("CoherentSets i i", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope i"], Seen::Data),
    ("CoherentSets t i", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope i"], Seen::Data),
    ("CoherentSets t t", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope t"], Seen::Data),
    ("CoherentSets g i", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope i"], Seen::Data),
    ("CoherentSets g t", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope t"], Seen::Data),
    ("CoherentSets g g", &["-P -t Square --coherent --access-scope g", "-S -t Square --coherent --access-scope g"], Seen::Data),
    ("CoherentSets i t", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope t"], Seen::Incompatible),
    ("CoherentSets i g", &["-P -t Square --coherent --access-scope i", "-S -t Square --coherent --access-scope g"], Seen::Incompatible),
    ("CoherentSets t g", &["-P -t Square --coherent --access-scope t", "-S -t Square --coherent --access-scope g"], Seen::Incompatible),
    ("CoherentSets only asked for", &["-P -t Square", "-S -t Square --coherent"], Seen::Incompatible),
    ("CoherentSets only offered", &["-P -t Square --coherent", "-S -t Square"], Seen::Data),
    ("CoherentSets of instances", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope i --coherent-sample-count 3",
        "-S -t Square -r -k 0 --coherent --access-scope i"], Seen::Presented { coherent: true, ordered: false }),
    ("CoherentSets of a topic", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope t --coherent-sample-count 3 --num-instances 4",
        "-S -t Square -r -k 0 --coherent --access-scope t"], Seen::Presented { coherent: true, ordered: false }),
    ("CoherentSets of a group", &["-P -t Square -r -k 0 -z 0 --coherent --access-scope g --coherent-sample-count 3 --num-instances 4 --num-topics 3",
        "-S -t Square -r -k 0 --coherent --access-scope g --num-topics 3"], Seen::Presented { coherent: true, ordered: false }),
];

#[rustfmt::skip]
const ORDERED: &[Case] = &[
    ("OrderedAccess i i", &["-P -t Square --ordered --access-scope i", "-S -t Square --ordered --access-scope i"], Seen::Data),
    ("OrderedAccess t t", &["-P -t Square --ordered --access-scope t", "-S -t Square --ordered --access-scope t"], Seen::Data),
    ("OrderedAccess g g", &["-P -t Square --ordered --access-scope g", "-S -t Square --ordered --access-scope g"], Seen::Data),
    ("OrderedAccess i t", &["-P -t Square --ordered --access-scope i", "-S -t Square --ordered --access-scope t"], Seen::Incompatible),
    ("OrderedAccess t g", &["-P -t Square --ordered --access-scope t", "-S -t Square --ordered --access-scope g"], Seen::Incompatible),
    ("OrderedAccess only asked for", &["-P -t Square", "-S -t Square --ordered"], Seen::Incompatible),
    ("OrderedAccess of a topic", &["-P -t Square -r -k 0 -z 0 --ordered --access-scope t --num-instances 4",
        "-S -t Square -r -k 0 --ordered --access-scope t --take-read"], Seen::Presented { coherent: false, ordered: true }),
    ("OrderedAccess of a group", &["-P -t Square -r -k 0 -z 0 --ordered --access-scope g --num-instances 4 --num-topics 3",
        "-S -t Square -r -k 0 --ordered --access-scope g --num-topics 3 --take-read"], Seen::Presented { coherent: false, ordered: true }),
];

/// The programs of a case, publishers first, as the suite starts them.
fn start(stage: &Stage, programs: &[&str], seen: Seen) -> (Vec<Running>, Running) {
    let (subscriber, publishers) = programs.split_last().unwrap();
    let mut publishers: Vec<Running> = publishers.iter().map(|arguments| stage.ready(arguments)).collect();
    if matches!(seen, Seen::Later | Seen::FromTheFirst) {
        while publishers[0].shape().size < 10 {}
    }
    (publishers, stage.ready(subscriber))
}

fn run(&(name, programs, seen): &Case) {
    let stage = Stage::new();
    let (mut publishers, mut subscriber) = start(&stage, programs, seen);
    let matched = |line: &str| line.starts_with("on_publication_matched()");
    match seen {
        Seen::Incompatible => {
            publishers[0].says("on_offered_incompatible_qos()");
            subscriber.says("on_requested_incompatible_qos()");
            return;
        }
        Seen::Apart { publisher, subscriber: other } => {
            let _third = stage.start(publisher);
            let mut fourth = stage.start(other);
            (0..5).for_each(|_| assert_eq!(subscriber.shape().color, "GREEN", "{name}"));
            (0..5).for_each(|_| assert_eq!(fourth.shape().color, "BLUE", "{name}"));
            assert_eq!(publishers[0].wait_for(matched).matches("matched readers 1 ").count(), 1, "{name}");
            return;
        }
        Seen::Ends(state) => {
            let mut ended: Vec<String> =
                (0..4).map(|_| subscriber.wait_for(|line| line.contains("NOT_ALIVE"))).collect();
            ended.sort();
            let colors = ["BLUE", "BLUE1", "BLUE2", "BLUE3"];
            assert_eq!(ended, colors.map(|color| format!("Square     {color:<10} {state}")), "{name}");
            publishers[0].wait_for(|line| line == "Done.");
            return;
        }
        Seen::DeadlineMissed => {
            subscriber.shape();
            subscriber.says("on_requested_deadline_missed()");
            publishers[0].wait_for(matched);
            publishers[0].says("on_offered_deadline_missed()");
            return;
        }
        Seen::FirstAlone => {
            (0..20).for_each(|_| assert_eq!(subscriber.shape().color, "BLUE", "{name}"));
            assert!(!publishers[1].passed_over.iter().any(|line| matched(line)), "{name}");
        }
        Seen::SecondAlone => {
            while subscriber.shape().size != 30 {}
            (0..30).for_each(|_| assert_eq!(subscriber.shape().size, 30, "{name}"));
        }
        Seen::Both => [20, 30].into_iter().for_each(|size| while subscriber.shape().size != size {}),
        Seen::Data => drop(subscriber.shape()),
        Seen::Presented { coherent, ordered } => presented(name, &mut subscriber, coherent, ordered),
        Seen::Large => assert_eq!(subscriber.shape().last_byte, Some(255), "{name}"),
        Seen::Later => assert!(subscriber.shape().size >= 10, "{name}"),
        Seen::FromTheFirst => assert_eq!(subscriber.shape().size, 1, "{name}"),
        Seen::Growing => steps(&mut subscriber, 40).into_iter().for_each(|step| assert!(step > 0, "{name}: {step}")),
        Seen::NothingLost => steps(&mut subscriber, 100).into_iter().for_each(|step| assert_eq!(step, 1, "{name}")),
        Seen::Gaps => {
            let steps = steps(&mut subscriber, 12);
            assert!(steps.iter().all(|step| *step > 0) && steps.iter().any(|step| *step > 1), "{name}: {steps:?}");
        }
    }
    publishers[0].wait_for(matched);
}

/// Each round says what it reads, and shows the sizes of each color without a gap, of coherent sets each as a whole.
fn presented(name: &str, subscriber: &mut Running, coherent: bool, ordered: bool) {
    let mut sizes: HashMap<String, Vec<i32>> = HashMap::new();
    let mut rounds = 0;
    while rounds < 60 && sizes.values().all(|sizes| sizes.len() < 12) {
        let line = subscriber.wait_for(|line| line.starts_with("Reading ") || line.contains('['));
        if line.starts_with("Reading ") {
            let says = |line: &str| if coherent { line.starts_with("Reading coherent sets, iteration ") } else { true };
            assert!(says(&line) || (ordered && line.starts_with("Reading with ordered access, iteration ")), "{name}");
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

/// By how much each size is greater than the one before it, of the same color.
fn steps(subscriber: &mut Running, count: usize) -> Vec<i32> {
    let mut last: HashMap<String, i32> = HashMap::new();
    let mut step = |Shape { color, size, .. }: Shape| last.insert(color, size).map(|before| size - before);
    std::iter::from_fn(|| Some(step(subscriber.shape()))).flatten().take(count).collect()
}

/// All at once: they mostly wait.
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
