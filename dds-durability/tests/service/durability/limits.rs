//! A service at its resource limits.

use super::*;

/// A reliable KEEP_ALL writer blocks for the service as for any reader, so no sample is lost.
#[test]
fn slow_service_loses_no_sample() {
    let simulation = Simulation::new(12);
    simulation.set_network(Conditions::hall_wifi());
    let scratch = Scratch::new("slow");
    let service = persistent_service(&simulation, "keeper", &scratch);
    let robot = simulation.participant("robot", 0).unwrap();
    // The writer's history is much smaller than the number of samples, so it must block.
    let limits = ResourceLimits::NONE.max_samples(50);
    let mut qos = offer(Durability::Persistent, 4000).keep_all().resource_limits(limits);
    qos.reliability = Reliability::Reliable { max_blocking_time: PATIENCE };
    let writer = writer(&robot, qos);
    (0..3000).for_each(|count| writer.write(&Place { key: 1, count }).unwrap());
    settled(&simulation, &service, 3000);
    drop((writer, robot));
    let station = simulation.participant("station", 0).unwrap();
    let late = reader(&station, Durability::Persistent);
    simulation.run_for(PATIENCE);
    assert_eq!(counts(&late), (0..3000).collect::<Vec<_>>());
}

#[test]
fn samples_beyond_memory_limit_are_refused() {
    let simulation = Simulation::new(13);
    let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
    let service = DurabilityService::builder().memory(4_800).start(participant).unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 100).keep_all());
    (0..20).for_each(|count| writer.write(&Place { key: 1, count }).unwrap());
    writer.acknowledged().block_for(PATIENCE).unwrap();
    simulation.run_for(MOMENT);
    let status = service.status();
    // Each change has a header of 4 bytes and two numbers. It takes 512 bytes in addition, and so does its instance.
    assert_eq!((status.changes, status.bytes, status.refused), (8, 96, 12), "{status:?}");
}

/// A change that replaces an older one needs no additional room, so the service stores the last value.
#[test]
fn full_service_still_stores_last_value() {
    let simulation = Simulation::new(15);
    let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
    let service = DurabilityService::builder().memory(1_100).start(participant).unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 1));
    for count in 0..5 {
        writer.write(&Place { key: 1, count }).unwrap();
        simulation.run_for(MOMENT);
    }
    writer.write(&Place { key: 2, count: 9 }).unwrap();
    simulation.run_for(MOMENT);
    let status = service.status();
    assert_eq!((status.changes, status.taken_in, status.refused), (1, 5, 1), "{status:?}");
    drop((writer, robot));
    let station = simulation.participant("station", 0).unwrap();
    let late = reader(&station, Durability::Transient);
    simulation.run_for(MOMENT);
    assert_eq!(counts(&late), [4]);
}

#[test]
fn topics_beyond_service_limit_are_counted() {
    let simulation = Simulation::new(16);
    let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
    let service = DurabilityService::builder().groups_max(2).start(participant).unwrap();
    let robot = simulation.participant("robot", 0).unwrap();
    let writers = ["one", "two", "three"].map(|topic| {
        let writer = robot.writer_builder::<Place>(topic).qos(offer(Durability::Transient, 1)).build().unwrap();
        simulation.run_for(MOMENT);
        writer.write(&Place { key: 1, count: 1 }).unwrap();
        simulation.run_for(MOMENT);
        writer
    });
    let status = service.status();
    assert_eq!((status.groups, status.changes, status.writers_left_out), (2, 2, 1), "{status:?}");
    let matched = writers.each_ref().map(|writer| writer.publication_matched().current_count);
    // The service does not match writers beyond its limit.
    assert_eq!(matched, [1, 1, 0]);
}
