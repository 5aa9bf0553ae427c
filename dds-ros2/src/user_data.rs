//! The text in USER_DATA of participants and endpoints: `key=value;key=value;`.
//!
//! Keys are alphanumeric. `;;` in a value stands for `;`. Trailing zero bytes are allowed
//! (`rmw/include/rmw/impl/cpp/key_value.hpp`).

/// Returns the value of `key`, or `None` if the text lacks it or is malformed before it.
pub(crate) fn value_of(user_data: &[u8], key: &str) -> Option<String> {
    let end = user_data.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut rest = std::str::from_utf8(&user_data[..end]).ok()?;
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let (value, after) = split_value(after)?;
        if name == key {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// The hash of the type of an endpoint.
pub(crate) const TYPE_HASH: &str = "typehash";

/// The hash of the service of an endpoint. Lyrical and later releases announce it.
pub(crate) const SERVICE_HASH: &str = "sertypehash";

/// Returns the hash of a type: `RIHS01_` and 64 hexadecimal digits. Later versions have another number.
///
/// `key` is `TYPE_HASH` or `SERVICE_HASH`. The error is a hash of another form.
pub(crate) fn hash(user_data: &[u8], key: &str) -> Result<Option<String>, String> {
    let Some(hash) = value_of(user_data, key) else { return Ok(None) };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_valid = hash.strip_prefix("RIHS").and_then(|rest| rest.split_once('_')).is_some_and(|(version, digits)| {
        version.len() == 2
            && version.bytes().all(|byte| byte.is_ascii_digit())
            && digits.len() == 64
            && digits.bytes().all(is_digit)
    });
    if is_valid { Ok(Some(hash)) } else { Err(hash) }
}

/// Splits off a value with its `;`.
fn split_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once(';')?;
        value.push_str(part);
        match after.strip_prefix(';') {
            Some(after) => {
                value.push(';');
                rest = after;
            }
            None => return Some((value, after)),
        }
    }
}

/// Returns one `key=value;`.
pub(crate) fn entry(key: &str, value: &str) -> String {
    format!("{key}={};", value.replace(';', ";;"))
}

/// Returns an identity as `rmw_cyclonedds` writes it: hexadecimal bytes with dots, without leading zeros.
///
/// The first byte has the width 2, filled with a space.
pub(crate) fn identity(bytes: [u8; 16]) -> String {
    let parts: Vec<String> = bytes
        .iter()
        .enumerate()
        .map(|(index, byte)| if index == 0 { format!("{byte:>2x}") } else { format!("{byte:x}") })
        .collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_behind_others_and_zeros() {
        let data = b"serviceid= 1.10.2b;typehash=RIHS01_00;\0\0";
        assert_eq!(value_of(data, "typehash").as_deref(), Some("RIHS01_00"));
        assert_eq!(value_of(data, "serviceid").as_deref(), Some(" 1.10.2b"));
        assert_eq!(value_of(data, "clientid"), None);
        assert_eq!(value_of(b"enclave=/;", "enclave").as_deref(), Some("/"));
    }

    #[test]
    fn semicolons_in_values_are_doubled() {
        let text = entry("a", "x;y;") + &entry("b", "z");
        assert_eq!(text, "a=x;;y;;;b=z;");
        assert_eq!(value_of(text.as_bytes(), "a").as_deref(), Some("x;y;"));
        assert_eq!(value_of(text.as_bytes(), "b").as_deref(), Some("z"));
    }

    #[test]
    fn malformed_text_has_no_value() {
        for data in [&b"a"[..], b"a=b", b"=b;a=c;", b"x y=1;a=c;", b"\xff=1;", b"", b"\0"] {
            assert_eq!(value_of(data, "a"), None, "{data:?}");
        }
    }

    #[test]
    fn hash_of_another_form_is_malformed() {
        let of = |text: &str| hash(entry(TYPE_HASH, text).as_bytes(), TYPE_HASH);
        let good = format!("RIHS01_{}", "0a".repeat(32));
        assert_eq!(of(&good), Ok(Some(good.clone())));
        assert_eq!(hash(b"enclave=/;", TYPE_HASH), Ok(None));
        for bad in ["", "RIHS01_", "RIHS01_00", &good.replace("01_", "1_"), &good.replace('a', "A"), &good[1..]] {
            assert_eq!(of(bad), Err(bad.to_owned()));
        }
    }

    #[test]
    fn hashes_of_lyrical_are_found_before_the_entry_of_its_buffers() {
        let [ty, service] = ["1", "2"].map(|digit| format!("RIHS01_{}", digit.repeat(64)));
        // The first versions of Lyrical end with an entry whose key is malformed.
        let data = entry(TYPE_HASH, &ty) + &entry(SERVICE_HASH, &service) + "BUFBE:cpu=;gpu=device=0";
        assert_eq!(hash(data.as_bytes(), TYPE_HASH), Ok(Some(ty)));
        assert_eq!(hash(data.as_bytes(), SERVICE_HASH), Ok(Some(service)));
    }

    #[test]
    fn identity_has_the_form_of_cyclone() {
        let bytes = [1, 0x10, 0x2b, 0x61, 0xf0, 0x6e, 0xc7, 0x7d, 0xee, 0x95, 0xef, 0x32, 0, 0, 0, 8];
        assert_eq!(identity(bytes), " 1.10.2b.61.f0.6e.c7.7d.ee.95.ef.32.0.0.0.8");
    }
}
