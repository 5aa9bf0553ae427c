//! Notification of the application: one path from a changed status to listeners, event streams, conditions and wait
//! sets.
//!
//! ```text
//!                         Notifier::mark              inside of the entity's cell
//!                   ┌───────────┴───────────┐
//!               Observers              ListenerSet
//!                   │                       │
//!               Observer                 Listener ◄─ MemberQueue, for the listener of a group or participant
//!          ┌────────┼────────┐          ┌───┴────┐
//!       Events  Condition- Status-    inline  EventThread          outside of all cells
//!      (stream)   List    Condition
//! ```
//!
//! In: marks, which are statuses as bits. Out: calls of listeners, and wakes of tasks and threads. Owned: observers,
//! listeners, the queue of the event thread.
//!
//! - A mark only sets bits. The effects of the visit poke observers and run listeners after the cell is released.
//! - A status that changes several times before it is reported is reported once, with the sum of its changes.
//! - `ending` delays the end of an entity until its listeners have returned.

mod active;
mod condition;
mod condition_list;
mod ending;
mod event_thread;
mod events;
mod listener;
mod listener_set;
mod member_queue;
mod notifier;
mod observer;

pub use active::Active;
pub use condition::{Condition, GuardCondition, StatusCondition};
pub(crate) use condition::{ConditionId, HasTrigger, Trigger, TriggerValue};
pub(crate) use condition_list::ConditionList;
pub(crate) use ending::{Ending, Stake};
pub(crate) use event_thread::EventThread;
pub(crate) use events::EventSource;
pub use events::Events;
pub(crate) use listener::{Callback, EventQueue, Listener, mark};
pub use listener::{Delivery, ListenerCounters};
pub(crate) use listener_set::{ListenerRef, ListenerSet};
pub(crate) use member_queue::{ListenedEntity, MemberLink, MemberQueue};
pub(crate) use notifier::Notifier;
pub(crate) use observer::{Observed, Observer, Observers, Watched, notify_observers, observe, stop_observing};
