//! The encoding cursor.

mod long_runs;
mod members;
mod values;

pub use long_runs::LongRuns;

use crate::cdr::copy::append;
use crate::cdr::primitive::Number;
use crate::cdr::{ByteOrder, Encode, EncodeError, Encoding, InMemory};

/// Appends values to a buffer by the rules of an encoding.
///
/// The buffer grows as needed and keeps its previous content.
#[derive(Debug)]
pub struct Encoder<'b> {
    buffer: &'b mut Vec<u8>,
    /// The index in `buffer` from which alignment is computed. Below zero, so wrapped, after bytes have moved.
    origin: usize,
    encoding: Encoding,
    order: ByteOrder,
    purpose: Purpose,
    /// The next value is the base of a struct. The members of both share one frame.
    is_base: bool,
    /// Takes long runs. `None`: the buffer does.
    long: Option<&'b mut dyn LongRuns>,
    /// Bytes that have moved from the buffer to `long`, with the runs.
    moved: usize,
    /// Parameters of XCDR1 without an end. A long header would move the bytes of their values.
    open_parameters: u32,
}

/// Least length of a run that [`LongRuns`] takes, in bytes.
const LONG_RUN: usize = 32 << 10;

/// Purpose of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A payload of data or of a key.
    Payload,
    /// The input of a key hash: every type is encoded as final.
    KeyHash,
}

/// An unfinished value with a DHEADER.
#[derive(Debug)]
pub(in crate::cdr) struct Delimited {
    start: usize,
}

/// An unfinished XCDR1 member with a parameter header.
#[derive(Debug)]
pub(in crate::cdr) struct OpenParameter {
    id: u32,
    must_understand: bool,
    header: usize,
    origin: usize,
}

impl<'b> Encoder<'b> {
    /// Creates an encoder that appends to `buffer`. Alignment counts from the present end.
    #[must_use]
    pub fn new(buffer: &'b mut Vec<u8>, encoding: Encoding, order: ByteOrder) -> Self {
        // The alignment starts behind the header of the payload (RTPS 2.5, 10.5).
        let origin = buffer.len();
        Self {
            buffer,
            origin,
            encoding,
            order,
            purpose: Purpose::Payload,
            is_base: false,
            long: None,
            moved: 0,
            open_parameters: 0,
        }
    }

    /// Creates an encoder for the input of a key hash: big endian, with every type as final (RTPS 2.5, 9.6.4.8).
    pub(in crate::cdr) fn for_key_hash(buffer: &'b mut Vec<u8>, encoding: Encoding) -> Self {
        Self { purpose: Purpose::KeyHash, ..Self::new(buffer, encoding, ByteOrder::Big) }
    }

    /// As [`Encoder::new`]. If there is a `long`, the content of `buffer` and a long run move there together.
    #[inline]
    pub(in crate::cdr) fn with_long_runs(
        buffer: &'b mut Vec<u8>,
        encoding: Encoding,
        order: ByteOrder,
        long: Option<&'b mut dyn LongRuns>,
    ) -> Self {
        Self { long, ..Self::new(buffer, encoding, order) }
    }

    /// Returns the encoding.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the byte order.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns whether key members are ordered by id, which only the XCDR2 key hash does.
    ///
    /// All other encodings use the order of definition, also for the serialized key (as Cyclone DDS does).
    #[must_use]
    pub fn keys_by_id(&self) -> bool {
        self.purpose == Purpose::KeyHash && self.encoding == Encoding::Xcdr2
    }

    /// Returns whether every type is encoded as final, as in the input of a key hash.
    #[inline]
    pub(in crate::cdr) fn counts_as_final(&self) -> bool {
        self.purpose == Purpose::KeyHash
    }

    /// Writes zeros up to a multiple of `alignment`, a power of two. The encoding limits the alignment.
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        // Alignments are powers of two, so masks replace divisions.
        let mask = alignment.min(self.encoding.alignment_max()) - 1;
        let position = self.buffer.len().wrapping_sub(self.origin);
        let padding = position.wrapping_neg() & mask;
        // Padding is zero: old bytes of the buffer must not reach the network.
        if padding != 0 {
            self.buffer.resize(self.buffer.len() + padding, 0);
        }
    }

    /// Returns whether the next number of `first` bytes will be aligned for a number of `largest` bytes.
    #[inline]
    pub(in crate::cdr) fn will_be_aligned(&self, first: usize, largest: usize) -> bool {
        let limit = self.encoding.alignment_max();
        let position = self.buffer.len().wrapping_sub(self.origin);
        position.next_multiple_of(first.clamp(1, limit)) % largest.clamp(1, limit) == 0
    }

    /// Appends bytes without length or alignment.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if bytes.len() >= LONG_RUN && self.moves_run(bytes) {
            return;
        }
        append(self.buffer, bytes);
    }

    /// Writes a number of `N` bytes, aligned to its size. The bytes are already in the order of this encoder.
    #[inline]
    pub(in crate::cdr) fn number<const N: usize>(&mut self, bytes: [u8; N]) {
        if N > 1 {
            self.align(N);
        }
        self.buffer.extend_from_slice(&bytes);
    }

    /// Writes a run of numbers without its length: one copy, then a byte swap if the order is not the machine's.
    #[inline]
    pub(in crate::cdr) fn numbers<T: InMemory>(&mut self, run: &[T]) {
        // An empty run has no padding.
        if run.is_empty() {
            return;
        }
        self.align(T::SIZE);
        let bytes = T::bytes_of(run);
        let is_copied_as_is = T::SIZE == 1 || self.order.is_host();
        if bytes.len() >= LONG_RUN && is_copied_as_is && self.moves_run(bytes) {
            return;
        }
        let start = self.buffer.len();
        append(self.buffer, bytes);
        // One copy and a pass over it is faster than a conversion of each number.
        if T::SIZE > 1 && !self.order.is_host() {
            let copied = self.buffer.get_mut(start..).unwrap_or_default();
            for number in copied.chunks_exact_mut(T::SIZE) {
                number.reverse();
            }
        }
    }

    /// Writes a length of 32 bits.
    ///
    /// # Errors
    /// The length exceeds 32 bits.
    #[inline]
    pub fn length(&mut self, length: usize) -> Result<(), EncodeError> {
        u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?.encode(self)
    }

    /// Encodes an appendable struct. XCDR2 prefixes its length, XCDR1 does not (XTYPES 1.3, 7.4.3).
    ///
    /// # Errors
    /// Errors of `members`, or the length exceeds 32 bits.
    #[inline]
    pub fn appendable(
        &mut self,
        members: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let is_base = self.take_base();
        if is_base || self.counts_as_final() { members(self) } else { self.delimited(members) }
    }

    /// Encodes the base of a struct that is not final. The members of both share one frame.
    ///
    /// # Errors
    /// Errors of `base`.
    #[inline]
    pub fn base(&mut self, base: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        self.is_base = true;
        base(self)
    }

    /// Returns whether the struct that starts here is a base, and resets the flag for its members.
    #[inline]
    pub(in crate::cdr) fn take_base(&mut self) -> bool {
        std::mem::take(&mut self.is_base)
    }

    /// Encodes the elements of an array or sequence. XCDR2 prefixes the length in bytes of non-primitive elements.
    ///
    /// # Errors
    /// Errors of `elements`, or the length exceeds 32 bits.
    #[inline]
    pub fn collection(
        &mut self,
        of_primitives: bool,
        elements: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        if of_primitives { elements(self) } else { self.delimited(elements) }
    }

    /// Encodes a value after its length in bytes (DHEADER, only in XCDR2).
    #[inline]
    fn delimited(&mut self, body: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        let frame = self.enter_delimited()?;
        body(self)?;
        self.leave_delimited(frame)
    }

    /// Reserves space for a length in bytes (DHEADER, only in XCDR2).
    #[inline]
    pub(in crate::cdr) fn enter_delimited(&mut self) -> Result<Option<Delimited>, EncodeError> {
        if self.encoding == Encoding::Xcdr1 {
            return Ok(None);
        }
        // The length is known when the value is complete.
        self.length(0)?;
        Ok(Some(Delimited { start: self.position() }))
    }

    /// Writes the length into the reserved space.
    #[inline]
    pub(in crate::cdr) fn leave_delimited(&mut self, frame: Option<Delimited>) -> Result<(), EncodeError> {
        let Some(Delimited { start }) = frame else { return Ok(()) };
        debug_assert!(start <= self.position(), "an encoder never goes back");
        let length = self.position() - start;
        let length = u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        let length_field = self.order_bytes(length);
        self.overwrite_at(start - size_of::<u32>(), length_field);
        Ok(())
    }

    /// Encodes an optional member of a final or appendable struct.
    ///
    /// XCDR1 writes a parameter header with the member id and the length of the value, which is 0 if absent. Alignment
    /// restarts behind the header. XCDR2 writes a bool, then the value.
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn optional<T: Encode>(&mut self, id: u32, value: Option<&T>) -> Result<(), EncodeError> {
        let frame = self.enter_optional(id, value.is_some())?;
        if let Some(value) = value {
            value.encode(self)?;
        }
        self.leave_optional(frame, value.is_some())
    }

    /// Writes the flag or header of an optional member.
    #[inline]
    pub(in crate::cdr) fn enter_optional(
        &mut self,
        id: u32,
        is_present: bool,
    ) -> Result<Option<OpenParameter>, EncodeError> {
        match self.encoding {
            Encoding::Xcdr2 => {
                is_present.encode(self)?;
                Ok(None)
            }
            Encoding::Xcdr1 => Ok(Some(self.enter_parameter(id, false))),
        }
    }

    /// Writes a parameter header of XCDR1 without its length. Alignment restarts behind the header.
    pub(in crate::cdr) fn enter_parameter(&mut self, id: u32, must_understand: bool) -> OpenParameter {
        self.align(4);
        let header = self.buffer.len();
        let flag = if must_understand { PID_MUST_UNDERSTAND } else { 0 };
        // Most values need no long header. If one does, `leave_parameter` extends the header.
        self.numbers(&[short_id(id).unwrap_or(PID_EXTENDED) | flag, 0]);
        self.open_parameters += 1;
        // XCDR1 restarts the alignment in each parameter value, XCDR2 does not.
        let origin = std::mem::replace(&mut self.origin, self.buffer.len());
        OpenParameter { id, must_understand, header, origin }
    }

    /// Ends an optional member after [`Encoder::enter_optional`].
    #[inline]
    pub(in crate::cdr) fn leave_optional(
        &mut self,
        frame: Option<OpenParameter>,
        is_present: bool,
    ) -> Result<(), EncodeError> {
        let Some(frame) = frame else { return Ok(()) };
        // Length 0 means absent, so a present value without bytes gets some (XTYPES 1.3, 7.4.1). Cyclone DDS and Fast
        // CDR from 2.3.4 skip the rest of a parameter. Older Fast CDR drops the sample, and only XCDR2 avoids that.
        // Four bytes keep the next header aligned.
        if is_present && self.buffer.len() == self.origin {
            self.bytes(&[0; 4]);
        }
        self.leave_parameter(frame)
    }

    /// Writes the length into the parameter header, and extends the header if needed.
    pub(in crate::cdr) fn leave_parameter(&mut self, frame: OpenParameter) -> Result<(), EncodeError> {
        let OpenParameter { id, must_understand, header, origin } = frame;
        debug_assert!(header < self.origin && self.open_parameters > 0, "parameters nest");
        self.open_parameters -= 1;
        let length = self.buffer.len() - self.origin;
        self.origin = origin;
        // The short header holds ids below 0x3f01 and lengths of 16 bits.
        if let (Some(_), Ok(length)) = (short_id(id), u16::try_from(length)) {
            let length_field = self.order_bytes(length);
            self.overwrite(header + 2, length_field);
            return Ok(());
        }
        // Moving the value keeps its alignment, which restarts behind a header of any length.
        let length = u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
        // A reader that does not know the extended header cannot skip it, so it must understand it.
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
    /// The length exceeds the bound.
    #[inline]
    pub fn check_bound(&self, length: usize, bound: u32) -> Result<(), EncodeError> {
        if length > bound as usize { Err(EncodeError::BoundExceeded { bound, length }) } else { Ok(()) }
    }

    /// Moves the content of the buffer and a run, if there is memory for long runs.
    #[cold]
    fn moves_run(&mut self, run: &[u8]) -> bool {
        let Some(long) = &mut self.long else { return false };
        if self.open_parameters > 0 || !long.append(self.buffer, run) {
            return false;
        }
        self.moved += self.buffer.len() + run.len();
        // The distance from the origin to the end stays the same.
        let position = self.buffer.len().wrapping_sub(self.origin).wrapping_add(run.len());
        self.origin = 0_usize.wrapping_sub(position);
        self.buffer.clear();
        true
    }

    /// Replaces bytes, from a position since the start.
    #[inline]
    pub(in crate::cdr) fn overwrite_at<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        match (at.checked_sub(self.moved), &mut self.long) {
            (Some(at), _) => self.overwrite(at, bytes),
            // A field moves as a whole, because no run ends within it.
            (None, Some(long)) => long.overwrite(at, &bytes),
            (None, None) => debug_assert!(false, "bytes move only to memory for long runs"),
        }
    }

    /// Bytes since the start, also those that have moved.
    #[inline]
    pub(in crate::cdr) fn position(&self) -> usize {
        self.moved + self.buffer.len()
    }

    fn order_bytes<T: Number<N>, const N: usize>(&self, number: T) -> [u8; N] {
        number.to_bytes(self.order)
    }

    fn overwrite<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        let place = self.buffer.get_mut(at..).and_then(|tail| tail.first_chunk_mut());
        *place.expect("only bytes that this encoder wrote are overwritten") = bytes;
    }
}

/// Returns the id for a parameter header of 4 bytes; `None` if it does not fit.
fn short_id(id: u32) -> Option<u16> {
    u16::try_from(id).ok().filter(|id| *id < PID_EXTENDED)
}

/// OpenParameter id of an extended header: the id and the length follow, with 32 bits each.
pub(in crate::cdr) const PID_EXTENDED: u16 = 0x3f01;
/// Flag: a reader must know the member. Extended headers always set it, like Cyclone DDS (`7f01 0008`).
pub(in crate::cdr) const PID_MUST_UNDERSTAND: u16 = 0x4000;
/// The must-understand flag in the long id of an extended header.
pub(in crate::cdr) const PID_LONG_MUST_UNDERSTAND: u32 = 1 << 30;
/// Length of the extension in bytes: an id and a length.
const EXTENDED_LEN: u16 = 8;
