#!/usr/bin/env python3
"""Writes NAME.golden beside NAME.pcap: tshark's view of each datagram, in the format of tests/captures.rs.

    python3 make_golden.py *.pcap

Needs tshark (written with 4.0). The repository contains the goldens, so running the tests does not need this program.
"""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def summary_of_set(node, width, little):
    """`base/numBits`, and the words of the bitmap if there are any; `width` is the size of the base."""
    raw = bytes.fromhex(node.get("value"))
    order = "little" if little else "big"
    if width == 8:
        base = int.from_bytes(raw[0:4], order, signed=True) * 2**32 + int.from_bytes(raw[4:8], order)
    else:
        base = int.from_bytes(raw[0:4], order)
    bits = int.from_bytes(raw[width : width + 4], order)
    words = raw[width + 4 :][: 4 * ((bits + 31) // 32)]
    words = [int.from_bytes(words[i : i + 4], order) for i in range(0, len(words), 4)]
    return f"{base}/{bits}" + "".join(f":{word:08x}" for word in words)


def child(node, name):
    return next((field for field in node if field.get("name") == name), None)


def shown(node, show):
    return next((field for field in node if field.get("show").rstrip(":") == show), None)


def inline_qos(node):
    found = shown(node, "inlineQos")
    if found is None:
        return ""
    ids = [int(child(entry, "rtps.param.id").get("show"), 16) for entry in found if child(entry, "rtps.param.id") is not None]
    status = next((f.get("value") for f in found.iter() if f.get("name") == "rtps.param.status_info"), "00000000")
    assert ids[-1] == 1, ids
    return " q" + ",".join(f"{i:04x}" for i in ids[:-1]) + f"={int(status, 16)}"


def payload_len(node):
    """tshark shows some payloads in parts, so this counts the bytes behind the inline QoS."""
    octets = child(node, "rtps.octets_to_inline_qos")
    start = int(octets.get("pos")) + 2 + int(octets.get("show"))
    found = shown(node, "inlineQos")
    if found is not None:
        start = int(found.get("pos")) + int(found.get("size"))
    length = int(node.get("pos")) + int(node.get("size")) - start
    whole = next((f for f in node if f.get("show") in ("serializedData", "serializedKey")), None)
    assert whole is None or int(whole.get("size")) == length
    return length


def summary(node):
    submessage = int(node.get("show"), 16)
    flags = int(child(node, "rtps.sm.flags").get("show"), 16)
    little = flags & 1 == 1
    name = f"{submessage:02x}"
    numbers = [field.get("show") for field in node if field.get("name") == "rtps.sm.seqNumber"]
    ids = [child(node, n) for n in ("rtps.sm.rdEntityId", "rtps.sm.wrEntityId")]
    if ids[0] is not None:
        name += "".join(" " + field.get("value") for field in ids)
    count = next((f.get("show") for f in node if f.get("name").endswith("count") and f.get("name").startswith("rtps.")), None)
    final = " final" if flags & 2 else ""
    match submessage:
        case 0x06:
            return f"{name} {summary_of_set(shown(node, 'readerSNState'), 8, little)} #{count}{final}"
        case 0x07:
            return f"{name} {numbers[0]}..{numbers[1]} #{count}{final}" + (" live" if flags & 4 else "")
        case 0x08:
            return f"{name} {numbers[0]} {summary_of_set(shown(node, 'gapList'), 8, little)}"
        case 0x09:
            time = child(node, "rtps.info_ts.timestamp")
            if time is None:
                return f"{name} none"
            raw = bytes.fromhex(time.get("value"))
            seconds, fraction = (int.from_bytes(raw[i : i + 4], "little" if little else "big") for i in (0, 4))
            return f"{name} {seconds * 10**9 + (fraction * 10**9 >> 32)}"
        case 0x0E:
            return f"{name} {child(node, 'rtps.guidPrefix.dst').get('value')}"
        case 0x12:
            return f"{name} {numbers[0]} {summary_of_set(shown(node, 'fragmentNumberState'), 4, little)} #{count}"
        case 0x13:
            return f"{name} {numbers[0]} {child(node, 'rtps.heartbeat_frag.number').get('show')} #{count}"
        case 0x15:
            kind = {4: "data", 8: "key", 0: "none"}[flags & 12]
            return f"{name} {numbers[0]}{inline_qos(node)} {kind} {payload_len(node)}"
        case 0x16:
            fields = [child(node, "rtps.data_frag." + n).get("show") for n in ("number", "num_fragments", "size", "sample_size")]
            payload = sum(int(f.get("size")) for f in node if f.get("show").startswith("fragment ["))
            return f"{name} {numbers[0]} {fields[0]}+{fields[1]}*{fields[2]}/{fields[3]}{inline_qos(node)} {payload}"
    return name


def golden(path):
    command = ["tshark", "-r", path, "-T", "pdml", "-Y", "rtps"]
    packets = ElementTree.fromstring(subprocess.run(command, capture_output=True, check=True).stdout)
    for packet in packets:
        layers = {proto.get("name"): proto for proto in packet}
        number = child(layers["geninfo"], "num").get("show")
        rtps = layers["rtps"]
        version = ".".join(str(int(child(rtps, "rtps.version").get("value")[i : i + 2], 16)) for i in (0, 2))
        vendor, prefix = (child(rtps, n).get("value") for n in ("rtps.vendorId", "rtps.guidPrefix.src"))
        items = [summary(node) for node in rtps if node.get("name") == "rtps.sm.id"]
        yield " | ".join([f"{number} {version} {vendor} {prefix}"] + items)


for path in sys.argv[1:]:
    with open(path.removesuffix(".pcap") + ".golden", "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in golden(path))
