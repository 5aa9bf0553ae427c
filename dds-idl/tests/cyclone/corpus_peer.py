"""Reads values of types with the Python binding of Cyclone DDS, and writes them again.

A line of standard input is `type`, followed by the TypeIdentifier and the TypeObject of the type and of its parts in hexadecimal, or
`value VERSION PAYLOAD` with a value of the last type. An answer is `ok` and a payload, or `error` and the reason.
"""

import sys

from cyclonedds.idl import Endianness
from cyclonedds.idl._typesupport.DDS.XTypes._ddsi_xt_type_object import TypeIdentifier, TypeObject
from cyclonedds.idl._xt_builder import XTInterpreter


def read(kind, text):
    # The header says little endian, XCDR2.
    return kind.deserialize(bytes.fromhex(text), has_header=False, use_version_2=True)


def class_of(parts):
    pairs = [(read(TypeIdentifier, parts[at]), read(TypeObject, parts[at + 1])) for at in range(0, len(parts), 2)]
    kind, _ = XTInterpreter.xt_to_class(pairs[0][0], dict(pairs))
    kind.__idl__.populate()
    return kind


def main():
    kind = None
    for line in sys.stdin:
        what, *words = line.split()
        try:
            if what == "type":
                kind = class_of(words)
                print("ok", flush=True)
            else:
                value = kind.__idl__.deserialize(bytes.fromhex(words[1]))
                print("ok", kind.__idl__.serialize(value, use_version_2=words[0] == "2", endianness=Endianness.Little).hex(), flush=True)
        except Exception as error:  # pylint: disable=broad-except
            causes = []
            while error is not None:
                causes.append(f"{type(error).__name__}: {error}")
                error = error.__cause__
            print("error", " <- ".join(causes).replace("\n", " ")[:500], flush=True)


if __name__ == "__main__":
    main()
