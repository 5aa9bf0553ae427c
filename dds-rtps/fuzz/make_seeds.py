"""Puts the captures of ../tests/vectors into the corpora of the fuzz targets: datagrams, and the payloads in them."""

import hashlib
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
DATA = 0x15
BUILTIN_KINDS = (0xC2, 0xC3)


def datagrams(path):
    """The UDP payloads of a little-endian pcap of Ethernet frames with IPv4 in them."""
    rest = path.read_bytes()[24:]
    while rest:
        length = struct.unpack_from("<I", rest, 8)[0]
        frame, rest = rest[16 : 16 + length], rest[16 + length :]
        header_length = (frame[14] & 15) * 4
        yield frame[14 + header_length + 8 :]


def samples(datagram):
    """The payloads of the DATAs, each with the kind of its writer."""
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
