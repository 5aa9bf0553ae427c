//! Selection of samples to read or take.

use crate::infrastructure::{ReadError, ReadErrorKind};
use crate::subscription::{DataReader, ReadCondition, Samples};
use dds_rtps::filter::Filter;
use dds_rtps::history::{InstanceSelection, Operation, Selection, States};
use dds_rtps::types::InstanceHandle;
use std::fmt;
use std::sync::Arc;

/// Selects samples to [`read`](Select::read) or [`take`](Select::take). See [`DataReader::select`].
///
/// Without a restriction it selects all samples. The ten remaining forms of `read` and `take` of DDS 1.4 (2.2.2.5.3)
/// are combinations of these restrictions.
///
/// ```
/// use dds_core::reader::States;
/// use dds_core::{DdsType, DomainParticipant, Scope};
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
    /// Content filter of the condition.
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

    /// Selects at most `count` samples. Default: no limit.
    pub fn max_samples(mut self, count: usize) -> Self {
        self.selection.samples_max = count;
        self
    }

    /// Selects samples in these states. Several calls intersect. Default: any state.
    pub fn states(mut self, states: States) -> Self {
        self.selection.states = self.selection.states & states;
        self
    }

    /// Selects samples of this instance. The last choice of an instance applies.
    ///
    /// Selects no sample if the reader does not know the instance.
    #[doc(alias = "read_instance")]
    #[doc(alias = "take_instance")]
    pub fn instance(mut self, instance: InstanceHandle) -> Self {
        self.selection.instance = InstanceSelection::This(instance);
        self
    }

    /// Selects samples of the next instance after `instance`.
    ///
    /// This is the first instance in the order of the handles with samples in the selected states. Start with
    /// [`InstanceHandle::NIL`]. The reader need not know `instance` any more. The last choice of an instance applies.
    #[doc(alias = "read_next_instance")]
    #[doc(alias = "take_next_instance")]
    pub fn next_instance(mut self, instance: InstanceHandle) -> Self {
        self.selection.instance = InstanceSelection::Next(instance);
        self
    }

    /// Selects samples in the states of `condition`, which must belong to this reader.
    ///
    /// A [`QueryCondition`](crate::condition::QueryCondition) selects by its content filter as well. At most one
    /// condition can be a query.
    #[doc(alias = "read_w_condition")]
    #[doc(alias = "take_w_condition")]
    #[doc(alias = "read_next_instance_w_condition")]
    #[doc(alias = "take_next_instance_w_condition")]
    pub fn condition(mut self, condition: &impl AsRef<ReadCondition>) -> Self {
        let condition = condition.as_ref();
        if let Some(filter) = condition.filter() {
            // Two queries would need a filter of both, which DDS does not define.
            self.conditions_are_two |= self.filter.replace(filter).is_some();
        }
        // The states of another reader's samples say nothing about these.
        self.condition_is_foreign |= !condition.is_of(self.reader.handle());
        self.states(condition.states())
    }

    /// Returns the selected samples and leaves them in the reader, marked as read.
    ///
    /// Returns an empty batch if no sample is selected.
    ///
    /// # Errors
    /// [`ReadErrorKind::ForeignCondition`] for a condition of another reader, [`ReadErrorKind::TwoQueries`],
    /// [`ReadErrorKind::Closed`] after `close`.
    pub fn read(self) -> Result<Samples<T>, ReadError> {
        self.run(Operation::Read)
    }

    /// Returns the selected samples and removes them from the reader.
    ///
    /// Returns an empty batch if no sample is selected.
    ///
    /// # Errors
    /// No sample was taken. [`ReadErrorKind::ForeignCondition`] for a condition of another reader,
    /// [`ReadErrorKind::TwoQueries`], [`ReadErrorKind::Closed`] after `close`.
    pub fn take(self) -> Result<Samples<T>, ReadError> {
        self.run(Operation::Take)
    }

    fn run(self, operation: Operation) -> Result<Samples<T>, ReadError> {
        // The builder methods cannot fail, so errors of the selection are returned here.
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
