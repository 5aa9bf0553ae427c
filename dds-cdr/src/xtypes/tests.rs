//! Round trips, assignability of arbitrary types, and untrusted bytes.

use super::*;
use crate::cdr::{ByteOrder, Decode, Decoder, Encode, Encoder, Encoding, Extensibility};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn identifier() -> impl Strategy<Value = TypeIdentifier> {
    let hash = || any::<[u8; 14]>().prop_map(EquivalenceHash);
    let leaf = prop_oneof![
        Just(TypeIdentifier::Primitive(PrimitiveType::Int32)),
        Just(TypeIdentifier::Primitive(PrimitiveType::Char16)),
        (0_u32..600).prop_map(|bound| TypeIdentifier::String8 { bound }),
        any::<u32>().prop_map(|bound| TypeIdentifier::String16 { bound }),
        hash().prop_map(TypeIdentifier::Minimal),
        hash().prop_map(TypeIdentifier::Complete),
        (hash(), any::<i32>(), any::<i32>()).prop_map(|(hash, length, index)| {
            TypeIdentifier::StronglyConnected(ComponentId { equivalence: Equivalence::Minimal, hash, length, index })
        }),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        let element = || {
            (any::<u16>(), inner.clone()).prop_map(|(flags, id)| Box::new(PlainElement::new(MemberFlags(flags), id)))
        };
        prop_oneof![
            (any::<u32>(), element()).prop_map(|(bound, element)| TypeIdentifier::Sequence { bound, element }),
            (prop::collection::vec(0_u32..400, 1..4), element())
                .prop_map(|(bounds, element)| TypeIdentifier::Array { bounds, element }),
            (0_u32..400, element(), any::<u16>(), inner.clone()).prop_map(|(bound, element, flags, key)| {
                TypeIdentifier::Map { bound, element, key_flags: MemberFlags(flags), key: Box::new(key) }
            }),
        ]
    })
}

/// A struct called `name` whose members are fully described.
fn structure(name: &'static str, extensibility: Extensibility) -> impl Strategy<Value = StructType<Complete>> {
    let ty = identifier().prop_filter("requires no other description", TypeIdentifier::is_fully_descriptive);
    let member = (0_u16..64, ty);
    prop::collection::vec(member, 1..6).prop_map(move |members| StructType {
        flags: TypeFlags::of_extensibility(extensibility),
        base: TypeIdentifier::None,
        detail: Complete::of_type(name),
        members: (0..)
            .zip(members)
            .map(|(id, (flags, ty))| StructMember {
                id,
                flags: MemberFlags(flags),
                ty,
                detail: Complete::of_member(&format!("m{id}")),
            })
            .collect(),
    })
}

fn round_trip<T: Encode + for<'de> Decode<'de> + PartialEq + std::fmt::Debug>(value: &T) {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut bytes = Vec::new();
        value.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, order)).unwrap();
        let mut decoder = Decoder::new(&bytes, Encoding::Xcdr2, order);
        assert_eq!(&T::decode(&mut decoder).unwrap(), value);
        assert_eq!(decoder.remaining(), 0);
    }
}

#[derive(Default)]
struct Source(BTreeMap<TypeIdentifier, TypeObject>);

impl Source {
    fn add(&mut self, definition: TypeDefinition<Complete>) -> TypeIdentifier {
        let object = TypeObject::Complete(definition);
        let id = object.identifier().unwrap();
        self.0.insert(id.clone(), object);
        id
    }
}

impl TypeSource for Source {
    fn find(&self, id: &TypeIdentifier) -> Option<&TypeObject> {
        self.0.get(id)
    }
}

fn extensibility() -> impl Strategy<Value = Extensibility> {
    prop_oneof![Just(Extensibility::Final), Just(Extensibility::Appendable), Just(Extensibility::Mutable)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn identifier_survives_round_trip(id in identifier()) {
        round_trip(&id);
    }

    #[test]
    fn type_object_survives_round_trip(ty in structure("T", Extensibility::Mutable)) {
        round_trip(&TypeObject::Complete(TypeDefinition::Struct(ty)));
    }

    /// A type with another name has another hash, so it is compared member by member.
    #[test]
    fn type_is_assignable_from_equal_type(ty in extensibility().prop_flat_map(|how| structure("T", how))) {
        let mut source = Source::default();
        let one = source.add(TypeDefinition::Struct(ty.clone()));
        let two = source.add(TypeDefinition::Struct(StructType { detail: Complete::of_type("U"), ..ty }));
        let strict = TypeConsistency {
            ignore_sequence_bounds: false,
            ignore_string_bounds: false,
            prevent_type_widening: true,
            ..TypeConsistency::default()
        };
        prop_assert_ne!(&one, &two);
        prop_assert_eq!(check_assignable::<Complete>(&source, &one, &two, &strict), Ok(()));
    }

    #[test]
    fn arbitrary_bytes_decode_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = TypeObject::from_bytes(&bytes);
        let _ = TypeInformation::from_bytes(&bytes);
    }
}

fn empty(name: &str) -> StructType<Complete> {
    StructType {
        flags: TypeFlags::APPENDABLE,
        base: TypeIdentifier::None,
        detail: Complete::of_type(name),
        members: Vec::new(),
    }
}

#[test]
fn nesting_of_identifiers_is_bounded() {
    let nested = |depth: usize| {
        (0..depth).fold(TypeIdentifier::Primitive(PrimitiveType::Bool), |id, _| TypeIdentifier::Sequence {
            bound: 0,
            element: Box::new(PlainElement::new(MemberFlags::NONE, id)),
        })
    };
    round_trip(&nested(60));
    let mut bytes = Vec::new();
    nested(70).encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little)).unwrap();
    TypeIdentifier::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Little)).unwrap_err();
}

#[test]
fn too_deeply_nested_types_are_not_compared() {
    let mut source = Source::default();
    let mut chain = |name: &str| {
        let mut id = TypeIdentifier::Primitive(PrimitiveType::Bool);
        for depth in 0..100 {
            let member = StructMember { id: 0, flags: MemberFlags(1), ty: id, detail: Complete::of_member("next") };
            let ty = StructType { members: vec![member], ..empty(&format!("{name}{depth}")) };
            id = source.add(TypeDefinition::Struct(ty));
        }
        id
    };
    let (one, two) = (chain("A"), chain("B"));
    let Err(Mismatch::Differs(difference)) =
        check_assignable::<Complete>(&source, &one, &two, &TypeConsistency::default())
    else {
        panic!("a hundred levels must be too deep");
    };
    assert_eq!(difference.kind, TypeDifferenceKind::TooDeep);
}

/// A correct hash cannot contain itself, but the comparison does not verify hashes.
#[test]
fn alias_of_itself_does_not_loop() {
    let mut source = Source::default();
    let id = TypeIdentifier::Complete(EquivalenceHash([7; 14]));
    let alias = AliasType {
        flags: TypeFlags::NONE,
        detail: Complete::of_type("A"),
        related_flags: MemberFlags::NONE,
        related_type: id.clone(),
        related_detail: ElementDetail::default(),
    };
    source.0.insert(id.clone(), TypeObject::Complete(TypeDefinition::Alias(alias)));
    let other = source.add(TypeDefinition::Struct(empty("B")));
    assert!(check_assignable::<Complete>(&source, &other, &id, &TypeConsistency::default()).is_err());
}

#[test]
fn description_with_wrong_hash_is_rejected() {
    let mut store = TypeStore::default();
    let object = |name| TypeObject::Complete(TypeDefinition::Struct(empty(name)));
    let id = object("A").identifier().unwrap();
    assert_eq!(store.add(SourceId([1; 12]), &id, object("B"), 10), Err(TypeObjectRefused::WrongHash));
    assert!(store.get(&id).is_none());
    assert_eq!(store.add(SourceId([1; 12]), &id, object("A"), 10), Ok(()));
    assert!(store.get(&id).is_some());

    let component =
        ComponentId { equivalence: Equivalence::Complete, hash: EquivalenceHash([1; 14]), length: 1, index: 0 };
    assert_eq!(
        store.add_component(SourceId([1; 12]), component, vec![object("A")], 10),
        Err(TypeObjectRefused::WrongHash)
    );
}

#[test]
fn descriptions_by_peers_are_bounded() {
    let mut store = TypeStore::default();
    let mut refused = 0;
    for owner in 0..12_u8 {
        for number in 0..20 {
            let object = TypeObject::Complete(TypeDefinition::Struct(empty(&format!("{owner}/{number}"))));
            let id = object.identifier().unwrap();
            refused += u32::from(store.add(SourceId([owner; 12]), &id, object, 64 << 10).is_err());
        }
    }
    assert_eq!(store.others_bytes(), OTHERS_BYTES_MAX);
    assert_eq!(refused, 12 * 20 - 8 * 16, "16 types of each participant, 8 participants in all");
    store.forget(SourceId([0; 12]));
    assert_eq!(store.others_bytes(), OTHERS_BYTES_MAX - PARTICIPANT_BYTES_MAX);
}

#[derive(dds_macros::DdsType, Debug, Clone, Copy)]
#[dds(crate = "crate", bitset)]
#[allow(dead_code, reason = "the test uses only the description")]
struct Holders {
    flag: bool,
    #[dds(bits = 7)]
    short: i16,
    #[dds(bits = 3)]
    octet: u8,
    #[dds(bits = 5)]
    tiny: i8,
    #[dds(bits = 9)]
    long: i32,
    #[dds(bits = 2)]
    unsigned: u32,
    #[dds(bits = 12)]
    very_long: i64,
}

#[derive(dds_macros::DdsType, Debug, Clone, Copy)]
#[dds(crate = "crate")]
#[allow(dead_code, reason = "the test uses only the description")]
struct HasHolders {
    holders: Holders,
}

/// XTypes 1.3, annex B, `CommonBitfield`: `holder_type` is the type of the value, not always the smallest possible.
#[test]
fn holder_of_bitfield_is_type_of_its_value() {
    use crate::cdr::TypeInfo;
    let graph = TypeGraph::of(HasHolders::DESCRIPTION).unwrap();
    for object in [&graph.types()[1].minimal, &graph.types()[1].complete] {
        let holders: Vec<PrimitiveType> = match (Minimal::definition(object), Complete::definition(object)) {
            (Some(TypeDefinition::Bitset(ty)), _) => ty.fields.iter().map(|field| field.holder).collect(),
            (_, Some(TypeDefinition::Bitset(ty))) => ty.fields.iter().map(|field| field.holder).collect(),
            _ => panic!("{object:?}"),
        };
        let expected = [
            PrimitiveType::Bool,
            PrimitiveType::Int16,
            PrimitiveType::UInt8,
            PrimitiveType::Int8,
            PrimitiveType::Int32,
            PrimitiveType::UInt32,
            PrimitiveType::Int64,
        ];
        assert_eq!(holders, expected);
    }
}
