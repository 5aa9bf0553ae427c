//! Bounds of untrusted types and samples.

use crate::cdr::dynamic::value::{Primitives, Value};
use crate::cdr::dynamic::{DataError, DynamicData, DynamicType, TypeError};
use crate::cdr::{DecodeErrorKind, Encoding, Extensibility};
use proptest::prelude::*;

/// Bytes of heap memory that a value owns.
fn heap(value: &Value) -> usize {
    let of = |count: usize, size: usize| count * size;
    match value {
        Value::Default | Value::Bits(_) => 0,
        Value::Wide(_) => 16,
        Value::Text(text) => text.capacity(),
        Value::Primitives(Primitives::Of1(run)) => run.capacity(),
        Value::Primitives(Primitives::Of2(run)) => of(run.capacity(), 2),
        Value::Primitives(Primitives::Of4(run)) => of(run.capacity(), 4),
        Value::Primitives(Primitives::Of8(run)) => of(run.capacity(), 8),
        Value::Primitives(Primitives::Of16(run)) => of(run.capacity(), 16),
        Value::List(list) => of(list.items.capacity(), size_of::<Value>()) + list.items.iter().map(heap).sum::<usize>(),
        Value::Map(entries) => {
            let held = entries.iter().map(|(key, value)| heap(key) + heap(value)).sum::<usize>();
            of(entries.capacity(), size_of::<(Value, Value)>()) + held
        }
        Value::Struct(members) => {
            let held = members.iter().map(|(_, value)| heap(value)).sum::<usize>();
            of(members.capacity(), size_of::<(u32, Value)>()) + held
        }
        Value::Union(selection) => 2 * size_of::<Value>() + heap(&selection.value),
    }
}

/// Types whose samples describe large values with few bytes.
fn hostile_types() -> Vec<DynamicType> {
    let empty = || DynamicType::structure("Empty").extensibility(Extensibility::Final);
    let mut wide = DynamicType::structure("Wide").extensibility(Extensibility::Appendable);
    let mut mutable = DynamicType::structure("Mutable").extensibility(Extensibility::Mutable);
    let mut hollow = DynamicType::structure("Hollow").extensibility(Extensibility::Final);
    for index in 0..200 {
        let large = DynamicType::array(DynamicType::uint64(), 1000);
        wide = wide.member(&format!("m{index}"), large.clone());
        mutable = mutable.member(&format!("m{index}"), large);
        hollow = hollow.member(&format!("m{index}"), empty());
    }
    let hollow = hollow.member("one", DynamicType::uint8());
    let tree = DynamicType::structure("Tree")
        .member("children", DynamicType::sequence(DynamicType::named("Tree")))
        .member("more", DynamicType::map(DynamicType::uint8(), DynamicType::named("Tree")));
    let ones = DynamicType::enumeration("One").literal("A").literal("B").bit_bound(8);
    let parts = [
        DynamicType::sequence(wide),
        DynamicType::sequence(mutable),
        DynamicType::sequence(hollow),
        DynamicType::sequence(DynamicType::array(empty(), 1_000_000)),
        DynamicType::sequence(DynamicType::sequence(empty())),
        DynamicType::sequence(tree),
        DynamicType::sequence(ones.clone()),
        DynamicType::map(ones, DynamicType::string()),
    ];
    let make =
        |part| DynamicType::structure("T").extensibility(Extensibility::Final).member("p", part).build().unwrap();
    parts.into_iter().map(make).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A value takes at most some hundred times the bytes of its sample, for every type.
    #[test]
    fn memory_of_sample_is_proportional_to_its_bytes(
        bytes in prop::collection::vec(prop_oneof![4 => Just(0_u8), 1 => any::<u8>()], 8..400),
        count in 0_u8..64,
        header in prop::sample::select(vec![1_u8, 7]),
    ) {
        for ty in hostile_types() {
            let mut payload = vec![0, header, 0, 0];
            payload.extend(&bytes);
            // The start of a sequence of `count` elements.
            for at in [4, 8] {
                payload[at..at + 4].copy_from_slice(&u32::from(count).to_le_bytes());
            }
            if let Ok(data) = DynamicData::from_payload(&ty, &payload) {
                prop_assert!(heap(&data.value) <= 400 + 250 * payload.len(), "{} of {}", heap(&data.value), payload.len());
            }
        }
    }
}

#[test]
fn elements_without_bytes_take_no_memory() {
    let empty = DynamicType::structure("Empty").extensibility(Extensibility::Final);
    let ty = DynamicType::structure("T")
        .extensibility(Extensibility::Final)
        .member("list", DynamicType::sequence(empty))
        .build()
        .unwrap();
    let payload = |count: u32| [&[0, 1, 0, 0][..], &count.to_le_bytes()].concat();
    let data = DynamicData::from_payload(&ty, &payload(1000)).unwrap();
    assert_eq!(data.at("list").unwrap().len(), 1000);
    assert!(heap(&data.value) < 200);
    let error = DynamicData::from_payload(&ty, &payload(u32::MAX)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::TooManyEmptyValues);
}

#[test]
fn nesting_of_values_is_bounded() {
    let node = DynamicType::structure("Node")
        .extensibility(Extensibility::Final)
        .member("next", DynamicType::named("Node"))
        .optional()
        .build()
        .unwrap();
    let payload = |depth: usize| {
        let mut payload = vec![0, 7, 0, 0];
        payload.extend(vec![1; depth]);
        payload.push(0);
        payload
    };
    let data = DynamicData::from_payload(&node, &payload(200)).unwrap();
    assert_eq!(data.to_payload(Encoding::Xcdr2).unwrap().get(4..205), payload(200).get(4..));
    let error = DynamicData::from_payload(&node, &payload(1000)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::NestingTooDeep);
    // Nesting by the program is bounded as well.
    let mut inner = DynamicData::new(&node);
    let refused = (0..1000).find_map(|_| {
        let mut outer = DynamicData::new(&node);
        let result = outer.set("next", &inner);
        inner = outer;
        result.err()
    });
    assert_eq!(refused, Some(DataError::TooDeep { max: 256 }));
}

#[test]
fn size_of_types_is_bounded() {
    let large = DynamicType::array(DynamicType::array(DynamicType::uint64(), 1 << 20), 1 << 20).build();
    assert_eq!(large, Err(TypeError::TooLarge { what: "bytes in each value", max: 256 << 20 }));
    // The size of the union is known before that of the array in it.
    let mut endless = DynamicType::array(DynamicType::uint64(), u32::MAX);
    for _ in 0..3 {
        endless = DynamicType::array(endless, u32::MAX);
    }
    let union = DynamicType::union("U", DynamicType::int32()).case("a", &[0], endless).build();
    assert_eq!(union, Err(TypeError::TooLarge { what: "bytes in each value", max: 256 << 20 }));
    // Few types, but many members: each type contains the previous one ten times.
    let mut bomb = DynamicType::structure("B").member("x", DynamicType::uint8()).build().unwrap();
    let error = (0..20).find_map(|_| {
        let mut next = DynamicType::structure("B");
        for index in 0..10 {
            next = next.member(&format!("m{index}"), DynamicType::sequence(&bomb));
        }
        match next.build() {
            Ok(ty) => {
                bomb = ty;
                None
            }
            Err(error) => Some(error),
        }
    });
    assert_eq!(error, Some(TypeError::TooLarge { what: "members in all parts", max: 1 << 16 }));
    let mut deep = DynamicType::boolean();
    let error = (0..200).find_map(|_| match DynamicType::sequence(&deep).build() {
        Ok(ty) => {
            deep = ty;
            None
        }
        Err(error) => Some(error),
    });
    assert_eq!(error, Some(TypeError::TooLarge { what: "levels", max: 128 }));
    let mut many = DynamicType::structure("M");
    for index in 0..5000 {
        many = many.member(&format!("m{index}"), DynamicType::bounded_string(index + 1));
    }
    assert_eq!(many.build(), Err(TypeError::TooLarge { what: "types", max: 4096 }));
}
