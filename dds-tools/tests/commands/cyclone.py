"""A Cyclone DDS peer: publishes readings until its input ends, or prints the readings that it receives."""

import json
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import appendable, key
from cyclonedds.idl.types import int32, sequence, uint8
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


QOS = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.Durability.TransientLocal, Policy.History.KeepLast(10))


def main():
    topic = Topic(DomainParticipant(0), "lab/reading", Reading, qos=QOS)
    if sys.argv[1] == "publish":
        writer = DataWriter(topic.participant, topic, qos=QOS)
        number = 0
        while True:
            writer.write(Reading(sensor=number % 3, name=f"reading {number}", raw=[1, 2, 3]))
            number += 1
            time.sleep(0.02)
    reader = DataReader(topic.participant, topic, qos=QOS)
    print("ready", flush=True)
    while True:
        for sample in reader.take_iter(timeout=duration(seconds=60)):
            line = {"sensor": sample.sensor, "name": sample.name, "raw": list(sample.raw)}
            print(json.dumps(line), flush=True)


main()
