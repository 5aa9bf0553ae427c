"""A Cyclone DDS publisher that reads commands from standard input, one per line:

    write FIRST COUNT     write samples FIRST .. FIRST + COUNT
    write FIRST COUNT LEN write blobs of LEN octets
    dispose INDEX         dispose the instance of sample INDEX
    unregister INDEX      unregister the instance of sample INDEX
    wait_for_acks         wait until every reliable reader acknowledged everything

It prints one JSON line after each command ("written", "disposed", "unregistered", "acknowledged"). "ready" comes first, and "matched" after each
change of the number of matched readers. The end of standard input ends the program.
"""

import sys

from cyclonedds.core import Listener
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.qos import Qos
from cyclonedds.core import Policy
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from shapes_and_blobs import TYPES, arguments, endpoint_qos, tell


class TellMatches(Listener):
    def on_publication_matched(self, _writer, status):
        tell("matched", count=status.current_count)


def main():
    options = arguments(__doc__)
    kind = TYPES[options.type]
    participant = DomainParticipant(options.domain)
    topic = Topic(participant, options.topic, kind)
    # Otherwise an unregistered instance arrives as a disposed one.
    qos = endpoint_qos(options) + Qos(Policy.WriterDataLifecycle(autodispose=False))
    writer = DataWriter(Publisher(participant), topic, qos=qos, listener=TellMatches())
    tell("ready")

    for line in sys.stdin:
        command, *numbers = line.split()
        numbers = [int(number) for number in numbers]
        if command == "write":
            first, count, *length = numbers
            for index in range(first, first + count):
                writer.write(kind.sample(index, *length))
            tell("written", count=count)
        elif command == "dispose":
            writer.dispose(kind.sample(numbers[0]))
            tell("disposed")
        elif command == "unregister":
            writer.unregister_instance(kind.sample(numbers[0]))
            tell("unregistered")
        elif command == "wait_for_acks":
            if not writer.wait_for_acks(duration(seconds=30)):
                sys.exit("not acknowledged within 30 s")
            tell("acknowledged")
        else:
            sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main()
