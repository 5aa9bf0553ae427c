//! `run`: both sides on this machine.

use crate::perf::options::{Peer, Ping, Publish, Run, Work};
use crate::perf::participant::{Place, ScopeOption};
use crate::perf::record::{Outcome, Pattern};
use crate::perf::{Failure, Result, roundtrip, strace, throughput};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time that the other process has to end.
const END_WITHIN: Duration = Duration::from_secs(5);

/// Starts the other process, measures, and ends it.
///
/// # Errors
///
/// Returns an error if the process cannot be started or the measurement fails.
pub fn run(what: Run) -> Result<()> {
    match what {
        Run::Roundtrip { mut ping, peer } => {
            ping.work.check().map_err(Failure::new)?;
            ping.place.pin()?;
            keep_apart(&mut ping.place);
            strace_is_there(&peer)?;
            let child = start(Pattern::Roundtrip, &ping.place, &peer)?;
            let again = ping.clone();
            roundtrip::run(&ping, &mut |outcome| {
                count_system_calls(
                    &peer,
                    Pattern::Roundtrip,
                    &again.place,
                    &roundtrip_arguments(&again, outcome),
                    outcome,
                )
            })?;
            end(child)
        }
        Run::Throughput { mut publish, peer } => {
            publish.work.check().map_err(Failure::new)?;
            publish.place.pin()?;
            keep_apart(&mut publish.place);
            strace_is_there(&peer)?;
            publish.processes = 1;
            let child = start(Pattern::Throughput, &publish.place, &peer)?;
            let again = publish.clone();
            throughput::run(&publish, &mut |outcome| {
                let arguments = throughput_arguments(&again, outcome);
                count_system_calls(&peer, Pattern::Throughput, &again.place, &arguments, outcome)
            })?;
            end(child)
        }
    }
}

/// Isolates the two processes from other DDS programs of this machine.
fn keep_apart(place: &mut Place) {
    place.scope.get_or_insert(ScopeOption::Host);
    place.domain_tag.get_or_insert_with(|| format!("perf-{}", std::process::id()));
}

fn strace_is_there(peer: &Peer) -> Result<()> {
    if peer.system_calls { strace::check() } else { Ok(()) }
}

/// The place of the other process.
fn peer_place(place: &Place, peer: &Peer) -> Place {
    let mut place = place.clone();
    place.receive = peer.peer_receive.unwrap_or(place.receive);
    if !peer.peer_cpu.is_empty() {
        place.cpu.clone_from(&peer.peer_cpu);
    }
    place
}

/// The name of the command that responds.
fn responder(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Roundtrip => "pong",
        Pattern::Throughput => "subscribe",
    }
}

fn start(pattern: Pattern, place: &Place, peer: &Peer) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(responder_arguments(pattern, &peer_place(place, peer)));
    start_responder(command)
}

fn responder_arguments(pattern: Pattern, place: &Place) -> Vec<String> {
    let mut arguments = vec![responder(pattern).to_owned(), "--until-stdin-ends".to_owned()];
    arguments.extend(place.arguments());
    arguments
}

/// Starts the responder and waits until it is ready.
fn start_responder(mut command: Command) -> Result<Child> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    if line.is_empty() {
        let status = child.wait()?;
        return Err(Failure::new(format!("the other process has ended ({status}); see its message above")));
    }
    Ok(child)
}

/// Ends the responder by closing its standard input.
fn end(mut child: Child) -> Result<()> {
    drop(child.stdin.take());
    let since = Instant::now();
    while since.elapsed() < END_WITHIN {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Err(Failure::new(format!("the other process did not end within {END_WITHIN:?} and was killed")))
}

/// Samples of the two runs under strace. The difference of the runs excludes start and discovery.
const FEW: u64 = 1000;
const MANY: u64 = 3000;

/// Runs both sides twice under strace and returns the difference.
fn count_system_calls(
    peer: &Peer,
    pattern: Pattern,
    place: &Place,
    arguments: &[String],
    outcome: &mut Outcome,
) -> Result<()> {
    if !peer.system_calls {
        return Ok(());
    }
    // Fewer samples if they are large.
    let share = (outcome.settings.size / 16_384).clamp(1, 20);
    let (few, many) = (FEW / share, MANY / share);
    let mut place = place.clone();
    place.domain_tag = Some(format!("perf-strace-{}", std::process::id()));
    let run = |count: u64| -> Result<[strace::Calls; 2]> {
        let own = [arguments, &place.arguments(), &[format!("--count={count}")]].concat();
        let other = responder_arguments(pattern, &peer_place(&place, peer));
        let responder = strace::Counted::new("responder", &other)?;
        let child = start_responder(responder.command())?;
        let initiator = strace::Counted::new("initiator", &own)?;
        let status = initiator.command().stdout(Stdio::null()).status()?;
        end(child)?;
        if !status.success() {
            return Err(Failure::new("the run under strace failed; see its message above"));
        }
        Ok([initiator.calls()?, responder.calls()?])
    };
    let (few_calls, many_calls) = (run(few)?, run(many)?);
    let roles = outcome.processes.iter().map(|process| process.role.clone());
    let both = few_calls.iter().zip(&many_calls);
    outcome.system_calls =
        roles.zip(both).map(|(role, (few_calls, many_calls))| many_calls.since(few_calls, many - few, role)).collect();
    Ok(())
}

fn roundtrip_arguments(ping: &Ping, outcome: &Outcome) -> Vec<String> {
    let mut arguments = vec!["ping".to_owned()];
    arguments.extend(work_arguments(&ping.work, outcome));
    arguments
}

fn throughput_arguments(publish: &Publish, outcome: &Outcome) -> Vec<String> {
    let mut arguments = vec!["publish".to_owned()];
    arguments.extend(work_arguments(&publish.work, outcome));
    arguments.push(format!("--writers={}", publish.writers));
    arguments.push(format!("--readers={}", publish.readers));
    arguments
}

/// Arguments for the same work without results.
fn work_arguments(work: &Work, outcome: &Outcome) -> Vec<String> {
    use crate::perf::qos::HistoryOption;
    let qos = &outcome.settings.qos;
    let history = match qos.history {
        HistoryOption::KeepLast(depth) => format!("--history=keep-last:{depth}"),
        HistoryOption::KeepAll => "--history=keep-all".to_owned(),
    };
    let mut arguments = vec![
        "--quiet".to_owned(),
        format!("--size={}", outcome.settings.size),
        format!("--topics={}", work.topics),
        format!("--write={}", crate::perf::participant::name_of(work.write)),
        // A warm-up by time would have a different number of samples in each run.
        "--warm-up=0".to_owned(),
        history,
        format!("--latency-budget={}ns", qos.latency_budget_ns),
        format!("--max-samples={}", qos.max_samples),
    ];
    arguments.extend(work.timeout.map(|timeout| format!("--timeout={timeout}")));
    arguments.extend(work.rate.map(|rate| format!("--rate={rate}")));
    arguments.extend((!qos.reliable).then(|| "--best-effort".to_owned()));
    arguments.extend(qos.transient_local.then(|| "--transient-local".to_owned()));
    arguments
}
