//! p50, p99 and p99.9 of each form of `best_effort_write_and_receive`, in turns with the floors.
//!
//! criterion measures one ID after the other, while the load of the machine may change. Here all forms take turns of a
//! thousand samples, so their ratios are valid even if their absolute times are not. Two reads of the clock time a
//! pass; the line `clock` shows their cost.

use benches::floor::UdpFloor;
use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use benches::{LARGE_PAYLOAD_LEN, RTPS_OVERHEAD_LEN, SMALL_PAYLOAD_LEN};
use dds_core::__private::cdr::copy;
use dds_core::listener::Delivery;
use hdrhistogram::Histogram;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// Samples of one turn: shorter than changes of the load, longer than the cost of a switch.
const TURN: u64 = 1000;

/// The forms that the medians of the others are compared with.
const FLOOR: &str = "best_effort_write_and_receive_floor_udp";
const FLOOR_FRAG: &str = "best_effort_write_and_receive_frag_floor_udp";

struct Contender {
    name: &'static str,
    pass: Pass,
    nanoseconds: Histogram<u64>,
}

/// Measures the forms that the arguments select, and prints a table.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let samples: u64 = match arguments.iter().position(|argument| argument == "--samples") {
        _ if arguments.iter().any(|argument| argument == "--test") => 1,
        Some(at) => arguments.get(at + 1).ok_or("--samples needs a number")?.parse()?,
        None => 50_000,
    };
    let mut contenders = contenders(&filters(arguments))?;
    let turns = samples.div_ceil(TURN);
    for turn in 0..=turns {
        for contender in &mut contenders {
            // The first turn warms up.
            let record = turn > 0;
            for _ in 0..samples.min(TURN) {
                let started = Instant::now();
                (contender.pass)();
                let took = started.elapsed();
                if record {
                    contender.nanoseconds.record(u64::try_from(took.as_nanos())?)?;
                }
            }
        }
    }
    if !contenders.is_empty() {
        report(&contenders);
    }
    Ok(())
}

/// Arguments that are neither options nor values of options.
fn filters(arguments: &[String]) -> Vec<&str> {
    let is_value = |at: usize| at > 0 && arguments.get(at - 1).is_some_and(|before| before == "--samples");
    let named = arguments.iter().enumerate().filter(|(at, argument)| !argument.starts_with('-') && !is_value(*at));
    named.map(|(_, argument)| argument.as_str()).collect()
}

/// The work of one pass.
type Pass = Box<dyn FnMut()>;
/// Creates a pass. It is called only if the filters include its name.
type Make = Box<dyn FnOnce() -> Result<Pass, Box<dyn Error>>>;

fn contenders(filters: &[&str]) -> Result<Vec<Contender>, Box<dyn Error>> {
    let form = Form::DEFAULT;
    let event_thread = form.notified_by(NotifiedBy::Listener(Delivery::EventThread));
    let wait = form.notified_by(NotifiedBy::Reader);
    let view = form.notified_by(NotifiedBy::ViewingListener(Delivery::Inline));
    let mut all: Vec<(&'static str, Make)> = vec![
        ("clock", Box::new(|| Ok(Box::new(|| ())))),
        ("best_effort_write_and_receive", ours::<Small>(form)),
        ("best_effort_write_and_receive_frag", ours::<Large>(form)),
        ("best_effort_write_and_receive_frag_view", ours::<Large>(view)),
        ("best_effort_write_and_receive_frag_loan", loaned(view)),
        ("copied_in_and_out_frag", Box::new(|| Ok(copied(LARGE_PAYLOAD_LEN)))),
        ("best_effort_write_and_receive_udp", ours::<Small>(form.udp())),
        ("best_effort_write_and_receive_frag_udp", ours::<Large>(form.udp())),
        ("best_effort_write_and_receive_event_thread", ours::<Small>(event_thread)),
        ("best_effort_write_and_receive_wait", ours::<Small>(wait)),
        ("best_effort_write_and_receive_wait_udp", ours::<Small>(wait.udp())),
        ("reliable_write_and_receive", ours::<Small>(form.reliable())),
        ("reliable_write_and_receive_udp", ours::<Small>(form.reliable().udp())),
        (FLOOR, floor(SMALL_PAYLOAD_LEN)),
        (FLOOR_FRAG, floor(LARGE_PAYLOAD_LEN)),
    ];
    #[cfg(feature = "peers")]
    all.extend(peers());
    all.retain(|(name, _)| filters.is_empty() || filters.iter().any(|filter| name.contains(filter)));
    all.into_iter().map(|(name, make)| Ok(Contender { name, pass: make()?, nanoseconds: Histogram::new(3)? })).collect()
}

fn ours<T: Payload>(form: Form) -> Make {
    Box::new(move || {
        let pair = Pair::<T>::new(form)?;
        Ok(Box::new(move || pair.pass()))
    })
}

/// The writer only writes the head of a large sample into a loan; the listener views the sample in place.
fn loaned(form: Form) -> Make {
    Box::new(move || {
        let pair = Pair::<Large>::new(form)?;
        let payload_len = LARGE_PAYLOAD_LEN;
        // The key with its padding, then the length.
        let mut head = vec![1, 0, 0, 0];
        head.extend(u32::try_from(payload_len)?.to_ne_bytes());
        Ok(Box::new(move || pair.pass_loaned(&head, payload_len)))
    })
}

/// Only the copies of a sample that is written and taken as a value.
fn copied(payload_len: usize) -> Pass {
    let (from, mut slot, mut to) = (vec![7_u8; payload_len], vec![0; payload_len], vec![0; payload_len]);
    Box::new(move || {
        copy(&mut slot, black_box(&from));
        copy(&mut to, black_box(&slot));
        black_box(&mut to);
    })
}

fn floor(payload_len: usize) -> Make {
    Box::new(move || {
        let floor = UdpFloor::open(RTPS_OVERHEAD_LEN + payload_len)?;
        Ok(Box::new(move || floor.pass()))
    })
}

#[cfg(feature = "peers")]
fn peers() -> [(&'static str, Make); 8] {
    use benches::peer::{dust, iceoryx2, rustdds, zenoh};
    fn peer<P: 'static>(make: fn() -> P, pass: fn(&P)) -> Make {
        Box::new(move || {
            let pair = make();
            Ok(Box::new(move || pass(&pair)))
        })
    }
    [
        ("best_effort_write_and_receive_dust", peer(dust::WriteAndReceive::small, |pair| pair.pass())),
        ("best_effort_write_and_receive_frag_dust", peer(dust::WriteAndReceive::large, |pair| pair.pass())),
        ("best_effort_write_and_receive_rustdds", peer(rustdds::WriteAndReceive::small, |pair| pair.pass())),
        ("best_effort_write_and_receive_frag_rustdds", peer(rustdds::WriteAndReceive::large, |pair| pair.pass())),
        ("best_effort_write_and_receive_zenoh", peer(zenoh::WriteAndReceive::small, |pair| pair.pass())),
        ("best_effort_write_and_receive_frag_zenoh", peer(zenoh::WriteAndReceive::large, |pair| pair.pass())),
        ("best_effort_write_and_receive_iceoryx2", peer(iceoryx2::WriteAndReceive::small, |pair| pair.pass())),
        ("best_effort_write_and_receive_frag_iceoryx2", peer(iceoryx2::WriteAndReceive::large, |pair| pair.pass())),
    ]
}

fn report(contenders: &[Contender]) {
    let median = |contender: &Contender| contender.nanoseconds.value_at_quantile(0.5) as f64;
    let floor_of = |name: &str| {
        let floor = if name.contains("_frag") { FLOOR_FRAG } else { FLOOR };
        contenders.iter().find(|contender| contender.name == floor).map(median)
    };
    println!("{:<50} {:>9} {:>9} {:>9} {:>9}", "µs", "p50", "p99", "p99.9", "p50/floor");
    for contender in contenders {
        let at = |quantile| contender.nanoseconds.value_at_quantile(quantile) as f64 / 1000.0;
        let ratio = floor_of(contender.name).map_or(String::new(), |floor| format!("{:.3}", median(contender) / floor));
        println!("{:<50} {:>9.2} {:>9.2} {:>9.2} {ratio:>9}", contender.name, at(0.5), at(0.99), at(0.999));
    }
}
