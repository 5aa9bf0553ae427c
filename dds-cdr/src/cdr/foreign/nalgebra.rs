//! `nalgebra`: vectors, points and quaternions as structs of their numbers, in the order of ROS 2.

use super::encoded_as;
use super::structs::{Xy, Xyz, Xyzw};
use ::nalgebra::{self as na, Point2, Point3, Quaternion, RealField, UnitQuaternion, Vector2, Vector3, Vector4};

/// Returns a quaternion of length 1; `None` for zero, which has no direction.
fn unit<T: RealField>(received: Quaternion<T>) -> Option<UnitQuaternion<T>> {
    let difference = (received.norm_squared() - T::one()).abs();
    // A second division would change the last bits of a value that is already normalized.
    if difference <= na::convert(1e-5) {
        return Some(UnitQuaternion::new_unchecked(received));
    }
    // Zero has no direction, so it is not a rotation.
    UnitQuaternion::try_new(received, T::default_epsilon())
}

macro_rules! of_scalar {
    ($($scalar:ty)*) => {$(
        encoded_as! {
            Vector2<$scalar> => Xy<$scalar>,
                |value| Ok(Xy { x: value.x, y: value.y }), |wire| Some(Self::new(wire.x, wire.y));
            Point2<$scalar> => Xy<$scalar>,
                |value| Ok(Xy { x: value.x, y: value.y }), |wire| Some(Self::new(wire.x, wire.y));
            Vector3<$scalar> => Xyz<$scalar>,
                |value| Ok(Xyz { x: value.x, y: value.y, z: value.z }),
                |wire| Some(Self::new(wire.x, wire.y, wire.z));
            Point3<$scalar> => Xyz<$scalar>,
                |value| Ok(Xyz { x: value.x, y: value.y, z: value.z }),
                |wire| Some(Self::new(wire.x, wire.y, wire.z));
            Vector4<$scalar> => Xyzw<$scalar>,
                |value| Ok(Xyzw { x: value.x, y: value.y, z: value.z, w: value.w }),
                |wire| Some(Self::new(wire.x, wire.y, wire.z, wire.w));
            Quaternion<$scalar> => Xyzw<$scalar>,
                |value| Ok(Xyzw { x: value.i, y: value.j, z: value.k, w: value.w }),
                |wire| Some(Self::new(wire.w, wire.x, wire.y, wire.z));
            UnitQuaternion<$scalar> => Xyzw<$scalar>,
                |value| Ok(Xyzw { x: value.i, y: value.j, z: value.k, w: value.w }),
                |wire| unit(Quaternion::new(wire.w, wire.x, wire.y, wire.z));
        }
    )*};
}

of_scalar! { f32 f64 }
