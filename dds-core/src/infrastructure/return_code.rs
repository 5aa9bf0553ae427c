//! The return codes of DDS 1.4 (2.2.1.1), for bindings to languages that need them.

/// A return code of DDS 1.4, 2.2.1.1. In Rust the typed errors say more; every error can name its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReturnCode {
    /// Done.
    Ok,
    /// Failed without a more precise code.
    Error,
    /// An argument is wrong.
    BadParameter,
    /// The operation is not offered.
    Unsupported,
    /// The entity has been deleted.
    AlreadyDeleted,
    /// A limit is reached.
    OutOfResources,
    /// The entity is not enabled.
    NotEnabled,
    /// The policy cannot change after creation.
    ImmutablePolicy,
    /// The policies contradict each other.
    InconsistentPolicy,
    /// Something must be done first.
    PreconditionNotMet,
    /// The time is over.
    Timeout,
    /// The operation must not be called here.
    IllegalOperation,
    /// There is no data.
    NoData,
}
