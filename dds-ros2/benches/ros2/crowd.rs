//! A graph of many nodes of this project and of `rclpy`: the time until an observer knows it, and its cost at rest.

use crate::Outcome;
use crate::process::{Process, say_ready, wait_for_end};
use dds_ros2::{Context, Graph, Node};
use std::time::{Duration, Instant};

/// No other bench uses this domain.
const DOMAIN: u32 = 66;

const NODES_OF_A_CONTEXT: usize = 5;

/// Longest wait for the graph.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time at rest.
#[cfg(target_os = "linux")]
const OBSERVATION: Duration = Duration::from_secs(10);

fn context() -> Outcome<Context> {
    Ok(Context::builder().ignore_environment().domain_id(DOMAIN).build()?)
}

/// Keeps nodes until the parent ends.
pub(crate) fn keep_nodes(count: usize) -> Outcome {
    let mut nodes: Vec<Node> = Vec::new();
    while nodes.len() < count {
        let context = context()?;
        for _ in 0..NODES_OF_A_CONTEXT.min(count - nodes.len()) {
            nodes.push(context.node(&format!("rust_{}", nodes.len()))?);
        }
    }
    say_ready()?;
    wait_for_end()
}

/// Measures a graph of `count` nodes of each implementation.
pub(crate) fn measure(count: usize, is_test: bool) -> Outcome {
    let number = count.to_string();
    let mut crowds = vec![Process::own(&["crowd", &number])?];
    crowds.extend(Process::python(&["crowd", &number], DOMAIN)?);
    let all = count * crowds.len();
    for crowd in &mut crowds {
        crowd.line()?;
    }
    let start = Instant::now();
    let observer = context()?;
    observer.graph().wait_until(|graph| is_complete(graph, all)).block_for(PATIENCE)?;
    println!("dds-ros2 knows {all} nodes with their services after {:.2?}", start.elapsed());
    if let Some(mut python) = Process::python(&["observe", &all.to_string()], DOMAIN)? {
        println!("rclpy knows the names of {all} nodes after {:.2} s", python.line()?.parse::<f64>()?);
    }
    if is_test { Ok(()) } else { measure_rest() }
}

/// Measures the processor time of this process while nothing changes.
#[cfg(target_os = "linux")]
fn measure_rest() -> Outcome {
    // Discovery of the last participants ends first.
    std::thread::sleep(OBSERVATION / 2);
    let before = processor_time()?;
    std::thread::sleep(OBSERVATION);
    let share = (processor_time()? - before).as_secs_f64() / OBSERVATION.as_secs_f64();
    println!("the observer of dds-ros2 uses {:.2} % of a core at rest", 100.0 * share);
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn measure_rest() -> Outcome {
    println!("the processor time at rest needs Linux");
    Ok(())
}

/// Whether each node has the services and publishers of a node.
fn is_complete(graph: &Graph, count: usize) -> bool {
    let nodes = graph.nodes();
    nodes.len() >= count
        && nodes.iter().all(|node| {
            let entities = graph.node_entities(&node.namespace, &node.name);
            entities.is_some_and(|entities| entities.services.len() >= 7 && entities.publishers.len() >= 2)
        })
}

#[cfg(target_os = "linux")]
fn processor_time() -> Outcome<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(microseconds.try_into()?))
}
