//! Random programs in random worlds, and an oracle that knows what each reader must have got.
//!
//! A [`scenario`] draws hosts, networks, endpoints and a few minutes of life from a seed: writers and readers come and go,
//! links break, hosts crash and sleep. At the end the network heals, and the [`oracle`] compares what every reader has got
//! with what its writers have written. `DDS_SIM_SEED=n` runs one seed again and prints its diary; `DDS_SIM_RUNS=n` runs so many.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod diary;
mod dice;
mod oracle;
mod scenario;

use scenario::Scenario;

/// How many seeds `cargo test` goes through; `.ci/run --long` takes thousands.
const RUNS: u64 = 25;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

#[test]
fn every_promise_is_kept_in_every_world() {
    let seeds = match number("DDS_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("DDS_SIM_RUNS").unwrap_or(RUNS),
    };
    let mut broken = Vec::new();
    for seed in seeds {
        let complaints = match number("DDS_SIM_SEED") {
            Some(_) => tracing::subscriber::with_default(diary::Diary, || Scenario::with_diary(seed).run()),
            None => Scenario::new(seed).run(),
        };
        if !complaints.is_empty() {
            println!("DDS_SIM_SEED={seed}:");
            complaints.iter().take(10).for_each(|complaint| println!("  {complaint}"));
            broken.push(seed);
        }
    }
    assert!(broken.is_empty(), "promises were broken under the seeds {broken:?}");
}

#[test]
fn a_seed_says_everything() {
    for seed in 0..6 {
        let trace = || {
            let mut scenario = Scenario::new(seed);
            scenario.run();
            scenario.trace_hash()
        };
        assert_eq!(trace(), trace(), "seed {seed}");
    }
}
