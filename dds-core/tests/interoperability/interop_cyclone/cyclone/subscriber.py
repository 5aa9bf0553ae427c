"""A Cyclone DDS subscriber that prints what it receives, one JSON line per event:

    ready                 the reader exists
    matched               the number of matched writers has changed
    liveliness            the numbers of alive and not alive writers have changed
    sample                a sample: its fields; a sequence of octets as length and MD5
    instance              a sample without data: the key fields and the instance state (disposed | no_writers | alive)

The end of standard input ends the program.
"""

import sys
import threading

from cyclonedds.core import GuardCondition, InstanceState, Listener, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import DomainParticipant
from cyclonedds.internal import InvalidSample
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from shapes_and_blobs import TYPES, arguments, endpoint_qos, tell

STATES = {
    InstanceState.Alive: "alive",
    InstanceState.NotAliveDisposed: "disposed",
    InstanceState.NotAliveNoWriters: "no_writers",
}


class TellMatches(Listener):
    def on_subscription_matched(self, _reader, status):
        tell("matched", count=status.current_count)

    def on_liveliness_changed(self, _reader, status):
        tell("liveliness", alive=status.alive_count, not_alive=status.not_alive_count)


def tell_sample(sample):
    state = STATES[sample.sample_info.instance_state]
    if isinstance(sample, InvalidSample):
        tell("instance", state=state, **sample.key_sample.key_fields())
    else:
        tell("sample", state=state, **sample.fields())


def main():
    options = arguments(__doc__)
    participant = DomainParticipant(options.domain)
    topic = Topic(participant, options.topic, TYPES[options.type])
    reader = DataReader(Subscriber(participant), topic, qos=endpoint_qos(options), listener=TellMatches())

    stopped = GuardCondition(participant)

    def stop_at_end_of_input():
        sys.stdin.read()
        stopped.set(True)

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    waitset = WaitSet(participant)
    anything = ReadCondition(reader, SampleState.Any | ViewState.Any | InstanceState.Any)
    waitset.attach(anything)
    waitset.attach(stopped)
    tell("ready")

    while not stopped.read():
        for sample in reader.take(N=100, condition=anything):
            tell_sample(sample)
        waitset.wait(duration(seconds=60))


if __name__ == "__main__":
    main()
