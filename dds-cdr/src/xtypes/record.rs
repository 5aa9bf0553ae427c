//! Encoding of the structs of annex B: members in sequence, some of them framed together.

/// Implements `Encode` and `Decode` for structs.
///
/// Members are encoded in the listed order. `[a b]` is one nested appendable struct, which starts with its length
/// (XTYPES 1.3, 7.4.3.5.3). `?a` is an optional member. `appendable` frames the whole struct.
macro_rules! record {
    ($($framing:ident $name:ident $(<$form:ident>)? { $($items:tt)* })+) => { $(
        impl $(<$form: Form>)? $crate::cdr::Encode for $name $(<$form>)? {
            fn encode(&self, e: &mut $crate::cdr::Encoder<'_>) -> Result<(), $crate::cdr::EncodeError> {
                record!(@frame $framing e |e| {
                    record!(@write self e $($items)*);
                    Ok(())
                })
            }

            fn encode_key(&self, e: &mut $crate::cdr::Encoder<'_>) -> Result<(), $crate::cdr::EncodeError> {
                self.encode(e)
            }
        }

        impl<'de $(, $form: Form)?> $crate::cdr::Decode<'de> for $name $(<$form>)? {
            fn decode(d: &mut $crate::cdr::Decoder<'de>) -> Result<Self, $crate::cdr::DecodeError> {
                record!(@frame $framing d |d| record!(@read d [] $($items)*))
            }
        }
    )+ };

    (@frame appendable $cursor:ident |$inner:ident| $body:expr) => { $cursor.appendable(|$inner| $body) };
    (@frame final_ $cursor:ident |$inner:ident| $body:expr) => {{ let $inner = $cursor; $body }};

    (@write $value:ident $e:ident) => {};
    (@write $value:ident $e:ident [$($field:ident)*] $($rest:tt)*) => {
        $e.appendable(|e| {
            $($crate::cdr::Encode::encode(&$value.$field, e)?;)*
            Ok(())
        })?;
        record!(@write $value $e $($rest)*);
    };
    (@write $value:ident $e:ident ?$field:ident $($rest:tt)*) => {
        $e.optional(0, $value.$field.as_ref())?;
        record!(@write $value $e $($rest)*);
    };
    (@write $value:ident $e:ident $field:ident $($rest:tt)*) => {
        $crate::cdr::Encode::encode(&$value.$field, $e)?;
        record!(@write $value $e $($rest)*);
    };

    (@read $d:ident [$($done:ident)*]) => { Ok(Self { $($done),* }) };
    (@read $d:ident [$($done:ident)*] [$($field:ident)*] $($rest:tt)*) => {{
        let ($($field,)*) = $d.appendable(|d| Ok(($({ let $field = $crate::cdr::Decode::decode(d)?; $field },)*)))?;
        record!(@read $d [$($done)* $($field)*] $($rest)*)
    }};
    (@read $d:ident [$($done:ident)*] ?$field:ident $($rest:tt)*) => {{
        let $field = $d.optional()?;
        record!(@read $d [$($done)* $field] $($rest)*)
    }};
    (@read $d:ident [$($done:ident)*] $field:ident $($rest:tt)*) => {{
        let $field = $crate::cdr::Decode::decode($d)?;
        record!(@read $d [$($done)* $field] $($rest)*)
    }};
}

pub(super) use record;
