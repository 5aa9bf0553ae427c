//! The interface files that the crate ships, see `data/share/NOTICE.md`.

use super::{InterfaceKind, InterfaceName, RosTypes, converted, parse_interface};
use crate::model::{Diagnostics, SourceMap};
use std::path::Path;

/// Returns the text of a shipped file.
pub(crate) fn shipped_text(name: &InterfaceName) -> Option<&'static str> {
    for (package, kind, stem, text) in FILES {
        if *package == name.package() && *kind == name.kind().as_str() && *stem == name.name() {
            return Some(text);
        }
    }
    None
}

/// Returns the `.idl` file of a shipped interface, as ROS installs it: `std_msgs/msg/Header.idl`.
pub(crate) fn shipped_idl(path: &str) -> Option<String> {
    let name = InterfaceName::from_idl_path(path)?;
    let idl = converted(&name, Path::new(path), shipped_text(&name)?);
    debug_assert!(idl.is_ok(), "the shipped file of `{path}` is correct");
    idl.ok()
}

/// Returns those of the interfaces that the crate ships, as it ships them.
pub(crate) fn shipped_types<'n>(names: impl Iterator<Item = &'n InterfaceName>) -> RosTypes {
    let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
    let mut types = RosTypes::default();
    for name in names {
        let Some(text) = shipped_text(name) else { continue };
        let file = sources.add(name.to_string(), text, None);
        if let Some(interface) = parse_interface(name, file, &sources, &mut diagnostics) {
            types.insert(interface);
        }
    }
    types
}

/// Returns the names of all shipped interfaces, sorted by package.
pub(crate) fn shipped_names() -> impl Iterator<Item = InterfaceName> {
    FILES.iter().filter_map(|(package, kind, stem, _)| {
        let kind = InterfaceKind::from_folder(kind)?;
        Some(InterfaceName::known(package, kind, stem))
    })
}

/// Lists the files of each package and kind.
macro_rules! files {
    ($($package:ident $kind:ident: $($stem:ident)+;)+) => {
        /// Package, kind, name and text.
        const FILES: &[(&str, &str, &str, &str)] = &[$($((
            stringify!($package),
            stringify!($kind),
            stringify!($stem),
            include_str!(concat!(
                "../../data/share/", stringify!($package), "/", stringify!($kind), "/", stringify!($stem), ".",
                stringify!($kind)
            )),
        ),)+)+];
    };
}

files! {
    action_msgs msg: GoalInfo GoalStatus GoalStatusArray;
    action_msgs srv: CancelGoal;
    actionlib_msgs msg: GoalID GoalStatus GoalStatusArray;
    builtin_interfaces msg: Duration Time;
    composition_interfaces srv: ListNodes LoadNode UnloadNode;
    diagnostic_msgs msg: DiagnosticArray DiagnosticStatus KeyValue;
    diagnostic_msgs srv: AddDiagnostics SelfTest;
    example_interfaces action: Fibonacci;
    example_interfaces msg: Bool Byte ByteMultiArray Char Empty Float32 Float32MultiArray Float64
        Float64MultiArray Int16 Int16MultiArray Int32 Int32MultiArray Int64 Int64MultiArray Int8
        Int8MultiArray MultiArrayDimension MultiArrayLayout String UInt16 UInt16MultiArray UInt32
        UInt32MultiArray UInt64 UInt64MultiArray UInt8 UInt8MultiArray WString;
    example_interfaces srv: AddTwoInts SetBool Trigger;
    geometry_msgs msg: Accel AccelStamped AccelWithCovariance AccelWithCovarianceStamped Inertia InertiaStamped
        Point Point32 PointStamped Polygon PolygonInstance PolygonInstanceStamped PolygonStamped Pose Pose2D
        PoseArray PoseStamped PoseWithCovariance PoseWithCovarianceStamped Quaternion QuaternionStamped Transform
        TransformStamped Twist TwistStamped TwistWithCovariance TwistWithCovarianceStamped Vector3 Vector3Stamped
        VelocityStamped Wrench WrenchStamped;
    lifecycle_msgs msg: State Transition TransitionDescription TransitionEvent;
    lifecycle_msgs srv: ChangeState GetAvailableStates GetAvailableTransitions GetState;
    nav_msgs msg: Goals GridCells MapMetaData OccupancyGrid Odometry Path;
    nav_msgs srv: GetMap GetPlan LoadMap SetMap;
    rcl_interfaces msg: FloatingPointRange IntegerRange ListParametersResult Log LoggerLevel Parameter
        ParameterDescriptor ParameterEvent ParameterEventDescriptors ParameterType ParameterValue
        SetLoggerLevelsResult SetParametersResult;
    rcl_interfaces srv: DescribeParameters GetLoggerLevels GetParameterTypes GetParameters ListParameters
        SetLoggerLevels SetParameters SetParametersAtomically;
    rmw_dds_common msg: Gid NodeEntitiesInfo ParticipantEntitiesInfo;
    rosgraph_msgs msg: Clock;
    sensor_msgs msg: BatteryState CameraInfo ChannelFloat32 CompressedImage FluidPressure Illuminance Image Imu
        JointState Joy JoyFeedback JoyFeedbackArray LaserEcho LaserScan MagneticField MultiDOFJointState
        MultiEchoLaserScan NavSatFix NavSatStatus PointCloud PointCloud2 PointField Range RegionOfInterest
        RelativeHumidity Temperature TimeReference;
    sensor_msgs srv: SetCameraInfo;
    service_msgs msg: ServiceEventInfo;
    shape_msgs msg: Mesh MeshTriangle Plane SolidPrimitive;
    statistics_msgs msg: MetricsMessage StatisticDataPoint StatisticDataType;
    std_msgs msg: Bool Byte ByteMultiArray Char ColorRGBA Empty Float32 Float32MultiArray Float64
        Float64MultiArray Header Int16 Int16MultiArray Int32 Int32MultiArray Int64 Int64MultiArray Int8
        Int8MultiArray MultiArrayDimension MultiArrayLayout String UInt16 UInt16MultiArray UInt32 UInt32MultiArray
        UInt64 UInt64MultiArray UInt8 UInt8MultiArray;
    std_srvs srv: Empty SetBool Trigger;
    stereo_msgs msg: DisparityImage;
    tf2_msgs action: LookupTransform;
    tf2_msgs msg: TF2Error TFMessage;
    tf2_msgs srv: FrameGraph;
    trajectory_msgs msg: JointTrajectory JointTrajectoryPoint MultiDOFJointTrajectory MultiDOFJointTrajectoryPoint;
    type_description_interfaces msg: Field FieldType IndividualTypeDescription KeyValue TypeDescription TypeSource;
    type_description_interfaces srv: GetTypeDescription;
    unique_identifier_msgs msg: UUID;
    visualization_msgs msg: ImageMarker InteractiveMarker InteractiveMarkerControl InteractiveMarkerFeedback
        InteractiveMarkerInit InteractiveMarkerPose InteractiveMarkerUpdate Marker MarkerArray MenuEntry MeshFile
        UVCoordinate;
    visualization_msgs srv: GetInteractiveMarkers;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn shipped_list_names_every_file_of_the_folder() {
        let share = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/share");
        let mut found = Vec::new();
        for package in share.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            for kind in package.read_dir().unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
                for file in kind.read_dir().unwrap() {
                    found.push(file.unwrap().path().strip_prefix(&share).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        found.sort();
        let mut listed: Vec<String> =
            FILES.iter().map(|(package, kind, stem, _)| format!("{package}/{kind}/{stem}.{kind}")).collect();
        listed.sort();
        assert_eq!(listed, found);
        assert!(listed.len() > 180, "{}", listed.len());
    }
}
