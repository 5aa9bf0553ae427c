"""Reads a recording with the library of MCAP, and prints its messages and encodings: mcap_reader.py FILE TOPIC"""
import sys

from mcap.reader import make_reader

path, topic = sys.argv[1:]
with open(path, "rb") as file:
    found = list(make_reader(file, validate_crcs=True).iter_messages(topics=[topic]))
forms = {(schema.encoding, schema.name, channel.message_encoding) for schema, channel, _ in found}
assert all(b"struct " in schema.data for schema, _, _ in found), "the schema is no IDL"
assert all(len(message.data) > 4 for _, _, message in found), "a message is empty"
print(len(found), *(" ".join(form) for form in sorted(forms)))
