//! Return codes of DDS 1.4 (2.2.1.1), for language bindings.

/// A return code of DDS 1.4, 2.2.1.1.
///
/// The typed errors contain more. Every error has a return code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReturnCode {
    /// Success.
    Ok,
    /// Failure without a more precise code.
    Error,
    /// An argument is invalid.
    BadParameter,
    /// The operation is not supported.
    Unsupported,
    /// The entity is deleted.
    AlreadyDeleted,
    /// A resource limit is reached.
    OutOfResources,
    /// The entity is not enabled.
    NotEnabled,
    /// The policy cannot change after enabling.
    ImmutablePolicy,
    /// The policies contradict each other.
    InconsistentPolicy,
    /// A required earlier step is missing.
    PreconditionNotMet,
    /// The timeout has expired.
    Timeout,
    /// The operation must not be called in this context.
    IllegalOperation,
    /// No data is available.
    NoData,
}
