//! Rotations with translations.

use crate::message_time::stamp;
use dds_core::Time;
use dds_ros2_msgs::geometry_msgs::msg::{Quaternion, Transform, TransformStamped, Vector3};
use dds_ros2_msgs::std_msgs::msg::Header;
use glam::{DQuat, DVec3};
use std::ops::Mul;

/// A rotation, then a translation. It maps points of the child frame to the parent frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Isometry {
    /// The position of the child's origin in the parent frame.
    pub translation: DVec3,
    /// The orientation of the child in the parent frame, of length 1.
    pub rotation: DQuat,
}

impl Isometry {
    /// No motion.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// Returns a translation without a rotation.
    #[must_use]
    pub const fn from_translation(translation: DVec3) -> Self {
        Self { translation, rotation: DQuat::IDENTITY }
    }

    /// Returns a rotation without a translation.
    #[must_use]
    pub const fn from_rotation(rotation: DQuat) -> Self {
        Self { translation: DVec3::ZERO, rotation }
    }

    /// Returns the inverse: from the parent frame to the child frame.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self { translation: rotation * -self.translation, rotation }
    }

    /// Maps a point of the child frame to the parent frame.
    #[must_use]
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// Maps a direction of the child frame to the parent frame.
    #[must_use]
    pub fn transform_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// Returns the transform at `ratio` between two: linear for translations, spherical for rotations.
    #[must_use]
    pub fn interpolate(&self, to: &Self, ratio: f64) -> Self {
        Self {
            translation: self.translation.lerp(to.translation, ratio),
            rotation: self.rotation.slerp(to.rotation, ratio),
        }
    }

    /// Returns the message for a child in a parent frame.
    #[must_use]
    pub fn stamped(&self, parent: &str, child: &str, time: Time) -> TransformStamped {
        TransformStamped {
            header: Header { stamp: stamp(time), frame_id: parent.to_owned() },
            child_frame_id: child.to_owned(),
            transform: (*self).into(),
        }
    }
}

/// `a * b`: first `b`, then `a`.
impl Mul for Isometry {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            translation: self.transform_point(other.translation),
            rotation: (self.rotation * other.rotation).normalize(),
        }
    }
}

impl From<Isometry> for Transform {
    fn from(isometry: Isometry) -> Self {
        let Isometry { translation: t, rotation: q } = isometry;
        Self {
            translation: Vector3 { x: t.x, y: t.y, z: t.z },
            rotation: Quaternion { x: q.x, y: q.y, z: q.z, w: q.w },
        }
    }
}

impl From<&Transform> for Isometry {
    fn from(transform: &Transform) -> Self {
        let (t, q) = (&transform.translation, &transform.rotation);
        Self { translation: DVec3::new(t.x, t.y, t.z), rotation: DQuat::from_xyzw(q.x, q.y, q.z, q.w) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn inverse_and_product_undo_each_other() {
        let turn = Isometry { translation: DVec3::new(1.0, 2.0, 3.0), rotation: DQuat::from_rotation_z(FRAC_PI_2) };
        let point = turn.transform_point(DVec3::X);
        assert!(point.abs_diff_eq(DVec3::new(1.0, 3.0, 3.0), 1e-12), "{point}");
        let nothing = turn * turn.inverse();
        assert!(nothing.translation.abs_diff_eq(DVec3::ZERO, 1e-12));
        assert!(nothing.rotation.abs_diff_eq(DQuat::IDENTITY, 1e-12));
    }

    #[test]
    fn interpolation_is_spherical_and_takes_the_short_way() {
        let quarter = Isometry::from_rotation(DQuat::from_rotation_z(FRAC_PI_2));
        let half = Isometry::IDENTITY.interpolate(&quarter, 0.5).rotation;
        assert!(half.abs_diff_eq(DQuat::from_rotation_z(FRAC_PI_2 / 2.0), 1e-12), "{half}");
        let same = Isometry::from_rotation(-quarter.rotation);
        let half = Isometry::IDENTITY.interpolate(&same, 0.5).rotation;
        assert!(half.angle_between(DQuat::from_rotation_z(FRAC_PI_2 / 2.0)) < 1e-9, "{half}");
    }
}
