"""Reads recordings with two libraries of ROS users, and writes a bag: ros_readers.py OURS TWO_PUBLISHERS NEW_FOLDER MESSAGES_OF_IDL UNKNOWN_TYPE"""
import sys
from pathlib import Path

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.convert import convert
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

ours, two, theirs, of_idl, mixed = sys.argv[1:]
with open(ours, "rb") as file:
    reader = make_reader(file, decoder_factories=[DecoderFactory()])
    values = [message.x for _, _, _, message in reader.iter_decoded_messages(topics=["/force"])]
assert values == [float(number) for number in range(10)], values
print("mcap_ros2", len(values))

store = get_typestore(Stores.ROS2_JAZZY)
with Reader(Path(ours)) as bag:
    [connection] = bag.connections
    values = [store.deserialize_cdr(raw, connection.msgtype).x for _, _, raw in bag.messages()]
    assert values == [float(number) for number in range(10)], values
    [qos] = connection.ext.offered_qos_profiles
    print("rosbags", connection.topic, connection.msgtype, len(values), qos.reliability.name, qos.durability.name)

# Two publishers of a topic have two channels. Each one names its publisher, and is a connection for `rosbags`. Samples
# that arrive together have one time, so readers may change their order.
with open(two, "rb") as file:
    values = {}
    reader = make_reader(file, decoder_factories=[DecoderFactory()])
    for _, channel, _, message in reader.iter_decoded_messages(topics=["/force"]):
        values.setdefault(channel.metadata["dds.writer_guid"], []).append(message.x)
    assert sorted(sum(values.values(), [])) == [float(number) for number in range(13)], values
    for guid, own in sorted(values.items(), key=lambda pair: min(pair[1])):
        print("mcap_ros2", guid, len(own))

with AnyReader([Path(two)]) as bag:
    connections = [connection for connection in bag.connections if connection.topic == "/force"]
    values = [bag.deserialize(raw, connection.msgtype).x for connection, _, raw in bag.messages(connections)]
    assert sorted(values) == [float(number) for number in range(13)], values
    print("rosbags", len(values), "of", len(connections), "connections", end=", ")
converted = Path(two).with_suffix("")
convert([Path(two)], converted, "sqlite3", 9, None, "file", None, None, [], [], [], [])
with Reader(converted) as bag:
    print("converted", len(list(bag.messages())))

Vector3 = store.types["geometry_msgs/msg/Vector3"]
with Writer(Path(theirs), version=9, storage_plugin=StoragePlugin.MCAP) as bag:
    connection = bag.add_connection("/bag", Vector3.__msgtype__, typestore=store)
    for number in range(3):
        bag.write(connection, number + 1, store.serialize_cdr(Vector3(float(number), 1.0, 2.0), Vector3.__msgtype__))

# `mcap_ros2` reads definitions as `.msg` files alone, and `rosbags` also those as `.idl` files.
with open(of_idl, "rb") as file:
    reader = make_reader(file, decoder_factories=[DecoderFactory()])
    values = [message.x for _, _, _, message in reader.iter_decoded_messages(topics=["/track"])]
    print("mcap_ros2 /track", values)
with AnyReader([Path(of_idl)]) as bag:
    for topic in ["/robot", "/track"]:
        [connection] = [connection for connection in bag.connections if connection.topic == topic]
        messages = bag.messages([connection])
        values = [bag.deserialize(raw, connection.msgtype).x for _, _, raw in messages]
        print("rosbags", topic, connection.msgtype, values)

# One topic lacks a definition. The other one is still read.
with Reader(Path(mixed)) as bag:
    for connection in sorted(bag.connections, key=lambda connection: connection.topic):
        count = len(list(bag.messages([connection])))
        print("rosbags", connection.topic, connection.msgtype, count)
