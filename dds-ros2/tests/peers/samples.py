"""Values of each field of a message of ROS 2, and the text that `{:?}` of Rust gives for a message."""

import importlib
import itertools
import re
import struct

STRINGS = itertools.cycle(["", "naïve", "max value", "it's \"quoted\"", "日本語", "\U0001f916 and €"])
BITS = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}


def element_of(kind):
    """Returns the type of an element, and how many there are: a number, a bound as a string, or None for any number."""
    if match := re.fullmatch(r"sequence<(.*?)(?:, (\d+))?>", kind):
        return match[1], match[2]
    if match := re.fullmatch(r"(.*)\[(\d+)\]", kind):
        return match[1], int(match[2])
    return None


def class_of(kind):
    package, name = kind.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def fill(message_class, numbers=None):
    """Returns a message whose fields have different values."""
    numbers = numbers or itertools.count(1)
    message = message_class()
    for name, kind in message.get_fields_and_field_types().items():
        if found := element_of(kind):
            element, count = found
            count = count if isinstance(count, int) else min(int(count or 3), 3)
            values = [value_of(element, numbers) for _ in range(count)]
            setattr(message, name, values)
        else:
            setattr(message, name, value_of(kind, numbers))
    return message


def value_of(kind, numbers):
    number = next(numbers)
    if kind == "boolean":
        return number % 3 != 0
    if kind == "octet":
        return bytes([number * 37 % 256])
    if kind in BITS:
        # A large value with a different last digit: its first bytes count as well.
        limit = 1 << BITS[kind]
        value = (0xA1B2C3D4E5F60718 >> (64 - BITS[kind])) + number
        value %= limit
        return value - limit if not kind.startswith("u") and value >= limit // 2 else value
    if kind == "float":
        return number * -0.25
    if kind == "double":
        return number * 1024.125
    if kind.startswith(("string", "wstring")):
        return next(STRINGS)
    return fill(class_of(kind), numbers)


def text(message):
    fields = message.get_fields_and_field_types().items()
    inner = ", ".join(f"{name}: {text_of(getattr(message, name), kind)}" for name, kind in fields)
    # On the wire, an empty message has this member.
    return f"{type(message).__name__} {{ {inner or 'structure_needs_at_least_one_member: 0'} }}"


def text_of(value, kind):
    if found := element_of(kind):
        return "[" + ", ".join(text_of(element, found[0]) for element in value) + "]"
    if kind == "boolean":
        return str(bool(value)).lower()
    if kind == "octet":
        return str(value[0])
    if kind in BITS:
        return str(int(value))
    if kind == "float":
        return repr(struct.unpack("f", struct.pack("f", value))[0])
    if kind == "double":
        return repr(float(value))
    if kind.startswith(("string", "wstring")):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text(value)
