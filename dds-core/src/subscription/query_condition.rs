//! Condition on the contents of a reader's samples (DDS 1.4, 2.2.2.5.9).

use crate::infrastructure::{Condition, CreateError, HasTrigger, Trigger};
use crate::subscription::ReadCondition;
use crate::subscription::read_condition::Query;
use crate::topic::texts;
use std::fmt;
use std::sync::Arc;

/// Condition that is true while the reader has samples in given states that match an expression.
///
/// Created by [`DataReader::query_condition`](crate::DataReader::query_condition). It is a [`ReadCondition`] with a
/// content filter, and can be used wherever one can.
///
/// Samples that do not match stay in the reader for other selections. A reader that never needs them should use a
/// [`ContentFilteredTopic`](crate::filter::ContentFilteredTopic), which has the same language. Each check visits the
/// samples in the states until one matches. Samples without data match, unless the expression uses only key fields and
/// these do not match. `ORDER BY` is not supported.
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::condition::WaitSet;
/// use dds_core::reader::States;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::condition::Condition;
///
/// #[derive(DdsType, Debug, PartialEq)]
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
/// let reader = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// let far = reader.query_condition(States::NOT_READ, "x > 10")?;
/// let wait_set = WaitSet::new(&participant);
/// wait_set.attach(&far);
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert!(!far.is_triggered());
/// writer.write(&Pose { robot: 8, x: 11.0 })?;
/// assert!(wait_set.wait().block()?.contains(&far));
/// assert_eq!(reader.select().condition(&far).take()?.into_data().map(|pose| pose.robot).collect::<Vec<_>>(), [8]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct QueryCondition {
    condition: ReadCondition,
    query: Arc<Query>,
}

impl QueryCondition {
    pub(super) fn new(condition: ReadCondition, query: Arc<Query>) -> Self {
        Self { condition, query }
    }

    /// Returns the expression.
    #[must_use]
    #[doc(alias = "get_query_expression")]
    pub fn expression(&self) -> String {
        self.query.filter().expression().to_owned()
    }

    /// Returns the values of the parameters, `%0` first.
    #[must_use]
    #[doc(alias = "get_query_parameters")]
    pub fn parameters(&self) -> Vec<String> {
        self.query.filter().parameters().to_vec()
    }

    /// Changes the parameters. Waits for the condition check it again.
    ///
    /// # Errors
    /// The parameters are unchanged because the values do not fit the expression.
    #[doc(alias = "set_query_parameters")]
    pub fn set_parameters(&self, parameters: impl IntoIterator<Item: ToString>) -> Result<(), CreateError> {
        self.query.set_parameters(&texts(parameters))?;
        // Samples that are here may match now, and no event of the reader would tell.
        self.condition.recheck();
        Ok(())
    }
}

impl AsRef<ReadCondition> for QueryCondition {
    fn as_ref(&self) -> &ReadCondition {
        &self.condition
    }
}

impl AsRef<ReadCondition> for ReadCondition {
    fn as_ref(&self) -> &ReadCondition {
        self
    }
}

impl Condition for QueryCondition {
    fn is_triggered(&self) -> bool {
        self.condition.is_triggered()
    }
}

impl HasTrigger for QueryCondition {
    fn trigger(&self) -> Arc<dyn Trigger> {
        self.condition.trigger()
    }
}

impl fmt::Debug for QueryCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryCondition")
            .field("condition", &self.condition)
            .field("expression", &self.expression())
            .finish()
    }
}
