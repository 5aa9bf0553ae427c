"""Definitions that the Cyclone DDS programs of the interoperability tests share with the Rust side: the types, the content of sample i, the command
line, and one JSON object per line on standard output.
"""

import argparse
import hashlib
import json
import sys
import threading
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import appendable, final, key
from cyclonedds.idl.types import bounded_str, float64, int32, sequence, uint8, uint32
from cyclonedds.util import duration

TELLING = threading.Lock()

DURABILITY = {
    "volatile": Policy.Durability.Volatile,
    "transient-local": Policy.Durability.TransientLocal,
    "transient": Policy.Durability.Transient,
    "persistent": Policy.Durability.Persistent,
}
COLORS = ["BLUE", "RED", "GREEN"]


@dataclass
@appendable
class ShapeType(IdlStruct, typename="ShapeType"):
    """The type of every vendor's shapes demo. Its key may be longer than 16 bytes, so its key hash is an MD5."""

    color: bounded_str[128]
    key("color")
    x: int32
    y: int32
    shapesize: int32
    additional_payload_size: sequence[uint8]

    @staticmethod
    def sample(index):
        return ShapeType(COLORS[index % len(COLORS)], index, 2 * index, 20 + index, [255] * (index % 4))

    def fields(self):
        return {"color": self.color, "x": self.x, "y": self.y, "shapesize": self.shapesize} | payload(self.additional_payload_size)

    def key_fields(self):
        return {"color": self.color}


@dataclass
@final
class Reading(IdlStruct, typename="Reading"):
    """A final type with several alignments and a key of two members that fits into a key hash unchanged."""

    on: uint8
    sensor: uint32
    key("sensor")
    channel: uint8
    key("channel")
    value: float64
    unit: str

    @staticmethod
    def sample(index):
        return Reading(index % 2, 1000 + index % 3, index % 3, index / 4, "m/s" * (index % 3))

    def fields(self):
        return {"on": self.on, "sensor": self.sensor, "channel": self.channel, "value": self.value, "unit": self.unit}

    def key_fields(self):
        return {"sensor": self.sensor, "channel": self.channel}


@dataclass
@final
class Blob(IdlStruct, typename="Blob"):
    """A type without a key whose samples need fragments."""

    number: uint32
    bytes: sequence[uint8]

    @staticmethod
    def sample(index, length=100_000):
        octets = bytes(range(251)) * ((length + 251) // 251 + 1)
        return Blob(index, octets[index % 251 :][:length])

    def fields(self):
        return {"number": self.number} | payload(self.bytes)

    def key_fields(self):
        return {}


TYPES = {"ShapeType": ShapeType, "Reading": Reading, "Blob": Blob}


def payload(octets):
    return {"payload_len": len(octets), "payload_md5": hashlib.md5(bytes(octets)).hexdigest()}


LIVELINESS = {
    "automatic": Policy.Liveliness.Automatic,
    "by-participant": Policy.Liveliness.ManualByParticipant,
    "by-topic": Policy.Liveliness.ManualByTopic,
}


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--domain", type=int, default=0)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--type", choices=TYPES, required=True)
    parser.add_argument("--reliability", choices=["reliable", "best-effort"], default="reliable")
    parser.add_argument("--representation", choices=["xcdr1", "xcdr2"], default="xcdr1")
    parser.add_argument("--durability", choices=DURABILITY, default="volatile")
    parser.add_argument("--liveliness", choices=LIVELINESS, default="automatic")
    parser.add_argument("--lease", type=int, help="of the liveliness, in milliseconds; default: infinite")
    return parser.parse_args()


def endpoint_qos(options):
    """KEEP_ALL, so that a reliable pair loses no sample on a slow test host.

    A write of 64 MiB blocks until the previous one is acknowledged. A busy host that also captures takes more than 10 s.
    """
    policies = [
        Policy.Reliability.Reliable(max_blocking_time=duration(seconds=60))
        if options.reliability == "reliable"
        else Policy.Reliability.BestEffort,
        DURABILITY[options.durability],
        Policy.History.KeepAll,
        # In Cyclone, this policy limits the history for late joiners.
        Policy.DurabilityService(0, Policy.History.KeepAll, -1, -1, -1),
        LIVELINESS[options.liveliness](duration(milliseconds=options.lease) if options.lease else duration(infinite=True)),
        Policy.DataRepresentation(
            use_cdrv0_representation=options.representation == "xcdr1",
            use_xcdrv2_representation=options.representation == "xcdr2",
        ),
    ]
    return Qos(*policies)


def tell(event, **fields):
    # Listeners call this on other threads.
    with TELLING:
        sys.stdout.write(json.dumps({"event": event} | fields) + "\n")
        sys.stdout.flush()
