//! Transforms between coordinate frames, as `tf2` (feature `tf2`).
//!
//! Input: messages on `/tf` and `/tf_static`, and transforms of the program. Output: the transform between two frames
//! at a time. Owns the transforms of the last seconds.
//!
//! ```
//! # use dds_ros2::{Context, DiscoveryRange};
//! use dds_ros2::tf::{Isometry, LATEST, StaticTransformBroadcaster, TransformListener};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
//! let node = context.node("localization")?;
//! let listener = TransformListener::new(&node)?;
//! let broadcaster = StaticTransformBroadcaster::new(&node)?;
//! let mount = Isometry::from_translation([0.1, 0.0, 0.5].into());
//! broadcaster.send(&[mount.stamped("base_link", "camera", node.now())])?;
//! let found = listener.wait_for_transform("base_link", "camera", LATEST).block()?;
//! assert_eq!(found.isometry.translation.z, 0.5);
//! # Ok(())
//! # }
//! ```

mod buffer;
mod error;
mod frames;
mod isometry;
mod publish;
mod subscribe;

pub use buffer::{FoundTransform, TransformBuffer};
pub use error::TransformError;
pub use isometry::Isometry;
pub use publish::{StaticTransformBroadcaster, TransformBroadcaster};
pub use subscribe::TransformListener;

use dds_core::Time;

/// The newest time at which a transform is known, in a request for it: zero, as in `tf2`.
pub const LATEST: Time = Time::from_unix_nanos(0);
