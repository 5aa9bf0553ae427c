//! Content-filtered topics: readers receive only samples that satisfy an expression (DDS 1.4, 2.2.2.3.3).

use crate::infrastructure::{About, CreateError, CreateErrorKind, Subject};
use crate::topic::{FilterExpression, Topic};
use dds_rtps::cdr::AnyType;
use dds_rtps::filter::{ExpressionError, Filter};
use dds_rtps::types::Guid;
use dds_rtps::wire::{ContentFilterProperty, DDSSQL};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A [`Topic`] with a filter, from [`DomainParticipant::filtered_topic`](crate::DomainParticipant::filtered_topic).
///
/// Readers are created with it, and writers with the topic itself.
///
/// A sample that fails the filter never enters the reader's cache: it wakes no thread, fills no history and counts
/// against no limit. The ledger counts it as filtered ([`Undelivered::filtered`](crate::stats::Undelivered::filtered)),
/// not as lost. Each reader announces its expression, so writers may omit unwanted samples. The reader also filters all
/// received samples itself.
///
/// The language is that of DDS 1.4, Annex B, with the extensions of RTI Connext; [`filter`](crate::filter) has a table.
/// The end of an instance (dispose, unregister) passes, unless the expression uses only key fields and these fail it.
///
/// It is a handle: a clone is cheap. Readers do not need it after their creation.
///
/// ```
/// use dds_core::qos::{Preset, TopicQos};
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::filter::FilterExpression;
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
/// let topic = participant.topic::<Pose>("robot/pose", TopicQos::default())?;
/// let expression = FilterExpression::new("x BETWEEN 0 AND %0 AND robot <> 13").parameter(10);
/// let near = participant.filtered_topic(&topic, expression)?;
/// let reader = participant.reader_builder(&near).qos(Preset::Event).build()?;
/// let writer = participant.writer_builder(&topic).qos(Preset::Event).build()?;
/// writer.wait_for_readers(1).block()?;
/// for x in [-1.0, 5.0, 15.0] {
///     writer.write(&Pose { robot: 1, x })?;
/// }
/// near.set_parameters([20])?;
/// writer.write(&Pose { robot: 1, x: 15.0 })?;
/// assert_eq!(reader.take()?.into_data().map(|pose| pose.x).collect::<Vec<_>>(), [5.0, 15.0]);
/// assert_eq!(reader.losses().total().undelivered.filtered, 2);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "delete_contentfilteredtopic")]
pub struct ContentFilteredTopic<T> {
    core: Arc<FilteredTopic>,
    topic: Topic<T>,
}

/// State of a content-filtered topic that its readers share.
pub(crate) struct FilteredTopic {
    name: String,
    subject: Arc<Subject>,
    ty: AnyType,
    live: Mutex<LiveFilter>,
}

/// A reader of a filtered topic.
pub(crate) trait FilteredReader: Send + Sync {
    /// Applies and announces the current filter of `topic`.
    fn follow_filter(&self, topic: &FilteredTopic);
}

struct LiveFilter {
    filter: Arc<Filter>,
    /// Increases with each change.
    version: u64,
    /// Bound: living readers, and readers that were dropped since the last one was added.
    readers: Vec<Weak<dyn FilteredReader>>,
}

impl FilteredTopic {
    pub(crate) fn new(
        name: String,
        topic: &str,
        ty: Option<&AnyType>,
        expression: &FilterExpression,
    ) -> Result<Arc<Self>, CreateError> {
        let subject = Subject::new("filter", topic, Guid::UNKNOWN);
        if name.is_empty() || name.len() > NAME_LEN_MAX || name.contains('\0') {
            return Err(CreateError::new(&subject, CreateErrorKind::InvalidTopicName));
        }
        let ty = described(ty).about(&subject)?;
        let filter = compile(ty, expression.text(), expression.values()).about(&subject)?;
        let live = Mutex::new(LiveFilter { filter: Arc::new(filter), version: 0, readers: Vec::new() });
        Ok(Arc::new(Self { name, subject, ty: ty.clone(), live }))
    }

    /// Returns the name of a content-filtered topic that was created without one.
    pub(crate) fn derived_name(topic: &str) -> String {
        let mut end = topic.len().min(NAME_LEN_MAX - SUFFIX.len());
        // Cut between two characters, not inside of one.
        while !topic.is_char_boundary(end) {
            end -= 1;
        }
        [&topic[..end], SUFFIX].concat()
    }

    /// Returns the announced filter and its version. An expression that accepts all samples is not announced.
    pub(crate) fn describe(&self, topic: &str) -> (Option<Box<ContentFilterProperty>>, u64) {
        let live = self.live();
        let (filter, version) = (Arc::clone(&live.filter), live.version);
        drop(live);
        let property = ContentFilterProperty {
            filtered_topic: self.name.clone(),
            related_topic: topic.to_owned(),
            class: DDSSQL.to_owned(),
            expression: filter.expression().to_owned(),
            parameters: filter.parameters().to_vec(),
        };
        if property.expression.trim().is_empty() { (None, version) } else { (Some(Box::new(property)), version) }
    }

    pub(crate) fn filter(&self) -> Arc<Filter> {
        Arc::clone(&self.live().filter)
    }

    pub(crate) fn version(&self) -> u64 {
        self.live().version
    }

    /// Adds a reader that follows changes. Applies the current filter if it has changed since the reader's creation.
    pub(crate) fn add_reader(&self, reader: &Arc<dyn FilteredReader>) {
        let mut live = self.live();
        // A dropped reader leaves a dead entry. Sweeping here keeps the list as long as the living readers.
        live.readers.retain(|reader| reader.strong_count() > 0);
        live.readers.push(Arc::downgrade(reader));
        let has_changed = live.version > 0;
        drop(live);
        if has_changed {
            reader.follow_filter(self);
        }
    }

    fn change(&self, expression: Option<&str>, parameters: &[String]) -> Result<(), CreateError> {
        let mut live = self.live();
        let expression = expression.unwrap_or(live.filter.expression());
        // Compile under the lock, so that of two changes the later one stays.
        let filter = compile(&self.ty, expression, parameters).about(&self.subject)?;
        live.filter = Arc::new(filter);
        live.version += 1;
        let readers: Vec<_> = live.readers.iter().filter_map(Weak::upgrade).collect();
        // A reader reads the filter again, and takes this lock.
        drop(live);
        for reader in readers {
            reader.follow_filter(self);
        }
        Ok(())
    }

    fn live(&self) -> MutexGuard<'_, LiveFilter> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiles a filter.
pub(crate) fn compile(ty: &AnyType, expression: &str, parameters: &[String]) -> Result<Filter, CreateErrorKind> {
    #[cfg(feature = "dynamic")]
    if let AnyType::Dynamic(ty) = ty {
        return Filter::of_dynamic(ty, expression, parameters).map_err(CreateErrorKind::Filter);
    }
    match ty.description() {
        Some(ty) => Filter::new(ty, expression, parameters).map_err(CreateErrorKind::Filter),
        None => Err(CreateErrorKind::Filter(ExpressionError::no_description())),
    }
}

/// A filter finds the members of a sample by the description of its type.
pub(crate) fn described(ty: Option<&AnyType>) -> Result<&AnyType, CreateErrorKind> {
    ty.ok_or_else(|| CreateErrorKind::Filter(ExpressionError::no_description()))
}

/// Converts parameter values to strings.
pub(crate) fn texts(parameters: impl IntoIterator<Item: ToString>) -> Vec<String> {
    parameters.into_iter().map(|parameter| parameter.to_string()).collect()
}

impl<T> ContentFilteredTopic<T> {
    pub(crate) fn new(topic: &Topic<T>, name: String, expression: &FilterExpression) -> Result<Self, CreateError> {
        let handle = topic.handle();
        let core = FilteredTopic::new(name, &handle.name, handle.ty.as_ref(), expression)?;
        // After the filter was compiled, so that a wrong filter has its own error.
        if handle.is_closed() {
            return Err(CreateError::new(&core.subject, CreateErrorKind::Closed));
        }
        Ok(Self { core, topic: topic.clone() })
    }

    /// Returns the announced name, which differs from that of the topic.
    #[must_use]
    #[doc(alias = "get_name")]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the topic whose samples are filtered.
    #[must_use]
    #[doc(alias = "get_related_topic")]
    pub fn related_topic(&self) -> &Topic<T> {
        &self.topic
    }

    /// Returns the expression.
    #[must_use]
    #[doc(alias = "get_filter_expression")]
    pub fn expression(&self) -> String {
        self.core.filter().expression().to_owned()
    }

    /// Returns the values of the parameters, `%0` first.
    #[must_use]
    #[doc(alias = "get_expression_parameters")]
    pub fn parameters(&self) -> Vec<String> {
        self.core.filter().parameters().to_vec()
    }

    /// Changes the values of the parameters for samples that arrive from now on.
    ///
    /// Readers keep the samples that they have, and announce the new filter.
    ///
    /// # Errors
    /// Fails without a change if the values do not fit the expression.
    #[doc(alias = "set_expression_parameters")]
    pub fn set_parameters(&self, parameters: impl IntoIterator<Item: ToString>) -> Result<(), CreateError> {
        self.core.change(None, &texts(parameters))
    }

    /// Changes the expression and its parameters, as [`set_parameters`](Self::set_parameters).
    ///
    /// DDS 1.4 has no such operation; RTI Connext does.
    ///
    /// # Errors
    /// Fails without a change if the expression is invalid or does not fit the type.
    pub fn set_expression(&self, expression: impl Into<FilterExpression>) -> Result<(), CreateError> {
        let expression = expression.into();
        self.core.change(Some(expression.text()), expression.values())
    }

    pub(super) fn core(&self) -> &Arc<FilteredTopic> {
        &self.core
    }
}

impl<T> Clone for ContentFilteredTopic<T> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core), topic: self.topic.clone() }
    }
}

impl<T> fmt::Debug for ContentFilteredTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = self.core.filter();
        write!(f, "ContentFilteredTopic(\"{}\" of {:?}: {})", self.name(), self.topic, filter.expression())
    }
}

impl fmt::Debug for FilteredTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteredTopic").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Maximum length of a topic name.
const NAME_LEN_MAX: usize = 255;

const SUFFIX: &str = "_filtered";
