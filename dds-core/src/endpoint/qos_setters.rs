//! Setters of the builders of readers and writers: one for each policy.

/// Defines the setters of a builder from those of its QoS.
macro_rules! qos_setters {
    ($builder:ident, $qos:ident { $($policy:ident: $kind:ty,)* }) => {
        /// Setters of single policies. They change the QoS that the builder has at this point, so call `qos` first.
        impl<T> $builder<'_, T> {
            /// Makes it reliable: lost samples are repaired.
            pub fn reliable(self) -> Self {
                self.with_qos($qos::reliable)
            }

            /// Makes it best effort: lost samples are not repaired.
            pub fn best_effort(self) -> Self {
                self.with_qos($qos::best_effort)
            }

            /// Keeps the newest `depth` samples of each instance.
            pub fn keep_last(self, depth: u32) -> Self {
                self.with_qos(|qos| qos.keep_last(depth))
            }

            /// Keeps every sample, up to the resource limits.
            pub fn keep_all(self) -> Self {
                self.with_qos($qos::keep_all)
            }

            /// Offers or requests the samples from before the match, as long as the writer lives.
            pub fn transient_local(self) -> Self {
                self.with_qos($qos::transient_local)
            }

            $(
                #[doc = concat!("Sets `", stringify!($policy), "` of the [`", stringify!($qos), "`](crate::qos::", stringify!($qos), ").")]
                pub fn $policy(self, $policy: impl Into<$kind>) -> Self {
                    self.with_qos(|qos| qos.$policy($policy))
                }
            )*

            fn with_qos(mut self, change: impl FnOnce($qos) -> $qos) -> Self {
                // After a failed `profile` the setters change nothing, and `build` returns its error.
                self.qos = self.qos.map(change);
                self
            }
        }
    };
}

pub(crate) use qos_setters;
