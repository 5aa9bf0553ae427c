#!/usr/bin/env python3
"""Prints what Cyclone DDS writes for the types of src/cdr/tests/mutable.rs and enums.rs, data and key, in hexadecimal.

    pip install cyclonedds==11.0.1 && python3 make_cdr.py

The bytes are committed in those tests, so nobody needs this to run them.
"""

from dataclasses import dataclass
from typing import Optional

from cyclonedds.idl import Endianness, IdlEnum, IdlStruct
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


SAMPLES = [
    Kinds(
        flag=True, id=-2, s="name", n=5, d=1.5, point=Point(1.0, 2.0), inner=Inner(9), bytes=[1, 2, 3], doubles=[1.0],
        strings=["a"], numbers=[7], array=[1, 2, 3, 4], short_array=[1, 2, 3], present=8, gear=Gear.First,
    ),
    Enums(Tiny.On, Wide.Above, [Tiny.Off, Tiny.On], [Wide.Zero, Wide.Above]),
]

for sample in SAMPLES:
    for version in (1, 2):
        for order in (Endianness.Big, Endianness.Little):
            options = {"use_version_2": version == 2, "endianness": order}
            print(type(sample).__name__, f"XCDR{version}", order.name)
            print("  data", sample.serialize(**options).hex())
            print("  key ", sample.serialize_key(**options).hex())
