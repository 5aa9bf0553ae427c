// Written by `tests/messages/committed.rs` from the interface files of `visualization_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `visualization_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `visualization_msgs/msg/ImageMarker`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "visualization_msgs::msg::dds_::ImageMarker_")]
    pub struct ImageMarker {
        pub header: crate::std_msgs::msg::Header,
        /// Namespace which is used with the id to form a unique id.
        pub ns: ::std::string::String,
        /// Unique id within the namespace.
        pub id: i32,
        /// One of the above types, e.g. CIRCLE, LINE_STRIP, etc.
        pub r#type: i32,
        /// Either ADD or REMOVE.
        pub action: i32,
        /// Two-dimensional coordinate position, in pixel-coordinates.
        pub position: crate::geometry_msgs::msg::Point,
        /// The scale of the object, e.g. the diameter for a CIRCLE.
        pub scale: f32,
        /// The outline color of the marker.
        pub outline_color: crate::std_msgs::msg::ColorRGBA,
        /// Whether or not to fill in the shape with color.
        pub filled: u8,
        /// Fill color; in the range:
        ///
        /// Unit: `0.0-1.0`
        pub fill_color: crate::std_msgs::msg::ColorRGBA,
        /// How long the object should last before being automatically deleted.
        /// 0 indicates forever.
        pub lifetime: crate::builtin_interfaces::msg::Duration,
        /// Coordinates in 2D in pixel coords. Used for LINE_STRIP, LINE_LIST, POINTS, etc.
        pub points: ::std::vec::Vec<crate::geometry_msgs::msg::Point>,
        /// The color for each line, point, etc. in the points field.
        pub outline_colors: ::std::vec::Vec<crate::std_msgs::msg::ColorRGBA>,
    }

    impl ImageMarker {
        pub const CIRCLE: i32 = 0;
        pub const LINE_STRIP: i32 = 1;
        pub const LINE_LIST: i32 = 2;
        pub const POLYGON: i32 = 3;
        pub const POINTS: i32 = 4;
        pub const ADD: i32 = 0;
        pub const REMOVE: i32 = 1;
    }

    impl crate::RosMessage for ImageMarker {
        const ROS_NAME: &'static str = "visualization_msgs/msg/ImageMarker";
        const TYPE_HASH: &'static str = "RIHS01_603152491ef2331c200a5305230d31f6e8704875944b388da0f547c415d11836";
    }

    /// Time/frame info.
    /// If header.time is set to 0, the marker will be retransformed into
    /// its frame on each timestep. You will receive the pose feedback
    /// in the same frame.
    /// Otherwise, you might receive feedback in a different frame.
    /// For rviz, this will be the current 'fixed frame' set by the user.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarker_"
    )]
    pub struct InteractiveMarker {
        pub header: crate::std_msgs::msg::Header,
        /// Initial pose. Also, defines the pivot point for rotations.
        pub pose: crate::geometry_msgs::msg::Pose,
        /// Identifying string. Must be globally unique in
        /// the topic that this message is sent through.
        pub name: ::std::string::String,
        /// Short description (\< 40 characters).
        pub description: ::std::string::String,
        /// Scale to be used for default controls (default=1).
        pub scale: f32,
        /// All menu and submenu entries associated with this marker.
        pub menu_entries: ::std::vec::Vec<MenuEntry>,
        /// List of controls displayed for this marker.
        pub controls: ::std::vec::Vec<InteractiveMarkerControl>,
    }

    impl crate::RosMessage for InteractiveMarker {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarker";
        const TYPE_HASH: &'static str = "RIHS01_3d5b51448b51d73b0f395b94d259edd3a5d269ae9f7d9fd5cceb9ae4b72be346";
    }

    /// Represents a control that is to be displayed together with an interactive marker
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarkerControl_"
    )]
    pub struct InteractiveMarkerControl {
        /// Identifying string for this control.
        /// You need to assign a unique value to this to receive feedback from the GUI
        /// on what actions the user performs on this control (e.g. a button click).
        pub name: ::std::string::String,
        /// Defines the local coordinate frame (relative to the pose of the parent
        /// interactive marker) in which is being rotated and translated.
        /// Default: Identity
        pub orientation: crate::geometry_msgs::msg::Quaternion,
        pub orientation_mode: u8,
        pub interaction_mode: u8,
        /// If true, the contained markers will also be visible
        /// when the gui is not in interactive mode.
        pub always_visible: bool,
        /// Markers to be displayed as custom visual representation.
        /// Leave this empty to use the default control handles.
        ///
        /// Note:
        /// - The markers can be defined in an arbitrary coordinate frame,
        /// but will be transformed into the local frame of the interactive marker.
        /// - If the header of a marker is empty, its pose will be interpreted as
        /// relative to the pose of the parent interactive marker.
        pub markers: ::std::vec::Vec<Marker>,
        /// In VIEW_FACING mode, set this to true if you don't want the markers
        /// to be aligned with the camera view point. The markers will show up
        /// as in INHERIT mode.
        pub independent_marker_orientation: bool,
        /// Short description (\< 40 characters) of what this control does,
        /// e.g. "Move the robot".
        /// Default: A generic description based on the interaction mode
        pub description: ::std::string::String,
    }

    impl InteractiveMarkerControl {
        /// Orientation mode: controls how orientation changes.
        /// INHERIT: Follow orientation of interactive marker
        /// FIXED: Keep orientation fixed at initial state
        /// VIEW_FACING: Align y-z plane with screen (x: forward, y:left, z:up).
        pub const INHERIT: u8 = 0;
        pub const FIXED: u8 = 1;
        pub const VIEW_FACING: u8 = 2;

        /// Interaction mode for this control
        ///
        /// NONE: This control is only meant for visualization; no context menu.
        /// MENU: Like NONE, but right-click menu is active.
        /// BUTTON: Element can be left-clicked.
        /// MOVE_AXIS: Translate along local x-axis.
        /// MOVE_PLANE: Translate in local y-z plane.
        /// ROTATE_AXIS: Rotate around local x-axis.
        /// MOVE_ROTATE: Combines MOVE_PLANE and ROTATE_AXIS.
        pub const NONE: u8 = 0;
        pub const MENU: u8 = 1;
        pub const BUTTON: u8 = 2;
        pub const MOVE_AXIS: u8 = 3;
        pub const MOVE_PLANE: u8 = 4;
        pub const ROTATE_AXIS: u8 = 5;
        pub const MOVE_ROTATE: u8 = 6;

        /// "3D" interaction modes work with the mouse+SHIFT+CTRL or with 3D cursors.
        /// MOVE_3D: Translate freely in 3D space.
        /// ROTATE_3D: Rotate freely in 3D space about the origin of parent frame.
        /// MOVE_ROTATE_3D: Full 6-DOF freedom of translation and rotation about the cursor origin.
        pub const MOVE_3D: u8 = 7;
        pub const ROTATE_3D: u8 = 8;
        pub const MOVE_ROTATE_3D: u8 = 9;
    }

    impl crate::RosMessage for InteractiveMarkerControl {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarkerControl";
        const TYPE_HASH: &'static str = "RIHS01_60e2fa36344f5f4791b24a809542a18bffd555f563550d4b22b3bbfc31ec0ed5";
    }

    /// Time/frame info.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarkerFeedback_"
    )]
    pub struct InteractiveMarkerFeedback {
        pub header: crate::std_msgs::msg::Header,
        /// Identifying string. Must be unique in the topic namespace.
        pub client_id: ::std::string::String,
        /// Feedback message sent back from the GUI, e.g.
        /// when the status of an interactive marker was modified by the user.
        /// Specifies which interactive marker and control this message refers to
        pub marker_name: ::std::string::String,
        pub control_name: ::std::string::String,
        pub event_type: u8,
        /// Current pose of the marker
        /// Note: Has to be valid for all feedback types.
        pub pose: crate::geometry_msgs::msg::Pose,
        /// Contains the ID of the selected menu entry
        /// Only valid for MENU_SELECT events.
        pub menu_entry_id: u32,
        /// If event_type is BUTTON_CLICK, MOUSE_DOWN, or MOUSE_UP, mouse_point
        /// may contain the 3 dimensional position of the event on the
        /// control.  If it does, mouse_point_valid will be true.  mouse_point
        /// will be relative to the frame listed in the header.
        pub mouse_point: crate::geometry_msgs::msg::Point,
        pub mouse_point_valid: bool,
    }

    impl InteractiveMarkerFeedback {
        /// Type of the event
        /// KEEP_ALIVE: sent while dragging to keep up control of the marker
        /// MENU_SELECT: a menu entry has been selected
        /// BUTTON_CLICK: a button control has been clicked
        /// POSE_UPDATE: the pose has been changed using one of the controls
        pub const KEEP_ALIVE: u8 = 0;
        pub const POSE_UPDATE: u8 = 1;
        pub const MENU_SELECT: u8 = 2;
        pub const BUTTON_CLICK: u8 = 3;
        pub const MOUSE_DOWN: u8 = 4;
        pub const MOUSE_UP: u8 = 5;
    }

    impl crate::RosMessage for InteractiveMarkerFeedback {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarkerFeedback";
        const TYPE_HASH: &'static str = "RIHS01_6cc48741df9f05d19ba7d9ea3101e9fcd1309c9d6bda3c55668ba607492f725e";
    }

    /// Identifying string. Must be unique in the topic namespace
    /// that this server works on.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarkerInit_"
    )]
    pub struct InteractiveMarkerInit {
        pub server_id: ::std::string::String,
        /// Sequence number.
        /// The client will use this to detect if it has missed a subsequent
        /// update.  Every update message will have the same sequence number as
        /// an init message.  Clients will likely want to unsubscribe from the
        /// init topic after a successful initialization to avoid receiving
        /// duplicate data.
        pub seq_num: u64,
        /// All markers.
        pub markers: ::std::vec::Vec<InteractiveMarker>,
    }

    impl crate::RosMessage for InteractiveMarkerInit {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarkerInit";
        const TYPE_HASH: &'static str = "RIHS01_23fda1b3373b154d9d6408dd7b9f8129b2a2b76b905ee421e8c4109d8bf71f78";
    }

    /// `visualization_msgs/msg/InteractiveMarkerPose`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarkerPose_"
    )]
    pub struct InteractiveMarkerPose {
        /// Time/frame info.
        pub header: crate::std_msgs::msg::Header,
        /// Initial pose. Also, defines the pivot point for rotations.
        pub pose: crate::geometry_msgs::msg::Pose,
        /// Identifying string. Must be globally unique in
        /// the topic that this message is sent through.
        pub name: ::std::string::String,
    }

    impl crate::RosMessage for InteractiveMarkerPose {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarkerPose";
        const TYPE_HASH: &'static str = "RIHS01_c60e9a4407d5f709a63e0fe9caea324aee08fe717cd090209ebe35012ce7cb66";
    }

    /// `visualization_msgs/msg/InteractiveMarkerUpdate`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::InteractiveMarkerUpdate_"
    )]
    pub struct InteractiveMarkerUpdate {
        /// Identifying string. Must be unique in the topic namespace
        /// that this server works on.
        pub server_id: ::std::string::String,
        /// Sequence number.
        /// The client will use this to detect if it has missed an update.
        pub seq_num: u64,
        pub r#type: u8,
        /// Note: No guarantees on the order of processing.
        /// Contents must be kept consistent by sender.
        /// Markers to be added or updated
        pub markers: ::std::vec::Vec<InteractiveMarker>,
        /// Poses of markers that should be moved
        pub poses: ::std::vec::Vec<InteractiveMarkerPose>,
        /// Names of markers to be erased
        pub erases: ::std::vec::Vec<::std::string::String>,
    }

    impl InteractiveMarkerUpdate {
        /// Type holds the purpose of this message.  It must be one of UPDATE or KEEP_ALIVE.
        /// UPDATE: Incremental update to previous state.
        /// The sequence number must be 1 higher than for
        /// the previous update.
        /// KEEP_ALIVE: Indicates the that the server is still living.
        /// The sequence number does not increase.
        /// No payload data should be filled out (markers, poses, or erases).
        pub const KEEP_ALIVE: u8 = 0;
        pub const UPDATE: u8 = 1;
    }

    impl crate::RosMessage for InteractiveMarkerUpdate {
        const ROS_NAME: &'static str = "visualization_msgs/msg/InteractiveMarkerUpdate";
        const TYPE_HASH: &'static str = "RIHS01_0a8b000c4fd4d50876ac716a7de018911599a2f015795388e956a2ca8b0c54f0";
    }

    /// See:
    /// - http://www.ros.org/wiki/rviz/DisplayTypes/Marker
    /// - http://www.ros.org/wiki/rviz/Tutorials/Markers%3A%20Basic%20Shapes
    ///
    /// for more information on using this message with rviz.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "visualization_msgs::msg::dds_::Marker_")]
    pub struct Marker {
        /// Header for timestamp and frame id.
        pub header: crate::std_msgs::msg::Header,
        /// Namespace in which to place the object.
        /// Used in conjunction with id to create a unique name for the object.
        pub ns: ::std::string::String,
        /// Object ID used in conjunction with the namespace for manipulating and deleting the object later.
        pub id: i32,
        /// Type of object.
        pub r#type: i32,
        /// Action to take; one of:
        /// - 0 add/modify an object
        /// - 1 (deprecated)
        /// - 2 deletes an object (with the given ns and id)
        /// - 3 deletes all objects (or those with the given ns if any)
        pub action: i32,
        /// Pose of the object with respect the frame_id specified in the header.
        pub pose: crate::geometry_msgs::msg::Pose,
        /// Scale of the object; 1,1,1 means default (usually 1 meter square).
        pub scale: crate::geometry_msgs::msg::Vector3,
        /// Color of the object; in the range:
        ///
        /// Unit: `0.0-1.0`
        pub color: crate::std_msgs::msg::ColorRGBA,
        /// How long the object should last before being automatically deleted.
        /// 0 indicates forever.
        pub lifetime: crate::builtin_interfaces::msg::Duration,
        /// If this marker should be frame-locked, i.e. retransformed into its frame every timestep.
        pub frame_locked: bool,
        /// Only used if the type specified has some use for them (eg. POINTS, LINE_STRIP, ARROW_STRIP, etc.)
        pub points: ::std::vec::Vec<crate::geometry_msgs::msg::Point>,
        /// Only used if the type specified has some use for them (eg. POINTS, LINE_STRIP, etc.)
        /// The number of colors provided must either be 0 or equal to the number of points provided.
        /// NOTE: alpha is not yet used
        pub colors: ::std::vec::Vec<crate::std_msgs::msg::ColorRGBA>,
        /// Texture resource is a special URI that can either reference a texture file in
        /// a format acceptable to (resource retriever)
        /// or an embedded texture via a string matching the format:
        /// "embedded://texture_name"
        ///
        /// Unit: `https://docs.ros.org/en/rolling/p/resource_retriever/`
        pub texture_resource: ::std::string::String,
        /// An image to be loaded into the rendering engine as the texture for this marker.
        /// This will be used iff texture_resource is set to embedded.
        pub texture: crate::sensor_msgs::msg::CompressedImage,
        /// Location of each vertex within the texture; in the range:
        ///
        /// Unit: `0.0-1.0`
        pub uv_coordinates: ::std::vec::Vec<UVCoordinate>,
        /// Only used for text markers
        pub text: ::std::string::String,
        /// Only used for MESH_RESOURCE markers.
        /// Similar to texture_resource, mesh_resource uses resource retriever to load a mesh.
        /// Optionally, a mesh file can be sent in-message via the mesh_file field. If doing so,
        /// use the following format for mesh_resource:
        /// "embedded://mesh_name"
        pub mesh_resource: ::std::string::String,
        pub mesh_file: MeshFile,
        pub mesh_use_embedded_materials: bool,
    }

    impl Marker {
        pub const ARROW: i32 = 0;
        pub const CUBE: i32 = 1;
        pub const SPHERE: i32 = 2;
        pub const CYLINDER: i32 = 3;
        pub const LINE_STRIP: i32 = 4;
        pub const LINE_LIST: i32 = 5;
        pub const CUBE_LIST: i32 = 6;
        pub const SPHERE_LIST: i32 = 7;
        pub const POINTS: i32 = 8;
        pub const TEXT_VIEW_FACING: i32 = 9;
        pub const MESH_RESOURCE: i32 = 10;
        pub const TRIANGLE_LIST: i32 = 11;
        pub const ARROW_STRIP: i32 = 12;
        pub const ADD: i32 = 0;
        pub const MODIFY: i32 = 0;
        pub const DELETE: i32 = 2;
        pub const DELETEALL: i32 = 3;
    }

    impl crate::RosMessage for Marker {
        const ROS_NAME: &'static str = "visualization_msgs/msg/Marker";
        const TYPE_HASH: &'static str = "RIHS01_45b13ccf791f225962bf74e746f9644518855d783a6f42ba0cc14fde2b4f3ce0";
    }

    /// `visualization_msgs/msg/MarkerArray`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "visualization_msgs::msg::dds_::MarkerArray_")]
    pub struct MarkerArray {
        pub markers: ::std::vec::Vec<Marker>,
    }

    impl crate::RosMessage for MarkerArray {
        const ROS_NAME: &'static str = "visualization_msgs/msg/MarkerArray";
        const TYPE_HASH: &'static str = "RIHS01_86cb8800b6fb05b5eff1abd7a56f62a5641d3ae9a1c29e78e67e704f1d067dcf";
    }

    /// MenuEntry message.
    ///
    /// Each InteractiveMarker message has an array of MenuEntry messages.
    /// A collection of MenuEntries together describe a
    /// menu/submenu/subsubmenu/etc tree, though they are stored in a flat
    /// array.  The tree structure is represented by giving each menu entry
    /// an ID number and a "parent_id" field.  Top-level entries are the
    /// ones with parent_id = 0.  Menu entries are ordered within their
    /// level the same way they are ordered in the containing array.  Parent
    /// entries must appear before their children.
    ///
    /// Example:
    /// - id = 3
    /// parent_id = 0
    /// title = "fun"
    /// - id = 2
    /// parent_id = 0
    /// title = "robot"
    /// - id = 4
    /// parent_id = 2
    /// title = "pr2"
    /// - id = 5
    /// parent_id = 2
    /// title = "turtle"
    ///
    /// Gives a menu tree like this:
    /// - fun
    /// - robot
    /// - pr2
    /// - turtle
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "visualization_msgs::msg::dds_::MenuEntry_")]
    pub struct MenuEntry {
        /// ID is a number for each menu entry.  Must be unique within the
        /// control, and should never be 0.
        pub id: u32,
        /// ID of the parent of this menu entry, if it is a submenu.  If this
        /// menu entry is a top-level entry, set parent_id to 0.
        pub parent_id: u32,
        /// menu / entry title
        pub title: ::std::string::String,
        /// Arguments to command indicated by command_type (below)
        pub command: ::std::string::String,
        pub command_type: u8,
    }

    impl MenuEntry {
        /// Command_type stores the type of response desired when this menu
        /// entry is clicked.
        /// FEEDBACK: send an InteractiveMarkerFeedback message with menu_entry_id set to this entry's id.
        /// ROSRUN: execute "rosrun" with arguments given in the command field (above).
        /// ROSLAUNCH: execute "roslaunch" with arguments given in the command field (above).
        pub const FEEDBACK: u8 = 0;
        pub const ROSRUN: u8 = 1;
        pub const ROSLAUNCH: u8 = 2;
    }

    impl crate::RosMessage for MenuEntry {
        const ROS_NAME: &'static str = "visualization_msgs/msg/MenuEntry";
        const TYPE_HASH: &'static str = "RIHS01_22170c387c70fd4236232ec902de8604e72ff027342c7c0f28ad9f68c64c51d6";
    }

    /// Used to send raw mesh files.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "visualization_msgs::msg::dds_::MeshFile_")]
    pub struct MeshFile {
        /// The filename is used for both debug purposes and to provide a file extension
        /// for whatever parser is used.
        pub filename: ::std::string::String,
        /// This stores the raw text of the mesh file.
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for MeshFile {
        const ROS_NAME: &'static str = "visualization_msgs/msg/MeshFile";
        const TYPE_HASH: &'static str = "RIHS01_7710ece15a148fb7c9b546364cfb215bb06098087bd6394fe5b73a493508f8c4";
    }

    /// Location of the pixel as a ratio of the width of a 2D texture.
    /// Values should be in range:.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::msg::dds_::UVCoordinate_"
    )]
    pub struct UVCoordinate {
        pub u: f32,
        pub v: f32,
    }

    impl crate::RosMessage for UVCoordinate {
        const ROS_NAME: &'static str = "visualization_msgs/msg/UVCoordinate";
        const TYPE_HASH: &'static str = "RIHS01_f27f7ed21fe360c6066944f856b801a0c0d1e94e815b6886444b42d90b196a26";
    }
}

pub mod srv {
    /// `visualization_msgs/srv/GetInteractiveMarkers_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::srv::dds_::GetInteractiveMarkers_Request_"
    )]
    pub struct GetInteractiveMarkersRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for GetInteractiveMarkersRequest {
        const ROS_NAME: &'static str = "visualization_msgs/srv/GetInteractiveMarkers_Request";
        const TYPE_HASH: &'static str = "RIHS01_7fa7e0830e3cbe9c15927a29fdc09fedcd9a86757e375f29ce6b0744cb0b6905";
    }

    /// Sequence number.
    /// Set to the sequence number of the latest update message
    /// at the time the server received the request.
    /// Clients use this to detect if any updates were missed.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::srv::dds_::GetInteractiveMarkers_Response_"
    )]
    pub struct GetInteractiveMarkersResponse {
        pub sequence_number: u64,
        /// All interactive markers provided by the server.
        pub markers: ::std::vec::Vec<super::msg::InteractiveMarker>,
    }

    impl crate::RosMessage for GetInteractiveMarkersResponse {
        const ROS_NAME: &'static str = "visualization_msgs/srv/GetInteractiveMarkers_Response";
        const TYPE_HASH: &'static str = "RIHS01_414620cf7471b5469b159989af34edd1ed9276be592e43d1b7544204f4177302";
    }

    /// `visualization_msgs/srv/GetInteractiveMarkers_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "visualization_msgs::srv::dds_::GetInteractiveMarkers_Event_"
    )]
    pub struct GetInteractiveMarkersEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetInteractiveMarkersRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetInteractiveMarkersResponse>,
    }

    impl crate::RosMessage for GetInteractiveMarkersEvent {
        const ROS_NAME: &'static str = "visualization_msgs/srv/GetInteractiveMarkers_Event";
        const TYPE_HASH: &'static str = "RIHS01_4f89243e7571b9563464f4349ceb14a60808a9a0b6f72944dbdfffd6427da2f4";
    }

    /// The service `visualization_msgs/srv/GetInteractiveMarkers`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetInteractiveMarkers;

    impl crate::RosService for GetInteractiveMarkers {
        type Request = GetInteractiveMarkersRequest;
        type Response = GetInteractiveMarkersResponse;
        type Event = GetInteractiveMarkersEvent;
        const ROS_NAME: &'static str = "visualization_msgs/srv/GetInteractiveMarkers";
        const TYPE_HASH: &'static str = "RIHS01_bfdfaa861f4a8422b4ec3bd02c6681e4a45a83bdc2913d8facdf923d8ad1376a";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetInteractiveMarkersEvent {
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
    crate::RosTypeEntry::of::<msg::ImageMarker>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarker>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarkerControl>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarkerFeedback>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarkerInit>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarkerPose>(),
    crate::RosTypeEntry::of::<msg::InteractiveMarkerUpdate>(),
    crate::RosTypeEntry::of::<msg::Marker>(),
    crate::RosTypeEntry::of::<msg::MarkerArray>(),
    crate::RosTypeEntry::of::<msg::MenuEntry>(),
    crate::RosTypeEntry::of::<msg::MeshFile>(),
    crate::RosTypeEntry::of::<msg::UVCoordinate>(),
    crate::RosTypeEntry::of::<srv::GetInteractiveMarkersRequest>(),
    crate::RosTypeEntry::of::<srv::GetInteractiveMarkersResponse>(),
    crate::RosTypeEntry::of::<srv::GetInteractiveMarkersEvent>(),
];
