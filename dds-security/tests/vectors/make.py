#!/usr/bin/env python3
"""Makes the vectors of this folder from the layouts of the specification. It needs the package `cryptography`."""

import hashlib
import hmac
import os
import struct
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HERE = os.path.dirname(os.path.abspath(__file__))


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def save(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


def seal(key, salt, session, suffix, plain, aad):
    session_key = mac(key, b"SessionKey" + salt + session)[: len(key)]
    return AESGCM(session_key).encrypt(session + suffix, plain, aad)


def payload():
    key, salt, session, suffix = b"\x22" * 32, b"\x11" * 32, struct.pack(">I", 9), struct.pack(">Q", 7)
    sealed = seal(key, salt, session, suffix, bytes([0, 1, 0, 0, 42, 0, 0, 0]), b"")
    cipher, tag = sealed[:-16], sealed[-16:]
    header = struct.pack(">I", 4) + bytes([1, 2, 3, 4]) + session + suffix
    save("payload_aes256_gcm.bin", header + struct.pack(">I", len(cipher)) + cipher + tag + struct.pack(">I", 0))


def psk_keys(domain, tag, passphrase_id, passphrase, sender):
    prefix = hashlib.sha256(f"DomainId={domain};DomainTag={tag}".encode()).digest()[:3]
    key_id = prefix + bytes([passphrase_id & 0xFF])
    tagged = key_id + b"RTPS" + sender
    salt = mac(mac(b"PSK-SALT" + tagged, passphrase), b"master salt derivation\x01")
    key = mac(mac(b"PSK-SKEY" + tagged, passphrase), b"master sender key derivation\x01")
    return key_id, salt, key


def submessage(identifier, flags, body):
    return bytes([identifier, flags | 1]) + struct.pack("<H", len(body)) + body


def psk():
    passphrase_id, sender = 0x01020304, b"\x02\x05\x01\xdd0123456789ab"
    passphrase = b"correct horse battery staple"
    key_id, salt, key = psk_keys(7, "plant", passphrase_id, passphrase, sender)
    save("psk_keys.bin", key_id + salt + key)
    # A message with INFO_DST and an empty PAD.
    header = b"RTPS" + sender
    plain = submessage(0x0E, 0, b"\0" * 12) + submessage(0x01, 0, b"")
    session, suffix = struct.pack(">I", 1), struct.pack(">Q", 1)
    for name, kind in [("psk_message_encrypted.bin", 4), ("psk_message_signed.bin", 3)]:
        crypto = struct.pack(">I", passphrase_id)[:3] + bytes([kind]) + key_id + session + suffix
        if kind == 4:
            sealed = seal(key, salt, session, suffix, plain, header)
            cipher, tag = sealed[:-16], sealed[-16:]
            content = submessage(0x30, 0, struct.pack(">I", len(cipher)) + cipher)
        else:
            tag = seal(key, salt, session, suffix, b"", header + plain)
            content = plain
        prefix = submessage(0x33, 0x06, crypto)
        postfix = submessage(0x34, 0, tag + struct.pack(">I", 0))
        save(name, header + prefix + content + postfix)


payload()
psk()
