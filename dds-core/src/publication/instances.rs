//! Instances of a writer: registration, end and lookup (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.10).

use crate::cdr::{DecodeOwned, EncodeError, Keyed, TypeInfo, encode_key_payload};
use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::{DataWriter, WriteOptions, WriterHandle};
use crate::subscription::decode_key;
use dds_rtps::concurrent::Payload;
use dds_rtps::history::ChangeKind;
use dds_rtps::types::InstanceHandle;
use dds_rtps::writer::NewChange;

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
    /// use dds_core::{DdsType, DomainParticipant, Scope, WriteOptions};
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
        let encoded = self.handle.encode_key::<T>(key);
        let registered = encoded.and_then(|(instance, key)| self.handle.register(instance, &key));
        registered.map_err(|kind| self.handle.write_error(kind))
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
        let encoded = self.handle.encode_key::<T>(key);
        let change = encoded.and_then(|(instance, key)| {
            // The change carries the key and its hash. Some peers cannot invert MD5, others send only one of the two.
            let mut change = options.apply_to(NewChange::not_alive(kind, instance, key))?;
            change.must_be_registered |= kind != ChangeKind::NotAliveDisposed;
            Ok(change)
        });
        self.handle.publish(change.map_err(|kind| self.handle.write_error(kind))?, true).map(drop)
    }

    /// Returns the handle of the registered instance with this key. `None` after `close`.
    #[must_use]
    pub fn lookup_instance(&self, key: &T::Key) -> Option<InstanceHandle>
    where
        T: Keyed + TypeInfo,
    {
        let handle = &self.handle;
        if !T::is_key_of(key, handle.ty.as_ref()) {
            return None;
        }
        let instance =
            handle.with_encode_buffers(|buffers| handle.hasher().of_key::<T>(key, &mut buffers.scratch)).ok()?;
        handle.is_registered(instance).then_some(instance)
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
        decode_key::<T>(&self.handle.instance_key(instance)?, self.handle.ty.as_ref())
    }
}

impl WriterHandle {
    /// Returns the instance with this key, and the encoded key.
    pub(super) fn encode_key<T: Keyed + TypeInfo>(
        &self,
        key: &T::Key,
    ) -> Result<(InstanceHandle, Payload), WriteErrorKind> {
        let encoding = self.encoding()?;
        if !T::is_key_of(key, self.ty.as_ref()) {
            return Err(WriteErrorKind::Encode(EncodeError::OtherType));
        }
        self.with_encode_buffers(|buffers| {
            let instance = self.hasher().of_key::<T>(key, &mut buffers.scratch)?;
            let payload = buffers.encode(|buffer| encode_key_payload::<T>(key, encoding, buffer))?;
            Ok((instance, payload))
        })
        .map_err(WriteErrorKind::Encode)
    }
}
