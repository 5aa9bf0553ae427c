//! Request and reply types of services: those of DDS-RPC 1.0, 7.5.1.1.

use dds_idl::description::{DescriptionForm, type_graph};
use dds_idl::idl::{Options, parse_text};
use dds_idl::model::{ConstantValue, DefinitionKind, Specification};
use dds_idl::service::add_service_types;

/// The types that the standard derives from the interface.
const EXPECTED: &str = "
module dds {
    typedef octet GuidPrefix_t[12];
    @final @nested struct EntityId_t { octet entityKey[3]; octet entityKind; };
    @final @nested struct GUID_t { GuidPrefix_t guidPrefix; EntityId_t entityId; };
    @final @nested struct SequenceNumber_t { long high; unsigned long low; };
    @final @nested struct SampleIdentity { GUID_t writer_guid; SequenceNumber_t sequence_number; };
    module rpc {
        typedef octet UnknownOperation;
        typedef octet UnusedMember;
        @final enum RemoteExceptionCode_t {
            REMOTE_EX_OK, REMOTE_EX_UNSUPPORTED, REMOTE_EX_INVALID_ARGUMENT, REMOTE_EX_OUT_OF_RESOURCES,
            REMOTE_EX_UNKNOWN_OPERATION, REMOTE_EX_UNKNOWN_EXCEPTION };
        typedef string<255> InstanceName;
        @final @nested struct RequestHeader { SampleIdentity requestId; InstanceName instanceName; };
        @final @nested struct ReplyHeader { SampleIdentity relatedRequestId; RemoteExceptionCode_t remoteEx; };
    };
};
module robot {
    @final @nested struct TooFast { dds::rpc::UnusedMember dummy; };
    @final @nested struct Arm_set_speed_In { float speed; float all; };
    @final @nested struct Arm_set_speed_Out { float all; long return_; float return_1; };
    @final @nested union Arm_set_speed_Result switch (long) {
        case 0: Arm_set_speed_Out result; case EX: TooFast toofast_ex; };
    @final @nested struct Arm_stop_In { dds::rpc::UnusedMember dummy; };
    @final @nested struct Arm_stop_Out { dds::rpc::UnusedMember dummy; };
    @final @nested union Arm_stop_Result switch (long) { case 0: Arm_stop_Out result; };
    @final @nested struct Arm_set_attribute_x_In { long x; };
    @final @nested struct Arm_get_attribute_x_Out { long return_; };
    @final @nested union Arm_Call switch (long) {
        default: dds::rpc::UnknownOperation unknownOp;
        case SET: Arm_set_speed_In set_speed;
        case STOP: Arm_stop_In stop;
    };
    @final struct Arm_Request { dds::rpc::RequestHeader header; Arm_Call data; };
};";

fn parsed(text: &str) -> Specification {
    parse_text("service.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn with_services(text: &str) -> Specification {
    let mut specification = parsed(text);
    if let Err(errors) = add_service_types(&mut specification) {
        panic!("{}", errors.render(&specification.sources, false));
    }
    specification
}

fn constant(specification: &Specification, name: &str) -> i128 {
    let definition = specification.definition(specification.find(name).unwrap_or_else(|| panic!("no {name}")));
    let DefinitionKind::Constant(found) = &definition.kind else { panic!("{name} is no constant") };
    let ConstantValue::Integer(value) = found.value else { panic!("{name} is no integer") };
    value
}

#[test]
fn service_has_the_types_of_the_standard() {
    let service = "module robot {
            exception TooFast {};
            @service interface Arm {
                float set_speed(in float speed, inout float all, out long return_) raises (TooFast);
                void stop();
                attribute long x;
            };
        };";
    // Attributes have a call of their own, so the unions are compared without one.
    let found = with_services(&service.replace("attribute long x;", ""));
    let hash = |name: &str| constant(&found, &format!("robot::Arm_{name}_Hash")).to_string();
    assert_eq!(hash("set_speed"), md5_as_i32("set_speed").to_string());
    let expected = EXPECTED.replace("SET:", &format!("{}:", hash("set_speed")));
    let expected = expected.replace("STOP:", &format!("{}:", hash("stop")));
    let expected = parsed(&expected.replace("EX:", &format!("{}:", md5_as_i32("robot::TooFast"))));
    let with_attribute = with_services(service);
    for (id, definition) in expected.definitions() {
        let name = &*definition.scoped_name;
        if !definition.is_data_type() {
            continue;
        }
        let other = if name.contains("attribute") { &with_attribute } else { &found };
        let graph = type_graph(&expected, id, DescriptionForm::Standard).unwrap();
        let own = other.find(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(type_graph(other, own, DescriptionForm::Standard).unwrap().types(), graph.types(), "{name}");
    }
    // The request and the reply are the types of topics. All others are nested.
    let topics: Vec<&str> = (found.definitions())
        .filter(|(_, definition)| definition.is_topic_type())
        .map(|(_, definition)| &*definition.scoped_name)
        .collect();
    assert_eq!(topics, ["robot::Arm_Request", "robot::Arm_Reply"]);
}

fn md5_as_i32(text: &str) -> i32 {
    let [a, b, c, d, ..] = md5::compute(text).0;
    i32::from_le_bytes([a, b, c, d])
}

#[test]
fn interface_without_the_annotation_gets_no_types() {
    for text in ["interface A { void f(); };", "@service(\"CORBA\") interface A { void f(); };"] {
        assert_eq!(with_services(text).definitions().count(), 1, "{text}");
    }
}

#[test]
fn service_that_cannot_have_types_is_refused() {
    for (text, expected) in [
        ("@service interface A {};", "service.idl:1:20: error: the service `A` has no operation"),
        (
            "struct A_Request { long x; }; @service interface A { void f(); };",
            "service.idl:1:50: error: the service needs the name `A_Request`",
        ),
    ] {
        let mut specification = parsed(text);
        let errors = add_service_types(&mut specification).unwrap_err();
        assert_eq!(errors.iter().next().unwrap().one_line(&specification.sources), expected);
    }
}
