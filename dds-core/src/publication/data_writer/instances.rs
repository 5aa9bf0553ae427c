//! Instances of a writer: registration, end and lookup (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.10).

use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::writer_actor::INSTANCES_PER_VISIT;
use crate::publication::{DataWriter, WriteOptions};
use crate::subscription::decode_key;
use dds_rtps::cdr::{DecodeOwned, Keyed, TypeInfo};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::{ChangeKind, KeyPayload};
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::{NewChange, WriteRefused};
use smallvec::SmallVec;

/// Disposals of instances.
type InstanceDisposals = SmallVec<[NewChange; INSTANCES_PER_VISIT]>;

/// Registration of instances.
///
/// An instance is registered from [`register_instance`](DataWriter::register_instance), or from its first write or
/// dispose, until it is unregistered. The writer remembers registered instances with their keys. A program that writes
/// ever new keys must unregister old ones or set `max_instances`.
impl<T> DataWriter<T> {
    /// Registers an instance that this writer will write, and returns its handle.
    ///
    /// Every call for one key returns the same handle. A write registers the instance by itself. An earlier call
    /// allocates its memory in advance and checks `max_instances` early.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    /// use dds_core::writer::WriteOptions;
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     #[dds(key)]
    ///     robot: u32,
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let writer = participant.writer::<Pose>("known/pose")?;
    /// let robot = writer.register_instance(&7)?;
    /// writer.write_with(&Pose { robot: 7, x: 1.0 }, WriteOptions::new().instance(robot))?;
    /// assert_eq!(writer.lookup_instance(&7), Some(robot));
    /// assert_eq!(writer.key_value(robot), Some(7));
    /// writer.unregister_instance(&7)?;
    /// assert_eq!(writer.lookup_instance(&7), None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The instance is not registered: [`WriteErrorKind::Encode`], [`WriteErrorKind::OutOfResources`], or
    /// [`WriteErrorKind::Closed`].
    #[doc(alias = "register_instance_w_timestamp")]
    pub fn register_instance(&self, key: &T::Key) -> Result<InstanceHandle, WriteError>
    where
        T: Keyed + TypeInfo,
    {
        let (instance, key) = self.handle.write_result(self.encode_key(key))?;
        self.handle.write_result(self.handle.register(instance, &key))
    }

    /// Disposes the instance: readers see that it no longer exists. It stays registered.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write).
    pub fn dispose(&self, key: &T::Key) -> Result<(), WriteError>
    where
        T: Keyed + TypeInfo,
    {
        self.dispose_with(key, WriteOptions::new())
    }

    /// As [`dispose`](DataWriter::dispose), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`write_with`](DataWriter::write_with).
    #[doc(alias = "dispose_w_timestamp")]
    pub fn dispose_with(&self, key: &T::Key, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Keyed + TypeInfo,
    {
        self.end_instance(key, ChangeKind::NotAliveDisposed, options)
    }

    /// Unregisters the instance: this writer will no longer write it.
    ///
    /// With `autodispose_unregistered_instances`, which is the default, it disposes the instance as well (DDS 1.4,
    /// 2.2.3.21).
    ///
    /// # Errors
    /// As [`write`](DataWriter::write). [`WriteErrorKind::UnknownInstance`] if the instance is not registered.
    pub fn unregister_instance(&self, key: &T::Key) -> Result<(), WriteError>
    where
        T: Keyed + TypeInfo,
    {
        self.unregister_with(key, WriteOptions::new())
    }

    /// As [`unregister_instance`](DataWriter::unregister_instance), with [`WriteOptions`].
    ///
    /// # Errors
    /// As [`unregister_instance`](DataWriter::unregister_instance) and [`write_with`](DataWriter::write_with).
    #[doc(alias = "unregister_instance_w_timestamp")]
    pub fn unregister_with(&self, key: &T::Key, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Keyed + TypeInfo,
    {
        let lifecycle = self.handle.qos().read(|qos| qos.writer_data_lifecycle);
        let autodispose = lifecycle.autodispose_unregistered_instances;
        let kind =
            if autodispose { ChangeKind::NotAliveDisposedUnregistered } else { ChangeKind::NotAliveUnregistered };
        self.end_instance(key, kind, options)
    }

    fn end_instance(&self, key: &T::Key, kind: ChangeKind, options: WriteOptions) -> Result<(), WriteError>
    where
        T: Keyed + TypeInfo,
    {
        let change = self.handle.write_result(self.end_of_instance(key, kind, options))?;
        self.handle.publish(change, true)?;
        Ok(())
    }

    fn end_of_instance(
        &self,
        key: &T::Key,
        kind: ChangeKind,
        options: WriteOptions,
    ) -> Result<NewChange, WriteErrorKind>
    where
        T: Keyed + TypeInfo,
    {
        let (instance, key) = self.encode_key(key)?;
        // The change carries the key and its hash. Some peers cannot invert MD5, others send only one of the two.
        let mut change = options.apply_to(NewChange::not_alive(kind, instance, key))?;
        // A dispose may create its instance. To unregister an unknown one is an error (DDS 1.4, 2.2.2.4.2.7).
        change.must_be_registered |= kind != ChangeKind::NotAliveDisposed;
        Ok(change)
    }

    fn encode_key(&self, key: &T::Key) -> Result<(InstanceHandle, Payload), WriteErrorKind>
    where
        T: Keyed + TypeInfo,
    {
        self.handle.encoder().encode_key::<T>(key, self.handle.encoding()?)
    }

    /// Returns the handle of the registered instance with this key. `None` after `close`.
    #[must_use]
    pub fn lookup_instance(&self, key: &T::Key) -> Option<InstanceHandle>
    where
        T: Keyed + TypeInfo,
    {
        let instance = self.handle.encoder().instance_of_key::<T>(key)?;
        if self.handle.is_registered(instance) { Some(instance) } else { None }
    }

    /// Returns the key of a registered instance. `None` for others and after `close`.
    ///
    /// The keys of a writer share 64 MiB. If an instance found no room there, this method returns `None` for it. An
    /// instance registered by a write occupies as many bytes as its first sample.
    #[must_use]
    #[doc(alias = "get_key_value")]
    pub fn key_value(&self, instance: InstanceHandle) -> Option<T::Key>
    where
        T: Keyed + DecodeOwned,
    {
        decode_key::<T>(&self.handle.instance_key(instance)?, self.handle.ty())
    }

    /// Disposes all instances that this writer has written, and returns their number.
    ///
    /// It skips instances that were disposed or unregistered since. The instances stay registered.
    ///
    /// Call it before the writer is closed if its instances should end with it. DDS 1.4 (2.2.3.21) allows the deletion
    /// of a writer with `autodispose_unregistered_instances`, which is the default, to dispose all instances. This
    /// implementation never does so, like Fast DDS and the OMG's interoperability suite. The instances then have no
    /// writer, as after the loss of a writer. Otherwise readers could not distinguish a program that is restarted from
    /// one that disposes its objects.
    ///
    /// The cost grows with the number of instances, and many of them share a datagram. If the writer's memory had no
    /// room for a key ([`key_value`](DataWriter::key_value)), its instance is disposed by its handle alone. Samples
    /// that other threads write during the call may or may not be disposed.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, InstanceState, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     #[dds(key)]
    ///     robot: u32,
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let writer = participant.writer::<Pose>("fleet/pose")?;
    /// let reader = participant.reader::<Pose>("fleet/pose")?;
    /// for robot in 0..5 {
    ///     writer.write(&Pose { robot, x: 0.0 })?;
    /// }
    /// assert_eq!(writer.dispose_all()?, 5);
    /// let gone = |sample: &dds_core::SampleInfo| sample.instance_state == InstanceState::NotAliveDisposed;
    /// assert!(reader.take()?.iter().all(|sample| gone(sample.info())));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`write`](DataWriter::write), which may also block for each instance. Earlier instances stay disposed, and
    /// another call continues.
    pub fn dispose_all(&self) -> Result<usize, WriteError>
    where
        T: Keyed + TypeInfo + DecodeOwned,
    {
        let handle = &self.handle;
        handle.write_result(handle.encoding())?;
        let (mut place, mut count) = (0, 0);
        loop {
            // Some instances at a time, so that other threads can write in between.
            let alive = handle.visit(|actor, _| actor.alive_instances(&mut place));
            let alive = handle.write_result(alive)?;
            if alive.is_empty() {
                return Ok(count);
            }
            // Outside of the cell, because decoding and encoding may be user code.
            let mut disposals = InstanceDisposals::new();
            for (instance, known) in alive {
                let disposal = self.disposal_of(instance, known);
                disposals.push(handle.write_result(disposal)?);
            }
            count += self.write_disposals(&mut disposals)?;
        }
    }

    /// Writes these disposals. Returns how many instances still existed.
    fn write_disposals(&self, disposals: &mut [NewChange]) -> Result<usize, WriteError> {
        let handle = &self.handle;
        let (mut done, mut count) = (0, 0);
        while let Some(rest @ [_, ..]) = disposals.get_mut(done..) {
            let written = handle.visit(|actor, effects| actor.write_together(rest, effects));
            let written = handle.write_result(written)?;
            handle.write_result(handle.send_rest(written.flushed, false))?;
            count += written.count;
            done += written.tried;
            debug_assert!(written.tried > 0 || written.refused.is_some(), "each visit makes progress");
            match written.refused {
                None => {}
                // Blocks, if the QoS allows it.
                Some(WriteRefused::Full) => {
                    if let Some(end) = disposals.get(done) {
                        handle.publish(end.clone(), true)?;
                    }
                    (done, count) = (done + 1, count + 1);
                }
                Some(refused) => return Err(handle.write_error(handle.refusal(refused))),
            }
        }
        Ok(count)
    }

    fn disposal_of(&self, instance: InstanceHandle, known: Option<KeyPayload>) -> Result<NewChange, WriteErrorKind>
    where
        T: Keyed + TypeInfo + DecodeOwned,
    {
        let key = match known {
            Some(known) if known.is_key => Some(known.payload),
            // The payload of a whole sample, from which only the key is disposed.
            Some(known) => match decode_key::<T>(&known, self.handle.ty()) {
                Some(key) => Some(self.encode_key(&key)?.1),
                None => None,
            },
            None => None,
        };
        Ok(NewChange {
            kind: ChangeKind::NotAliveDisposed,
            instance,
            payload: key,
            source_timestamp: None,
            related_sample: None,
            origin: None,
            // Another thread may unregister the instance. The disposal must not register it again.
            must_be_registered: true,
        })
    }
}
