// Written by `tests/messages/committed.rs` from the interface files of `sensor_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `sensor_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// `sensor_msgs/msg/BatteryState`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::BatteryState_")]
    pub struct BatteryState {
        pub header: crate::std_msgs::msg::Header,
        /// Voltage in Volts (Mandatory)
        pub voltage: f32,
        /// Temperature in Degrees Celsius (If unmeasured NaN)
        pub temperature: f32,
        /// Negative when discharging (A)  (If unmeasured NaN)
        pub current: f32,
        /// Current charge in Ah  (If unmeasured NaN)
        pub charge: f32,
        /// Capacity in Ah (last full capacity)  (If unmeasured NaN)
        pub capacity: f32,
        /// Capacity in Ah (design capacity)  (If unmeasured NaN)
        pub design_capacity: f32,
        /// Charge percentage on 0 to 1 range  (If unmeasured NaN)
        pub percentage: f32,
        /// The charging status as reported. Values defined above
        pub power_supply_status: u8,
        /// The battery health metric. Values defined above
        pub power_supply_health: u8,
        /// The battery chemistry. Values defined above
        pub power_supply_technology: u8,
        /// True if the battery is present
        pub present: bool,
        /// An array of individual cell voltages for each cell in the pack
        /// If individual voltages unknown but number of cells known set each to NaN
        pub cell_voltage: ::std::vec::Vec<f32>,
        /// An array of individual cell temperatures for each cell in the pack
        /// If individual temperatures unknown but number of cells known set each to NaN
        pub cell_temperature: ::std::vec::Vec<f32>,
        /// The location into which the battery is inserted. (slot number or plug)
        pub location: ::std::string::String,
        /// The best approximation of the battery serial number
        pub serial_number: ::std::string::String,
    }

    impl BatteryState {
        /// Constants are chosen to match the enums in the linux kernel
        /// defined in include/linux/power_supply.h as of version 3.7
        /// The one difference is for style reasons the constants are
        /// all uppercase not mixed case.
        /// Power supply status constants
        pub const POWER_SUPPLY_STATUS_UNKNOWN: u8 = 0;
        pub const POWER_SUPPLY_STATUS_CHARGING: u8 = 1;
        pub const POWER_SUPPLY_STATUS_DISCHARGING: u8 = 2;
        pub const POWER_SUPPLY_STATUS_NOT_CHARGING: u8 = 3;
        pub const POWER_SUPPLY_STATUS_FULL: u8 = 4;

        /// Power supply health constants
        pub const POWER_SUPPLY_HEALTH_UNKNOWN: u8 = 0;
        pub const POWER_SUPPLY_HEALTH_GOOD: u8 = 1;
        pub const POWER_SUPPLY_HEALTH_OVERHEAT: u8 = 2;
        pub const POWER_SUPPLY_HEALTH_DEAD: u8 = 3;
        pub const POWER_SUPPLY_HEALTH_OVERVOLTAGE: u8 = 4;
        pub const POWER_SUPPLY_HEALTH_UNSPEC_FAILURE: u8 = 5;
        pub const POWER_SUPPLY_HEALTH_COLD: u8 = 6;
        pub const POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE: u8 = 7;
        pub const POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE: u8 = 8;

        /// Power supply technology (chemistry) constants
        /// Unknown battery technology
        pub const POWER_SUPPLY_TECHNOLOGY_UNKNOWN: u8 = 0;

        /// Nickel-Metal Hydride battery
        pub const POWER_SUPPLY_TECHNOLOGY_NIMH: u8 = 1;

        /// Lithium-ion battery
        pub const POWER_SUPPLY_TECHNOLOGY_LION: u8 = 2;

        /// Lithium Polymer battery
        pub const POWER_SUPPLY_TECHNOLOGY_LIPO: u8 = 3;

        /// Lithium Iron Phosphate battery
        pub const POWER_SUPPLY_TECHNOLOGY_LIFE: u8 = 4;

        /// Nickel-Cadmium battery
        pub const POWER_SUPPLY_TECHNOLOGY_NICD: u8 = 5;

        /// Lithium Manganese Dioxide battery
        pub const POWER_SUPPLY_TECHNOLOGY_LIMN: u8 = 6;

        /// Ternary Lithium battery
        pub const POWER_SUPPLY_TECHNOLOGY_TERNARY: u8 = 7;

        /// Valve Regulated Lead-Acid battery
        pub const POWER_SUPPLY_TECHNOLOGY_VRLA: u8 = 8;
    }

    impl crate::RosMessage for BatteryState {
        const ROS_NAME: &'static str = "sensor_msgs/msg/BatteryState";
        const TYPE_HASH: &'static str = "RIHS01_4bee5dfce981c98faa6828b868307a0a73f992ed0789f374ee96c8f840e69741";
    }

    /// This message defines meta information for a camera. It should be in a
    /// camera namespace on topic "camera_info" and accompanied by up to five
    /// image topics named:
    ///
    /// image_raw - raw data from the camera driver, possibly Bayer encoded
    /// image            - monochrome, distorted
    /// image_color      - color, distorted
    /// image_rect       - monochrome, rectified
    /// image_rect_color - color, rectified
    ///
    /// The image_pipeline contains packages (image_proc, stereo_image_proc)
    /// for producing the four processed image topics from image_raw and
    /// camera_info. The meaning of the camera parameters are described in
    /// detail at http://www.ros.org/wiki/image_pipeline/CameraInfo.
    ///
    /// The image_geometry package provides a user-friendly interface to
    /// common operations using this meta information. If you want to, e.g.,
    /// project a 3d point into image coordinates, we strongly recommend
    /// using image_geometry.
    ///
    /// If the camera is uncalibrated, the matrices D, K, R, P should be left
    /// zeroed out. In particular, clients may assume that K == 0.0
    /// indicates an uncalibrated camera.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::CameraInfo_")]
    pub struct CameraInfo {
        /// Image acquisition info                          #
        ///
        /// Time of image acquisition, camera coordinate frame ID
        /// Header timestamp should be acquisition time of image
        /// Header frame_id should be optical frame of camera
        /// origin of frame should be optical center of camera
        /// +x should point to the right in the image
        /// +y should point down in the image
        /// +z should point into the plane of the image
        pub header: crate::std_msgs::msg::Header,
        /// Calibration Parameters                         #
        ///
        /// These are fixed during camera calibration. Their values will be the #
        /// same in all messages until the camera is recalibrated. Note that    #
        /// self-calibrating systems may "recalibrate" frequently.              #
        /// #
        /// The internal parameters can be used to warp a raw (distorted) image #
        /// to:                                                                 #
        /// 1. An undistorted image (requires D and K)                        #
        /// 2. A rectified image (requires D, K, R)                           #
        /// The projection matrix P projects 3D points into the rectified image.#
        ///
        /// The image dimensions with which the camera was calibrated.
        /// Normally this will be the full camera resolution in pixels.
        pub height: u32,
        pub width: u32,
        /// The distortion model used. Supported models are listed in
        /// sensor_msgs/distortion_models.hpp. For most cameras, "plumb_bob" - a
        /// simple model of radial and tangential distortion - is sufficent.
        pub distortion_model: ::std::string::String,
        /// The distortion parameters, size depending on the distortion model.
        /// For "plumb_bob", the 5 parameters are: (k1, k2, t1, t2, k3).
        pub d: ::std::vec::Vec<f64>,
        /// Intrinsic camera matrix for the raw (distorted) images.
        /// \[fx  0 cx\]
        /// K = \[ 0 fy cy\]
        /// \[ 0  0  1\]
        /// Projects 3D points in the camera coordinate frame to 2D pixel
        /// coordinates using the focal lengths (fx, fy) and principal point
        /// (cx, cy).
        /// 3x3 row-major matrix
        pub k: [f64; 9],
        /// Rectification matrix (stereo cameras only)
        /// A rotation matrix aligning the camera coordinate system to the ideal
        /// stereo image plane so that epipolar lines in both stereo images are
        /// parallel.
        /// 3x3 row-major matrix
        pub r: [f64; 9],
        /// Projection/camera matrix
        /// \[fx'  0  cx' Tx\]
        /// P = \[ 0  fy' cy' Ty\]
        /// \[ 0   0   1   0\]
        /// By convention, this matrix specifies the intrinsic (camera) matrix
        /// of the processed (rectified) image. That is, the left 3x3 portion
        /// is the normal camera intrinsic matrix for the rectified image.
        /// It projects 3D points in the camera coordinate frame to 2D pixel
        /// coordinates using the focal lengths (fx', fy') and principal point
        /// (cx', cy') - these may differ from the values in K.
        /// For monocular cameras, Tx = Ty = 0. Normally, monocular cameras will
        /// also have R = the identity and P\[1:3,1:3\] = K.
        /// For a stereo pair, the fourth column \[Tx Ty 0\]' is related to the
        /// position of the optical center of the second camera in the first
        /// camera's frame. We assume Tz = 0 so both cameras are in the same
        /// stereo image plane. The first camera always has Tx = Ty = 0. For
        /// the right (second) camera of a horizontal stereo pair, Ty = 0 and
        /// Tx = -fx' * B, where B is the baseline between the cameras.
        /// Given a 3D point \[X Y Z\]', the projection (x, y) of the point onto
        /// the rectified image is given by:
        /// \[u v w\]' = P * \[X Y Z 1\]'
        /// x = u / w
        /// y = v / w
        /// This holds for both images of a stereo pair.
        /// 3x4 row-major matrix
        pub p: [f64; 12],
        /// Operational Parameters                         #
        ///
        /// These define the image region actually captured by the camera       #
        /// driver. Although they affect the geometry of the output image, they #
        /// may be changed freely without recalibrating the camera.             #
        ///
        /// Binning refers here to any camera setting which combines rectangular
        /// neighborhoods of pixels into larger "super-pixels." It reduces the
        /// resolution of the output image to
        /// (width / binning_x) x (height / binning_y).
        /// The default values binning_x = binning_y = 0 is considered the same
        /// as binning_x = binning_y = 1 (no subsampling).
        pub binning_x: u32,
        pub binning_y: u32,
        /// Region of interest (subwindow of full camera resolution), given in
        /// full resolution (unbinned) image coordinates. A particular ROI
        /// always denotes the same window of pixels on the camera sensor,
        /// regardless of binning settings.
        /// The default setting of roi (all values 0) is considered the same as
        /// full resolution (roi.width = width, roi.height = height).
        pub roi: RegionOfInterest,
    }

    impl crate::RosMessage for CameraInfo {
        const ROS_NAME: &'static str = "sensor_msgs/msg/CameraInfo";
        const TYPE_HASH: &'static str = "RIHS01_b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275";
    }

    /// This message is used by the PointCloud message to hold optional data
    /// associated with each point in the cloud. The length of the values
    /// array should be the same as the length of the points array in the
    /// PointCloud, and each value should be associated with the corresponding
    /// point.
    ///
    /// Channel names in existing practice include:
    /// "u", "v" - row and column (respectively) in the left stereo image.
    /// This is opposite to usual conventions but remains for
    /// historical reasons. The newer PointCloud2 message has no
    /// such problem.
    /// "rgb" - For point clouds produced by color stereo cameras. uint8
    /// (R,G,B) values packed into the least significant 24 bits,
    /// in order.
    /// "intensity" - laser or pixel intensity.
    /// "distance"
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::ChannelFloat32_")]
    pub struct ChannelFloat32 {
        /// The channel name should give semantics of the channel (e.g.
        /// "intensity" instead of "value").
        pub name: ::std::string::String,
        /// The values array should be 1-1 with the elements of the associated
        /// PointCloud.
        pub values: ::std::vec::Vec<f32>,
    }

    impl crate::RosMessage for ChannelFloat32 {
        const ROS_NAME: &'static str = "sensor_msgs/msg/ChannelFloat32";
        const TYPE_HASH: &'static str = "RIHS01_92665437ddf39346f4ba39ee32e648390605b633cc077d40f4bd4d7b58af6cd4";
    }

    /// This message contains a compressed image.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::CompressedImage_")]
    pub struct CompressedImage {
        /// Header timestamp should be acquisition time of image
        /// Header frame_id should be optical frame of camera
        /// origin of frame should be optical center of cameara
        /// +x should point to the right in the image
        /// +y should point down in the image
        /// +z should point into to plane of the image
        pub header: crate::std_msgs::msg::Header,
        /// Specifies the format of the data
        /// Acceptable values differ by the image transport used:
        /// - compressed_image_transport:
        /// ORIG_PIXFMT; CODEC compressed
        /// where:
        /// - ORIG_PIXFMT is pixel format of the raw image, i.e.
        /// the content of sensor_msgs/Image/encoding with
        /// values from include/sensor_msgs/image_encodings.h
        /// - CODEC is one of \[jpeg, png, tiff\]
        /// - COMPRESSED_PIXFMT is only appended for color images
        /// and is the pixel format used by the compression
        /// algorithm. Valid values for jpeg encoding are:
        /// \[bgr8, rgb8\]. Valid values for png encoding are:
        /// \[bgr8, rgb8, bgr16, rgb16\].
        /// If the field is empty or does not correspond to the
        /// above pattern, the image is treated as bgr8 or mono8
        /// jpeg image (depending on the number of channels).
        /// - compressed_depth_image_transport:
        /// ORIG_PIXFMT; compressedDepth CODEC
        /// where:
        /// - ORIG_PIXFMT is pixel format of the raw image, i.e.
        /// the content of sensor_msgs/Image/encoding with
        /// values from include/sensor_msgs/image_encodings.h
        /// It is usually one of \[16UC1, 32FC1\].
        /// - CODEC is one of \[png, rvl\]
        /// If the field is empty or does not correspond to the
        /// above pattern, the image is treated as png image.
        /// - Other image transports can store whatever values they
        /// need for successful decoding of the image. Refer to
        /// documentation of the other transports for details.
        ///
        /// Unit: `COMPRESSED_PIXFMT`
        pub format: ::std::string::String,
        /// Compressed image buffer
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for CompressedImage {
        const ROS_NAME: &'static str = "sensor_msgs/msg/CompressedImage";
        const TYPE_HASH: &'static str = "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a";
    }

    /// Single pressure reading.  This message is appropriate for measuring the
    /// pressure inside of a fluid (air, water, etc).  This also includes
    /// atmospheric or barometric pressure.
    ///
    /// This message is not appropriate for force/pressure contact sensors.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::FluidPressure_")]
    pub struct FluidPressure {
        /// timestamp of the measurement
        /// frame_id is the location of the pressure sensor
        pub header: crate::std_msgs::msg::Header,
        /// Absolute pressure reading in Pascals.
        pub fluid_pressure: f64,
        /// 0 is interpreted as variance unknown
        pub variance: f64,
    }

    impl crate::RosMessage for FluidPressure {
        const ROS_NAME: &'static str = "sensor_msgs/msg/FluidPressure";
        const TYPE_HASH: &'static str = "RIHS01_22dfb2b145a0bd5a31a1ac3882a1b32148b51d9b2f3bab250290d66f3595bc32";
    }

    /// Single photometric illuminance measurement.  Light should be assumed to be
    /// measured along the sensor's x-axis (the area of detection is the y-z plane).
    /// The illuminance should have a 0 or positive value and be received with
    /// the sensor's +X axis pointing toward the light source.
    ///
    /// Photometric illuminance is the measure of the human eye's sensitivity of the
    /// intensity of light encountering or passing through a surface.
    ///
    /// All other Photometric and Radiometric measurements should not use this message.
    /// This message cannot represent:
    /// - Luminous intensity (candela/light source output)
    /// - Luminance (nits/light output per area)
    /// - Irradiance (watt/area), etc.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Illuminance_")]
    pub struct Illuminance {
        /// timestamp is the time the illuminance was measured
        /// frame_id is the location and direction of the reading
        pub header: crate::std_msgs::msg::Header,
        /// Measurement of the Photometric Illuminance in Lux.
        pub illuminance: f64,
        /// 0 is interpreted as variance unknown
        pub variance: f64,
    }

    impl crate::RosMessage for Illuminance {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Illuminance";
        const TYPE_HASH: &'static str = "RIHS01_b954b25f452fcf81a91c9c2a7e3b3fd85c4c873d452aecb3cfd8fd1da732a22d";
    }

    /// This message contains an uncompressed image
    /// (0, 0) is at top-left corner of image
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Image_")]
    pub struct Image {
        /// Header timestamp should be acquisition time of image
        /// Header frame_id should be optical frame of camera
        /// origin of frame should be optical center of cameara
        /// +x should point to the right in the image
        /// +y should point down in the image
        /// +z should point into to plane of the image
        /// If the frame_id here and the frame_id of the CameraInfo
        /// message associated with the image conflict
        /// the behavior is undefined
        pub header: crate::std_msgs::msg::Header,
        /// image height, that is, number of rows
        pub height: u32,
        /// image width, that is, number of columns
        pub width: u32,
        /// The legal values for encoding are in file include/sensor_msgs/image_encodings.hpp
        /// If you want to standardize a new string format, join
        /// ros-users@lists.ros.org and send an email proposing a new encoding.
        /// Encoding of pixels -- channel meaning, ordering, size
        /// taken from the list of strings in include/sensor_msgs/image_encodings.hpp
        pub encoding: ::std::string::String,
        /// is this data bigendian?
        pub is_bigendian: u8,
        /// Full row length in bytes
        pub step: u32,
        /// actual matrix data, size is (step * rows)
        pub data: ::std::vec::Vec<u8>,
    }

    impl crate::RosMessage for Image {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Image";
        const TYPE_HASH: &'static str = "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47";
    }

    /// This is a message to hold data from an IMU (Inertial Measurement Unit)
    ///
    /// Accelerations should be in m/s^2 (not in g's), and rotational velocity should be in rad/sec
    ///
    /// If the covariance of the measurement is known, it should be filled in (if all you know is the
    /// variance of each measurement, e.g. from the datasheet, just put those along the diagonal)
    /// A covariance matrix of all zeros will be interpreted as "covariance unknown", and to use the
    /// data a covariance will have to be assumed or gotten from some other source
    ///
    /// If you have no estimate for one of the data elements (e.g. your IMU doesn't produce an
    /// orientation estimate), please set element 0 of the associated covariance matrix to -1
    /// If you are interpreting this message, please check for a value of -1 in the first element of each
    /// covariance matrix, and disregard the associated estimate.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Imu_")]
    pub struct Imu {
        pub header: crate::std_msgs::msg::Header,
        pub orientation: crate::geometry_msgs::msg::Quaternion,
        /// Row major about x, y, z axes
        pub orientation_covariance: [f64; 9],
        pub angular_velocity: crate::geometry_msgs::msg::Vector3,
        /// Row major about x, y, z axes
        pub angular_velocity_covariance: [f64; 9],
        pub linear_acceleration: crate::geometry_msgs::msg::Vector3,
        /// Row major x, y z
        pub linear_acceleration_covariance: [f64; 9],
    }

    impl crate::RosMessage for Imu {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Imu";
        const TYPE_HASH: &'static str = "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b";
    }

    /// This is a message that holds data to describe the state of a set of torque controlled joints.
    ///
    /// The state of each joint (revolute or prismatic) is defined by:
    /// * the position of the joint (rad or m),
    /// * the velocity of the joint (rad/s or m/s) and
    /// * the effort that is applied in the joint (Nm or N).
    ///
    /// Each joint is uniquely identified by its name
    /// The header specifies the time at which the joint states were recorded. All the joint states
    /// in one message have to be recorded at the same time.
    ///
    /// This message consists of a multiple arrays, one for each part of the joint state.
    /// The goal is to make each of the fields optional. When e.g. your joints have no
    /// effort associated with them, you can leave the effort array empty.
    ///
    /// All arrays in this message should have the same size, or be empty.
    /// This is the only way to uniquely associate the joint name with the correct
    /// states.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::JointState_")]
    pub struct JointState {
        pub header: crate::std_msgs::msg::Header,
        pub name: ::std::vec::Vec<::std::string::String>,
        pub position: ::std::vec::Vec<f64>,
        pub velocity: ::std::vec::Vec<f64>,
        pub effort: ::std::vec::Vec<f64>,
    }

    impl crate::RosMessage for JointState {
        const ROS_NAME: &'static str = "sensor_msgs/msg/JointState";
        const TYPE_HASH: &'static str = "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
    }

    /// Reports the state of a joystick's axes and buttons.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Joy_")]
    pub struct Joy {
        /// The timestamp is the time at which data is received from the joystick.
        pub header: crate::std_msgs::msg::Header,
        /// The axes measurements from a joystick.
        pub axes: ::std::vec::Vec<f32>,
        /// The buttons measurements from a joystick.
        pub buttons: ::std::vec::Vec<i32>,
    }

    impl crate::RosMessage for Joy {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Joy";
        const TYPE_HASH: &'static str = "RIHS01_0d356c79cad3401e35ffeb75a96a96e08be3ef896b8b83841d73e890989372c5";
    }

    /// Declare of the type of feedback
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::JoyFeedback_")]
    pub struct JoyFeedback {
        pub r#type: u8,
        /// This will hold an id number for each type of each feedback.
        /// Example, the first led would be id=0, the second would be id=1
        pub id: u8,
        /// Intensity of the feedback, from 0.0 to 1.0, inclusive.  If device is
        /// actually binary, driver should treat 0\<=x\<0.5 as off, 0.5\<=x\<=1 as on.
        pub intensity: f32,
    }

    impl JoyFeedback {
        pub const TYPE_LED: u8 = 0;
        pub const TYPE_RUMBLE: u8 = 1;
        pub const TYPE_BUZZER: u8 = 2;
    }

    impl crate::RosMessage for JoyFeedback {
        const ROS_NAME: &'static str = "sensor_msgs/msg/JoyFeedback";
        const TYPE_HASH: &'static str = "RIHS01_231dd362f71d6fc08272770d07120ad5fe5874ce2dbac70109b28986834290cd";
    }

    /// This message publishes values for multiple feedback at once.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::JoyFeedbackArray_")]
    pub struct JoyFeedbackArray {
        pub array: ::std::vec::Vec<JoyFeedback>,
    }

    impl crate::RosMessage for JoyFeedbackArray {
        const ROS_NAME: &'static str = "sensor_msgs/msg/JoyFeedbackArray";
        const TYPE_HASH: &'static str = "RIHS01_3287c32e1b688cae04555e465443df3cca7dae76ee4ebf85c4658d585037bcaa";
    }

    /// This message is a submessage of MultiEchoLaserScan and is not intended
    /// to be used separately.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::LaserEcho_")]
    pub struct LaserEcho {
        /// Multiple values of ranges or intensities.
        /// Each array represents data from the same angle increment.
        pub echoes: ::std::vec::Vec<f32>,
    }

    impl crate::RosMessage for LaserEcho {
        const ROS_NAME: &'static str = "sensor_msgs/msg/LaserEcho";
        const TYPE_HASH: &'static str = "RIHS01_0fbc05a0db7d37fe52c0f0375356db55da0046f7ef5bd27ca6b34bd0582bc952";
    }

    /// Single scan from a planar laser range-finder
    ///
    /// If you have another ranging device with different behavior (e.g. a sonar
    /// array), please find or create a different message, since applications
    /// will make fairly laser-specific assumptions about this data
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::LaserScan_")]
    pub struct LaserScan {
        /// timestamp in the header is the acquisition time of
        /// the first ray in the scan.
        ///
        /// in frame frame_id, angles are measured around
        /// the positive Z axis (counterclockwise, if Z is up)
        /// with zero angle being forward along the x axis
        pub header: crate::std_msgs::msg::Header,
        /// start angle of the scan
        ///
        /// Unit: `rad`
        pub angle_min: f32,
        /// end angle of the scan
        ///
        /// Unit: `rad`
        pub angle_max: f32,
        /// angular distance between measurements
        ///
        /// Unit: `rad`
        pub angle_increment: f32,
        /// time between measurements - if your scanner
        /// is moving, this will be used in interpolating position
        /// of 3d points
        ///
        /// Unit: `seconds`
        pub time_increment: f32,
        /// time between scans
        ///
        /// Unit: `seconds`
        pub scan_time: f32,
        /// minimum range value
        ///
        /// Unit: `m`
        pub range_min: f32,
        /// maximum range value
        ///
        /// Unit: `m`
        pub range_max: f32,
        /// range data
        /// (Note: values \< range_min or \> range_max should be discarded)
        ///
        /// Unit: `m`
        pub ranges: ::std::vec::Vec<f32>,
        /// intensity data.  If your
        /// device does not provide intensities, please leave
        /// the array empty.
        ///
        /// Unit: `device-specific units`
        pub intensities: ::std::vec::Vec<f32>,
    }

    impl crate::RosMessage for LaserScan {
        const ROS_NAME: &'static str = "sensor_msgs/msg/LaserScan";
        const TYPE_HASH: &'static str = "RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828";
    }

    /// Measurement of the Magnetic Field vector at a specific location.
    ///
    /// If the covariance of the measurement is known, it should be filled in.
    /// If all you know is the variance of each measurement, e.g. from the datasheet,
    /// just put those along the diagonal.
    /// A covariance matrix of all zeros will be interpreted as "covariance unknown",
    /// and to use the data a covariance will have to be assumed or gotten from some
    /// other source.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::MagneticField_")]
    pub struct MagneticField {
        /// timestamp is the time the
        /// field was measured
        /// frame_id is the location and orientation
        /// of the field measurement
        pub header: crate::std_msgs::msg::Header,
        /// x, y, and z components of the
        /// field vector in Tesla
        /// If your sensor does not output 3 axes,
        /// put NaNs in the components not reported.
        pub magnetic_field: crate::geometry_msgs::msg::Vector3,
        /// Row major about x, y, z axes
        /// 0 is interpreted as variance unknown
        pub magnetic_field_covariance: [f64; 9],
    }

    impl crate::RosMessage for MagneticField {
        const ROS_NAME: &'static str = "sensor_msgs/msg/MagneticField";
        const TYPE_HASH: &'static str = "RIHS01_e80f32f56a20486c9923008fc1a1db07bbb273cbbf6a5b3bfa00835ee00e4dff";
    }

    /// Representation of state for joints with multiple degrees of freedom,
    /// following the structure of JointState which can only represent a single degree of freedom.
    ///
    /// It is assumed that a joint in a system corresponds to a transform that gets applied
    /// along the kinematic chain. For example, a planar joint (as in URDF) is 3DOF (x, y, yaw)
    /// and those 3DOF can be expressed as a transformation matrix, and that transformation
    /// matrix can be converted back to (x, y, yaw)
    ///
    /// Each joint is uniquely identified by its name
    /// The header specifies the time at which the joint states were recorded. All the joint states
    /// in one message have to be recorded at the same time.
    ///
    /// This message consists of a multiple arrays, one for each part of the joint state.
    /// The goal is to make each of the fields optional. When e.g. your joints have no
    /// wrench associated with them, you can leave the wrench array empty.
    ///
    /// All arrays in this message should have the same size, or be empty.
    /// This is the only way to uniquely associate the joint name with the correct
    /// states.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::MultiDOFJointState_")]
    pub struct MultiDOFJointState {
        pub header: crate::std_msgs::msg::Header,
        pub joint_names: ::std::vec::Vec<::std::string::String>,
        pub transforms: ::std::vec::Vec<crate::geometry_msgs::msg::Transform>,
        pub twist: ::std::vec::Vec<crate::geometry_msgs::msg::Twist>,
        pub wrench: ::std::vec::Vec<crate::geometry_msgs::msg::Wrench>,
    }

    impl crate::RosMessage for MultiDOFJointState {
        const ROS_NAME: &'static str = "sensor_msgs/msg/MultiDOFJointState";
        const TYPE_HASH: &'static str = "RIHS01_4d4ded702cfba7ff3ec783835c1a1425f75e53939a430ff355d1fee4b3bbc40b";
    }

    /// Single scan from a multi-echo planar laser range-finder
    ///
    /// If you have another ranging device with different behavior (e.g. a sonar
    /// array), please find or create a different message, since applications
    /// will make fairly laser-specific assumptions about this data
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::MultiEchoLaserScan_")]
    pub struct MultiEchoLaserScan {
        /// timestamp in the header is the acquisition time of
        /// the first ray in the scan.
        ///
        /// in frame frame_id, angles are measured around
        /// the positive Z axis (counterclockwise, if Z is up)
        /// with zero angle being forward along the x axis
        pub header: crate::std_msgs::msg::Header,
        /// start angle of the scan
        ///
        /// Unit: `rad`
        pub angle_min: f32,
        /// end angle of the scan
        ///
        /// Unit: `rad`
        pub angle_max: f32,
        /// angular distance between measurements
        ///
        /// Unit: `rad`
        pub angle_increment: f32,
        /// time between measurements - if your scanner
        /// is moving, this will be used in interpolating position
        /// of 3d points
        ///
        /// Unit: `seconds`
        pub time_increment: f32,
        /// time between scans
        ///
        /// Unit: `seconds`
        pub scan_time: f32,
        /// minimum range value
        ///
        /// Unit: `m`
        pub range_min: f32,
        /// maximum range value
        ///
        /// Unit: `m`
        pub range_max: f32,
        /// range data
        /// (Note: NaNs, values \< range_min or \> range_max should be discarded)
        /// +Inf measurements are out of range
        /// -Inf measurements are too close to determine exact distance.
        ///
        /// Unit: `m`
        pub ranges: ::std::vec::Vec<LaserEcho>,
        /// intensity data.  If your
        /// device does not provide intensities, please leave
        /// the array empty.
        ///
        /// Unit: `device-specific units`
        pub intensities: ::std::vec::Vec<LaserEcho>,
    }

    impl crate::RosMessage for MultiEchoLaserScan {
        const ROS_NAME: &'static str = "sensor_msgs/msg/MultiEchoLaserScan";
        const TYPE_HASH: &'static str = "RIHS01_ba5eac341cd5bbb2701527aa4568e8baec172b69cadb9a1945d6f149d087ee48";
    }

    /// Navigation Satellite fix for any Global Navigation Satellite System
    ///
    /// Specified using the WGS 84 reference ellipsoid
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::NavSatFix_")]
    pub struct NavSatFix {
        /// header.stamp specifies the ROS time for this measurement (the
        /// corresponding satellite time may be reported using the
        /// sensor_msgs/TimeReference message).
        ///
        /// header.frame_id is the frame of reference reported by the satellite
        /// receiver, usually the location of the antenna.  This is a
        /// Euclidean frame relative to the vehicle, not a reference
        /// ellipsoid.
        pub header: crate::std_msgs::msg::Header,
        /// Satellite fix status information.
        pub status: NavSatStatus,
        /// Latitude. Positive is north of equator; negative is south.
        ///
        /// Unit: `degrees`
        pub latitude: f64,
        /// Longitude. Positive is east of prime meridian; negative is west.
        ///
        /// Unit: `degrees`
        pub longitude: f64,
        /// Altitude. Positive is above the WGS 84 ellipsoid
        /// (quiet NaN if no altitude is available).
        ///
        /// Unit: `m`
        pub altitude: f64,
        /// Position covariance defined relative to a tangential plane
        /// through the reported position. The components are East, North, and
        /// Up (ENU), in row-major order.
        ///
        /// Beware: this coordinate system exhibits singularities at the poles.
        ///
        /// Unit: `m^2`
        pub position_covariance: [f64; 9],
        pub position_covariance_type: u8,
    }

    impl NavSatFix {
        /// If the covariance of the fix is known, fill it in completely. If the
        /// GPS receiver provides the variance of each measurement, put them
        /// along the diagonal. If only Dilution of Precision is available,
        /// estimate an approximate covariance from that.
        pub const COVARIANCE_TYPE_UNKNOWN: u8 = 0;
        pub const COVARIANCE_TYPE_APPROXIMATED: u8 = 1;
        pub const COVARIANCE_TYPE_DIAGONAL_KNOWN: u8 = 2;
        pub const COVARIANCE_TYPE_KNOWN: u8 = 3;
    }

    impl crate::RosMessage for NavSatFix {
        const ROS_NAME: &'static str = "sensor_msgs/msg/NavSatFix";
        const TYPE_HASH: &'static str = "RIHS01_62223ab3fe210a15976021da7afddc9e200dc9ec75231c1b6a557fc598a65404";
    }

    /// Navigation Satellite fix status for any Global Navigation Satellite System.
    ///
    /// Whether to output an augmented fix is determined by both the fix
    /// type and the last time differential corrections were received.  A
    /// fix is valid when status \>= STATUS_FIX.
    #[derive(Debug, Clone, PartialEq, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::NavSatStatus_")]
    pub struct NavSatStatus {
        /// STATUS_UNKNOWN
        pub status: i8,
        pub service: u16,
    }

    impl ::core::default::Default for NavSatStatus {
        fn default() -> Self {
            Self {
                status: -2,
                service: ::core::default::Default::default(),
            }
        }
    }

    impl NavSatStatus {
        /// status is not yet set
        pub const STATUS_UNKNOWN: i8 = -2;

        /// unable to fix position
        pub const STATUS_NO_FIX: i8 = -1;

        /// unaugmented fix
        pub const STATUS_FIX: i8 = 0;

        /// with satellite-based augmentation
        pub const STATUS_SBAS_FIX: i8 = 1;

        /// with ground-based augmentation
        pub const STATUS_GBAS_FIX: i8 = 2;

        /// Bits defining which Global Navigation Satellite System signals were
        /// used by the receiver.
        /// Remember service is a bitfield, so checking (service & SERVICE_UNKNOWN) will not work. Use == instead.
        pub const SERVICE_UNKNOWN: u16 = 0;
        pub const SERVICE_GPS: u16 = 1;
        pub const SERVICE_GLONASS: u16 = 2;

        /// includes BeiDou.
        pub const SERVICE_COMPASS: u16 = 4;
        pub const SERVICE_GALILEO: u16 = 8;
    }

    impl crate::RosMessage for NavSatStatus {
        const ROS_NAME: &'static str = "sensor_msgs/msg/NavSatStatus";
        const TYPE_HASH: &'static str = "RIHS01_d1ed3befa628e09571bd273b888ba1c1fd187c9a5e0006b385d7e5e9095a3204";
    }

    /// THIS MESSAGE IS DEPRECATED AS OF FOXY
    /// Please use sensor_msgs/PointCloud2
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::PointCloud_")]
    pub struct PointCloud {
        /// This message holds a collection of 3d points, plus optional additional
        /// information about each point.
        /// Time of sensor data acquisition, coordinate frame ID.
        pub header: crate::std_msgs::msg::Header,
        /// Array of 3d points. Each Point32 should be interpreted as a 3d point
        /// in the frame given in the header.
        pub points: ::std::vec::Vec<crate::geometry_msgs::msg::Point32>,
        /// Each channel should have the same number of elements as points array,
        /// and the data in each channel should correspond 1:1 with each point.
        /// Channel names in common practice are listed in ChannelFloat32.msg.
        pub channels: ::std::vec::Vec<ChannelFloat32>,
    }

    impl crate::RosMessage for PointCloud {
        const ROS_NAME: &'static str = "sensor_msgs/msg/PointCloud";
        const TYPE_HASH: &'static str = "RIHS01_614593df71d3c2b9bd4604a71b750fd218f0d65c045ea988b713719455a65b3b";
    }

    /// This message holds a collection of N-dimensional points, which may
    /// contain additional information such as normals, intensity, etc. The
    /// point data is stored as a binary blob, its layout described by the
    /// contents of the "fields" array.
    ///
    /// The point cloud data may be organized 2d (image-like) or 1d (unordered).
    /// Point clouds organized as 2d images may be produced by camera depth sensors
    /// such as stereo or time-of-flight.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::PointCloud2_")]
    pub struct PointCloud2 {
        /// Time of sensor data acquisition, and the coordinate frame ID (for 3d points).
        pub header: crate::std_msgs::msg::Header,
        /// 2D structure of the point cloud. If the cloud is unordered, height is
        /// 1 and width is the length of the point cloud.
        pub height: u32,
        pub width: u32,
        /// Describes the channels and their layout in the binary data blob.
        pub fields: ::std::vec::Vec<PointField>,
        /// Is this data bigendian?
        pub is_bigendian: bool,
        /// Length of a point in bytes
        pub point_step: u32,
        /// Length of a row in bytes
        pub row_step: u32,
        /// Actual point data, size is (row_step*height)
        pub data: ::std::vec::Vec<u8>,
        /// True if there are no invalid points
        pub is_dense: bool,
    }

    impl crate::RosMessage for PointCloud2 {
        const ROS_NAME: &'static str = "sensor_msgs/msg/PointCloud2";
        const TYPE_HASH: &'static str = "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5";
    }

    /// This message holds the description of one point entry in the
    /// PointCloud2 message format.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::PointField_")]
    pub struct PointField {
        /// Common PointField names are x, y, z, intensity, rgb, rgba
        /// Name of field
        pub name: ::std::string::String,
        /// Offset from start of point struct
        pub offset: u32,
        /// Datatype enumeration, see above
        pub datatype: u8,
        /// How many elements in the field
        pub count: u32,
    }

    impl PointField {
        pub const INT8: u8 = 1;
        pub const UINT8: u8 = 2;
        pub const INT16: u8 = 3;
        pub const UINT16: u8 = 4;
        pub const INT32: u8 = 5;
        pub const UINT32: u8 = 6;
        pub const FLOAT32: u8 = 7;
        pub const FLOAT64: u8 = 8;
    }

    impl crate::RosMessage for PointField {
        const ROS_NAME: &'static str = "sensor_msgs/msg/PointField";
        const TYPE_HASH: &'static str = "RIHS01_5c6a4750728c2bcfbbf7037225b20b02d4429634732146b742dee1726637ef01";
    }

    /// Single range reading from an active ranger that emits energy and reports
    /// one range reading that is valid along an arc at the distance measured.
    /// This message is  not appropriate for laser scanners. See the LaserScan
    /// message if you are working with a laser scanner.
    ///
    /// This message also can represent a fixed-distance (binary) ranger.  This
    /// sensor will have min_range===max_range===distance of detection.
    /// These sensors follow REP 117 and will output -Inf if the object is detected
    /// and +Inf if the object is outside of the detection range.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Range_")]
    pub struct Range {
        /// timestamp in the header is the time the ranger
        /// returned the distance reading
        pub header: crate::std_msgs::msg::Header,
        /// the type of radiation used by the sensor
        /// (sound, IR, etc)
        ///
        /// Unit: `enum`
        pub radiation_type: u8,
        /// the size of the arc that the distance reading is
        /// valid for
        /// the object causing the range reading may have
        /// been anywhere within -field_of_view/2 and
        /// field_of_view/2 at the measured range.
        /// 0 angle corresponds to the x-axis of the sensor.
        ///
        /// Unit: `rad`
        pub field_of_view: f32,
        /// minimum range value
        ///
        /// Unit: `m`
        pub min_range: f32,
        /// maximum range value
        /// Fixed distance rangers require min_range==max_range
        ///
        /// Unit: `m`
        pub max_range: f32,
        /// range data
        /// (Note: values \< range_min or \> range_max should be discarded)
        /// Fixed distance rangers only output -Inf or +Inf.
        /// -Inf represents a detection within fixed distance.
        /// (Detection too close to the sensor to quantify)
        /// +Inf represents no detection within the fixed distance.
        /// (Object out of range)
        ///
        /// Unit: `m`
        pub range: f32,
        /// variance of the range sensor
        /// 0 is interpreted as variance unknown
        pub variance: f32,
    }

    impl Range {
        /// Radiation type enums
        /// If you want a value added to this list, send an email to the ros-users list
        pub const ULTRASOUND: u8 = 0;
        pub const INFRARED: u8 = 1;
    }

    impl crate::RosMessage for Range {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Range";
        const TYPE_HASH: &'static str = "RIHS01_b42b62562e93cbfe9d42b82fe5994dfa3d63d7d5c90a317981703f7388adff3a";
    }

    /// This message is used to specify a region of interest within an image.
    ///
    /// When used to specify the ROI setting of the camera when the image was
    /// taken, the height and width fields should either match the height and
    /// width fields for the associated image; or height = width = 0
    /// indicates that the full resolution image was captured.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::RegionOfInterest_")]
    pub struct RegionOfInterest {
        /// Leftmost pixel of the ROI
        /// (0 if the ROI includes the left edge of the image)
        pub x_offset: u32,
        /// Topmost pixel of the ROI
        /// (0 if the ROI includes the top edge of the image)
        pub y_offset: u32,
        /// Height of ROI
        pub height: u32,
        /// Width of ROI
        pub width: u32,
        /// True if a distinct rectified ROI should be calculated from the "raw"
        /// ROI in this message. Typically this should be False if the full image
        /// is captured (ROI not used), and True if a subwindow is captured (ROI
        /// used).
        pub do_rectify: bool,
    }

    impl crate::RosMessage for RegionOfInterest {
        const ROS_NAME: &'static str = "sensor_msgs/msg/RegionOfInterest";
        const TYPE_HASH: &'static str = "RIHS01_ad16bcba5f9131dcdba6fbded19f726f5440e3c513b4fb586dd3027eeed8abb1";
    }

    /// Single reading from a relative humidity sensor.
    /// Defines the ratio of partial pressure of water vapor to the saturated vapor
    /// pressure at a temperature.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::RelativeHumidity_")]
    pub struct RelativeHumidity {
        /// timestamp of the measurement
        /// frame_id is the location of the humidity sensor
        pub header: crate::std_msgs::msg::Header,
        /// Expression of the relative humidity
        /// from 0.0 to 1.0.
        /// 0.0 is no partial pressure of water vapor
        /// 1.0 represents partial pressure of saturation
        pub relative_humidity: f64,
        /// 0 is interpreted as variance unknown
        pub variance: f64,
    }

    impl crate::RosMessage for RelativeHumidity {
        const ROS_NAME: &'static str = "sensor_msgs/msg/RelativeHumidity";
        const TYPE_HASH: &'static str = "RIHS01_8687c99b4fb393cb2e545e407b5ea7fd0b5d8960bcd849a0f86c544740138839";
    }

    /// Single temperature reading.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::Temperature_")]
    pub struct Temperature {
        /// timestamp is the time the temperature was measured
        /// frame_id is the location of the temperature reading
        pub header: crate::std_msgs::msg::Header,
        /// Measurement of the Temperature in Degrees Celsius.
        pub temperature: f64,
        /// 0 is interpreted as variance unknown.
        pub variance: f64,
    }

    impl crate::RosMessage for Temperature {
        const ROS_NAME: &'static str = "sensor_msgs/msg/Temperature";
        const TYPE_HASH: &'static str = "RIHS01_72514a14126ab9f8a9abec974c78e5610a367b59db5da355ff1fb982d5bad4b8";
    }

    /// Measurement from an external time source not actively synchronized with the system clock.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "sensor_msgs::msg::dds_::TimeReference_")]
    pub struct TimeReference {
        /// stamp is system time for which measurement was valid
        /// frame_id is not used
        pub header: crate::std_msgs::msg::Header,
        /// corresponding time from this external source
        pub time_ref: crate::builtin_interfaces::msg::Time,
        /// (optional) name of time source
        pub source: ::std::string::String,
    }

    impl crate::RosMessage for TimeReference {
        const ROS_NAME: &'static str = "sensor_msgs/msg/TimeReference";
        const TYPE_HASH: &'static str = "RIHS01_dd66e84cf40bbb5d5a40472e6ecf2675a031334d4c426abdb2ad41801a8efc99";
    }
}

pub mod srv {
    /// This service requests that a camera stores the given CameraInfo as that
    /// camera's calibration information.
    ///
    /// The width and height in the camera_info field should match what the
    /// camera is currently outputting on its camera_info topic, and the camera
    /// will assume that the region of the imager that is being referred to is
    /// the region that the camera is currently capturing.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "sensor_msgs::srv::dds_::SetCameraInfo_Request_"
    )]
    pub struct SetCameraInfoRequest {
        /// The camera_info to store
        pub camera_info: super::msg::CameraInfo,
    }

    impl crate::RosMessage for SetCameraInfoRequest {
        const ROS_NAME: &'static str = "sensor_msgs/srv/SetCameraInfo_Request";
        const TYPE_HASH: &'static str = "RIHS01_27dc5497730fdb6930e66cb879c210e31a83022acc5bbc999f24f55286029f87";
    }

    /// `sensor_msgs/srv/SetCameraInfo_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "sensor_msgs::srv::dds_::SetCameraInfo_Response_"
    )]
    pub struct SetCameraInfoResponse {
        /// True if the call succeeded
        pub success: bool,
        /// Used to give details about success
        pub status_message: ::std::string::String,
    }

    impl crate::RosMessage for SetCameraInfoResponse {
        const ROS_NAME: &'static str = "sensor_msgs/srv/SetCameraInfo_Response";
        const TYPE_HASH: &'static str = "RIHS01_4db6d7df20cdcdc05430945e76fa58e1eab1285c15f31d26fad76e2c1b10299c";
    }

    /// `sensor_msgs/srv/SetCameraInfo_Event`.
    #[derive(Debug, Clone, PartialEq, Default, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "sensor_msgs::srv::dds_::SetCameraInfo_Event_"
    )]
    pub struct SetCameraInfoEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<SetCameraInfoRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<SetCameraInfoResponse>,
    }

    impl crate::RosMessage for SetCameraInfoEvent {
        const ROS_NAME: &'static str = "sensor_msgs/srv/SetCameraInfo_Event";
        const TYPE_HASH: &'static str = "RIHS01_e3b4e21ddd26871166e6ae7f342856dfcd3ac033c7eac99db6bfe515fba3d693";
    }

    /// The service `sensor_msgs/srv/SetCameraInfo`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SetCameraInfo;

    impl crate::RosService for SetCameraInfo {
        type Request = SetCameraInfoRequest;
        type Response = SetCameraInfoResponse;
        type Event = SetCameraInfoEvent;
        const ROS_NAME: &'static str = "sensor_msgs/srv/SetCameraInfo";
        const TYPE_HASH: &'static str = "RIHS01_a10cca5d33dc637c8d49db50ab288701a3592bb9cd854f2f16a0659613b68984";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            SetCameraInfoEvent {
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
    crate::RosTypeEntry::of::<msg::BatteryState>(),
    crate::RosTypeEntry::of::<msg::CameraInfo>(),
    crate::RosTypeEntry::of::<msg::ChannelFloat32>(),
    crate::RosTypeEntry::of::<msg::CompressedImage>(),
    crate::RosTypeEntry::of::<msg::FluidPressure>(),
    crate::RosTypeEntry::of::<msg::Illuminance>(),
    crate::RosTypeEntry::of::<msg::Image>(),
    crate::RosTypeEntry::of::<msg::Imu>(),
    crate::RosTypeEntry::of::<msg::JointState>(),
    crate::RosTypeEntry::of::<msg::Joy>(),
    crate::RosTypeEntry::of::<msg::JoyFeedback>(),
    crate::RosTypeEntry::of::<msg::JoyFeedbackArray>(),
    crate::RosTypeEntry::of::<msg::LaserEcho>(),
    crate::RosTypeEntry::of::<msg::LaserScan>(),
    crate::RosTypeEntry::of::<msg::MagneticField>(),
    crate::RosTypeEntry::of::<msg::MultiDOFJointState>(),
    crate::RosTypeEntry::of::<msg::MultiEchoLaserScan>(),
    crate::RosTypeEntry::of::<msg::NavSatFix>(),
    crate::RosTypeEntry::of::<msg::NavSatStatus>(),
    crate::RosTypeEntry::of::<msg::PointCloud>(),
    crate::RosTypeEntry::of::<msg::PointCloud2>(),
    crate::RosTypeEntry::of::<msg::PointField>(),
    crate::RosTypeEntry::of::<msg::Range>(),
    crate::RosTypeEntry::of::<msg::RegionOfInterest>(),
    crate::RosTypeEntry::of::<msg::RelativeHumidity>(),
    crate::RosTypeEntry::of::<msg::Temperature>(),
    crate::RosTypeEntry::of::<msg::TimeReference>(),
    crate::RosTypeEntry::of::<srv::SetCameraInfoRequest>(),
    crate::RosTypeEntry::of::<srv::SetCameraInfoResponse>(),
    crate::RosTypeEntry::of::<srv::SetCameraInfoEvent>(),
];
