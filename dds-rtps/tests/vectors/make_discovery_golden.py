#!/usr/bin/env python3
"""Writes NAME.discovery beside NAME.pcap: tshark's view of the SPDP and SEDP data, in the format of
tests/discovery_data.rs.

    python3 make_discovery_golden.py *.pcap

Needs tshark (written with 4.0). The repository contains the goldens, so running the tests does not need this program. It
replaces absent parameters by the standard's defaults, which also tests the defaults of the parser.
"""

import json
import subprocess
import sys

PARTICIPANT, PUBLICATION, SUBSCRIPTION = "0x000100c2", "0x000003c2", "0x000004c2"


class Pairs(list):
    """A JSON object that keeps repeated keys."""

    def all(self, name):
        return [value for key, value in self if key == name]

    def get(self, name, default=None):
        return next(iter(self.all(name)), default)

    def deep(self, name):
        for key, value in self:
            if key == name:
                yield value
            elif isinstance(value, Pairs):
                yield from value.deep(name)


class Parameters:
    def __init__(self, entries):
        self.entries = [(int(e.get("rtps.param.id"), 16), e) for _, e in entries if isinstance(e, Pairs)]

    def value(self, number, field, default):
        return next((next(e.deep(field)) for n, e in self.entries if n == number), default)

    def number(self, number, field, default):
        return int(str(self.value(number, field, default)), 0)

    def duration(self, number, default):
        entry = next((e for n, e in self.entries if n == number), None)
        if entry is None:
            return default
        seconds, fraction = (int(next(entry.deep("rtps.param.ntpTime." + f))) for f in ("sec", "fraction"))
        infinite = seconds == 0x7FFFFFFF and fraction in (0xFFFFFFFF, 0x7FFFFFFF, -1)
        return "inf" if infinite else str(seconds * 10**9 + (fraction * 10**9 >> 32))

    def locators(self, number):
        found = []
        for n, entry in self.entries:
            if n == number:
                locator = entry.get("locator")
                kind = int(locator.get("rtps.locator.kind"), 16)
                address = f"{locator.get('rtps.locator.ipv4')}:{locator.get('rtps.locator.port')}"
                found.append(address if kind == 1 else f"kind{kind}")
        return ",".join(dict.fromkeys(found))


def guid(text):
    return text.replace(":", "")


def participant(p):
    domain = p.value(0x0F, "rtps.parameter_data", None)
    properties = [e for n, e in p.entries if n == 0x59]
    names = [x for e in properties for x in e.deep("rtps.property_name")]
    values = [x for e in properties for x in e.deep("rtps.property_value")]
    version = p.number(0x15, "rtps.version", "0x0201")
    return " ".join(
        [
            "participant",
            guid(p.value(0x50, "rtps.param.participant_guid", "")),
            f"version={version >> 8}.{version & 255}",
            f"vendor={p.value(0x16, 'rtps.vendorId', '0x0000')[2:]}",
            f"domain={'-' if domain is None else int.from_bytes(bytes.fromhex(guid(domain)), 'little')}",
            f"lease={p.duration(0x02, str(100 * 10**9))}",
            f"set={p.number(0x58, 'rtps.param.builtin_endpoint_set', 0):08x}",
            f"name={p.value(0x62, 'rtps.param.entityName', '')}",
            f"mu={p.locators(0x32)} mm={p.locators(0x33)} du={p.locators(0x31)} dm={p.locators(0x48)}",
            "properties=" + ",".join(f"{n}:{v}" for n, v in zip(names, values, strict=True)),
        ]
    )


def endpoint(p, word, reliable):
    representation = [v for n, e in p.entries if n == 0x73 for v in e.deep("rtps.param.data_representation")] or ["0"]
    partition = [v for n, e in p.entries if n == 0x29 for v in e.deep("rtps.param.partition")]
    presentation = [
        p.number(0x21, "rtps.presentation." + f, 0) for f in ("access_scope", "coherent_access", "ordered_access")
    ]
    history = (p.number(0x40, "rtps.history.kind", 0), p.number(0x40, "rtps.history_depth", 1))
    limits = [
        p.number(0x41, "rtps.resource_limit." + f, -1)
        for f in ("max_samples", "max_instances", "max_samples_per_instance")
    ]
    items = [
        word,
        guid(p.value(0x5A, "rtps.param.endpoint_guid", "")),
        p.value(0x05, "rtps.param.topicName", ""),
        p.value(0x07, "rtps.param.typeName", ""),
        f"reliability={p.number(0x1A, 'rtps.reliability_kind', 2 if reliable else 1)}",
        f"durability={p.number(0x1D, 'rtps.durability', 0)}",
        f"ownership={p.number(0x1F, 'rtps.ownership', 0)}",
        f"order={p.number(0x25, 'rtps.destination_order', 0)}",
        f"deadline={p.duration(0x23, 'inf')}",
        f"latency={p.duration(0x27, '0')}",
        "presentation=" + "/".join(map(str, presentation)),
        "partition=" + ",".join(partition),
        "representation=" + ",".join(str(int(r, 0)) for r in representation),
        "history=" + ("all" if history[0] == 1 else str(history[1])),
        "limits=" + "/".join(map(str, limits)),
        f"unicast={p.locators(0x2F)} multicast={p.locators(0x30)}",
    ]
    if reliable:
        items += [f"strength={p.number(0x06, 'rtps.param.strength', 0)}", f"lifespan={p.duration(0x2B, 'inf')}"]
    else:
        items += [f"filter={p.duration(0x04, '0')}"]
    return " ".join(items)


def line(data):
    writer = data.get("rtps.sm.wrEntityId")
    payload = data.get("serializedData") or data.get("serializedKey")
    entries = next((v for k, v in payload if isinstance(v, Pairs)), None) if payload else None
    inline = next((v for k, v in data if k.startswith("inlineQos") and isinstance(v, Pairs)), Pairs())
    status = int(next(inline.deep("rtps.param.status_info"), "0"), 16)
    if status:
        words = {PARTICIPANT: "participant", PUBLICATION: "writer", SUBSCRIPTION: "reader"}
        p = Parameters(entries) if entries else Parameters([])
        inside = p.value(0x5A, "rtps.param.endpoint_guid", None) or p.value(0x50, "rtps.param.participant_guid", None)
        hash_only = next(inline.deep("rtps.guid"), "")
        return f"gone {words[writer]} {guid(inside or hash_only)} status={status}"
    p = Parameters(entries)
    if writer == PARTICIPANT:
        return participant(p)
    return endpoint(p, "writer", True) if writer == PUBLICATION else endpoint(p, "reader", False)


def golden(path):
    command = ["tshark", "-r", path, "-T", "json", "-Y", "rtps.sm.id == 0x15"]
    packets = json.loads(subprocess.run(command, capture_output=True, check=True).stdout, object_pairs_hook=Pairs)
    for packet in packets:
        layers = packet.get("_source").get("layers")
        number = layers.get("frame").get("frame.number")
        for rtps in layers.all("rtps"):
            for data in rtps.all("rtps.sm.id_tree"):
                if data.get("rtps.sm.wrEntityId") in (PARTICIPANT, PUBLICATION, SUBSCRIPTION):
                    if data.get("rtps.octets_to_inline_qos"):
                        yield f"{number} {line(data)}"


for path in sys.argv[1:]:
    with open(path.removesuffix(".pcap") + ".discovery", "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in golden(path))
