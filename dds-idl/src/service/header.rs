//! The types that all services share (DDS-RPC 1.0, 7.5.1.1.1).

use super::mapping::{Adder, member};
use crate::model::{
    BasicType, DataType, DefinitionId, DefinitionKind, Diagnostics, EnumDefinition, Enumerator, Extensibility, Module,
    Specification, TypedefDefinition,
};

/// The types of the module `dds::rpc` that a service uses.
pub(super) struct CommonTypes {
    pub(super) request_header: DataType,
    pub(super) reply_header: DataType,
    pub(super) unknown_operation: DataType,
    pub(super) unused_member: DataType,
}

/// Adds the types. Those that an included file defines stay.
pub(super) fn add(specification: &mut Specification, errors: &mut Diagnostics) -> CommonTypes {
    let mut adder = Adder { specification, errors, span: Default::default(), keeps_existing: true };
    let dds = adder.add(None, "dds", DefinitionKind::Module(Module::default()));
    let rpc = adder.add(Some(dds), "rpc", DefinitionKind::Module(Module::default()));
    let octet = || DataType::Basic(BasicType::Octet);
    let prefix = alias(&mut adder, dds, "GuidPrefix_t", DataType::array(octet(), vec![12]));
    let entity = vec![member("entityKey", DataType::array(octet(), vec![3])), member("entityKind", octet())];
    let entity = adder.structure(dds, "EntityId_t", entity);
    let guid = adder.structure(dds, "GUID_t", vec![member("guidPrefix", prefix), member("entityId", entity)]);
    let (high, low) = (DataType::Basic(BasicType::Int32), DataType::Basic(BasicType::UInt32));
    let number = adder.structure(dds, "SequenceNumber_t", vec![member("high", high), member("low", low)]);
    let identity = vec![member("writer_guid", guid), member("sequence_number", number)];
    let identity = adder.structure(dds, "SampleIdentity", identity);
    let unknown_operation = alias(&mut adder, rpc, "UnknownOperation", octet());
    let unused_member = alias(&mut adder, rpc, "UnusedMember", octet());
    let code = adder.add(Some(rpc), "RemoteExceptionCode_t", exception_codes());
    let name = alias(&mut adder, rpc, "InstanceName", DataType::String { bound: Some(255) });
    let request = vec![member("requestId", identity.clone()), member("instanceName", name)];
    let reply = vec![member("relatedRequestId", identity), member("remoteEx", DataType::Named(code))];
    CommonTypes {
        request_header: adder.structure(rpc, "RequestHeader", request),
        reply_header: adder.structure(rpc, "ReplyHeader", reply),
        unknown_operation,
        unused_member,
    }
}

fn alias(adder: &mut Adder<'_>, module: DefinitionId, name: &str, ty: DataType) -> DataType {
    DataType::Named(adder.add(Some(module), name, DefinitionKind::Typedef(TypedefDefinition { ty })))
}

fn exception_codes() -> DefinitionKind {
    let names = [
        "REMOTE_EX_OK",
        "REMOTE_EX_UNSUPPORTED",
        "REMOTE_EX_INVALID_ARGUMENT",
        "REMOTE_EX_OUT_OF_RESOURCES",
        "REMOTE_EX_UNKNOWN_OPERATION",
        "REMOTE_EX_UNKNOWN_EXCEPTION",
    ];
    let mut enumerators = Vec::new();
    for (name, value) in names.into_iter().zip(0..) {
        enumerators.push(Enumerator {
            name: name.into(),
            span: Default::default(),
            doc: None,
            annotations: Default::default(),
            value,
        });
    }
    DefinitionKind::Enum(EnumDefinition { extensibility: Extensibility::Final, bit_bound: 32, enumerators })
}
