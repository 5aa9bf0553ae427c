//! `glam`: vectors and quaternions as structs of their numbers, in the order of ROS 2.

use super::encoded_as;
use super::structs::{Xy, Xyz, Xyzw};
use ::glam::{DQuat, DVec2, DVec3, DVec4, Quat, Vec2, Vec3, Vec4};

encoded_as! {
    Vec2 => Xy<f32>, |value| Ok(Xy { x: value.x, y: value.y }), |wire| Some(Self::new(wire.x, wire.y));
    DVec2 => Xy<f64>, |value| Ok(Xy { x: value.x, y: value.y }), |wire| Some(Self::new(wire.x, wire.y));
    Vec3 => Xyz<f32>,
        |value| Ok(Xyz { x: value.x, y: value.y, z: value.z }), |wire| Some(Self::new(wire.x, wire.y, wire.z));
    DVec3 => Xyz<f64>,
        |value| Ok(Xyz { x: value.x, y: value.y, z: value.z }), |wire| Some(Self::new(wire.x, wire.y, wire.z));
    Vec4 => Xyzw<f32>,
        |value| Ok(Xyzw { x: value.x, y: value.y, z: value.z, w: value.w }),
        |wire| Some(Self::new(wire.x, wire.y, wire.z, wire.w));
    DVec4 => Xyzw<f64>,
        |value| Ok(Xyzw { x: value.x, y: value.y, z: value.z, w: value.w }),
        |wire| Some(Self::new(wire.x, wire.y, wire.z, wire.w));
    Quat => Xyzw<f32>,
        |value| Ok(Xyzw { x: value.x, y: value.y, z: value.z, w: value.w }),
        |wire| Some(Self::from_xyzw(wire.x, wire.y, wire.z, wire.w));
    DQuat => Xyzw<f64>,
        |value| Ok(Xyzw { x: value.x, y: value.y, z: value.z, w: value.w }),
        |wire| Some(Self::from_xyzw(wire.x, wire.y, wire.z, wire.w));
}
