//! The arguments of a read or take.

use super::{InstanceState, SampleInfo, SampleState, ViewState};
use crate::filter::Filter;
use crate::types::InstanceHandle;
use std::fmt;
use std::ops::{BitAnd, BitOr};

/// A set of sample, view and instance states (DDS 1.4, 2.2.2.5.1).
///
/// Each constant but [`States::ANY`] restricts one of the three kinds of state. `&` combines restrictions of several
/// kinds: `States::NOT_READ & States::ALIVE`. `|` joins alternatives of one kind: `States::NOT_ALIVE_DISPOSED |
/// States::NOT_ALIVE_NO_WRITERS`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct States(u8);

const READ: u8 = 1;
const NOT_READ: u8 = 1 << 1;
const NEW: u8 = 1 << 2;
const NOT_NEW: u8 = 1 << 3;
const ALIVE: u8 = 1 << 4;
const DISPOSED: u8 = 1 << 5;
const NO_WRITERS: u8 = 1 << 6;

const ANY_SAMPLE: u8 = READ | NOT_READ;
const ANY_VIEW: u8 = NEW | NOT_NEW;
const ANY_INSTANCE: u8 = ALIVE | DISPOSED | NO_WRITERS;

impl States {
    /// Every sample.
    pub const ANY: Self = Self(ANY_SAMPLE | ANY_VIEW | ANY_INSTANCE);
    /// Samples that have been read before.
    pub const READ: Self = Self(READ | ANY_VIEW | ANY_INSTANCE);
    /// Samples that have not been read yet.
    pub const NOT_READ: Self = Self(NOT_READ | ANY_VIEW | ANY_INSTANCE);
    /// Samples of instances that are new to the reader.
    pub const NEW: Self = Self(ANY_SAMPLE | NEW | ANY_INSTANCE);
    /// Samples of instances that the reader has seen before.
    pub const NOT_NEW: Self = Self(ANY_SAMPLE | NOT_NEW | ANY_INSTANCE);
    /// Samples of instances that are alive.
    pub const ALIVE: Self = Self(ANY_SAMPLE | ANY_VIEW | ALIVE);
    /// Samples of instances that were disposed of.
    pub const NOT_ALIVE_DISPOSED: Self = Self(ANY_SAMPLE | ANY_VIEW | DISPOSED);
    /// Samples of instances that have lost all writers.
    pub const NOT_ALIVE_NO_WRITERS: Self = Self(ANY_SAMPLE | ANY_VIEW | NO_WRITERS);
    /// Samples of instances that are not alive, for either reason.
    pub const NOT_ALIVE: Self = Self(ANY_SAMPLE | ANY_VIEW | DISPOSED | NO_WRITERS);

    /// Whether the set contains these three states.
    #[must_use]
    pub const fn admits(self, sample: SampleState, view: ViewState, instance: InstanceState) -> bool {
        self.admits_sample(sample) && self.admits_instance(view, instance)
    }

    /// Whether the set contains the states of this sample.
    #[must_use]
    pub const fn admits_info(self, info: &SampleInfo) -> bool {
        self.admits(info.sample_state, info.view_state, info.instance_state)
    }

    pub(super) const fn admits_sample(self, sample: SampleState) -> bool {
        let bit = match sample {
            SampleState::Read => READ,
            SampleState::NotRead => NOT_READ,
        };
        self.0 & bit != 0
    }

    pub(super) const fn admits_instance(self, view: ViewState, instance: InstanceState) -> bool {
        let view = match view {
            ViewState::New => NEW,
            ViewState::NotNew => NOT_NEW,
        };
        let instance = match instance {
            InstanceState::Alive => ALIVE,
            InstanceState::NotAliveDisposed => DISPOSED,
            InstanceState::NotAliveNoWriters => NO_WRITERS,
        };
        self.0 & view != 0 && self.0 & instance != 0
    }
}

impl Default for States {
    fn default() -> Self {
        Self::ANY
    }
}

impl BitAnd for States {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for States {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (READ, "READ"),
            (NOT_READ, "NOT_READ"),
            (NEW, "NEW"),
            (NOT_NEW, "NOT_NEW"),
            (ALIVE, "ALIVE"),
            (DISPOSED, "DISPOSED"),
            (NO_WRITERS, "NO_WRITERS"),
        ];
        let mut set = f.debug_set();
        for (bit, name) in names {
            if self.0 & bit != 0 {
                set.entry(&name);
            }
        }
        set.finish()
    }
}

/// The instances of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum InstanceSelection {
    /// All instances.
    #[default]
    Any,
    /// This instance. An unknown one has no samples.
    This(InstanceHandle),
    /// The first instance after this handle that has a selected sample, in the order of the handles.
    ///
    /// The handle may be unknown. [`InstanceHandle::NIL`] starts the iteration, and finds the only instance of a
    /// keyless topic.
    Next(InstanceHandle),
}

/// The order of samples of several instances. Within an instance it is always the order of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SelectionOrder {
    /// Instance by instance, in the order in which the oldest selected samples arrived.
    ///
    /// For PRESENTATION access scope INSTANCE, or TOPIC without order (DDS 1.4, 2.2.2.5.3.8).
    #[default]
    ByInstance,
    /// In the order of arrival: for ordered access, and for readers that take one sample at a time.
    ByArrival,
}

/// The samples that a read or take selects. Default: all.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'f> {
    /// The most samples. Default: unlimited.
    pub samples_max: usize,
    /// The states. Default: any.
    pub states: States,
    /// The instances. Default: all.
    pub instance: InstanceSelection,
    /// The order. Default: instance by instance.
    pub order: SelectionOrder,
    /// The content (DDS 1.4, 2.2.2.5.9). A sample without data is selected unless its key fails the filter. Default:
    /// any.
    pub filter: Option<&'f Filter>,
}

impl Default for Selection<'_> {
    fn default() -> Self {
        Self {
            samples_max: usize::MAX,
            states: States::ANY,
            instance: InstanceSelection::Any,
            order: SelectionOrder::ByInstance,
            filter: None,
        }
    }
}

/// What happens to the selected samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// They stay and are marked as read.
    Read,
    /// They leave the history.
    Take,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_narrow_across_kinds_and_widen_within_one() {
        let fresh = States::NOT_READ & States::ALIVE;
        assert!(fresh.admits(SampleState::NotRead, ViewState::New, InstanceState::Alive));
        assert!(!fresh.admits(SampleState::Read, ViewState::New, InstanceState::Alive));
        assert!(!fresh.admits(SampleState::NotRead, ViewState::New, InstanceState::NotAliveDisposed));
        assert_eq!(States::NOT_ALIVE_DISPOSED | States::NOT_ALIVE_NO_WRITERS, States::NOT_ALIVE);
        assert_eq!(States::NEW | States::NOT_NEW, States::ANY);
    }
}
