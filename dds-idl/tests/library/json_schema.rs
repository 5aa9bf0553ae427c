//! JSON Schemas of types, and values that they accept and refuse.

use dds_cdr::cdr::dynamic::{DynamicData, DynamicType};
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_text};
use dds_idl::print::to_json_schema;
use serde_json::{Value, json};

const IDL: &str = r#"
module shop {
    @bit_bound(8) enum Color { RED, @value(7) GREEN };
    bitmask Flags { LEFT, @position(3) RIGHT };
    bitset Bits { bitfield<3> low; bitfield<4>; bitfield<5, int8> high; bitfield<1> mark; };
    typedef sequence<string<4>, 2> Names;
    @nested struct Point { double x; float y; };
    union Choice switch (Color) { case RED: int64 number; };
    union Flag switch (boolean) { case TRUE: long yes; case FALSE: string no; };
    @nested struct Base {
        // The number on the "label".
        @key uint64 id;
    };
    struct Item : Base {
        @unit("kg") @range(min = 0, max = 50.5) @default(1.5) double mass;
        int8 small;
        char letter;
        wchar wide;
        boolean is_new;
        @default(GREEN) Color color;
        Flags flags;
        Bits bits;
        Names names;
        long grid[2][3];
        map<string<3>, Point> places;
        map<long, Color> codes;
        @optional Point maybe;
        Choice choice;
        Flag flag;
        sequence<Item> parts;
        @non_serialized long own;
    };
};
"#;

fn item() -> (Value, DynamicType) {
    let specification = parse_text("shop.idl", IDL, &Options::default()).unwrap();
    let schema = serde_json::from_str(&to_json_schema(&specification)).unwrap();
    let ty = dynamic_type(&specification, specification.find("shop::Item").unwrap()).unwrap();
    (schema, ty)
}

/// Returns whether a value fits a schema: the keywords that [`to_json_schema`] writes.
fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(words) = schema else { return schema.as_bool().unwrap() };
    words.iter().all(|(word, given)| match word.as_str() {
        "$schema" | "$defs" | "description" | "default" => true,
        "$ref" => fits(root, root.pointer(given.as_str().unwrap().strip_prefix('#').unwrap()).unwrap(), value),
        "anyOf" => given.as_array().unwrap().iter().any(|form| fits(root, form, value)),
        "enum" => given.as_array().unwrap().contains(value),
        "type" => match given {
            Value::Array(types) => types.iter().any(|ty| is_type(ty, value)),
            ty => is_type(ty, value),
        },
        "minimum" => value.as_f64().is_none_or(|number| number >= given.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= given.as_f64().unwrap()),
        "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= given.as_u64().unwrap()),
        "maxLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 <= given.as_u64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= given.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= given.as_u64().unwrap()),
        "maxProperties" => value.as_object().is_none_or(|object| object.len() as u64 <= given.as_u64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(root, given, item))),
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(name, value)| given.get(name).is_none_or(|schema| fits(root, schema, value)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            let known = words.get("properties");
            object
                .iter()
                .all(|(name, value)| known.is_some_and(|known| known.get(name).is_some()) || fits(root, given, value))
        }),
        "required" => value.as_object().is_none_or(|object| {
            given.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
        }),
        "propertyNames" => value
            .as_object()
            .is_none_or(|object| object.keys().all(|name| fits(root, given, &Value::String(name.clone())))),
        "pattern" => {
            assert_eq!(given, "^-?[0-9]+$");
            value.as_str().is_none_or(|text| text.parse::<i64>().is_ok())
        }
        other => panic!("{other}"),
    })
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other}"),
    }
}

#[test]
fn printed_samples_fit() {
    let (schema, ty) = item();
    let mut sample = DynamicData::new(&ty);
    let printed = serde_json::to_value(&sample).unwrap();
    assert!(fits(&schema, &schema, &printed), "{printed}");

    sample.set("id", u64::MAX).unwrap();
    sample.set("mass", 50.5).unwrap();
    sample.set("flags", "LEFT|RIGHT").unwrap();
    sample.set("bits.high", -16).unwrap();
    sample.set("maybe.x", f64::NAN).unwrap();
    sample.set("wide", 0xd800).unwrap();
    sample.set("choice.number", 3_i64).unwrap();
    sample.set("codes[-7]", "GREEN").unwrap();
    sample.set("places[\"a\"].y", 1.5_f32).unwrap();
    sample.set("names", vec!["four", "long"]).unwrap();
    let printed = serde_json::to_value(&sample).unwrap();
    assert!(fits(&schema, &schema, &printed), "{printed}");
    assert_eq!(printed["wide"], 0xd800);
}

#[test]
fn values_fit_or_not() {
    let (schema, _) = item();
    for (value, expected) in [
        (json!({}), true),
        (json!([]), false),
        (json!({"id": -1}), false),
        (json!({"unknown": 1}), false),
        (json!({"own": 1}), false),
        (json!({"mass": 51}), false),
        (json!({"mass": "NaN"}), true),
        (json!({"mass": "-Infinity"}), true),
        (json!({"mass": null}), false),
        (json!({"mass": "heavy"}), false),
        (json!({"small": 128}), false),
        (json!({"small": 1.5}), false),
        (json!({"letter": "ab"}), false),
        (json!({"is_new": 1}), false),
        (json!({"color": "GREEN"}), true),
        (json!({"color": 7}), true),
        (json!({"color": 1}), false),
        (json!({"color": "BLUE"}), false),
        (json!({"flags": ["LEFT", "RIGHT"]}), true),
        (json!({"flags": ["UP"]}), false),
        (json!({"flags": 9}), true),
        (json!({"bits": {"low": 7, "high": -16, "mark": true}}), true),
        (json!({"bits": {"low": 8}}), false),
        (json!({"bits": {"high": 16}}), false),
        (json!({"names": ["a", "b"]}), true),
        (json!({"names": ["a", "b", "c"]}), false),
        (json!({"names": ["abcde"]}), false),
        (json!({"grid": [[1, 2, 3], [4, 5, 6]]}), true),
        (json!({"grid": [[1, 2], [3, 4], [5, 6]]}), false),
        (json!({"places": {"abc": {"x": 1}}}), true),
        (json!({"places": {"abcd": {"x": 1}}}), false),
        (json!({"places": {"abc": {"z": 1}}}), false),
        (json!({"codes": {"-7": "RED"}}), true),
        (json!({"codes": {"seven": "RED"}}), false),
        (json!({"maybe": null}), true),
        (json!({"maybe": {"x": 1}}), true),
        (json!({"names": null}), false),
        (json!({"choice": {"number": 3}}), true),
        (json!({"choice": {"$discriminator": "RED", "number": 3}}), true),
        (json!({"choice": {"$discriminator": "GREEN"}}), true),
        (json!({"choice": {"$discriminator": "BLUE"}}), false),
        (json!({"choice": 7}), false),
        (json!({"choice": {}}), false),
        (json!({"flag": {"yes": 1}}), true),
        (json!({"flag": {"yes": 1, "no": ""}}), false),
        (json!({"flag": {"$discriminator": true, "yes": 1}}), true),
        (json!({"flag": {"$discriminator": true}}), false),
        (json!({"flag": 1}), false),
        (json!({"parts": [{"parts": [{"small": 1}]}]}), true),
        (json!({"parts": [{"parts": [{"small": "one"}]}]}), false),
    ] {
        assert_eq!(fits(&schema, &schema, &value), expected, "{value}");
    }
}

#[test]
fn schema_has_comments_units_and_defaults() {
    let (schema, _) = item();
    let members = &schema["$defs"]["shop::Item"]["properties"];
    assert_eq!(members["id"]["description"], "The number on the \"label\".");
    assert_eq!(members["mass"]["description"], "Unit: kg.");
    assert_eq!(members["mass"]["default"], 1.5);
    assert_eq!(members["color"]["default"], "GREEN");
    assert_eq!(schema["$defs"]["shop::Names"]["maxItems"], 2);
}

#[test]
fn topic_types_are_the_samples() {
    let text = "struct A { long a; }; @nested struct B { long b; }; union C switch (long) { default: long c; };";
    let specification = parse_text("t.idl", text, &Options::default()).unwrap();
    let schema: Value = serde_json::from_str(&to_json_schema(&specification)).unwrap();
    assert_eq!(schema["anyOf"], json!([{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/C"}]));
    assert!(fits(&schema, &schema, &json!({"c": 1})));
    assert!(!fits(&schema, &schema, &json!({"b": 1})));
}

#[test]
fn type_without_a_form_has_no_values() {
    let text = "typedef fixed<3, 2> Price; struct A { long double d; };";
    let specification = parse_text("t.idl", text, &Options::default()).unwrap();
    let schema: Value = serde_json::from_str(&to_json_schema(&specification)).unwrap();
    assert_eq!(schema["$defs"]["Price"], false);
    assert_eq!(schema["$defs"]["A"]["properties"]["d"]["anyOf"][0]["type"], "string");
}
