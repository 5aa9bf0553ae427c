//! The cursor that writes.

use super::copy::append;
use super::primitive::Number;
use super::{ByteOrder, Encode, EncodeError, Encoding, InMemory};

/// Appends values to a buffer by the rules of an encoding.
///
/// The buffer grows as needed and is never cleared: what it held before stays in front.
#[derive(Debug)]
pub struct Encoder<'b> {
    buffer: &'b mut Vec<u8>,
    /// The index in `buffer` from which alignment counts.
    origin: usize,
    encoding: Encoding,
    order: ByteOrder,
    purpose: Purpose,
    /// What comes next is the base of a struct, whose members are framed together with those of the struct.
    is_base: bool,
}

/// What the bytes are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A payload, of data or of a key.
    Payload,
    /// The input of a key hash: every type counts as final.
    KeyHash,
}

/// A delimited value that is being written.
#[derive(Debug)]
pub(super) struct Delimited {
    start: usize,
}

/// A member of XCDR1 with a header of its own that is being written.
#[derive(Debug)]
pub(super) struct Parameter {
    id: u32,
    must_understand: bool,
    header: usize,
    origin: usize,
}

impl<'b> Encoder<'b> {
    /// Appends to `buffer`; alignment counts from its present end.
    #[must_use]
    pub fn new(buffer: &'b mut Vec<u8>, encoding: Encoding, order: ByteOrder) -> Self {
        let origin = buffer.len();
        Self { buffer, origin, encoding, order, purpose: Purpose::Payload, is_base: false }
    }

    /// Writes the input of a key hash: big endian, and every type as if it were final (RTPS 2.5, 9.6.4.8).
    pub(super) fn for_key_hash(buffer: &'b mut Vec<u8>, encoding: Encoding) -> Self {
        Self { purpose: Purpose::KeyHash, ..Self::new(buffer, encoding, ByteOrder::Big) }
    }

    /// The rules in force.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The byte order in force.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether key members go in the order of their ids: in the key hash of XCDR2. Everywhere else the order of
    /// definition counts, in the serialized key too (seen of Cyclone DDS).
    #[must_use]
    pub fn keys_by_id(&self) -> bool {
        self.purpose == Purpose::KeyHash && self.encoding == Encoding::Xcdr2
    }

    /// Whether every type counts as final: in the key hash.
    #[inline]
    pub(super) fn counts_as_final(&self) -> bool {
        self.purpose == Purpose::KeyHash
    }

    /// Writes zeros until the position is a multiple of `alignment`, which is a power of two and limited by the encoding.
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        let mask = alignment.min(self.encoding.alignment_max()) - 1;
        let position = self.buffer.len() - self.origin;
        let padding = position.wrapping_neg() & mask;
        if padding != 0 {
            self.buffer.resize(self.buffer.len() + padding, 0);
        }
    }

    /// Whether the next number of `first` bytes stands where one of `largest` bytes may.
    #[inline]
    pub(super) fn will_be_aligned(&self, first: usize, largest: usize) -> bool {
        let limit = self.encoding.alignment_max();
        let position = self.buffer.len() - self.origin;
        position.next_multiple_of(first.clamp(1, limit)) % largest.clamp(1, limit) == 0
    }

    /// Appends bytes as they are, without length or alignment.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        append(self.buffer, bytes);
    }

    /// Writes a number of `N` bytes, aligned to its size, whose bytes are already in the order of this encoder.
    #[inline]
    pub(super) fn number<const N: usize>(&mut self, bytes: [u8; N]) {
        if N > 1 {
            self.align(N);
        }
        self.buffer.extend_from_slice(&bytes);
    }

    /// Writes a run of numbers without its length: one copy, and a pass over the copy if the byte order is not the
    /// machine's.
    #[inline]
    pub(super) fn numbers<T: InMemory>(&mut self, run: &[T]) {
        if run.is_empty() {
            return;
        }
        self.align(T::SIZE);
        let start = self.buffer.len();
        append(self.buffer, T::bytes_of(run));
        if T::SIZE > 1 && !self.order.is_host() {
            let copied = self.buffer.get_mut(start..).unwrap_or_default();
            copied.chunks_exact_mut(T::SIZE).for_each(<[u8]>::reverse);
        }
    }

    /// Writes a length as the wire has it.
    ///
    /// # Errors
    /// It does not fit into 32 bits.
    #[inline]
    pub fn length(&mut self, length: usize) -> Result<(), EncodeError> {
        u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?.encode(self)
    }

    /// Writes an appendable struct: XCDR2 puts its length in front, XCDR1 nothing (XTYPES 1.3, 7.4.3).
    ///
    /// # Errors
    /// Those of `members`, or more bytes than the length can say.
    #[inline]
    pub fn appendable(
        &mut self,
        members: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let is_base = self.take_base();
        if is_base || self.counts_as_final() { members(self) } else { self.delimited(members) }
    }

    /// Writes the base of a struct that is not final: the members that come first, which are framed together with those
    /// that follow.
    ///
    /// # Errors
    /// Those of `base`.
    #[inline]
    pub fn base(&mut self, base: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        self.is_base = true;
        base(self)
    }

    /// Whether the struct that begins here is a base. What is in it is none.
    #[inline]
    pub(super) fn take_base(&mut self) -> bool {
        std::mem::take(&mut self.is_base)
    }

    /// Writes the elements of an array or sequence: if they are no primitives, XCDR2 puts their length in bytes in front.
    ///
    /// # Errors
    /// Those of `elements`, or more bytes than the length can say.
    #[inline]
    pub fn collection(
        &mut self,
        of_primitives: bool,
        elements: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        if of_primitives { elements(self) } else { self.delimited(elements) }
    }

    /// Writes `body` behind its length in bytes (DHEADER), if the encoding is XCDR2.
    #[inline]
    fn delimited(&mut self, body: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        let frame = self.enter_delimited()?;
        body(self)?;
        self.leave_delimited(frame)
    }

    /// Leaves room for a length in bytes (DHEADER), if the encoding is XCDR2.
    #[inline]
    pub(super) fn enter_delimited(&mut self) -> Result<Option<Delimited>, EncodeError> {
        if self.encoding == Encoding::Xcdr1 {
            return Ok(None);
        }
        self.length(0)?;
        Ok(Some(Delimited { start: self.buffer.len() }))
    }

    /// Fills the length in.
    #[inline]
    pub(super) fn leave_delimited(&mut self, frame: Option<Delimited>) -> Result<(), EncodeError> {
        let Some(Delimited { start }) = frame else { return Ok(()) };
        let length = self.buffer.len() - start;
        let length = u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        let length_field = self.order_bytes(length);
        self.overwrite(start - size_of::<u32>(), length_field);
        Ok(())
    }

    /// Writes an optional member of a final or appendable struct.
    ///
    /// XCDR1: a parameter header with the member's id and the length of the value, 0 if it is absent; alignment counts
    /// anew behind it. XCDR2: a bool, then the value.
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn optional<T: Encode>(&mut self, id: u32, value: Option<&T>) -> Result<(), EncodeError> {
        let frame = self.enter_optional(id, value.is_some())?;
        if let Some(value) = value {
            value.encode(self)?;
        }
        self.leave_optional(frame)
    }

    /// Writes what introduces an optional member.
    #[inline]
    pub(super) fn enter_optional(&mut self, id: u32, is_present: bool) -> Result<Option<Parameter>, EncodeError> {
        match self.encoding {
            Encoding::Xcdr2 => is_present.encode(self).map(|()| None),
            Encoding::Xcdr1 => Ok(Some(self.enter_parameter(id, false))),
        }
    }

    /// Writes a parameter header of XCDR1 without its length. Alignment counts anew behind it.
    pub(super) fn enter_parameter(&mut self, id: u32, must_understand: bool) -> Parameter {
        self.align(4);
        let header = self.buffer.len();
        let flag = if must_understand { PID_MUST_UNDERSTAND } else { 0 };
        self.numbers(&[short_id(id).unwrap_or(PID_EXTENDED) | flag, 0]);
        let origin = std::mem::replace(&mut self.origin, self.buffer.len());
        Parameter { id, must_understand, header, origin }
    }

    /// Ends what [`Encoder::enter_optional`] began.
    #[inline]
    pub(super) fn leave_optional(&mut self, frame: Option<Parameter>) -> Result<(), EncodeError> {
        frame.map_or(Ok(()), |frame| self.leave_parameter(frame))
    }

    /// Fills the length in, in a longer header if need be.
    pub(super) fn leave_parameter(&mut self, frame: Parameter) -> Result<(), EncodeError> {
        let Parameter { id, must_understand, header, origin } = frame;
        let length = self.buffer.len() - self.origin;
        self.origin = origin;
        if let (Some(_), Ok(length)) = (short_id(id), u16::try_from(length)) {
            let length_field = self.order_bytes(length);
            self.overwrite(header + 2, length_field);
            return Ok(());
        }
        // The value may be moved: its alignment began behind the header, however long that is.
        let length = u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        let id_field = self.order_bytes(PID_EXTENDED | PID_MUST_UNDERSTAND);
        let length_field = self.order_bytes(EXTENDED_LEN);
        self.overwrite(header, id_field);
        self.overwrite(header + 2, length_field);
        let flag = if must_understand { PID_LONG_MUST_UNDERSTAND } else { 0 };
        let extension: [[u8; 4]; 2] = [self.order_bytes(id | flag), self.order_bytes(length)];
        self.buffer.splice(header + 4..header + 4, extension.into_iter().flatten());
        Ok(())
    }

    /// Checks a length against the bound of its type.
    ///
    /// # Errors
    /// The length is over the bound.
    #[inline]
    pub fn check_bound(&self, length: usize, bound: u32) -> Result<(), EncodeError> {
        if length > bound as usize { Err(EncodeError::BoundExceeded { bound, length }) } else { Ok(()) }
    }

    fn order_bytes<T: Number<N>, const N: usize>(&self, number: T) -> [u8; N] {
        number.to_bytes(self.order)
    }

    fn overwrite<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        let place = self.buffer.get_mut(at..).and_then(|tail| tail.first_chunk_mut());
        *place.expect("only bytes that this encoder wrote are overwritten") = bytes;
    }
}

/// The id as a parameter header of 4 bytes can hold it.
fn short_id(id: u32) -> Option<u16> {
    u16::try_from(id).ok().filter(|id| *id < PID_EXTENDED)
}

/// The parameter id that says: the real id and length follow, with 32 bits each.
pub(super) const PID_EXTENDED: u16 = 0x3f01;
/// A reader must know the member. Extended headers always carry it (seen of Cyclone DDS: `7f01 0008`).
pub(super) const PID_MUST_UNDERSTAND: u16 = 0x4000;
/// The same in the long id that follows an extended header.
pub(super) const PID_LONG_MUST_UNDERSTAND: u32 = 1 << 30;
/// The length of the extension: an id and a length.
const EXTENDED_LEN: u16 = 8;
