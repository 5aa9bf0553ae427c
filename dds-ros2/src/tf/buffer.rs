//! The buffer of transforms.

use super::LATEST;
use super::error::TransformError;
use super::frames::{Frames, Located};
use super::isometry::Isometry;
use crate::message_time::time_of;
use crate::wait::Signal;
use dds_core::{Duration, Time};
use dds_ros2_msgs::geometry_msgs::msg::TransformStamped;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A transform between two frames.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FoundTransform {
    /// Maps points of the source frame to the target frame.
    pub isometry: Isometry,
    /// The time for which it holds. For [`LATEST`](super::LATEST), it is the newest common time, or zero if all
    /// transforms are static.
    pub time: Time,
}

/// The transforms of the last seconds, by their frames.
///
/// A handle: clones are cheap and refer to the same buffer. [`TransformListener`](super::TransformListener) fills it
/// from `/tf`.
///
/// It keeps at most 4096 frames, 5000 transforms of each frame, and 500 000 in all. Beyond that, each frame loses its
/// older half. So a peer that publishes without end costs bounded memory.
///
/// ```
/// use dds_ros2::Time;
/// use dds_ros2::tf::{Isometry, TransformBuffer};
///
/// let buffer = TransformBuffer::new();
/// let at = Time::from_unix_nanos;
/// for (nanos, x) in [(1000, 0.0), (2000, 1.0)] {
///     buffer.insert(&Isometry::from_translation([x, 0.0, 0.0].into()).stamped("map", "robot", at(nanos)))?;
/// }
/// assert_eq!(buffer.lookup("map", "robot", at(1500))?.isometry.translation.x, 0.5);
/// let error = buffer.lookup("map", "robot", at(3000)).unwrap_err();
/// assert!(error.to_string().contains("extrapolated into the future"));
/// # Ok::<(), dds_ros2::tf::TransformError>(())
/// ```
#[derive(Clone)]
pub struct TransformBuffer {
    shared: Arc<Shared>,
}

struct Shared {
    frames: Mutex<Frames>,
    changed: Arc<Signal>,
}

impl TransformBuffer {
    /// Creates a buffer that keeps transforms for 10 s, as `tf2`.
    #[must_use]
    pub fn new() -> Self {
        Self::with_cache_time(Duration::from_secs(10))
    }

    /// Creates a buffer that keeps transforms of a frame for this duration before its newest one.
    #[must_use]
    pub fn with_cache_time(keep: impl Into<Duration>) -> Self {
        let frames = Mutex::new(Frames::new(keep.into()));
        Self { shared: Arc::new(Shared { frames, changed: Arc::default() }) }
    }

    fn frames(&self) -> MutexGuard<'_, Frames> {
        self.shared.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) -> &Arc<Signal> {
        &self.shared.changed
    }

    /// Adds the transform of a child frame at a time.
    ///
    /// # Errors
    /// [`TransformError::InvalidArgument`], [`TransformError::TooManyFrames`], [`TransformError::TooOld`].
    pub fn insert(&self, transform: &TransformStamped) -> Result<(), TransformError> {
        self.add(transform, false)
    }

    /// Adds the transform of a child frame for all times.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_static(&self, transform: &TransformStamped) -> Result<(), TransformError> {
        self.add(transform, true)
    }

    fn add(&self, transform: &TransformStamped, is_static: bool) -> Result<(), TransformError> {
        insert_into(&mut self.frames(), transform, is_static)?;
        self.shared.changed.notify();
        Ok(())
    }

    /// Adds the transforms of a message. Returns the errors.
    pub(super) fn add_all(&self, transforms: &[TransformStamped], is_static: bool) -> Vec<TransformError> {
        let mut errors = Vec::new();
        {
            let mut frames = self.frames();
            for transform in transforms {
                errors.extend(insert_into(&mut frames, transform, is_static).err());
            }
        }
        self.shared.changed.notify();
        errors
    }

    /// Returns the transform that maps points of `source` to `target` at a time, which may be [`LATEST`].
    ///
    /// # Errors
    /// [`TransformError::Lookup`], [`TransformError::Connectivity`], [`TransformError::Extrapolation`],
    /// [`TransformError::TooDeep`], or [`TransformError::InvalidArgument`] if a name starts with `/`.
    pub fn lookup(&self, target: &str, source: &str, time: Time) -> Result<FoundTransform, TransformError> {
        self.frames().lookup(target, source, time).map(found)
    }

    /// Returns the transform from `source` at one time to `target` at another time. `fixed` does not move between them.
    ///
    /// # Errors
    /// As [`lookup`](Self::lookup).
    pub fn lookup_fixed(
        &self,
        target: (&str, Time),
        source: (&str, Time),
        fixed: &str,
    ) -> Result<FoundTransform, TransformError> {
        self.frames().lookup_fixed(target, source, fixed).map(found)
    }

    /// Returns whether [`lookup`](Self::lookup) finds a transform.
    #[must_use]
    pub fn can_transform(&self, target: &str, source: &str, time: Time) -> bool {
        self.lookup(target, source, time).is_ok()
    }

    /// Returns the names of all frames.
    #[must_use]
    pub fn frame_names(&self) -> Vec<String> {
        self.frames().names().map(str::to_owned).collect()
    }

    /// Removes the transforms that are not static, for example after a jump back in time. Frames stay known.
    ///
    /// A [`TransformListener`](super::TransformListener) does it after a jump of its node's clock.
    pub fn clear(&self) {
        self.frames().clear();
        self.shared.changed.notify();
    }

    /// Returns the newest common time of two frames.
    ///
    /// # Errors
    /// As [`lookup`](Self::lookup).
    pub fn latest_common_time(&self, target: &str, source: &str) -> Result<Time, TransformError> {
        Ok(self.lookup(target, source, LATEST)?.time)
    }
}

fn insert_into(frames: &mut Frames, transform: &TransformStamped, is_static: bool) -> Result<(), TransformError> {
    let TransformStamped { header, child_frame_id, transform } = transform;
    let at = Located { isometry: transform.into(), time: time_of(&header.stamp) };
    frames.insert(&header.frame_id, child_frame_id, at, is_static)
}

fn found(located: Located) -> FoundTransform {
    FoundTransform { isometry: located.isometry, time: located.time }
}

impl Default for TransformBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TransformBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformBuffer").field("frames", &self.frames().names().count()).finish_non_exhaustive()
    }
}
