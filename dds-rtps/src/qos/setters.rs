//! Chained setters: one per field, and those that name a choice.

/// Defines `fn field(self, value) -> Self` for each field.
macro_rules! setters {
    ($qos:ident { $($field:ident: $kind:ty,)* }) => {
        impl $qos {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$kind>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

/// Defines the setters that name a choice of RELIABILITY, HISTORY or DURABILITY.
macro_rules! choice_setters {
    ($qos:ident) => {
        impl $qos {
            /// Makes it reliable: lost samples are repaired. Keeps an earlier blocking time, otherwise sets 100 ms.
            #[must_use]
            pub fn reliable(mut self) -> Self {
                if !self.reliability.is_reliable() {
                    self.reliability = Reliability::RELIABLE;
                }
                self
            }

            /// Makes it best effort: lost samples are not repaired.
            #[must_use]
            pub fn best_effort(mut self) -> Self {
                self.reliability = Reliability::BestEffort;
                self
            }

            /// Keeps the newest `depth` samples of each instance.
            #[must_use]
            pub fn keep_last(mut self, depth: u32) -> Self {
                self.history = History::KeepLast { depth };
                self
            }

            /// Keeps every sample, up to the resource limits.
            #[must_use]
            pub fn keep_all(mut self) -> Self {
                self.history = History::KeepAll;
                self
            }

            /// Serves readers that join late from the writer's history.
            #[must_use]
            pub fn transient_local(mut self) -> Self {
                self.durability = Durability::TransientLocal;
                self
            }
        }
    };
}

pub(super) use {choice_setters, setters};
