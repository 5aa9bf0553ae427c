"""What Cyclone DDS's Python writes otherwise than XTYPES 1.3 has it in XCDR2, written as the standard does, or as everybody else does.

- Maps: 7.4.3.5.3, rule 15, puts their length in bytes (DHEADER) in front, unless keys and values are primitives. Cyclone's never do.
- Lists (`List`, not `types.sequence`) of primitives: rule 11 puts none in front; Cyclone's do.
- Members of mutable structures that are one of these, or `bytes`: the length code of their header follows from that (7.4.3.4.2). Of
  `bytes` both forms are legal; a `types.sequence` of the same octets has the shorter one in Cyclone too.

`install` has to come before the first use of a type. From then on both can be written, as `STANDARD.is_on` says, and `STANDARD.written`
counts how often the other one would have written something else.
"""

from contextlib import contextmanager

from cyclonedds.idl._builder import Builder
from cyclonedds.idl._machinery import BytesMachine, CharMachine, LenType, MappingMachine, MutableMember, PrimitiveMachine, SequenceMachine


class Standard:
    is_on = False
    written = 0

    @contextmanager
    def on(self):
        """Writes and reads as the standard has it."""
        self.is_on, self.written = True, 0
        try:
            yield
        finally:
            self.is_on = False


STANDARD = Standard()


def is_primitive(machine):
    return isinstance(machine, (PrimitiveMachine, CharMachine))


class FramedMap(MappingMachine):
    """A map that has its length in front."""

    standard_lentype = LenType.NextIntDualUseLen

    def serialize(self, buffer, values, *how):
        if not STANDARD.is_on:
            return super().serialize(buffer, values, *how)
        STANDARD.written += 1
        buffer.align(4)
        buffer.write("I", 4, 0)
        start = buffer.tell()
        super().serialize(buffer, values, *how)
        end = buffer.tell()
        buffer.seek(start - 4)
        buffer.write("I", 4, end - start)
        buffer.seek(end)

    def deserialize(self, buffer, *how):
        if not STANDARD.is_on:
            return super().deserialize(buffer, *how)
        buffer.align(4)
        size = buffer.read("I", 4)
        start = buffer.tell()
        values = super().deserialize(buffer, *how)
        assert buffer.tell() == start + size
        return values


class PlainList(SequenceMachine):
    """A list of primitives, which does not."""

    @property
    def standard_lentype(self):
        of_size = {1: LenType.NextIntDualUseLen, 4: LenType.NextIntDualUse4Len, 8: LenType.NextIntDualUse8Len}
        return of_size.get(getattr(self.submachine, "size", 1), LenType.NextIntLen)

    @property
    def add_size_header(self):
        return not STANDARD.is_on

    @add_size_header.setter
    def add_size_header(self, _):
        pass

    def serialize(self, *what):
        STANDARD.written += STANDARD.is_on
        return super().serialize(*what)


class CountedBytes(BytesMachine):
    standard_lentype = LenType.NextIntDualUseLen


def replaced(machine, has_frames):
    """The machine, or another one in its stead that can do both."""
    if isinstance(machine, MappingMachine) and has_frames and not (is_primitive(machine.key_machine) and is_primitive(machine.value_machine)):
        return FramedMap(machine.key_machine, machine.value_machine)
    if type(machine) is SequenceMachine and machine.add_size_header and is_primitive(machine.submachine):
        return PlainList(machine.submachine)
    if isinstance(machine, BytesMachine) and has_frames:
        return CountedBytes()
    return machine


def lentype(member):
    if STANDARD.is_on and hasattr(member.machine, "standard_lentype"):
        # Counted where it is asked for to write the header.
        return member.machine.standard_lentype
    return member.cyclones_lentype


def header(member):
    STANDARD.written += STANDARD.is_on and lentype(member) != member.cyclones_lentype
    return ((1 if member.must_understand else 0) << 31) + (lentype(member).value << 28) + (member.memberid & 0x0FFFFFFF)


def install():
    make = Builder._machine_for_type.__func__

    def machine_for_type(cls, kind, memberid_muflag, add_size_header, use_version_2):
        return replaced(make(cls, kind, memberid_muflag, add_size_header, use_version_2), use_version_2)

    Builder._machine_for_type = classmethod(machine_for_type)
    MutableMember.lentype = property(lentype, lambda member, value: setattr(member, "cyclones_lentype", value))
    MutableMember.header = property(header, lambda member, value: None)
