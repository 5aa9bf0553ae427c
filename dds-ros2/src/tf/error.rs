//! Reasons for which no transform is found, with the texts of `tf2`.

use dds_core::Time;
use std::fmt;

/// Why a buffer has no transform, or takes none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransformError {
    /// A frame is not known.
    Lookup {
        /// The frame.
        frame: String,
    },
    /// Two frames are not in one tree.
    Connectivity {
        /// The target frame.
        target: String,
        /// The source frame.
        source: String,
        /// The roots of both trees.
        roots: [String; 2],
    },
    /// The time is older than the oldest transform, or newer than the newest.
    Extrapolation {
        /// The frame whose transform to its parent has no such time.
        frame: String,
        /// The requested time.
        requested: Time,
        /// The oldest and the newest time of this frame.
        known: [Time; 2],
    },
    /// A transform or a frame is invalid.
    InvalidArgument {
        /// The frame.
        frame: String,
        /// The problem.
        reason: &'static str,
    },
    /// The transform is older than the cache time before the newest one of its frame.
    TooOld {
        /// The frame.
        frame: String,
        /// The time of the transform.
        time: Time,
        /// The newest known time of the frame.
        newest: Time,
    },
    /// The parents of a frame form a loop, or are too many.
    TooDeep {
        /// The frame.
        frame: String,
        /// The limit of parents.
        limit: usize,
    },
    /// Too many frames are known.
    TooManyFrames {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lookup { frame } => write!(f, "frame {frame:?} does not exist; check its publisher on /tf"),
            Self::Connectivity { target, source, roots: [target_root, source_root] } => write!(
                f,
                "frames {target:?} and {source:?} are not part of one tree: their roots are {target_root:?} and \
                 {source_root:?}"
            ),
            Self::Extrapolation { frame, requested, known: [oldest, newest] } => {
                let (requested, oldest, newest) = (Seconds(*requested), Seconds(*oldest), Seconds(*newest));
                let side = if requested.0 < oldest.0 { "past" } else { "future" };
                write!(
                    f,
                    "the transform of {frame:?} would be extrapolated into the {side}: requested {requested}, known \
                     from {oldest} to {newest}"
                )
            }
            Self::InvalidArgument { frame, reason } => write!(f, "invalid transform of frame {frame:?}: {reason}"),
            Self::TooOld { frame, time, newest } => {
                let (time, newest) = (Seconds(*time), Seconds(*newest));
                write!(f, "the transform of {frame:?} at {time} is too old: the newest is at {newest}")
            }
            Self::TooDeep { frame, limit } => {
                write!(f, "the parents of {frame:?} form a loop, or are more than {limit}; check the publishers of /tf")
            }
            Self::TooManyFrames { limit } => write!(f, "{limit} frames are known, which is the limit"),
        }
    }
}

impl std::error::Error for TransformError {}

/// A time as seconds.
struct Seconds(Time);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_unix_nanos();
        write!(f, "{}.{:09}", nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000))
    }
}
