"""A Cyclone DDS participant that returns received samples: live.py TYPES_FILE VERSION NAME ...

For each type it creates a reader of topic NAME_there and a writer of NAME_back, in this version of XCDR. It prints "ready" when all
exist. The end of standard input ends the program.
"""

import sys
import threading

from cyclonedds.core import GuardCondition, InstanceState, Policy, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.internal import InvalidSample
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.qos import Qos
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from peer import load


def main():
    types_file, version, *names = sys.argv[1:]
    types = load(types_file)
    participant = DomainParticipant(0)
    representation = Policy.DataRepresentation(use_cdrv0_representation=version == "1", use_xcdrv2_representation=version == "2")
    qos = Qos(
        Policy.Reliability.Reliable(duration(seconds=10)),
        Policy.Durability.TransientLocal,
        Policy.History.KeepAll,
        # In Cyclone, this policy limits the history for late joiners.
        Policy.DurabilityService(0, Policy.History.KeepAll, -1, -1, -1),
        representation,
    )
    publisher, subscriber = Publisher(participant), Subscriber(participant)
    stopped = GuardCondition(participant)
    waitset = WaitSet(participant)
    waitset.attach(stopped)
    pairs = []
    for name in names:
        kind = types[name][0]
        reader = DataReader(subscriber, Topic(participant, f"{name}_there", kind), qos=qos)
        writer = DataWriter(publisher, Topic(participant, f"{name}_back", kind), qos=qos)
        # Only alive instances: Cyclone's Python needs a key for the end of an instance, also without key members.
        anything = ReadCondition(reader, SampleState.Any | ViewState.Any | InstanceState.Alive)
        waitset.attach(anything)
        pairs.append((name, reader, writer, anything))

    def stop_at_end_of_input():
        sys.stdin.read()
        stopped.set(True)

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    print("ready", flush=True)
    while not stopped.read():
        for name, reader, writer, anything in pairs:
            try:
                for sample in reader.take(N=100, condition=anything):
                    if not isinstance(sample, InvalidSample):
                        writer.write(sample)
            except Exception as error:  # pylint: disable=broad-except
                print(f"live.py: {name}: {type(error).__name__}: {error}", file=sys.stderr)
        waitset.wait(duration(seconds=60))


if __name__ == "__main__":
    main()
