"""Reads values of IDL types with the Python binding of Cyclone DDS, and writes them again.

The classes are those of `../fast_dds/values.idl`, without maps, which Cyclone DDS does not have, and of `../data/idl/cyclone.idl`. Each line of standard input
has the name of a type, the version of XCDR, and a payload in hexadecimal. An answer is the payload that Cyclone writes, or `error` and the reason.
"""

import sys
from dataclasses import dataclass
from typing import Optional

from cyclonedds.idl import Endianness, IdlBitmask, IdlEnum, IdlStruct, IdlUnion
from cyclonedds.idl import annotations as annotate
from cyclonedds.idl import types


class Color(IdlEnum, typename="values.Color"):
    RED = 0
    GREEN = 1
    BLUE = 2


Numbers = types.sequence[types.int32]
Matrix = types.array[types.array[types.float64, 3], 2]


@dataclass
@annotate.appendable
class Point(IdlStruct, typename="values.Point"):
    x: types.float64
    y: types.float32
    tag: types.byte


@dataclass
@annotate.final
class Primitives(IdlStruct, typename="values.Primitives"):
    b: bool
    o: types.byte
    c: types.char
    i8: types.int8
    u8: types.uint8
    s: types.int16
    us: types.uint16
    l: types.int32
    ul: types.uint32
    ll: types.int64
    ull: types.uint64
    f: types.float32
    d: types.float64
    paint: Color


@dataclass
@annotate.final
class Texts(IdlStruct, typename="values.Texts"):
    text: str
    bounded: types.bounded_str[12]
    list: types.sequence[str]


@dataclass
@annotate.appendable
class Collections(IdlStruct, typename="values.Collections"):
    octets: types.sequence[types.byte]
    flags: types.sequence[bool, 4]
    values_: Numbers
    grid: Matrix
    points: types.sequence[Point]
    pair: types.array[Point, 2]
    nested: types.sequence[types.sequence[types.int16]]
    reals: types.sequence[types.float64]
    colors: types.sequence[Color, 3]
    matrices: types.sequence[Matrix, 2]


@annotate.appendable
class Choice(IdlUnion, discriminator=types.int32, typename="values.Choice"):
    number: types.case[[1], types.int32]
    text: types.case[[2, 3], str]
    place: types.case[[4], Point]
    raw: types.default[types.sequence[types.byte]]


@annotate.appendable
class ByColor(IdlUnion, discriminator=Color, typename="values.ByColor"):
    red: types.case[[Color.RED], types.float64]
    values_: types.case[[Color.GREEN], Numbers]


@annotate.appendable
class ByBool(IdlUnion, discriminator=bool, typename="values.ByBool"):
    yes: types.case[[True], types.int32]
    # With both values as labels, Cyclone's Python creates no union, because it searches for a third value.
    no: types.default[types.array[Point, 2]]


@annotate.appendable
class ByChar(IdlUnion, discriminator=types.char, typename="values.ByChar"):
    a: types.case[["a"], types.byte]
    b: types.case[["b"], Choice]


@dataclass
@annotate.appendable
class Unions(IdlStruct, typename="values.Unions"):
    one: Choice
    choices: types.sequence[Choice]
    paint: ByColor
    flag: ByBool
    letter: ByChar


@dataclass
@annotate.appendable
class Base(IdlStruct, typename="values.Base"):
    id: types.int32
    annotate.key("id")
    name: str


@dataclass
@annotate.appendable
class Derived(Base, typename="values.Derived"):
    value: types.float64
    others: types.sequence[Base]


class Rights(IdlBitmask, typename="m.Rights"):
    __idl_annotations__ = {"bit_bound": 10}
    R: bool
    W: bool
    annotate.position("W", 4)


Rights = dataclass(Rights)


@dataclass
@annotate.final
class P(IdlStruct, typename="m.P"):
    x: types.int32
    y: types.int32


@dataclass
@annotate.mutable
@annotate.autoid("hash")
class S(IdlStruct, typename="m.S"):
    number: types.int32
    # Dynamic types do not send `must_understand` of a key, because the TypeObjects of Cyclone's `idlc` mark each key with it.
    annotate.key("number")
    way: types.sequence[types.int32, 4]
    g: types.array[types.array[types.int32, 3], 2]
    str: Optional[types.bounded_str[9]]
    pp: P
    annotate.external("pp")
    r: Rights
    ps: types.sequence[P]
    d: types.float64
    f: types.float32
    l: types.uint64
    text: str
    longer: types.bounded_str[300]


@annotate.final
class U(IdlUnion, discriminator=types.int32, typename="m.U"):
    a: types.case[[-1], P]
    b: types.case[[1, 2], types.int32]
    c: types.default[str]


@dataclass
@annotate.mutable
class N(IdlStruct, typename="m.N"):
    first: U
    annotate.must_understand("first")
    more: types.sequence[U]
    annotate.member_id("more", 7)
    last: S


@dataclass
@annotate.final
class D(P, typename="m.D"):
    oo: types.array[types.byte, 4]
    cc: types.char
    bb: bool
    ss: types.sequence[types.sequence[types.int16]]
    big: types.array[types.int32, 300]


TYPES = {kind.__idl_typename__.replace(".", "::"): kind for kind in (Primitives, Texts, Collections, Unions, Base, Derived, P, S, N, D)}


def main():
    for line in sys.stdin:
        name, version, payload = line.split()
        idl = TYPES[name].__idl__
        try:
            value = idl.deserialize(bytes.fromhex(payload))
            print(idl.serialize(value, use_version_2=version == "2", endianness=Endianness.Little).hex(), flush=True)
        except Exception as error:  # pylint: disable=broad-except
            causes = []
            while error is not None:
                causes.append(f"{type(error).__name__}: {error}")
                error = error.__cause__
            print("error " + " <- ".join(causes).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
