"""Corrects deviations of Cyclone DDS's Python from XTYPES 1.3 in XCDR2, as the standard or other vendors define it.

- Maps: 7.4.3.5.3, rule 15, requires a length in bytes (DHEADER) first, unless keys and values are primitives. Cyclone never writes it.
- Lists (`List`, not `types.sequence`) of primitives: rule 11 requires no DHEADER. Cyclone writes it.
- Members of mutable structures of these types, or `bytes`: the length code of their header depends on that (7.4.3.4.2). For `bytes` both forms
  are legal. Cyclone uses the shorter one for a `types.sequence` of the same octets.

Call `install` before the first use of a type. From then on `STANDARD.is_on` selects the form, and `STANDARD.written` counts the places where the other
form would differ.
"""

from contextlib import contextmanager

from cyclonedds.idl._builder import Builder
from cyclonedds.idl._machinery import BytesMachine, CharMachine, LenType, MappingMachine, MutableMember, PrimitiveMachine, SequenceMachine


class Standard:
    is_on = False
    written = 0

    @contextmanager
    def on(self):
        """Writes and reads in the standard's form."""
        self.is_on, self.written = True, 0
        try:
            yield
        finally:
            self.is_on = False


STANDARD = Standard()


def is_primitive(machine):
    return isinstance(machine, (PrimitiveMachine, CharMachine))


class FramedMap(MappingMachine):
    """A map with its length in bytes first."""

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
    """A list of primitives without that length."""

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
    """The machine, or a replacement that supports both forms."""
    if isinstance(machine, MappingMachine) and has_frames and not (is_primitive(machine.key_machine) and is_primitive(machine.value_machine)):
        return FramedMap(machine.key_machine, machine.value_machine)
    if type(machine) is SequenceMachine and machine.add_size_header and is_primitive(machine.submachine):
        return PlainList(machine.submachine)
    if isinstance(machine, BytesMachine) and has_frames:
        return CountedBytes()
    return machine


def lentype(member):
    if STANDARD.is_on and hasattr(member.machine, "standard_lentype"):
        # `header` counts this deviation when it writes.
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
