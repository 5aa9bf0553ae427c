//! [`Weak`]: a handle that does not keep its entity alive.

use std::fmt;
use std::sync::Arc;

/// An entity whose handles share one object.
pub(crate) trait Upgrade: Sized {
    /// The shared object.
    type Shared: Send + Sync;

    /// Creates a handle, unless the application has dropped all handles.
    fn upgrade(shared: &std::sync::Weak<Self::Shared>) -> Option<Self>;
}

/// Weak handle of an entity, which does not keep the entity alive.
///
/// `downgrade` of each entity returns one. Use it in the closure of a listener: a strong handle there would keep its
/// own entity alive forever.
///
/// ```
/// use dds_core::listener::Weak;
/// use dds_core::{DataWriter, DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let writer = participant.writer::<Pose>("weak/pose")?;
/// let weak: Weak<DataWriter<Pose>> = writer.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(writer);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
#[expect(private_bounds, reason = "sealed: only this crate has entities")]
pub struct Weak<E: Upgrade> {
    shared: std::sync::Weak<E::Shared>,
}

#[expect(private_bounds, reason = "sealed: only this crate has entities")]
impl<E: Upgrade> Weak<E> {
    pub(crate) fn new(shared: &Arc<E::Shared>) -> Self {
        Self { shared: Arc::downgrade(shared) }
    }

    /// Returns the entity, or `None` if the application has dropped its last handle. The entity may be closed.
    ///
    /// A child entity keeps its parents alive, so their weak handles upgrade as well.
    #[must_use]
    pub fn upgrade(&self) -> Option<E> {
        E::upgrade(&self.shared)
    }
}

impl<E: Upgrade> Clone for Weak<E> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

/// A handle of no entity, which never upgrades.
impl<E: Upgrade> Default for Weak<E> {
    fn default() -> Self {
        Self { shared: std::sync::Weak::new() }
    }
}

impl<E: Upgrade> fmt::Debug for Weak<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weak").finish_non_exhaustive()
    }
}
