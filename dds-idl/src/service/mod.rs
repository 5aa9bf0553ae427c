//! Request and reply types of services (DDS-RPC 1.0, 7.5.1.1: basic service mapping).
//!
//! In: a specification with interfaces that have the annotation `@service`. Out: the same specification, with the
//! types that the standard derives from each of these interfaces. All back ends then treat them as any type.
//!
//! For the interface `Robot` with the operation `move`:
//!
//! | type | content |
//! |---|---|
//! | `Robot_move_In` | the parameters `in` and `inout` |
//! | `Robot_move_Out` | the parameters `inout` and `out`, and the result as `return_` |
//! | `Robot_move_Result` | `Robot_move_Out`, or an exception |
//! | `Robot_Call`, `Robot_Return` | one of the operations, by the hash of its name |
//! | `Robot_Request`, `Robot_Reply` | a header, and the call or its result |
//!
//! `Requester` and `Replier` of `dds-core` take the request and the reply as their types. They relate a reply to its
//! request by inline QoS, and leave the header to the program.
//!
//! An exception becomes a struct. The attribute `x` is the operations `get_attribute_x` and `set_attribute_x`.
//! Operations of a base interface belong to the topics of the base.

mod header;
mod mapping;

use crate::model::{DefinitionKind, Diagnostics, Specification};

/// Adds the request and reply types of all services.
///
/// A service is an interface with `@service`, `@service("*")` or `@service("DDS")`. The types stand in its module.
///
/// # Errors
/// A derived name belongs to another definition, two operations have one hash, or the interface has no operation.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
/// use dds_idl::rust::{RustOptions, generate};
/// use dds_idl::service::add_service_types;
///
/// let text = "module robot { @service interface Arm { float set_speed(in float speed); }; };";
/// let mut specification = parse_text("arm.idl", text, &Options::default())?;
/// add_service_types(&mut specification).expect("the names are free");
/// let code = generate(&specification, &RustOptions::default()).expect("the types are data");
/// assert!(code.contains("pub struct ArmRequest {"));
/// assert!(code.contains("pub enum ArmReturn {"));
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn add_service_types(specification: &mut Specification) -> Result<(), Diagnostics> {
    let mut services = Vec::new();
    for (id, definition) in specification.definitions() {
        if matches!(definition.kind, DefinitionKind::Interface(_)) && definition.annotations.is_dds_service() {
            services.push(id);
        }
    }
    if services.is_empty() {
        return Ok(());
    }
    let mut errors = Diagnostics::default();
    let shared = header::add(specification, &mut errors);
    for id in services {
        mapping::add(specification, id, &shared, &mut errors);
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}
