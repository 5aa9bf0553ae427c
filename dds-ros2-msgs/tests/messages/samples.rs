//! Samples of ROS 2: each Rust type decodes them, and encodes the same bytes.

use dds_cdr::cdr::{DecodeOwned, Encode, Encoding, decode_payload, encode_payload};
use dds_ros2_msgs::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

fn samples() -> BTreeMap<&'static str, Vec<u8>> {
    let mut samples = BTreeMap::new();
    for line in include_str!("../data/samples.txt").lines().filter(|line| !line.starts_with('#')) {
        let (name, digits) = line.split_once(' ').unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        samples.insert(name, (0..digits.len()).step_by(2).map(byte).collect());
    }
    samples
}

fn check<T: RosMessage + DecodeOwned + Encode + Debug + PartialEq>(samples: &mut BTreeMap<&'static str, Vec<u8>>) {
    let name = T::ROS_NAME;
    let bytes = samples.remove(name).unwrap_or_else(|| panic!("no sample of {name}"));
    let value: T = decode_payload(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut encoded = Vec::new();
    encode_payload(&value, Encoding::Xcdr1, &mut encoded).unwrap();
    // ROS gives the estimated length, which counts the alignment of empty sequences.
    let added = bytes.len().saturating_sub(encoded.len());
    assert!(encoded.len() < bytes.len() + 4 && added < 32, "{name}: {} bytes, not {}", encoded.len(), bytes.len());
    for (at, (ours, theirs)) in encoded.iter().zip(&bytes).enumerate().skip(4) {
        // ROS leaves padding as it finds it. Ours is zero.
        assert!(ours == theirs || *ours == 0, "{name}: byte {at} is {ours:#x}, not {theirs:#x}");
    }
    assert_eq!(decode_payload::<T>(&encoded).unwrap(), value, "{name}");
}

/// Checks the types of each package and kind.
macro_rules! check {
    ($($package:ident $kind:ident: $($name:ident)+;)+) => {
        fn check_all(samples: &mut BTreeMap<&'static str, Vec<u8>>) {
            $($(check::<$package::$kind::$name>(samples);)+)+
        }
    };
}

check! {
    action_msgs msg: GoalInfo GoalStatus GoalStatusArray;
    action_msgs srv: CancelGoalRequest CancelGoalResponse;
    actionlib_msgs msg: GoalID GoalStatus GoalStatusArray;
    builtin_interfaces msg: Duration Time;
    diagnostic_msgs msg: DiagnosticArray DiagnosticStatus KeyValue;
    diagnostic_msgs srv: AddDiagnosticsRequest AddDiagnosticsResponse SelfTestRequest SelfTestResponse;
    geometry_msgs msg: Accel AccelStamped AccelWithCovariance AccelWithCovarianceStamped Inertia InertiaStamped
        Point Point32 PointStamped Polygon PolygonInstance PolygonInstanceStamped PolygonStamped Pose Pose2D
        PoseArray PoseStamped PoseWithCovariance PoseWithCovarianceStamped Quaternion QuaternionStamped Transform
        TransformStamped Twist TwistStamped TwistWithCovariance TwistWithCovarianceStamped Vector3 Vector3Stamped
        VelocityStamped Wrench WrenchStamped;
    lifecycle_msgs msg: State Transition TransitionDescription TransitionEvent;
    lifecycle_msgs srv: ChangeStateRequest ChangeStateResponse GetAvailableStatesRequest
        GetAvailableStatesResponse GetAvailableTransitionsRequest GetAvailableTransitionsResponse GetStateRequest
        GetStateResponse;
    nav_msgs msg: Goals GridCells MapMetaData OccupancyGrid Odometry Path;
    nav_msgs srv: GetMapRequest GetMapResponse GetPlanRequest GetPlanResponse LoadMapRequest LoadMapResponse
        SetMapRequest SetMapResponse;
    rcl_interfaces msg: FloatingPointRange IntegerRange ListParametersResult Log LoggerLevel Parameter
        ParameterDescriptor ParameterEvent ParameterEventDescriptors ParameterType ParameterValue
        SetLoggerLevelsResult SetParametersResult;
    rcl_interfaces srv: DescribeParametersRequest DescribeParametersResponse GetLoggerLevelsRequest
        GetLoggerLevelsResponse GetParameterTypesRequest GetParameterTypesResponse GetParametersRequest
        GetParametersResponse ListParametersRequest ListParametersResponse SetLoggerLevelsRequest
        SetLoggerLevelsResponse SetParametersAtomicallyRequest SetParametersAtomicallyResponse
        SetParametersRequest SetParametersResponse;
    rmw_dds_common msg: Gid NodeEntitiesInfo ParticipantEntitiesInfo;
    rosgraph_msgs msg: Clock;
    sensor_msgs msg: BatteryState CameraInfo ChannelFloat32 CompressedImage FluidPressure Illuminance Image Imu
        JointState Joy JoyFeedback JoyFeedbackArray LaserEcho LaserScan MagneticField MultiDOFJointState
        MultiEchoLaserScan NavSatFix NavSatStatus PointCloud PointCloud2 PointField Range RegionOfInterest
        RelativeHumidity Temperature TimeReference;
    sensor_msgs srv: SetCameraInfoRequest SetCameraInfoResponse;
    service_msgs msg: ServiceEventInfo;
    shape_msgs msg: Mesh MeshTriangle Plane SolidPrimitive;
    std_msgs msg: Bool Byte ByteMultiArray Char ColorRGBA Empty Float32 Float32MultiArray Float64
        Float64MultiArray Header Int16 Int16MultiArray Int32 Int32MultiArray Int64 Int64MultiArray Int8
        Int8MultiArray MultiArrayDimension MultiArrayLayout String UInt16 UInt16MultiArray UInt32 UInt32MultiArray
        UInt64 UInt64MultiArray UInt8 UInt8MultiArray;
    std_srvs srv: EmptyRequest EmptyResponse SetBoolRequest SetBoolResponse TriggerRequest TriggerResponse;
    stereo_msgs msg: DisparityImage;
    trajectory_msgs msg: JointTrajectory JointTrajectoryPoint MultiDOFJointTrajectory MultiDOFJointTrajectoryPoint;
    type_description_interfaces msg: Field FieldType IndividualTypeDescription KeyValue TypeDescription TypeSource;
    type_description_interfaces srv: GetTypeDescriptionRequest GetTypeDescriptionResponse;
    unique_identifier_msgs msg: UUID;
    visualization_msgs msg: ImageMarker InteractiveMarker InteractiveMarkerControl InteractiveMarkerFeedback
        InteractiveMarkerInit InteractiveMarkerPose InteractiveMarkerUpdate Marker MarkerArray MenuEntry MeshFile
        UVCoordinate;
    visualization_msgs srv: GetInteractiveMarkersRequest GetInteractiveMarkersResponse;
}

#[test]
fn sample_of_ros_survives_decoding_and_encoding() {
    let mut samples = samples();
    let count = samples.len();
    check_all(&mut samples);
    assert_eq!((count, samples.len()), (206, 0), "{:?} are not checked", samples.keys());
}
