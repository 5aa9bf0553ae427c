//! Reading and taking a part of what a reader holds.

use crate::infrastructure::{ReadError, ReadErrorKind};
use crate::subscription::{DataReader, ReadCondition, Samples};
use dds_rtps::filter::Filter;
use dds_rtps::history::{InstanceSelection, Operation, Selection, States};
use dds_rtps::types::InstanceHandle;
use std::fmt;
use std::sync::Arc;

/// Which samples to [`read`](Select::read) or [`take`](Select::take); from [`DataReader::select`].
///
/// Without a restriction it selects everything. The ten remaining forms of `read` and `take` of DDS 1.4 (2.2.2.5.3) are
/// combinations of these.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope, States};
///
/// #[derive(DdsType)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader::<Pose>("chosen/pose")?;
/// let writer = participant.writer::<Pose>("chosen/pose")?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// let fresh = reader.select().states(States::NOT_READ & States::ALIVE).max_samples(10).read()?;
/// assert_eq!(fresh.len(), 1);
/// assert!(reader.select().states(States::NOT_READ).take()?.is_empty());
/// # Ok(())
/// # }
/// ```
#[must_use = "a selection does nothing until `read` or `take` is called"]
pub struct Select<'a, T> {
    reader: &'a DataReader<T>,
    selection: Selection<'static>,
    /// What the condition says of contents.
    filter: Option<Arc<Filter>>,
    condition_is_foreign: bool,
    conditions_are_two: bool,
}

impl<'a, T> Select<'a, T> {
    pub(crate) fn new(reader: &'a DataReader<T>) -> Self {
        Self {
            reader,
            selection: Selection::default(),
            filter: None,
            condition_is_foreign: false,
            conditions_are_two: false,
        }
    }

    /// At most so many samples. Default: no limit.
    pub fn max_samples(mut self, count: usize) -> Self {
        self.selection.samples_max = count;
        self
    }

    /// Only samples in these states. Several calls narrow. Default: any.
    pub fn states(mut self, states: States) -> Self {
        self.selection.states = self.selection.states & states;
        self
    }

    /// Only samples of this instance; none if the reader does not know it. Replaces an earlier choice of instance.
    #[doc(alias = "read_instance")]
    #[doc(alias = "take_instance")]
    pub fn instance(mut self, instance: InstanceHandle) -> Self {
        self.selection.instance = InstanceSelection::This(instance);
        self
    }

    /// Only samples of one instance: the first after `instance`, in the order of the handles, that has any in the asked
    /// states. [`InstanceHandle::NIL`] begins the walk; `instance` itself need not be known any more. Replaces an earlier
    /// choice of instance.
    #[doc(alias = "read_next_instance")]
    #[doc(alias = "take_next_instance")]
    pub fn next_instance(mut self, instance: InstanceHandle) -> Self {
        self.selection.instance = InstanceSelection::Next(instance);
        self
    }

    /// Only samples in the states of `condition`, a [`ReadCondition`] of this reader, and with the contents of it, if it is a
    /// [`QueryCondition`](crate::QueryCondition). Of those there can be one.
    #[doc(alias = "read_w_condition")]
    #[doc(alias = "take_w_condition")]
    #[doc(alias = "read_next_instance_w_condition")]
    #[doc(alias = "take_next_instance_w_condition")]
    pub fn condition(mut self, condition: &impl AsRef<ReadCondition>) -> Self {
        let condition = condition.as_ref();
        if let Some(filter) = condition.filter() {
            self.conditions_are_two |= self.filter.replace(filter).is_some();
        }
        self.condition_is_foreign |= !condition.is_of(self.reader.handle());
        self.states(condition.states())
    }

    /// Hands the samples out and leaves them in the reader, marked as read. Nothing selected: an empty batch.
    ///
    /// # Errors
    /// [`ReadErrorKind::ForeignCondition`] for a condition of another reader, [`ReadErrorKind::TwoQueries`],
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn read(self) -> Result<Samples<T>, ReadError> {
        self.run(Operation::Read)
    }

    /// Hands the samples out and removes them from the reader. Nothing selected: an empty batch.
    ///
    /// # Errors
    /// [`ReadErrorKind::ForeignCondition`] for a condition of another reader, [`ReadErrorKind::TwoQueries`],
    /// [`ReadErrorKind::Closed`] after `close`;
    /// no sample was taken then.
    pub fn take(self) -> Result<Samples<T>, ReadError> {
        self.run(Operation::Take)
    }

    fn run(self, operation: Operation) -> Result<Samples<T>, ReadError> {
        if self.condition_is_foreign {
            return Err(self.reader.handle().read_error(ReadErrorKind::ForeignCondition));
        }
        if self.conditions_are_two {
            return Err(self.reader.handle().read_error(ReadErrorKind::TwoQueries));
        }
        let filter = self.filter.as_deref();
        self.reader.batch(&Selection { filter, ..self.selection }, operation)
    }
}

impl<T> fmt::Debug for Select<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select")
            .field("reader", self.reader)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}
