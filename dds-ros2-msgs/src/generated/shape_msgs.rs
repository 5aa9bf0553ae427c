// Written by `tests/messages/committed.rs` from the interface files of `shape_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `shape_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Definition of a mesh.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "shape_msgs::msg::dds_::Mesh_")]
    pub struct Mesh {
        /// List of triangles; the index values refer to positions in vertices\[\].
        pub triangles: ::std::vec::Vec<MeshTriangle>,
        /// The actual vertices that make up the mesh.
        pub vertices: ::std::vec::Vec<crate::geometry_msgs::msg::Point>,
    }

    impl crate::RosMessage for Mesh {
        const ROS_NAME: &'static str = "shape_msgs/msg/Mesh";
        const TYPE_HASH: &'static str = "RIHS01_f2150b82d8ee7e8bc3f396a2b158aefb4b9a5510a474be271ba1268aebb55289";
    }

    /// Definition of a triangle's vertices.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "shape_msgs::msg::dds_::MeshTriangle_")]
    pub struct MeshTriangle {
        pub vertex_indices: [u32; 3],
    }

    impl crate::RosMessage for MeshTriangle {
        const ROS_NAME: &'static str = "shape_msgs/msg/MeshTriangle";
        const TYPE_HASH: &'static str = "RIHS01_618e5c073eeb729e433ef6226e72c01d995c459fb7d76348c9700409a5020bd0";
    }

    /// Representation of a plane, using the plane equation ax + by + cz + d = 0.
    ///
    /// a := coef\[0\]
    /// b := coef\[1\]
    /// c := coef\[2\]
    /// d := coef\[3\]
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "shape_msgs::msg::dds_::Plane_")]
    pub struct Plane {
        pub coef: [f64; 4],
    }

    impl crate::RosMessage for Plane {
        const ROS_NAME: &'static str = "shape_msgs/msg/Plane";
        const TYPE_HASH: &'static str = "RIHS01_dfbfe8314689c850615d4a727af017e9aa86c10e369a606c8c851ef8f16c58c8";
    }

    /// Defines box, sphere, cylinder, cone and prism.
    /// All shapes are defined to have their bounding boxes centered around 0,0,0.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "shape_msgs::msg::dds_::SolidPrimitive_")]
    pub struct SolidPrimitive {
        /// The type of the shape
        pub r#type: u8,
        /// The dimensions of the shape
        /// At no point will dimensions have a length \> 3.
        #[dds(bound = 3)]
        pub dimensions: ::std::vec::Vec<f64>,
        pub polygon: crate::geometry_msgs::msg::Polygon,
    }

    impl SolidPrimitive {
        pub const BOX: u8 = 1;
        pub const SPHERE: u8 = 2;
        pub const CYLINDER: u8 = 3;
        pub const CONE: u8 = 4;
        pub const PRISM: u8 = 5;

        /// The meaning of the shape dimensions: each constant defines the index in the 'dimensions' array.
        /// For type BOX, the X, Y, and Z dimensions are the length of the corresponding sides of the box.
        pub const BOX_X: u8 = 0;
        pub const BOX_Y: u8 = 1;
        pub const BOX_Z: u8 = 2;

        /// For the SPHERE type, only one component is used, and it gives the radius of the sphere.
        pub const SPHERE_RADIUS: u8 = 0;

        /// For the CYLINDER and CONE types, the center line is oriented along the Z axis.
        /// Therefore the CYLINDER_HEIGHT (CONE_HEIGHT) component of dimensions gives the
        /// height of the cylinder (cone).
        /// The CYLINDER_RADIUS (CONE_RADIUS) component of dimensions gives the radius of
        /// the base of the cylinder (cone).
        /// Cone and cylinder primitives are defined to be circular. The tip of the cone
        /// is pointing up, along +Z axis.
        pub const CYLINDER_HEIGHT: u8 = 0;
        pub const CYLINDER_RADIUS: u8 = 1;
        pub const CONE_HEIGHT: u8 = 0;
        pub const CONE_RADIUS: u8 = 1;

        /// For the type PRISM, the center line is oriented along Z axis.
        /// The PRISM_HEIGHT component of dimensions gives the
        /// height of the prism.
        /// The polygon defines the Z axis centered base of the prism.
        /// The prism is constructed by extruding the base in +Z and -Z
        /// directions by half of the PRISM_HEIGHT
        /// Only x and y fields of the points are used in the polygon.
        /// Points of the polygon are ordered counter-clockwise.
        pub const PRISM_HEIGHT: u8 = 0;
    }

    impl crate::RosMessage for SolidPrimitive {
        const ROS_NAME: &'static str = "shape_msgs/msg/SolidPrimitive";
        const TYPE_HASH: &'static str = "RIHS01_2802a15190aadc3f496584df4b0b4c5824d8a0b31aaef839faa75bc34dda38ac";
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Mesh>(),
    crate::RosTypeEntry::of::<msg::MeshTriangle>(),
    crate::RosTypeEntry::of::<msg::Plane>(),
    crate::RosTypeEntry::of::<msg::SolidPrimitive>(),
];
