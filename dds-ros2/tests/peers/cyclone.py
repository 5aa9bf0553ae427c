"""A client or a server of `std_srvs/srv/SetBool` with Cyclone DDS, in the form of `rmw_cyclonedds_cpp`.

The header before the payload is two members of the types, which gives the same bytes.
"""

import json
import sys
import time
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, int64, sequence, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
@annotate.final
class Request(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Request_"):
    client: uint64
    number: int64
    data: bool


@dataclass
@annotate.final
class Response(IdlStruct, typename="std_srvs::srv::dds_::SetBool_Response_"):
    client: uint64
    number: int64
    success: bool
    message: str


@dataclass
@annotate.final
class Gid(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    data: array[uint8, 16]


@dataclass
@annotate.final
class NodeEntities(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    readers: sequence[Gid]
    writers: sequence[Gid]


@dataclass
@annotate.final
class ParticipantEntities(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    gid: Gid
    nodes: sequence[NodeEntities]


def report(event, **data):
    print(json.dumps({"event": event, **data}), flush=True)


def qos(key):
    identity = " 1.10.2b.61.f0.6e.c7.7d.ee.95.ef.32.0.0.0.8"
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.History.KeepLast(10),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.Userdata(f"{key}={identity};".encode()),
    )


def announce(participant, name, reader, writer):
    """Announces a node as `rmw_dds_common` does. The result keeps the announcement alive."""
    gid = lambda entity: Gid(list(entity.guid.bytes))
    latched = Qos(
        Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.Durability.TransientLocal,
        Policy.History.KeepLast(1),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
    nodes = DataWriter(participant, Topic(participant, "ros_discovery_info", ParticipantEntities), latched)
    nodes.write(ParticipantEntities(gid(participant), [NodeEntities("/", name, [gid(reader)], [gid(writer)])]))
    return nodes


def client(participant):
    requests = DataWriter(participant, Topic(participant, "rq/flipRequest", Request), qos("clientid"))
    replies = DataReader(participant, Topic(participant, "rr/flipReply", Response), qos("clientid"))
    while not requests.get_matched_subscriptions() or not replies.get_matched_publications():
        time.sleep(0.01)
    own = 0xE6A832D3386FEF97
    for number in range(1, 7):
        requests.write(Request(own, number, number % 2 == 0))
    for reply in replies.take_iter(timeout=duration(seconds=30)):
        if reply.client == own:
            report("answered", number=reply.number, success=reply.success, message=reply.message)


def server(participant):
    requests = DataReader(participant, Topic(participant, "rq/flipRequest", Request), qos("serviceid"))
    replies = DataWriter(participant, Topic(participant, "rr/flipReply", Response), qos("serviceid"))
    nodes = announce(participant, "cyclone", requests, replies)
    report("serving")
    for request in requests.take_iter(timeout=duration(seconds=60)):
        report("asked", number=request.number, data=request.data)
        replies.write(Response(request.client, request.number, not request.data, f"cyclone {request.number}"))


{"client": client, "server": server}[sys.argv[1]](
    DomainParticipant(int(sys.argv[2]), Qos(Policy.Userdata(b"enclave=/;")))
)
