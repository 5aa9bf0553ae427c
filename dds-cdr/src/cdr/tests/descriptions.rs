//! Types as constant data.

use super::types::*;
use crate::cdr::{TypeInfo, TypeKind};
use dds_macros::DdsType;

#[test]
fn view_is_encoded_like_its_type() {
    assert!(ShapeView::DESCRIPTION.is_encoded_like(ShapeType::DESCRIPTION));
    assert!(!ShapeView::DESCRIPTION.is_encoded_like(AllFinal::DESCRIPTION));
    assert!(!AllAppendable::DESCRIPTION.is_encoded_like(AllFinal::DESCRIPTION));
}

#[test]
fn recursive_types_can_be_compared() {
    #[derive(DdsType)]
    #[dds(crate = "crate")]
    struct Copse {
        value: u32,
        children: Vec<Copse>,
        next: Option<Box<Tree>>,
    }
    assert!(Copse::DESCRIPTION.is_encoded_like(Tree::DESCRIPTION));
}

#[test]
fn nested_difference_is_found() {
    #[derive(DdsType)]
    #[dds(crate = "crate")]
    struct One {
        points: Vec<[Point; 2]>,
    }
    #[derive(DdsType)]
    #[dds(crate = "crate", nested)]
    struct OtherPoint {
        x: f32,
        y: i64,
    }
    #[derive(DdsType)]
    #[dds(crate = "crate")]
    struct Other {
        points: Vec<[OtherPoint; 2]>,
    }
    // A constant can only compare names, ids and keys of members.
    const { assert!(One::DESCRIPTION.has_members_of(Other::DESCRIPTION)) };
    assert!(!One::DESCRIPTION.is_encoded_like(Other::DESCRIPTION));
}

#[test]
fn bounds_are_compared() {
    let TypeKind::Struct(shape) = ShapeType::DESCRIPTION.kind() else { panic!() };
    let color = shape.members().first().unwrap();
    assert!(matches!(color.ty().kind(), TypeKind::String { bound: Some(128) }));
    assert!(!color.ty().is_encoded_like(String::DESCRIPTION));
}
