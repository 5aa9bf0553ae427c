"""Cyclone DDS's codec as a process. Each line of standard input has a type's name, the version of XCDR (`1`, `2`, or `2s` for the
standard's form, see `standard.py`), and a payload in hexadecimal. A name with `types` requests the type's TypeObjects, minimal and complete. Each line
of standard output is an answer: `error` and the reason, or `ok` and then

    the value as text
    the value's payload, little endian, then big endian
    the key's payload, little endian, or `-`
    the key in XCDR2 as for a key hash, or `-`, and its maximum size (17: more than 16)
    only for `2s`: the unmodified payload of Cyclone, little endian, and the number of its deviations from the standard
"""

import importlib.util
import struct
import sys
from contextlib import nullcontext

from cyclonedds.idl import Endianness, SerializeKind
from cyclonedds.idl._support import KeyScanResult
from cyclonedds.idl._xt_builder import XTBuilder

import standard
from standard import STANDARD

SHAPES = {}


def load(path):
    spec = importlib.util.spec_from_file_location("generated_types", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["generated_types"] = module
    spec.loader.exec_module(module)
    SHAPES.update(module.SHAPES)
    return module.TYPES


def text_of(value, shape):
    kind = shape[0]
    if kind == "b":
        return "1" if value else "0"
    if kind == "i":
        return str(value)
    if kind == "f":
        return struct.pack(">f", value).hex()
    if kind == "d":
        return struct.pack(">d", value).hex()
    if kind == "c":
        return str(ord(value))
    if kind == "w":
        # Cyclone's Python represents UTF-16 units as signed numbers.
        return str(value & 0xFFFF)
    if kind == "s":
        return '"' + value.encode().hex() + '"'
    if kind == "E":
        return str(value if isinstance(value, int) else value.value)
    if kind == "M":
        return str(value.as_mask())
    if kind == "l":
        return "[" + "".join(text_of(element, shape[1]) + "," for element in value) + "]"
    if kind == "m":
        return "[" + "".join(text_of(key, shape[1]) + ":" + text_of(of, shape[2]) + "," for key, of in value.items()) + "]"
    if kind == "r":
        return text_of(value, SHAPES[shape[1]])
    if kind == "o":
        return "-" if value is None else "+" + text_of(value, shape[1])
    if kind == "S":
        return "{" + "".join(text_of(getattr(value, name), of) for name, of in shape[1]) + "}"
    if kind == "U":
        label, member = value.get()
        number = getattr(label, "value", label)
        of = next((of for labels, of in shape[2] if number in labels), shape[3])
        return "<" + text_of(label, shape[1]) + ":" + text_of(member, of) + ">"
    raise ValueError(kind)


def key_len_max(idl):
    """As Cyclone computes it, but with an alignment of at most 4 bytes in XCDR2, which its Python misses here."""
    scanned = idl.v2_keyresult
    if scanned.rtype == KeyScanResult.PossiblyInfinite:
        return 17
    len_max = 0
    for way in scanned.entries:
        end = 0
        for alignment, size in way:
            alignment = min(alignment, 4)
            end = (end + alignment - 1) // alignment * alignment + size
        len_max = max(len_max, end)
    return min(len_max, 17)


def type_objects(kind):
    """The minimal and the complete TypeObject of the type, which name all contained types."""
    # Cached types would change the hashes of recursive types.
    XTBuilder._type_hash_db.clear()  # pylint: disable=protected-access
    _, mapping = XTBuilder.process_type(kind)
    pairs = [mapping.identifier_object_pair_minimal, mapping.identifier_object_pair_complete]
    objects = [pair[0].type_object.serialize(use_version_2=True, endianness=Endianness.Little)[4:].hex() for pair in pairs]
    return " ".join(["ok"] + objects)


def written(idl, value, shape, is_second):
    """The part of an answer that describes a value."""
    both = [idl.serialize(value, use_version_2=is_second, endianness=order) for order in (Endianness.Little, Endianness.Big)]
    key = hashed = "-"
    if not idl.keyless:
        key = idl.serialize(value, use_version_2=is_second, endianness=Endianness.Little, serialize_kind=SerializeKind.KeyDefinitionOrder).hex()
        hashed = idl.serialize_key_normalized(value, use_version_2=True, endianness=Endianness.Big).hex() or "-"
    return ["ok", text_of(value, shape), both[0].hex(), both[1].hex(), key, hashed, str(key_len_max(idl))]


def answer(types, line):
    name, version, *payload = line.split()
    if version == "types":
        return type_objects(types[name][0])
    (payload,) = payload
    kind, shape = types[name]
    idl, is_second = kind.__idl__, version != "1"
    with STANDARD.on() if version == "2s" else nullcontext():
        value = idl.deserialize(bytes.fromhex(payload))
        said = written(idl, value, shape, is_second)
        # The value was written twice, and its key once.
        STANDARD.written = 0
        idl.serialize(value, use_version_2=is_second, endianness=Endianness.Little)
    if version == "2s":
        said += [idl.serialize(value, use_version_2=True, endianness=Endianness.Little).hex(), str(STANDARD.written)]
    return " ".join(said)


def main():
    standard.install()
    types = load(sys.argv[1])
    for line in sys.stdin:
        try:
            print(answer(types, line), flush=True)
        except Exception as error:  # pylint: disable=broad-except
            causes = []
            while error is not None:
                causes.append(f"{type(error).__name__}: {error}")
                error = error.__cause__
            print("error " + " <- ".join(causes).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
