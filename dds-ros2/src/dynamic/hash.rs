//! Type hashes of ROS 2: `RIHS01_` and the SHA-256 of one line of JSON
//! (`rosidl_generator_type_description/__init__.py`).

use dds_ros2_msgs::type_description_interfaces::msg::{IndividualTypeDescription, TypeDescription};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the hash of a type that `objects` accepts. Its names consist of letters, digits, `_` and `/`, which JSON
/// does not escape.
pub(super) fn of(description: &TypeDescription) -> String {
    let mut hash = "RIHS01_".to_owned();
    for byte in Sha256::digest(json(description)) {
        push(&mut hash, format_args!("{byte:02x}"));
    }
    hash
}

fn json(description: &TypeDescription) -> String {
    let mut text = "{\"type_description\": ".to_owned();
    individual(&description.type_description, &mut text);
    text.push_str(", \"referenced_type_descriptions\": [");
    for (index, referenced) in description.referenced_type_descriptions.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ", " });
        individual(referenced, &mut text);
    }
    text.push_str("]}");
    text
}

fn individual(ty: &IndividualTypeDescription, text: &mut String) {
    push(text, format_args!("{{\"type_name\": \"{}\", \"fields\": [", ty.type_name));
    for (index, field) in ty.fields.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ", " });
        let ty = &field.r#type;
        push(
            text,
            format_args!(
                "{{\"name\": \"{}\", \"type\": {{\"type_id\": {}, \"capacity\": {}, \"string_capacity\": {}, \
                 \"nested_type_name\": \"{}\"}}}}",
                field.name, ty.type_id, ty.capacity, ty.string_capacity, ty.nested_type_name
            ),
        );
    }
    text.push_str("]}");
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a `String` never fails.
    let _ = text.write_fmt(arguments);
}
