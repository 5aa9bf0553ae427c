#!/usr/bin/env python3
"""Prints Cyclone DDS's encoding of the types of src/cdr/tests/{mutable,enums,unions}.rs, data and key, in hexadecimal.

    pip install cyclonedds==11.0.1 && python3 make_cdr.py

Those tests contain the bytes, so running them does not need this program.
"""

from dataclasses import dataclass
from typing import Optional

from cyclonedds.idl import Endianness, IdlBitmask, IdlEnum, IdlStruct, IdlUnion
from cyclonedds.idl import annotations as annotate
from cyclonedds.idl import types


class Gear(IdlEnum, typename="Gear"):
    Neutral = 0
    First = 7


@dataclass
@annotate.final
class Point(IdlStruct, typename="Point"):
    x: types.float32
    y: types.float64


@dataclass
@annotate.mutable
class Inner(IdlStruct, typename="Inner"):
    p: types.uint8


@dataclass
@annotate.mutable
@annotate.autoid("sequential")
class Kinds(IdlStruct, typename="Kinds"):
    flag: bool
    id: types.int64
    annotate.key("id")
    s: str
    n: types.uint16
    d: types.float64
    point: Point
    inner: Inner
    bytes: types.sequence[types.uint8]
    doubles: types.sequence[types.float64]
    strings: types.sequence[str]
    numbers: types.sequence[types.uint32]
    array: types.array[types.uint8, 4]
    short_array: types.array[types.uint8, 3]
    absent: Optional[types.uint32] = None
    present: Optional[types.uint64] = None
    gear: Gear = None


@annotate.bit_bound(8)
class Tiny(IdlEnum, typename="Tiny"):
    Off = 0
    On = 255


@annotate.bit_bound(16)
class Wide(IdlEnum, typename="Wide"):
    Zero = 0
    Above = 255


@dataclass
@annotate.mutable
class Enums(IdlStruct, typename="Enums"):
    tiny: Tiny
    annotate.key("tiny")
    wide: Wide
    pair: types.array[Tiny, 2]
    many: types.sequence[Wide]


class Color(IdlEnum, typename="Color"):
    Red = 0
    Green = 1
    Blue = 5


@annotate.final
class CycloneFinal(IdlUnion, discriminator=types.int32, typename="CycloneFinal"):
    number: types.case[[1, 2], types.float64]
    text: types.case[-3, str]
    other: types.default[types.uint8]


@annotate.appendable
class CycloneAppendable(IdlUnion, discriminator=Color, typename="CycloneAppendable"):
    number: types.case[Color.Red, types.float64]
    list: types.case[[Color.Green, Color.Blue], types.sequence[types.uint16]]


@dataclass
@annotate.bit_bound(12)
class Twelve(IdlBitmask, typename="Twelve"):
    read: bool = False
    write: bool = False
    admin: bool = False
    annotate.position("admin", 11)


@dataclass
@annotate.final
class Holder(IdlStruct, typename="Holder"):
    a: types.uint8
    f: CycloneFinal
    g: CycloneAppendable
    many: types.sequence[CycloneFinal]
    pair: types.array[CycloneAppendable, 2]
    rights: Twelve
    masks: types.sequence[Twelve]
    wide: types.char
    grid: types.array[types.array[str, 2], 3]
    numbers: types.array[types.array[types.int16, 2], 3]
    colors: types.array[types.array[Color, 2], 2]
    seqs: types.sequence[types.array[types.uint32, 2]]
    text: types.sequence[types.array[str, 2]]
    bytes: types.sequence[types.array[types.uint8, 3]]


@dataclass
@annotate.mutable
@annotate.autoid("sequential")
class MutableHolder(IdlStruct, typename="MutableHolder"):
    f: CycloneFinal
    g: CycloneAppendable
    many: types.sequence[CycloneFinal]
    rights: Twelve
    grid: types.array[types.array[str, 2], 3]
    numbers: types.array[types.array[types.int16, 2], 3]


GRID = [["a", "b"], ["c", "d"], ["e", "f"]]
NUMBERS = [[1, 2], [3, 4], [5, 6]]


def final(label, value):
    return CycloneFinal(discriminator=label, value=value)


def appendable(label, value):
    return CycloneAppendable(discriminator=label, value=value)


SAMPLES = [
    Kinds(
        flag=True, id=-2, s="name", n=5, d=1.5, point=Point(1.0, 2.0), inner=Inner(9), bytes=[1, 2, 3], doubles=[1.0],
        strings=["a"], numbers=[7], array=[1, 2, 3, 4], short_array=[1, 2, 3], present=8, gear=Gear.First,
    ),
    Enums(Tiny.On, Wide.Above, [Tiny.Off, Tiny.On], [Wide.Zero, Wide.Above]),
    Holder(
        a=1, f=final(2, 1.5), g=appendable(Color.Blue, [7, 8]), many=[final(-3, "hi"), final(9, 4)],
        pair=[appendable(Color.Red, 2.5), appendable(Color.Green, [])], rights=Twelve(read=True, admin=True),
        masks=[Twelve(write=True), Twelve()], wide="z", grid=GRID, numbers=NUMBERS,
        colors=[[Color.Red, Color.Blue], [Color.Green, Color.Red]], seqs=[[1, 2], [3, 4]], text=[["a", "b"]],
        bytes=[bytes([1, 2, 3]), bytes([4, 5, 6])],
    ),
    MutableHolder(
        f=final(1, 1.5), g=appendable(Color.Red, 2.5), many=[final(-3, "hi")], rights=Twelve(write=True), grid=GRID,
        numbers=NUMBERS,
    ),
]

for sample in SAMPLES:
    for version in (1, 2):
        for order in (Endianness.Big, Endianness.Little):
            options = {"use_version_2": version == 2, "endianness": order}
            print(type(sample).__name__, f"XCDR{version}", order.name)
            print("  data", sample.serialize(**options).hex())
            print("  key ", sample.serialize_key(**options).hex())
