"""Writes the captures of ../tests/vectors to the corpora of the fuzz targets: datagrams, and their payloads."""

import hashlib
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
DATA = 0x15
BUILTIN_KINDS = (0xC2, 0xC3)


def datagrams(path):
    """The UDP payloads of a little-endian pcap of Ethernet frames with IPv4."""
    rest = path.read_bytes()[24:]
    while rest:
        length = struct.unpack_from("<I", rest, 8)[0]
        frame, rest = rest[16 : 16 + length], rest[16 + length :]
        header_length = (frame[14] & 15) * 4
        yield frame[14 + header_length + 8 :]


def samples(datagram):
    """The payload of each DATA submessage, with the entity kind of its writer."""
    at = 20
    while at + 4 <= len(datagram):
        kind, flags = datagram[at], datagram[at + 1]
        order = "<" if flags & 1 else ">"
        length = struct.unpack_from(order + "H", datagram, at + 2)[0]
        end = at + 4 + length if length else len(datagram)
        if kind == DATA and flags & 0x0C:
            begin = at + 8 + struct.unpack_from(order + "H", datagram, at + 6)[0]
            if flags & 2:
                begin = end_of_parameters(datagram, begin, order)
            yield datagram[at + 15], datagram[begin:end]
        at = end


def end_of_parameters(datagram, at, order):
    while True:
        parameter, length = struct.unpack_from(order + "HH", datagram, at)
        at += 4
        if parameter == 1:
            return at
        at += length


def keep(target, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)


for capture in sorted((HERE / "../tests/vectors").glob("*.pcap")):
    for datagram in datagrams(capture):
        keep("message", datagram)
        for writer_kind, payload in samples(datagram):
            if writer_kind in BUILTIN_KINDS:
                keep("discovery", payload)
                keep("parameter_list", payload[4:])
            else:
                keep("cdr", payload)

# Single type descriptions, and all those of a topic's type, in the format of the target `type_objects`.
rows = {}
for line in (HERE / "../../dds-cdr/tests/vectors/cyclone_type_objects.golden").read_text().splitlines():
    name, form, *fields = line.split(" ")
    content = bytes.fromhex(fields[-1])
    keep("type_objects", content)
    if form != "information":
        row = rows.setdefault((name, form), [])
        row.append(struct.pack("<H", len(content)) + content)
for row in rows.values():
    keep("type_objects", b"".join(row))
for (_, form), row in rows.items():
    # Pairs of types that may be assignable.
    keep("type_objects", b"".join(row[:1] + [other[0] for key, other in rows.items() if key[1] == form][:5]))

EXPRESSIONS = """
id = 1 AND name <> 'a'
name LIKE 'a%_' OR NOT flag = TRUE
point.x BETWEEN %0 AND %1
corners[1].y >= -1.5e3 and grid[1][2] != 0x1f
list[2] < large
color = 'Green' OR color = %0
either._d = 1 AND either.Text MATCH 'a*,[b-d]?'
(maybe > 0.1 OR letter = 'c') AND packed.signed < tiny
texts[0] NOT BETWEEN 'a' AND 'b'
either.Points[0].name = '%0'
"""
for expression in EXPRESSIONS.strip().splitlines():
    for header in (b"\0\1\0\0", b"\0\3\0\0", b"\0\7\0\0", b"\0\x0b\0\0"):
        keep("filters", expression.encode() + b"\n1\tRed\n" + header + bytes(range(1, 65)) * 3)
        keep("filters", expression.encode() + b"\n2\n" + header + bytes(256))

SECURITY = HERE / "../../dds-security/tests"
for selector, pattern in enumerate(
    [
        "vectors/handshake/cyclone_*.bin",
        "",
        "pki/ec*.p7s",
        "",
        "pki/*.pem",
        "pki/*.key.pem",
        "documents/*.xml",
        "vectors/crypto/*.key",
        "vectors/crypto/*.bin",
    ]
):
    for path in sorted(SECURITY.glob(pattern)) if pattern else []:
        keep("security", bytes([selector]) + path.read_bytes())
# Bytes to seal with each kind, with and without MACs for receivers, and a change of the byte 30.
for kind in range(8):
    keep("security", bytes([9, kind, 0x10, 30, 0, 0x15, 1, 8, 0]) + b"12345678")
