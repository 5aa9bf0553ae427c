// Written by `tests/messages/committed.rs` from the interface files of `nav_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `nav_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// An array of navigation goals
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::Goals_")]
    pub struct Goals {
        /// This header will store the time at which the poses were computed (not to be confused with the stamps of the poses themselves)
        /// In the case that individual poses do not have their frame_id set or their timetamp set they will use the default value here.
        pub header: crate::std_msgs::msg::Header,
        /// An array of goals to for navigation to achieve.
        /// The goals should be executed in the order of the array.
        /// The header and stamp are intended to be used for computing the position of the goals.
        /// They may vary to support cases of goals that are moving with respect to the robot.
        pub goals: ::std::vec::Vec<crate::geometry_msgs::msg::PoseStamped>,
    }

    impl crate::RosMessage for Goals {
        const ROS_NAME: &'static str = "nav_msgs/msg/Goals";
        const TYPE_HASH: &'static str = "RIHS01_02305a51633b5c04d8979b878a7577cafd422f8a07465c878b17a920af3759e9";
    }

    /// An array of cells in a 2D grid
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::GridCells_")]
    pub struct GridCells {
        pub header: crate::std_msgs::msg::Header,
        /// Width of each cell
        pub cell_width: f32,
        /// Height of each cell
        pub cell_height: f32,
        /// Each cell is represented by the Point at the center of the cell
        pub cells: ::std::vec::Vec<crate::geometry_msgs::msg::Point>,
    }

    impl crate::RosMessage for GridCells {
        const ROS_NAME: &'static str = "nav_msgs/msg/GridCells";
        const TYPE_HASH: &'static str = "RIHS01_bb99c2f5d0a04750745a81ec6a8147aa373cce5bd17c8cd6507f2413354a6933";
    }

    /// This hold basic information about the characteristics of the OccupancyGrid
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::MapMetaData_")]
    pub struct MapMetaData {
        /// The time at which the map was loaded
        pub map_load_time: crate::builtin_interfaces::msg::Time,
        /// The map resolution
        ///
        /// Unit: `m/cell`
        pub resolution: f32,
        /// Map width
        ///
        /// Unit: `cells`
        pub width: u32,
        /// Map height
        ///
        /// Unit: `cells`
        pub height: u32,
        /// The origin of the map \[m, m, rad\].  This is the real-world pose of the
        /// bottom left corner of cell (0,0) in the map.
        pub origin: crate::geometry_msgs::msg::Pose,
    }

    impl crate::RosMessage for MapMetaData {
        const ROS_NAME: &'static str = "nav_msgs/msg/MapMetaData";
        const TYPE_HASH: &'static str = "RIHS01_2772d4b2000ef2b35dbaeb80fd3946c1369f817fb4f75677d916d27c17d763c8";
    }

    /// This represents a 2-D grid map
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::OccupancyGrid_")]
    pub struct OccupancyGrid {
        pub header: crate::std_msgs::msg::Header,
        /// MetaData for the map
        pub info: MapMetaData,
        /// The map data, in row-major order, starting with (0,0).
        /// Cell (1, 0) will be listed second, representing the next cell in the x direction.
        /// Cell (0, 1) will be at the index equal to info.width, followed by (1, 1).
        /// The values inside are application dependent, but frequently,
        /// 0 represents unoccupied, 1 represents definitely occupied, and
        /// -1 represents unknown.
        pub data: ::std::vec::Vec<i8>,
    }

    impl crate::RosMessage for OccupancyGrid {
        const ROS_NAME: &'static str = "nav_msgs/msg/OccupancyGrid";
        const TYPE_HASH: &'static str = "RIHS01_8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7";
    }

    /// This represents an estimate of a position and velocity in free space.
    /// The pose in this message should be specified in the coordinate frame given by header.frame_id
    /// The twist in this message should be specified in the coordinate frame given by the child_frame_id
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::Odometry_")]
    pub struct Odometry {
        /// Includes the frame id of the pose parent.
        pub header: crate::std_msgs::msg::Header,
        /// Frame id the pose points to. The twist is in this coordinate frame.
        pub child_frame_id: ::std::string::String,
        /// Estimated pose that is typically relative to a fixed world frame.
        pub pose: crate::geometry_msgs::msg::PoseWithCovariance,
        /// Estimated linear and angular velocity relative to child_frame_id.
        pub twist: crate::geometry_msgs::msg::TwistWithCovariance,
    }

    impl crate::RosMessage for Odometry {
        const ROS_NAME: &'static str = "nav_msgs/msg/Odometry";
        const TYPE_HASH: &'static str = "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0";
    }

    /// An array of poses that represents a Path for a robot to follow.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::msg::dds_::Path_")]
    pub struct Path {
        /// Indicates the frame_id of the path.
        pub header: crate::std_msgs::msg::Header,
        /// Array of poses to follow.
        pub poses: ::std::vec::Vec<crate::geometry_msgs::msg::PoseStamped>,
    }

    impl crate::RosMessage for Path {
        const ROS_NAME: &'static str = "nav_msgs/msg/Path";
        const TYPE_HASH: &'static str = "RIHS01_1957a5bb3cee5da65c4e52e52b65a93df227efce4c20f8458b36e73066ca334b";
    }
}

pub mod srv {
    /// Get the map as a nav_msgs/OccupancyGrid
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetMap_Request_")]
    pub struct GetMapRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for GetMapRequest {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetMap_Request";
        const TYPE_HASH: &'static str = "RIHS01_b531e302f1bd6a81f8a5e03453266c378b1f711b4296000c1c0f53a40e00a7c4";
    }

    /// The current map hosted by this map service.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetMap_Response_")]
    pub struct GetMapResponse {
        pub map: super::msg::OccupancyGrid,
    }

    impl crate::RosMessage for GetMapResponse {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetMap_Response";
        const TYPE_HASH: &'static str = "RIHS01_45246f7a2ff0cbfa46e13865d4b95929ebb6d2846d1b85a20ad51030f4690dc2";
    }

    /// `nav_msgs/srv/GetMap_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetMap_Event_")]
    pub struct GetMapEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetMapRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetMapResponse>,
    }

    impl crate::RosMessage for GetMapEvent {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetMap_Event";
        const TYPE_HASH: &'static str = "RIHS01_a7ccc266ea4796564e253156024ef4e829dd3e3c424fed3b11e3118aab3971d7";
    }

    /// The service `nav_msgs/srv/GetMap`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetMap;

    impl crate::RosService for GetMap {
        type Request = GetMapRequest;
        type Response = GetMapResponse;
        type Event = GetMapEvent;
        const ROS_NAME: &'static str = "nav_msgs/srv/GetMap";
        const TYPE_HASH: &'static str = "RIHS01_c8ae77c9995b3554b5ba80e4d4d443f970ac65143102a1d893ec24fc07b31147";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetMapEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// Get a plan from the current position to the goal Pose
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetPlan_Request_")]
    pub struct GetPlanRequest {
        /// The start pose for the plan
        pub start: crate::geometry_msgs::msg::PoseStamped,
        /// The final pose of the goal position
        pub goal: crate::geometry_msgs::msg::PoseStamped,
        /// If the goal is obstructed, how many meters the planner can
        /// relax the constraint in x and y before failing.
        pub tolerance: f32,
    }

    impl crate::RosMessage for GetPlanRequest {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetPlan_Request";
        const TYPE_HASH: &'static str = "RIHS01_f1bb9fab287948b4432a4a7e4f529e7ea6269cd06269ee8fcb911fdb4acd23c3";
    }

    /// Array of poses from start to goal if one was successfully found.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetPlan_Response_")]
    pub struct GetPlanResponse {
        pub plan: super::msg::Path,
    }

    impl crate::RosMessage for GetPlanResponse {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetPlan_Response";
        const TYPE_HASH: &'static str = "RIHS01_30a947cd360777929073296c368c591dc2117a89c15b7a975a6faa0a901836fd";
    }

    /// `nav_msgs/srv/GetPlan_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::GetPlan_Event_")]
    pub struct GetPlanEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetPlanRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetPlanResponse>,
    }

    impl crate::RosMessage for GetPlanEvent {
        const ROS_NAME: &'static str = "nav_msgs/srv/GetPlan_Event";
        const TYPE_HASH: &'static str = "RIHS01_2550c2e32e7ee24d4806e10847958e1fc37e2631a63dd83f5512fa02ac0cdda5";
    }

    /// The service `nav_msgs/srv/GetPlan`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetPlan;

    impl crate::RosService for GetPlan {
        type Request = GetPlanRequest;
        type Response = GetPlanResponse;
        type Event = GetPlanEvent;
        const ROS_NAME: &'static str = "nav_msgs/srv/GetPlan";
        const TYPE_HASH: &'static str = "RIHS01_234f7aff100f5edb8150366601687b027bcdc253db47decb88fff846193fe5e8";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetPlanEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// URL of map resource
    /// Can be an absolute path to a file: file:///path/to/maps/floor1.yaml
    /// Or, relative to a ROS package: package://my_ros_package/maps/floor2.yaml
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::LoadMap_Request_")]
    pub struct LoadMapRequest {
        pub map_url: ::std::string::String,
    }

    impl crate::RosMessage for LoadMapRequest {
        const ROS_NAME: &'static str = "nav_msgs/srv/LoadMap_Request";
        const TYPE_HASH: &'static str = "RIHS01_0f8fe3aac433c977d7c2f8b57ab1c3a17677e24880d76919b69e4208e99f5132";
    }

    /// Result code definitions
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::LoadMap_Response_")]
    pub struct LoadMapResponse {
        /// Returned map is only valid if result equals RESULT_SUCCESS
        pub map: super::msg::OccupancyGrid,
        pub result: u8,
    }

    impl LoadMapResponse {
        pub const RESULT_SUCCESS: u8 = 0;
        pub const RESULT_MAP_DOES_NOT_EXIST: u8 = 1;
        pub const RESULT_INVALID_MAP_DATA: u8 = 2;
        pub const RESULT_INVALID_MAP_METADATA: u8 = 3;
        pub const RESULT_UNDEFINED_FAILURE: u8 = 255;
    }

    impl crate::RosMessage for LoadMapResponse {
        const ROS_NAME: &'static str = "nav_msgs/srv/LoadMap_Response";
        const TYPE_HASH: &'static str = "RIHS01_e7970ddf9f58e10d34b5eae6d2baca31b2b3e2f2fe6d082b3aae2a5f92777b2a";
    }

    /// `nav_msgs/srv/LoadMap_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::LoadMap_Event_")]
    pub struct LoadMapEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<LoadMapRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<LoadMapResponse>,
    }

    impl crate::RosMessage for LoadMapEvent {
        const ROS_NAME: &'static str = "nav_msgs/srv/LoadMap_Event";
        const TYPE_HASH: &'static str = "RIHS01_a7907dcbaf7a052cc96c8c716992591dc006ad26ee2841329a7e06a4a33339c7";
    }

    /// The service `nav_msgs/srv/LoadMap`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct LoadMap;

    impl crate::RosService for LoadMap {
        type Request = LoadMapRequest;
        type Response = LoadMapResponse;
        type Event = LoadMapEvent;
        const ROS_NAME: &'static str = "nav_msgs/srv/LoadMap";
        const TYPE_HASH: &'static str = "RIHS01_1a192ac56c40fed2767dac26f0b371785372276bd465c902676d2dca135aae5a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            LoadMapEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// Set a new map together with an initial pose
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::SetMap_Request_")]
    pub struct SetMapRequest {
        /// Requested 2D map to be set.
        pub map: super::msg::OccupancyGrid,
        /// Estimated initial pose when setting new map.
        pub initial_pose: crate::geometry_msgs::msg::PoseWithCovarianceStamped,
    }

    impl crate::RosMessage for SetMapRequest {
        const ROS_NAME: &'static str = "nav_msgs/srv/SetMap_Request";
        const TYPE_HASH: &'static str = "RIHS01_5a83a0c20af4d79248fc3287524bf358b603fb5a05818b5ec85b50fa6e5d0266";
    }

    /// `nav_msgs/srv/SetMap_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::SetMap_Response_")]
    pub struct SetMapResponse {
        /// True if the map was successfully set, false otherwise.
        pub success: bool,
    }

    impl crate::RosMessage for SetMapResponse {
        const ROS_NAME: &'static str = "nav_msgs/srv/SetMap_Response";
        const TYPE_HASH: &'static str = "RIHS01_e7251879322c7b12285b9c191d68d27495b6dede051f3cd79b0bf334147b7375";
    }

    /// `nav_msgs/srv/SetMap_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "nav_msgs::srv::dds_::SetMap_Event_")]
    pub struct SetMapEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetMapRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetMapResponse>,
    }

    impl crate::RosMessage for SetMapEvent {
        const ROS_NAME: &'static str = "nav_msgs/srv/SetMap_Event";
        const TYPE_HASH: &'static str = "RIHS01_68371c7e20b5f04c60581c63c676a033f4530beb507dbb88732cdd5750d60d7f";
    }

    /// The service `nav_msgs/srv/SetMap`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetMap;

    impl crate::RosService for SetMap {
        type Request = SetMapRequest;
        type Response = SetMapResponse;
        type Event = SetMapEvent;
        const ROS_NAME: &'static str = "nav_msgs/srv/SetMap";
        const TYPE_HASH: &'static str = "RIHS01_5e11a5b2ca53d8ae85b666a019f16c9904ebc787828f1f566c4e048a1ddedfb4";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetMapEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::Goals>(),
    crate::RosTypeEntry::of::<msg::GridCells>(),
    crate::RosTypeEntry::of::<msg::MapMetaData>(),
    crate::RosTypeEntry::of::<msg::OccupancyGrid>(),
    crate::RosTypeEntry::of::<msg::Odometry>(),
    crate::RosTypeEntry::of::<msg::Path>(),
    crate::RosTypeEntry::of::<srv::GetMapRequest>(),
    crate::RosTypeEntry::of::<srv::GetMapResponse>(),
    crate::RosTypeEntry::of::<srv::GetMapEvent>(),
    crate::RosTypeEntry::of::<srv::GetPlanRequest>(),
    crate::RosTypeEntry::of::<srv::GetPlanResponse>(),
    crate::RosTypeEntry::of::<srv::GetPlanEvent>(),
    crate::RosTypeEntry::of::<srv::LoadMapRequest>(),
    crate::RosTypeEntry::of::<srv::LoadMapResponse>(),
    crate::RosTypeEntry::of::<srv::LoadMapEvent>(),
    crate::RosTypeEntry::of::<srv::SetMapRequest>(),
    crate::RosTypeEntry::of::<srv::SetMapResponse>(),
    crate::RosTypeEntry::of::<srv::SetMapEvent>(),
];
