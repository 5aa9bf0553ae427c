"""A Cyclone DDS participant for tests of types that the peer does not have.

    types_of_others.py discover TOPIC          finds a writer of TOPIC, requests its type and creates a reader of it; prints "type" with the
                                               names of the members, and each "sample"
    types_of_others.py write TOPIC KIND        writes a sample of the type KIND of this file for each line of standard input; prints "matched"

Each event is a JSON line. The end of standard input ends the program.
"""

import sys
import threading
import time
from dataclasses import dataclass, asdict
from typing import Optional

import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import Listener, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.dynamic import get_types_for_typeid
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from shapes_and_blobs import tell

RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=10)), Policy.DataRepresentation(use_cdrv0_representation=False, use_xcdrv2_representation=True))


@dataclass
@annotate.final
@annotate.nested
class Place(IdlStruct, typename="Place"):
    x: types.float64
    y: types.float64


@dataclass
@annotate.appendable
class Wider(IdlStruct, typename="Wider"):
    id: types.uint32
    annotate.key("id")
    name: str
    place: Place
    extra: types.sequence[types.int32]

    @staticmethod
    def sample(index):
        return Wider(index, f"wider {index}", Place(index, 0.5), [index] * 3)


@dataclass
@annotate.appendable
class Narrower(IdlStruct, typename="Narrower"):
    id: types.uint32
    annotate.key("id")

    @staticmethod
    def sample(index):
        return Narrower(index)


@dataclass
@annotate.appendable
class Unfit(IdlStruct, typename="Unfit"):
    id: types.uint32
    annotate.key("id")
    name: types.int64

    @staticmethod
    def sample(index):
        return Unfit(index, index)


@dataclass
@annotate.final
class Tree(IdlStruct, typename="Tree"):
    id: types.uint32
    place: Place
    children: types.sequence["Tree"]


KINDS = {kind.__name__: kind for kind in [Wider, Narrower, Unfit, Tree]}


class TellMatches(Listener):
    def on_publication_matched(self, _writer, status):
        tell("matched", count=status.current_count)


def discover(participant, name):
    publications = BuiltinDataReader(participant, BuiltinTopicDcpsPublication)
    found, until = None, time.monotonic() + 20
    while found is None and time.monotonic() < until:
        found = next((sample for sample in publications.take(N=100) if sample.topic_name == name and sample.type_id), None)
        time.sleep(0.02)
    kind, _ = get_types_for_typeid(participant, found.type_id, duration(seconds=10))
    tell("type", name=kind.__idl_typename__, members=list(kind.__idl__.member_ids))
    reader = DataReader(participant, Topic(participant, name, kind), qos=RELIABLE)
    tell("ready")
    ending = threading.Thread(target=sys.stdin.read)
    ending.start()
    while ending.is_alive():
        for sample in reader.take_iter(timeout=duration(milliseconds=200)):
            tell("sample", fields=asdict(sample))


def write(participant, name, kind):
    writer = DataWriter(participant, Topic(participant, name, kind), qos=RELIABLE, listener=TellMatches())
    tell("ready")
    for index, _ in enumerate(sys.stdin):
        writer.write(kind.sample(index))
        tell("written")


def main():
    command, name, *kind = sys.argv[1:]
    participant = DomainParticipant(0)
    if command == "discover":
        discover(participant, name)
    else:
        write(participant, name, KINDS[kind[0]])


main()
