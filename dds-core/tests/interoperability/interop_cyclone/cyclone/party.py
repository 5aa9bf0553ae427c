"""A Cyclone DDS participant that reads commands from standard input, one per line:

    writer NAME TOPIC [POLICY=VALUE ...]   a writer of ShapeType, in its own publisher
    reader NAME TOPIC [POLICY=VALUE ...]   a reader of ShapeType, in its own subscriber
    write NAME INDEX ...                   write these samples without a pause
    dispose NAME INDEX                     dispose the instance of sample INDEX
    unregister NAME INDEX                  unregister the instance of sample INDEX
    strength NAME STRENGTH                 change OWNERSHIP_STRENGTH
    take NAME                              take the samples of a reader with `hold=yes`
    close NAME                             delete the endpoint and its group

It prints one JSON line per answer ("done", or "refused" with the reason) and per event of an endpoint ("matched", "incompatible", "deadline",
"liveliness", "lost", "sample", "instance", with the endpoint's NAME as "of"). "ready" comes first. The end of standard input ends the program.

Policies, with times in milliseconds: reliability=best-effort|reliable, durability=volatile|transient-local, depth=N (0 keeps all), deadline, latency,
lifespan, filter, lease, liveliness=automatic|by-participant|by-topic, ownership=STRENGTH (exclusive), order=source, scope=topic, representation=xcdr1|xcdr2,
partition=a,b, autodispose=no.
"""

import sys
import threading
import time

from cyclonedds.core import DDSException, Listener
from cyclonedds.domain import DomainParticipant
from cyclonedds.internal import InvalidSample
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from shapes_and_blobs import LIVELINESS, ShapeType, tell
from subscriber import STATES


def milliseconds(value):
    return duration(milliseconds=int(value))


def endpoint_qos(policies):
    """The defaults are RELIABLE, KEEP_ALL and XCDR2."""
    get = policies.get
    depth = int(get("depth", 0))
    lease = milliseconds(policies["lease"]) if "lease" in policies else duration(infinite=True)
    chosen = [
        Policy.Reliability.BestEffort if get("reliability") == "best-effort" else Policy.Reliability.Reliable(duration(seconds=10)),
        Policy.Durability.TransientLocal if get("durability") == "transient-local" else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth) if depth else Policy.History.KeepAll,
        Policy.DurabilityService(0, Policy.History.KeepAll, -1, -1, -1),
        LIVELINESS[get("liveliness", "automatic")](lease),
        Policy.DataRepresentation(
            use_cdrv0_representation=get("representation") == "xcdr1", use_xcdrv2_representation=get("representation") != "xcdr1"
        ),
        Policy.WriterDataLifecycle(autodispose=get("autodispose") != "no"),
    ]
    times = {
        "deadline": Policy.Deadline,
        "latency": Policy.LatencyBudget,
        "lifespan": Policy.Lifespan,
        "filter": Policy.TimeBasedFilter,
    }
    chosen += [policy(milliseconds(policies[name])) for name, policy in times.items() if name in policies]
    if "ownership" in policies:
        chosen += [Policy.Ownership.Exclusive, Policy.OwnershipStrength(int(policies["ownership"]))]
    if get("order") == "source":
        chosen.append(Policy.DestinationOrder.BySourceTimestamp)
    return Qos(*chosen)


def group_qos(policies):
    chosen = []
    if "partition" in policies:
        chosen.append(Policy.Partition(policies["partition"].split(",")))
    if policies.get("scope") == "topic":
        chosen.append(Policy.PresentationAccessScope.Topic(coherent_access=False, ordered_access=False))
    return Qos(*chosen)


class Ear(Listener):
    def __init__(self, name):
        super().__init__(
            on_publication_matched=self.matched,
            on_subscription_matched=self.matched,
            on_offered_incompatible_qos=self.incompatible,
            on_requested_incompatible_qos=self.incompatible,
            on_offered_deadline_missed=self.deadline,
            on_requested_deadline_missed=self.deadline,
        )
        self.name = name
        self.endpoint = None
        self.takes = False

    def tell(self, event, **fields):
        tell(event, of=self.name, **fields)

    def matched(self, _entity, status):
        self.tell("matched", count=status.current_count)

    def incompatible(self, _entity, status):
        self.tell("incompatible", policy=status.last_policy_id)

    def deadline(self, _entity, status):
        self.tell("deadline", total=status.total_count)

    def on_liveliness_changed(self, _reader, status):
        self.tell("liveliness", alive=status.alive_count, not_alive=status.not_alive_count)

    def on_liveliness_lost(self, _writer, status):
        self.tell("lost", total=status.total_count)

    def take(self):
        endpoint = self.endpoint
        for sample in endpoint.take(N=1000) if endpoint else []:
            info = sample.sample_info
            common = {
                "state": STATES[info.instance_state],
                "disposed_generation": info.disposed_generation_count,
                "no_writers_generation": info.no_writers_generation_count,
            }
            if isinstance(sample, InvalidSample):
                self.tell("instance", **common, **sample.key_sample.key_fields())
            else:
                self.tell("sample", **common, **sample.fields())


class Party:
    def __init__(self):
        self.participant = DomainParticipant(0)
        self.topics = {}
        self.endpoints = {}

    def topic(self, name):
        return self.topics.setdefault(name, Topic(self.participant, name, ShapeType))

    def new(self, kind, group_kind, name, topic, words):
        policies = dict(word.split("=") for word in words)
        group = group_kind(self.participant, qos=group_qos(policies))
        ear = Ear(name)
        ear.endpoint = kind(group, self.topic(topic), qos=endpoint_qos(policies), listener=ear)
        self.endpoints[name] = (group, ear)
        ear.takes = kind is DataReader and "hold" not in policies

    def do(self, command, name, *words):
        if command == "writer":
            self.new(DataWriter, Publisher, name, words[0], words[1:])
            return
        if command == "reader":
            self.new(DataReader, Subscriber, name, words[0], words[1:])
            return
        ear = self.endpoints[name][1]
        endpoint = ear.endpoint
        samples = [ShapeType.sample(int(word)) for word in words if command in ("write", "dispose", "unregister")]
        if command == "write":
            for sample in samples:
                endpoint.write(sample)
        elif command == "dispose":
            endpoint.dispose(samples[0])
        elif command == "unregister":
            endpoint.unregister_instance(samples[0])
        elif command == "strength":
            endpoint.set_qos(Qos(Policy.OwnershipStrength(int(words[0]))))
        elif command == "take":
            ear.take()
        elif command == "close":
            # The binding deletes an entity with the last reference to it.
            ear.endpoint = endpoint = None
            del self.endpoints[name]
        else:
            sys.exit(f"unknown command {command}")


def take_what_comes(party):
    """Polls instead of using a listener. The binding holds the interpreter while it writes, and Cyclone waits there for a data listener
    on another thread."""
    while True:
        for _group, ear in list(party.endpoints.values()):
            if ear.takes:
                ear.take()
        time.sleep(0.005)


def main():
    party = Party()
    threading.Thread(target=take_what_comes, args=[party], daemon=True).start()
    tell("ready")
    for line in sys.stdin:
        try:
            party.do(*line.split())
        except DDSException as error:
            tell("refused", reason=str(error))
        else:
            tell("done")


if __name__ == "__main__":
    main()
