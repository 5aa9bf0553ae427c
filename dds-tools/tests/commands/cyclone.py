"""A Cyclone DDS peer: publishes readings until its input ends, or prints the readings or latencies that it receives."""

import json
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlEnum, IdlStruct
from cyclonedds.idl.annotations import appendable, final, key
from cyclonedds.idl.types import array, byte, float64, int32, sequence, uint8, uint32, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
@appendable
class Reading(IdlStruct, typename="lab::Reading"):
    sensor: int32
    key("sensor")
    name: str
    raw: sequence[uint8]


class LatencyKind(IdlEnum, typename="dds::LatencyKind", default="WRITE_TO_RECEPTION"):
    WRITE_TO_RECEPTION = 0
    RECEPTION_TO_TAKE = 1
    ACKNOWLEDGMENT = 2


@dataclass
@final
class LatencyBucket(IdlStruct, typename="dds::LatencyBucket"):
    upper_ns: uint64
    count: uint64


@dataclass
@final
class LatencyReport(IdlStruct, typename="dds::LatencyReport"):
    endpoint: array[byte, 16]
    key("endpoint")
    kind: LatencyKind
    key("kind")
    topic_name: str
    crosses_hosts: bool
    from_future: uint64
    count: uint64
    sum_ns: uint64
    min_ns: uint64
    max_ns: uint64
    p50_ns: uint64
    p99_ns: uint64
    buckets: sequence[LatencyBucket]


@dataclass
@final
class Pose(IdlStruct, typename="Pose"):
    robot: uint32
    key("robot")
    x: float64
    y: float64


QOS = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.Durability.TransientLocal, Policy.History.KeepLast(10))


def print_latencies():
    topic = Topic(DomainParticipant(0), "dds/latencies", LatencyReport, qos=QOS)
    reader = DataReader(topic.participant, topic, qos=QOS)
    print("ready", flush=True)
    for report in reader.take_iter(timeout=duration(seconds=60)):
        line = {"endpoint": bytes(report.endpoint).hex(), "kind": report.kind.name, "topic": report.topic_name}
        line["counts"] = [report.count, sum(bucket.count for bucket in report.buckets)]
        print(json.dumps(line), flush=True)


def poses(role):
    """A best-effort publisher of `robot/pose`, or a reliable subscriber, which do not match."""
    name = "robot" if role == "publish_pose" else "planner"
    participant = DomainParticipant(0, qos=Qos(Policy.EntityName(name)))
    topic = Topic(participant, "robot/pose", Pose)
    if role == "subscribe_pose":
        reader = DataReader(participant, topic, qos=Qos(Policy.Reliability.Reliable(duration(seconds=1))))
    else:
        writer = DataWriter(participant, topic, qos=Qos(Policy.Reliability.BestEffort))
    print("ready", flush=True)
    number = 0
    while True:
        if role == "publish_pose":
            writer.write(Pose(robot=7, x=number / 4, y=1.5))
        number += 1
        time.sleep(0.1)


def main():
    if sys.argv[1] == "latencies":
        return print_latencies()
    if sys.argv[1] in ("publish_pose", "subscribe_pose"):
        return poses(sys.argv[1])
    topic = Topic(DomainParticipant(0), "lab/reading", Reading, qos=QOS)
    if sys.argv[1] == "publish":
        writer = DataWriter(topic.participant, topic, qos=QOS)
        print("ready", flush=True)
        number = 0
        while True:
            writer.write(Reading(sensor=number % 3, name=f"reading {number}", raw=[1, 2, 3]))
            number += 1
            time.sleep(0.02)
    reader = DataReader(topic.participant, topic, qos=QOS)
    # The default condition leaves out samples whose writer has left, and `dds pub` leaves at once.
    condition = ReadCondition(reader, ViewState.Any | InstanceState.Any | SampleState.NotRead)
    print("ready", flush=True)
    while True:
        for sample in reader.take_iter(condition=condition, timeout=duration(seconds=60)):
            if not isinstance(sample, Reading):
                continue
            line = {"sensor": sample.sensor, "name": sample.name, "raw": list(sample.raw)}
            print(json.dumps(line), flush=True)


main()
