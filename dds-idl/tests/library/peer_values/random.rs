//! Random values of dynamic types.

use dds_cdr::cdr::dynamic::{DynamicCase, DynamicData, DynamicKind, DynamicType, PrimitiveKind};

/// The generator SplitMix64. Its values are the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn text(&mut self, len_max: u64) -> String {
        (0..self.below(len_max + 1)).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

/// Fills the part of a value at a path.
pub(super) fn fill(data: &mut DynamicData, path: &str, ty: &DynamicType, random: &mut Random) {
    let ty = ty.resolved();
    match ty.kind() {
        DynamicKind::Primitive(kind) => fill_primitive(data, path, kind, random),
        DynamicKind::String => data.set(path, random.text(ty.bound().unwrap_or(20).min(20).into())).unwrap(),
        DynamicKind::Sequence => {
            // A long sequence shows nothing that five elements do not.
            let len = random.below(u64::from(ty.bound().unwrap_or(5).min(5)) + 1);
            data.resize(path, len as usize).unwrap();
            fill_elements(data, path, &ty, len, random);
        }
        DynamicKind::Array => fill_elements(data, path, &ty, ty.bound().unwrap().into(), random),
        DynamicKind::Map => {
            let key = ty.key_element().unwrap().resolved();
            let keys = keys_of(&key);
            let len = random.below(u64::from(ty.bound().unwrap_or(3).min(3)) + 1) as usize;
            for key in keys.iter().take(len) {
                fill(data, &format!("{path}[{key}]"), &ty.element().unwrap(), random);
            }
        }
        DynamicKind::Enum => {
            let literals: Vec<&str> = ty.literals().map(|(name, _)| name).collect();
            data.set(path, literals[random.below(literals.len() as u64) as usize]).unwrap();
        }
        DynamicKind::Struct => {
            for member in ty.members() {
                if member.is_optional() && random.below(2) == 0 {
                    continue;
                }
                fill(data, &joined(path, member.name()), &member.ty(), random);
            }
        }
        DynamicKind::Union => {
            let free = free_label(&ty);
            // A default beside a label for each value of the discriminator is never selected.
            let label = |case: &DynamicCase| case.labels().first().copied().or(free);
            let cases: Vec<_> = ty.cases().filter(|case| label(case).is_some()).collect();
            let case = &cases[random.below(cases.len() as u64) as usize];
            data.select(path, label(case).unwrap()).unwrap();
            fill(data, &joined(path, case.name()), &case.ty().unwrap(), random);
        }
        DynamicKind::Bitmask => {
            let bits =
                ty.flags().filter(|_| random.below(2) == 1).fold(0, |bits, (_, position)| bits | 1_u64 << position);
            data.set(path, bits).unwrap();
        }
        DynamicKind::WString => data.set(path, random.text(ty.bound().unwrap_or(20).min(20).into())).unwrap(),
        DynamicKind::Bitset => {
            for (name, _, bits) in ty.fields() {
                let value = random.next() & (u64::MAX >> (64 - u32::from(bits)));
                let is_signed = ty.is_signed_field(name);
                let path = joined(path, name);
                let set = if is_signed {
                    data.set(path.as_str(), (value as i64) << (64 - bits) >> (64 - bits))
                } else {
                    data.set(path.as_str(), value)
                };
                set.unwrap_or_else(|error| panic!("{path}: {error}"));
            }
        }
        kind => panic!("{path}: {kind:?}"),
    }
}

/// Keys of a map in the form of a path.
fn keys_of(ty: &DynamicType) -> Vec<String> {
    match ty.kind() {
        DynamicKind::String | DynamicKind::WString => (0..3).map(|number| format!("\"k{number}\"")).collect(),
        DynamicKind::Enum => ty.literals().map(|(name, _)| name.to_owned()).collect(),
        DynamicKind::Primitive(PrimitiveKind::Bool) => vec!["false".to_owned(), "true".to_owned()],
        DynamicKind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16) => {
            ["\"a\"", "\"b\"", "\"c\""].map(str::to_owned).to_vec()
        }
        _ => (0..3).map(|number| number.to_string()).collect(),
    }
}

/// A value of the discriminator that no label has: it selects the default.
fn free_label(ty: &DynamicType) -> Option<i64> {
    let labels: Vec<i64> = ty.cases().flat_map(|case| case.labels().to_vec()).collect();
    let discriminator = ty.discriminator().unwrap().resolved();
    let values: Vec<i64> = match discriminator.kind() {
        DynamicKind::Enum => discriminator.literals().map(|(_, value)| value.into()).collect(),
        DynamicKind::Primitive(PrimitiveKind::Bool) => vec![0, 1],
        // Small enough for each discriminator, and a printable character. One of them is no label of a real union.
        _ => (33..127).rev().collect(),
    };
    values.into_iter().find(|value| !labels.contains(value))
}

/// The path of a member; the root has an empty one.
fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn fill_elements(data: &mut DynamicData, path: &str, ty: &DynamicType, len: u64, random: &mut Random) {
    for index in 0..len {
        fill(data, &format!("{path}[{index}]"), &ty.element().unwrap(), random);
    }
}

fn fill_primitive(data: &mut DynamicData, path: &str, kind: PrimitiveKind, random: &mut Random) {
    let bits = random.next();
    let set = match kind {
        PrimitiveKind::Bool => data.set(path, bits & 1 == 1),
        PrimitiveKind::Octet | PrimitiveKind::UInt8 => data.set(path, bits as u8),
        PrimitiveKind::Int8 => data.set(path, bits as i8),
        PrimitiveKind::Int16 => data.set(path, bits as i16),
        PrimitiveKind::UInt16 => data.set(path, bits as u16),
        PrimitiveKind::Int32 => data.set(path, bits as i32),
        PrimitiveKind::UInt32 => data.set(path, bits as u32),
        PrimitiveKind::Int64 => data.set(path, bits as i64),
        PrimitiveKind::UInt64 => data.set(path, bits),
        PrimitiveKind::Float32 => data.set(path, bits as i32 as f32 / 8.0),
        PrimitiveKind::Float64 => data.set(path, bits as i64 as f64 / 8.0),
        PrimitiveKind::Char8 => data.set(path, b'a' + (bits % 26) as u8),
        PrimitiveKind::Char16 => data.set(path, char::from(b'a' + (bits % 26) as u8)),
        // Its value has no random form, and no peer here has the type.
        PrimitiveKind::Float128 => Ok(()),
        other => panic!("{path}: {other:?}"),
    };
    set.unwrap_or_else(|error| panic!("{path}: {error}"));
}
