//! Models of the cell's guarantees in loom, which tries every interleaving; and mutants that the models must detect.
//!
//! `RUSTFLAGS="--cfg dds_loom" cargo test -p dds-core --release --lib models`

use super::{
    Actor, Capacity, Cell, Deferred, Effects, EnterError, Offered, PushError, RunQueue, Signals, Ticket, Wakers,
};
use crate::driver::{Timer, Timers};
use crate::sync::{Mutation, Parker, mutate};
use dds_rtps::types::Instant;
use loom::thread;
use std::sync::Arc;

/// Number of preemptions that loom tries. The mutant `Overtake` needs four, all others three. About 40 s in total.
const PREEMPTIONS: usize = 4;

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(f);
}

/// Runs a model that must fail, because the code is broken.
fn mutant(mutation: Mutation, f: impl Fn() + Send + Sync + 'static) {
    mutate(mutation);
    model(f);
}

#[derive(Default)]
struct Log {
    seen: Vec<u32>,
    signals: Signals,
    waiters: Wakers,
    /// Resource that one waiter uses up, like space in a history.
    room: usize,
}

const PANIC: u32 = u32::MAX;
const MAKE_ROOM: u32 = u32::MAX - 1;

impl Actor for Log {
    type Mail = u32;
    fn handle(&mut self, mail: u32, effects: &mut Effects) {
        match mail {
            PANIC => std::panic::resume_unwind(Box::new("on purpose")),
            MAKE_ROOM => {
                self.room += 1;
                self.waiters.wake_one(effects);
            }
            mail => {
                self.seen.push(mail);
                self.waiters.wake_all(effects);
            }
        }
    }
    fn handle_signals(&mut self, signals: Signals, _: &mut Effects) {
        self.signals = self.signals.and(signals);
    }
}

type LogCell = Arc<Cell<Log>>;

fn cell() -> LogCell {
    Cell::new(Log::default(), Capacity { entries: 8, bytes: usize::MAX }, Arc::new(RunQueue::new(|| ())))
}

fn visit<R>(cell: &LogCell, f: impl FnOnce(&mut Log, &mut Effects) -> R) -> Result<R, EnterError> {
    Effects::scope(|effects| cell.with(effects, f))
}

fn deliver(cell: &LogCell, mail: u32) {
    cell.push(mail).unwrap();
    Effects::scope(|effects| cell.serve(effects));
}

fn beside<R: 'static>(cell: &LogCell, f: impl FnOnce(LogCell) -> R + 'static) -> thread::JoinHandle<R> {
    let cell = Arc::clone(cell);
    thread::spawn(move || f(cell))
}

/// Two pushers at once. When both are done, no mail may wait, even without a later visit.
fn no_mail_beside_a_pusher() {
    let cell = cell();
    let other = beside(&cell, |cell| deliver(&cell, 1));
    deliver(&cell, 2);
    other.join().unwrap();
    assert_eq!(cell.waiting(), 0, "stranded");
}

/// A pusher beside a visitor that is already inside.
fn no_mail_beside_a_visitor() {
    let cell = cell();
    let other = beside(&cell, |cell| deliver(&cell, 1));
    visit(&cell, |_, _| ()).unwrap();
    other.join().unwrap();
    assert_eq!(cell.waiting(), 0, "stranded");
}

/// A signal beside a visitor.
fn no_signal_beside_a_visitor() {
    let cell = cell();
    let other = beside(&cell, |cell| {
        cell.signal(Signals::TIMER);
        Effects::scope(|effects| cell.serve(effects));
    });
    visit(&cell, |_, _| ()).unwrap();
    other.join().unwrap();
    // Checks without serving, because a visit would repair a stranded signal.
    assert!(!cell.has_mail(), "stranded");
}

#[test]
fn no_stranded_mail() {
    model(no_mail_beside_a_pusher);
    model(no_mail_beside_a_visitor);
    model(no_signal_beside_a_visitor);
}

#[test]
#[should_panic(expected = "stranded")]
fn without_fences_mail_is_stranded_beside_a_pusher() {
    mutant(Mutation::NoFence, no_mail_beside_a_pusher);
}

#[test]
#[should_panic(expected = "stranded")]
fn without_fences_mail_is_stranded_beside_a_visitor() {
    mutant(Mutation::NoFence, no_mail_beside_a_visitor);
}

#[test]
#[should_panic(expected = "stranded")]
fn without_fences_a_signal_is_stranded() {
    mutant(Mutation::NoFence, no_signal_beside_a_visitor);
}

/// Assigns numbers. Pushes each to the reader inside the writer's cell, or, wrongly, after the visit.
#[derive(Default)]
struct Numbers {
    last: u32,
}

impl Actor for Numbers {
    type Mail = ();
    fn handle(&mut self, (): (), _: &mut Effects) {}
}

fn two_threads_on_one_writer(push_inside: bool) {
    let reader = cell();
    let writer = Cell::new(Numbers::default(), Capacity::default(), Arc::new(RunQueue::new(|| ())));
    let write = move |writer: &Arc<Cell<Numbers>>, reader: &LogCell| {
        Effects::scope(|effects| {
            let number = writer.with(effects, |numbers, _| {
                numbers.last += 1;
                if push_inside {
                    reader.push(numbers.last).unwrap();
                }
                numbers.last
            });
            if !push_inside {
                reader.push(number.unwrap()).unwrap();
            }
            effects.poke(Arc::clone(reader) as _);
        });
    };
    let other = {
        let (writer, reader) = (Arc::clone(&writer), Arc::clone(&reader));
        thread::spawn(move || write(&writer, &reader))
    };
    write(&writer, &reader);
    other.join().unwrap();
    assert_eq!(visit(&reader, |log, _| log.seen.clone()), Ok(vec![1, 2]), "out of order");
}

#[test]
fn writer_order() {
    model(|| two_threads_on_one_writer(true));
}

#[test]
#[should_panic(expected = "out of order")]
fn a_push_after_release_breaks_the_writers_order() {
    model(|| two_threads_on_one_writer(false));
}

/// Two writers and one other visitor of a reader: each writer's order is kept, and no mail is stranded.
fn a_handover_beside_others() {
    let reader = cell();
    let hand_over = |reader: &LogCell, mail: u32| {
        let writer = Cell::new(Numbers::default(), Capacity::default(), Arc::new(RunQueue::new(|| ())));
        let over = |effects: &mut Effects| {
            let serve = |log: &mut Log, mail, effects: &mut Effects| log.handle(mail, effects);
            writer.with(effects, |_, effects| reader.hand_over(effects, mail, serve, |mail| mail)).unwrap().unwrap();
        };
        Effects::scope(over);
    };
    let other = beside(&reader, move |reader| hand_over(&reader, 10));
    hand_over(&reader, 1);
    hand_over(&reader, 2);
    other.join().unwrap();
    assert!(!reader.has_mail(), "stranded");
    let seen = visit(&reader, |log, _| log.seen.clone()).unwrap();
    let own: Vec<u32> = seen.iter().copied().filter(|mail| *mail < 10).collect();
    assert_eq!((own, seen.len()), (vec![1, 2], 3), "overtaken");
}

#[test]
fn handing_over_keeps_order_and_strands_nothing() {
    model(a_handover_beside_others);
}

#[test]
#[should_panic(expected = "stranded")]
fn handover_without_fences_strands_mail() {
    mutant(Mutation::NoFence, a_handover_beside_others);
}

/// The inbox of a reader holds mail because a visitor was inside. The visitor leaves during the next handover.
fn a_handover_behind_mail() {
    let reader = cell();
    let writer = Cell::new(Numbers::default(), Capacity::default(), Arc::new(RunQueue::new(|| ())));
    let other = beside(&reader, |reader| visit(&reader, |_, _| ()).unwrap());
    for mail in 1..=2 {
        Effects::scope(|effects| {
            let serve = |log: &mut Log, mail, effects: &mut Effects| log.handle(mail, effects);
            writer.with(effects, |_, effects| reader.hand_over(effects, mail, serve, |mail| mail)).unwrap().unwrap();
        });
    }
    other.join().unwrap();
    assert_eq!(visit(&reader, |log, _| log.seen.clone()), Ok(vec![1, 2]), "overtaken");
}

#[test]
fn handover_does_not_overtake_mail() {
    model(a_handover_behind_mail);
}

#[test]
#[should_panic(expected = "overtaken")]
fn handover_without_inbox_check_overtakes_mail() {
    mutant(Mutation::Overtake, a_handover_behind_mail);
}

/// One sender, whose offers are served in place or queued, beside a visitor.
fn offers_of_one_sender() {
    let cell = cell();
    let other = beside(&cell, |cell| visit(&cell, |_, _| ()).unwrap());
    for mail in 1..=2 {
        let offered = Effects::scope(|effects| cell.offer(effects, |log, _| log.seen.push(mail), || mail));
        assert!(matches!(offered, Ok(Offered::Served(()) | Offered::Queued)));
    }
    other.join().unwrap();
    assert_eq!(visit(&cell, |log, _| log.seen.clone()), Ok(vec![1, 2]), "overtaken");
}

#[test]
fn offer_keeps_order() {
    model(offers_of_one_sender);
}

#[test]
#[should_panic(expected = "overtaken")]
fn a_visitor_that_does_not_serve_first_overtakes() {
    mutant(Mutation::Overtake, offers_of_one_sender);
}

/// A thread that has delivered mail sees it in its next visit, beside another visitor.
fn a_take_after_a_write() {
    let cell = cell();
    let other = beside(&cell, |cell| visit(&cell, |_, _| ()).unwrap());
    deliver(&cell, 7);
    assert_eq!(visit(&cell, |log, _| log.seen.len()), Ok(1), "not read");
    other.join().unwrap();
}

#[test]
fn read_your_write() {
    model(a_take_after_a_write);
}

#[test]
#[should_panic(expected = "not read")]
fn a_visitor_that_does_not_serve_first_misses_a_write() {
    mutant(Mutation::Overtake, a_take_after_a_write);
}

/// Waits until `ready` holds, as every blocking call does.
fn wait(cell: &LogCell, in_one_visit: bool, ready: impl Fn(&mut Log) -> bool) {
    Parker::with_current(|parker| {
        let mut ticket: Option<Ticket> = None;
        loop {
            let waker = parker.waker().clone();
            if !in_one_visit && visit(cell, |log, _| ready(log)).unwrap() {
                return;
            }
            let done = visit(cell, |log, effects| {
                if in_one_visit && ready(log) {
                    log.waiters.finish(&mut ticket, effects);
                    return true;
                }
                log.waiters.register(&mut ticket, waker, effects);
                false
            });
            if done.unwrap() {
                return;
            }
            parker.park(None);
        }
    });
}

fn a_waiter_beside_a_delivery(in_one_visit: bool) {
    let cell = cell();
    let other = beside(&cell, |cell| deliver(&cell, 1));
    wait(&cell, in_one_visit, |log| !log.seen.is_empty());
    other.join().unwrap();
}

#[test]
fn waiter_is_woken() {
    model(|| a_waiter_beside_a_delivery(true));
}

#[test]
#[should_panic(expected = "deadlock")]
fn waiter_registered_in_second_visit_sleeps_forever() {
    model(|| a_waiter_beside_a_delivery(false));
}

/// Two threads wait for space. One unit becomes free while one of the two threads gives up.
fn one_of_two_leaves_when_room_comes() {
    let cell = cell();
    let leaver = Parker::new();
    let mut ticket = None;
    // The thread that gives up has registered first, so it gets the wake.
    visit(&cell, |log, effects| log.waiters.register(&mut ticket, leaver.waker().clone(), effects)).unwrap();
    let waiter = beside(&cell, |cell| {
        wait(&cell, true, |log| {
            let got = log.room > 0;
            log.room -= usize::from(got);
            got
        });
    });
    let maker = beside(&cell, |cell| deliver(&cell, MAKE_ROOM));
    visit(&cell, |log, effects| log.waiters.abandon(&mut ticket, effects)).unwrap();
    waiter.join().unwrap();
    maker.join().unwrap();
}

#[test]
fn back_pressure_wakes() {
    model(one_of_two_leaves_when_room_comes);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_waiter_that_keeps_its_wake_lets_the_other_sleep() {
    mutant(Mutation::SwallowWake, one_of_two_leaves_when_room_comes);
}

/// Accepted mail is served before the state is taken, or dropped. It does not stay in a closed cell.
fn a_push_beside_close() {
    let cell = cell();
    let other = beside(&cell, |cell| {
        let pushed = cell.push(1);
        Effects::scope(|effects| cell.serve(effects));
        pushed
    });
    let state = Effects::scope(|effects| cell.close(effects)).unwrap();
    assert!(Effects::scope(|effects| cell.close(effects)).is_none());
    assert_eq!(cell.push(2), Err(PushError::Closed(2)), "taken after close");
    let pushed = other.join().unwrap();
    assert!(pushed.is_ok() || state.seen.is_empty());
    assert_eq!(cell.waiting(), 0, "lingers");
    assert_eq!(visit(&cell, |_, _| ()), Err(EnterError::Closed));
}

#[test]
fn close_races_push() {
    model(a_push_beside_close);
}

#[test]
#[should_panic(expected = "taken after close")]
fn an_inbox_that_stays_open_takes_mail_after_close() {
    mutant(Mutation::OpenInbox, a_push_beside_close);
}

/// A panic closes the cell for all visitors, and no thread hangs, whichever visitor panics.
fn a_panic_beside_a_visitor() {
    let cell = cell();
    let other = beside(&cell, |cell| deliver_if_open(&cell, PANIC));
    let seen = visit(&cell, |_, _| ());
    assert!(matches!(seen, Ok(()) | Err(EnterError::Failed)));
    other.join().unwrap();
    assert_eq!(visit(&cell, |_, _| ()), Err(EnterError::Failed), "still open");
    assert!(cell.is_closed());
    assert_eq!(cell.failure(), Some("on purpose"));
}

fn deliver_if_open(cell: &LogCell, mail: u32) {
    let _ = cell.push(mail);
    Effects::scope(|effects| cell.serve(effects));
}

#[test]
fn panic_closes() {
    model(a_panic_beside_a_visitor);
}

#[test]
#[should_panic(expected = "still open")]
fn a_state_that_survives_its_panic_is_seen_again() {
    mutant(Mutation::SurvivePanic, a_panic_beside_a_visitor);
}

/// A timer moves from 10 to 20 and back to 15 while its entry at 10 expires. It must fire at 15.
fn a_timer_that_moves_while_its_entry_comes_due() {
    let cell = cell();
    let timers = Timers::new(|| ());
    let weak = Arc::downgrade(&cell);
    let timer = Timer::new(&timers, weak);
    timer.set(Some(Instant::from_nanos(10)));
    timer.set(Some(Instant::from_nanos(20)));
    let other = {
        let timers = Arc::clone(&timers);
        thread::spawn(move || timers.fire(Instant::from_nanos(10)))
    };
    timer.set(Some(Instant::from_nanos(15)));
    other.join().unwrap();
    timers.fire(Instant::from_nanos(15));
    assert!(visit(&cell, |log, _| log.signals.has(Signals::TIMER)).unwrap(), "late");
}

#[test]
fn timer_moves_lazily() {
    model(a_timer_that_moves_while_its_entry_comes_due);
}

#[test]
#[should_panic(expected = "late")]
fn a_timer_that_looks_before_it_stores_is_late() {
    mutant(Mutation::LookThenStore, a_timer_that_moves_while_its_entry_comes_due);
}

/// A visitor leaves more than its budget while the driver runs the cell for an earlier visitor.
fn turns_beside_a_visitor() {
    let run_queue = Arc::new(RunQueue::new(|| ()));
    let cell = Cell::new(Log::default(), Capacity { entries: 8, bytes: usize::MAX }, Arc::clone(&run_queue));
    let flood = |cell: &LogCell| visit(cell, |_, _| (0..3).for_each(|mail| cell.push(mail).unwrap())).unwrap();
    flood(&cell);
    let driver = {
        let run_queue = Arc::clone(&run_queue);
        thread::spawn(move || run_queue.run_one())
    };
    flood(&cell);
    driver.join().unwrap();
    while run_queue.run_one() {}
    assert_eq!(cell.waiting(), 0, "stranded");
}

#[test]
fn no_lost_turn() {
    model(turns_beside_a_visitor);
}

#[test]
#[should_panic(expected = "stranded")]
fn a_cell_that_may_not_ask_during_its_turn_is_stranded() {
    mutant(Mutation::ForgetTurn, turns_beside_a_visitor);
}

/// Forwards its mail by a push and a poke, as a writer does to a reader.
struct Relay(LogCell);

impl Actor for Relay {
    type Mail = u32;
    fn handle(&mut self, mail: u32, effects: &mut Effects) {
        self.0.push(mail).unwrap();
        effects.poke(Arc::clone(&self.0) as _);
    }
}

/// Deferred work sees the results of its frame's pokes, and their consequences, with another visitor in that cell.
fn a_listener_beside_a_visitor() {
    struct Take(LogCell);
    impl Deferred for Take {
        fn run(self: Arc<Self>, _: u32, _: &mut Effects) {
            let seen = visit(&self.0, |log, _| log.seen.clone());
            // An assertion here would be useless: the frame catches its panic.
            visit(&self.0, |log, _| log.room = usize::from(seen == Ok(vec![5]))).unwrap();
        }
        fn hand_over(self: Arc<Self>, _: u32) {}
    }
    let reader = cell();
    let relay = Cell::new(Relay(Arc::clone(&reader)), Capacity::default(), Arc::new(RunQueue::new(|| ())));
    let other = beside(&reader, |reader| visit(&reader, |_, _| ()).unwrap());
    Effects::scope(|effects| {
        effects.defer(Arc::new(Take(Arc::clone(&reader))));
        relay.push(5).unwrap();
        effects.poke(Arc::clone(&relay) as _);
    });
    other.join().unwrap();
    assert_eq!(visit(&reader, |log, _| log.room), Ok(1), "too early");
}

#[test]
fn listeners_run_after_the_pokes() {
    model(a_listener_beside_a_visitor);
}

#[test]
#[should_panic(expected = "too early")]
fn a_listener_before_the_pokes_of_its_frame_is_too_early() {
    mutant(Mutation::JobsFirst, a_listener_beside_a_visitor);
}
