#!/usr/bin/env python3
"""Writes `cyclone_type_objects.golden`: type identifiers and TypeObjects of Cyclone DDS's Python. `tests/cdr/type_objects.rs` has the same types.

Each line has the name of the topic's type, minimal or complete, and the identifier and the TypeObject in hexadecimal. The topic's type comes first, then
its contained types. Lines with `information` have the type information.
"""

import pathlib
from dataclasses import dataclass
from typing import Optional

import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from cyclonedds.idl import IdlBitmask, IdlEnum, IdlStruct, IdlUnion
from cyclonedds.idl._support import Endianness
from cyclonedds.idl._xt_builder import XTBuilder


@dataclass
@annotate.appendable
class ShapeType(IdlStruct, typename="ShapeType"):
    color: types.bounded_str[128]
    annotate.key("color")
    x: types.int32
    y: types.int32
    shapesize: types.int32
    additional_payload_size: types.sequence[types.uint8]


@dataclass
@annotate.final
class Primitives(IdlStruct, typename="module::Primitives"):
    a: bool
    b: types.byte
    c: types.int8
    d: types.uint8
    e: types.int16
    f: types.uint16
    g: types.int32
    h: types.uint32
    i: types.int64
    j: types.uint64
    k: types.float32
    l: types.float64
    m: types.char
    n: str
    o: types.bounded_str[255]
    p: types.bounded_str[256]


@dataclass
@annotate.mutable
class Members(IdlStruct, typename="Members"):
    first: types.int32
    annotate.key("first")
    annotate.member_id("first", 7)
    second: Optional[types.int32]
    third: types.int32
    annotate.must_understand("third")
    fourth: types.int32
    annotate.external("fourth")
    fifth: types.int32
    annotate.member_hash_id("fifth")


@dataclass
@annotate.mutable
@annotate.autoid("hash")
class Hashed(IdlStruct, typename="Hashed"):
    color: types.int32
    annotate.key("color")
    shape: str


class Color(IdlEnum, typename="Color"):
    RED = 0
    GREEN = 1
    BLUE = 2


@annotate.bit_bound(16)
@annotate.appendable
class Level(IdlEnum, typename="Level", default="MIDDLE"):
    HIGH = 9
    MIDDLE = 5
    LOW = 1


@dataclass
@annotate.bit_bound(8)
class Rights(IdlBitmask, typename="Rights"):
    READ: bool = False
    annotate.position("READ", 0)
    ADMIN: bool = False
    annotate.position("ADMIN", 7)
    WRITE: bool = False
    annotate.position("WRITE", 1)


@dataclass
@annotate.appendable
class Enumerated(IdlStruct, typename="Enumerated"):
    color: Color
    level: Level
    rights: Rights
    colors: types.sequence[Color, 4]


@dataclass
@annotate.final
@annotate.nested
class Point(IdlStruct, typename="geometry::Point"):
    x: types.float64
    y: types.float64


@dataclass
@annotate.final
class Collections(IdlStruct, typename="Collections"):
    points: types.sequence[Point]
    few: types.sequence[Point, 300]
    corners: types.array[Point, 4]
    matrix: types.array[types.array[types.float32, 3], 2]
    row: types.array[types.uint8, 1000]
    lists: types.sequence[types.sequence[types.int32, 2]]
    names: types.sequence[types.bounded_str[8], 3]
    maybe: Optional[Point]


@annotate.appendable
class Value(IdlUnion, discriminator=types.int32, typename="Value"):
    number: types.case[0, types.float64]
    text: types.case[[1, 7], types.bounded_str[80]]
    place: types.case[9, Point]
    other: types.default[types.sequence[types.uint8]]


@annotate.final
class Length(IdlUnion, discriminator=Color, discriminator_is_key=True, typename="Length"):
    red: types.case[Color.RED, types.int16]
    blue: types.case[[Color.GREEN, Color.BLUE], Color]


@dataclass
@annotate.mutable
class Unions(IdlStruct, typename="Unions"):
    value: Value
    lengths: types.sequence[Length]


@dataclass
@annotate.appendable
class Base(IdlStruct, typename="Base"):
    id: types.uint32
    annotate.key("id")


@dataclass
@annotate.appendable
class Derived(Base, typename="Derived"):
    name: str
    point: Point


@dataclass
@annotate.final
class Node(IdlStruct, typename="Node"):
    value: types.int32
    children: types.sequence["Node"]


@dataclass
@annotate.appendable
class Zebra(IdlStruct, typename="Zebra"):
    others: types.sequence["Antelope"]
    point: Point


@dataclass
@annotate.appendable
class Antelope(IdlStruct, typename="Antelope"):
    others: types.sequence[Zebra]
    color: Color


@dataclass
@annotate.final
class Octets(IdlStruct, typename="Octets"):
    one: types.byte
    many: types.sequence[types.byte]
    few: types.sequence[types.byte, 4]
    row: types.array[types.byte, 3]
    rows: types.sequence[types.array[types.byte, 3]]
    maybe: Optional[types.byte]


@annotate.final
class OctetUnion(IdlUnion, discriminator=types.byte, typename="OctetUnion"):
    bytes: types.case[[1, 7], types.sequence[types.byte]]
    number: types.default[types.uint8]


Distance = types.typedef["Distance", types.float64]


@dataclass
@annotate.final
class Aliased(IdlStruct, typename="Aliased"):
    distance: Distance
    distances: types.sequence[Distance]


@dataclass
@annotate.final
class FarAway(IdlStruct, typename="FarAway"):
    within: Aliased


def hexadecimal(value):
    return value.serialize(use_version_2=True, endianness=Endianness.Little)[4:].hex()


def main():
    lines = []
    for ty in [ShapeType, Primitives, Members, Hashed, Enumerated, Collections, Value, Unions, Derived, Node, Zebra, Octets, OctetUnion, Aliased, FarAway]:
        name = ty.__idl_typename__.replace(".", "::")
        information, mapping = XTBuilder.process_type(ty)
        lines.append(f"{name} information {hexadecimal(information)}")
        for form in ["minimal", "complete"]:
            for pair in getattr(mapping, f"identifier_object_pair_{form}"):
                lines.append(f"{name} {form} {hexadecimal(pair.type_identifier)} {hexadecimal(pair.type_object)}")
    pathlib.Path(__file__).with_name("cyclone_type_objects.golden").write_text("\n".join(lines) + "\n")


main()
