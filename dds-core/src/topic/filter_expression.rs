//! Expressions of filters and queries, with the values of their parameters.

/// An expression of a filter or a query, with the values of its parameters.
///
/// Text without parameters converts to it. [`ContentFilteredTopic`](crate::filter::ContentFilteredTopic) documents the
/// language.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::filter::FilterExpression;
///
/// #[derive(DdsType)]
/// struct Pose {
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let near = participant.reader_builder::<Pose>("pose").filter("x < 10").build()?;
/// // `%0`, `%1`, … stand for parameters, which may be of any kind that has a text.
/// let mine = FilterExpression::new("robot = %0 AND x < %1").parameter(7).parameter(2.5);
/// let mine = participant.reader_builder::<Pose>("pose").filter(mine).build()?;
/// # drop((near, mine));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterExpression {
    text: String,
    parameters: Vec<String>,
}

impl FilterExpression {
    /// Creates an expression without parameters.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), parameters: Vec::new() }
    }

    /// Adds the value of the next parameter, `%0` first.
    #[must_use]
    pub fn parameter(mut self, value: impl ToString) -> Self {
        self.parameters.push(value.to_string());
        self
    }

    /// Adds the values of the next parameters, `%0` first.
    #[must_use]
    pub fn parameters(mut self, values: impl IntoIterator<Item: ToString>) -> Self {
        for value in values {
            self.parameters.push(value.to_string());
        }
        self
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn values(&self) -> &[String] {
        &self.parameters
    }
}

impl From<&str> for FilterExpression {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for FilterExpression {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl From<String> for FilterExpression {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}
