//! Model of the type: the input of code generation.

use crate::attr::{
    AutoId, ExtensibilityAttribute, FieldAttributes, HashId, MemberDefault, TryConstructAttribute, TypeAttributes,
    VariantAttributes,
};
use crate::bits::{BitmaskModel, BitsetModel};
use crate::check::Errors;
use crate::converted::ConvertedModel;
use crate::union::UnionModel;
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Expr, Fields, GenericParam, Type};

pub(crate) struct Model<'a> {
    pub(crate) ident: &'a Ident,
    /// Number of lifetime parameters. Other parameters are rejected.
    pub(crate) lifetimes: usize,
    pub(crate) attributes: TypeAttributes,
    pub(crate) body: Body<'a>,
    /// The fields of a struct that are marked `non_serialized`.
    pub(crate) hidden: Vec<&'a Ident>,
    pub(crate) input: &'a DeriveInput,
}

pub(crate) enum Body<'a> {
    Struct(Vec<MemberModel<'a>>),
    Enum(Vec<LiteralModel<'a>>),
    Union(UnionModel<'a>),
    Bitmask(BitmaskModel<'a>),
    Bitset(BitsetModel<'a>),
    /// A type that is encoded as another one.
    Converted(ConvertedModel<'a>),
    /// A type that was rejected.
    Unknown,
}

pub(crate) struct MemberModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    /// The member id. Behind a base it counts from the first id that the base does not use.
    pub(crate) id: u32,
    /// The type of the base, if the id continues the ids of the base.
    pub(crate) counts_from: Option<&'a Type>,
    /// The name in the type description.
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) attributes: FieldAttributes,
}

pub(crate) struct LiteralModel<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) name: String,
    /// The explicit discriminant.
    pub(crate) discriminant: Option<&'a Expr>,
    /// Position of the `default` attribute: the literal is the value of absent members.
    pub(crate) default: Option<Span>,
}

impl<'a> Model<'a> {
    pub(crate) fn of(input: &'a DeriveInput, errors: &mut Errors) -> Self {
        let attributes = TypeAttributes::of(&input.attrs, errors);
        for parameter in &input.generics.params {
            if !matches!(parameter, GenericParam::Lifetime(_)) {
                errors.at(parameter, "expected no type parameters: a DDS type has one name and one structure");
            }
        }
        let mut hidden = Vec::new();
        let body = match &input.data {
            // The conversion comes first: then the fields of the type are not members.
            _ if attributes.into.is_some() || attributes.from.is_some() => {
                ConvertedModel::of_attributes(&attributes, errors)
            }
            Data::Struct(data) if attributes.bitmask.is_some() => BitmaskModel::of(data, &attributes, errors),
            Data::Struct(data) if attributes.bitset.is_some() => BitsetModel::of(data, errors),
            // A typedef of IDL: the encoding is that of the field, without a member header.
            Data::Struct(data) if matches!(&data.fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1) => {
                ConvertedModel::of_newtype(&input.ident, &data.fields, errors)
            }
            Data::Struct(data) => {
                Body::of_struct(&data.fields, attributes.autoid.unwrap_or_default(), &mut hidden, errors)
            }
            // Before plain enums: a union may have cases without data only, if it names its discriminator.
            Data::Enum(data) if UnionModel::is_one(data, &attributes) => {
                Body::Union(UnionModel::of(data, &attributes, errors))
            }
            Data::Enum(data) => Body::of_enum(data, errors),
            Data::Union(data) => {
                let message = "expected a struct or an enum, found a `union`: write a DDS union as an enum with data";
                errors.add(syn::Error::new(data.union_token.span, message));
                Body::Unknown
            }
        };
        let lifetimes = input.generics.lifetimes().count();
        Self { ident: &input.ident, lifetimes, attributes, body, hidden, input }
    }

    pub(crate) fn extensibility(&self) -> ExtensibilityAttribute {
        self.attributes.extensibility.unwrap_or_default()
    }

    /// The type with all its lifetimes replaced by `lifetime`.
    pub(crate) fn ty(&self, lifetime: &TokenStream) -> TokenStream {
        let ident = self.ident;
        match self.lifetimes {
            0 => quote!(#ident),
            count => {
                let lifetimes = std::iter::repeat_n(lifetime, count);
                quote!(#ident<#(#lifetimes),*>)
            }
        }
    }

    /// `name: value,` for each `non_serialized` field.
    pub(crate) fn hidden_fields(&self) -> TokenStream {
        let hidden = &self.hidden;
        quote!(#(#hidden: ::core::default::Default::default(),)*)
    }

    /// Whether a union falls back to its default if the discriminator selects no case.
    pub(crate) fn defaults_discriminator(&self) -> bool {
        matches!(self.attributes.try_construct, Some((TryConstructAttribute::UseDefault, _)))
    }

    pub(crate) fn members(&self) -> &[MemberModel<'a>] {
        match &self.body {
            Body::Struct(members) => members,
            _ => &[],
        }
    }

    /// Whether a member or the discriminator is part of the key.
    pub(crate) fn has_key(&self) -> bool {
        // Only the discriminator of a union can be a key (XTYPES 1.3, 7.2.2.4.4.4.8).
        if let Body::Union(_) = self.body {
            return self.attributes.key.is_some();
        }
        for member in self.members() {
            if member.attributes.key.is_some() {
                return true;
            }
        }
        false
    }

    /// The members of the key: the marked ones, or all members if none is marked.
    pub(crate) fn key_members(&self) -> Vec<&MemberModel<'a>> {
        // Inside the key of another struct, a struct without key members counts as a whole (XTYPES 1.3, 7.6.8).
        let has_key = self.has_key();
        self.members().iter().filter(|member| member.attributes.key.is_some() || !has_key).collect()
    }
}

impl<'a> Body<'a> {
    fn of_struct(fields: &'a Fields, autoid: AutoId, hidden: &mut Vec<&'a Ident>, errors: &mut Errors) -> Self {
        match fields {
            Fields::Unit => return Self::Struct(Vec::new()),
            Fields::Unnamed(fields) => {
                errors.at(
                    fields,
                    "expected named fields or one field without a name: the members of a DDS type have names",
                );
                return Self::Unknown;
            }
            Fields::Named(_) => {}
        }
        // XTYPES 1.3, 7.3.1.2.1.1: a member without an id of its own follows the member before it.
        let (mut next_id, mut counts_from) = (0, None);
        let mut members = Vec::new();
        for field in fields {
            debug_assert!(field.ident.is_some(), "each field of `Fields::Named` has a name");
            let Some(ident) = &field.ident else { continue };
            let attributes = FieldAttributes::of(&field.attrs, errors);
            if let Some(span) = attributes.non_serialized {
                if !attributes.is_silent() || attributes.key.is_some() || attributes.base.is_some() {
                    errors.add(syn::Error::new(
                        span,
                        "expected no other attribute: a `non_serialized` field is not a member",
                    ));
                }
                hidden.push(ident);
                continue;
            }
            let name = name_of(ident, &attributes);
            let is_optional = attributes.optional.is_some() || is_option(&field.ty);
            if attributes.base.is_some() {
                // The ids of the own members follow those of the base, whose number the macro does not know.
                counts_from = Some(&field.ty);
                members.push(MemberModel {
                    ident,
                    ty: &field.ty,
                    id: 0,
                    counts_from: None,
                    name,
                    is_optional,
                    attributes,
                });
                continue;
            }
            let id = id_of(&name, &attributes, autoid, next_id);
            // An explicit id does not depend on the base, and neither do the ids that continue it.
            if attributes.id.is_some() || attributes.hashid.is_some() || autoid == AutoId::Hash {
                counts_from = None;
            }
            // The largest id is rejected later, so saturation cannot give two members one id unnoticed.
            next_id = id.saturating_add(1);
            members.push(MemberModel { ident, ty: &field.ty, id, counts_from, name, is_optional, attributes });
        }
        Self::Struct(members)
    }

    fn of_enum(data: &'a syn::DataEnum, errors: &mut Errors) -> Self {
        let mut literals = Vec::new();
        for variant in &data.variants {
            let attributes = VariantAttributes::of(&variant.attrs, false, errors);
            let ident = &variant.ident;
            let name = name_of(ident, &attributes.member);
            let discriminant = variant.discriminant.as_ref().map(|(_, value)| value);
            literals.push(LiteralModel { ident, name, discriminant, default: attributes.default });
        }
        Self::Enum(literals)
    }
}

impl MemberModel<'_> {
    /// The value of the field as an expression: a place, or the result of the conversion `with`.
    pub(crate) fn value(&self) -> TokenStream {
        let ident = self.ident;
        match (&self.attributes.with, self.is_optional) {
            (None, _) => quote!(self.#ident),
            (Some(with), false) => quote!(#with::to_wire(&self.#ident)),
            // The conversion sees a present value only, so one module serves optional and other members.
            (Some(with), true) => quote!(self.#ident.as_ref().map(#with::to_wire)),
        }
    }

    /// Converts a decoded value to the type of the field. `value` is an expression without side effects on `d`.
    pub(crate) fn convert(&self, value: TokenStream, cdr: &TokenStream) -> TokenStream {
        match (&self.attributes.with, self.is_optional) {
            (None, _) => value,
            // The value is decoded first: the call of a method and the argument would borrow the decoder twice.
            (Some(with), false) => quote!({
                let wire = #value;
                #cdr::converted(d, #with::from_wire(wire))?
            }),
            (Some(with), true) => quote!({
                match #value {
                    ::core::option::Option::Some(wire) => {
                        ::core::option::Option::Some(#cdr::converted(d, #with::from_wire(wire))?)
                    }
                    ::core::option::Option::None => ::core::option::Option::None,
                }
            }),
        }
    }

    /// The type that the generated code names: the type inside an `Option`, if it is written as one.
    fn named_type(&self) -> &Type {
        if self.is_optional { inside_option(self.ty).unwrap_or(self.ty) } else { self.ty }
    }

    /// The trait or type that has all functions of the member, if its type owns its data.
    ///
    /// Otherwise the code uses the traits one by one. See `MemberValue` and `KeyPart` in the crate `dds-cdr`.
    pub(crate) fn as_owned(&self, cdr: &TokenStream) -> Option<TokenStream> {
        // An alias of `Option` hides the type inside.
        let is_alias = self.is_optional && inside_option(self.ty).is_none();
        let ty = self.named_type();
        match self.attributes.key {
            _ if is_alias || has_lifetime(ty) => None,
            // `Keyed` has a bound for each key member, and these functions do not repeat its error.
            Some(_) if !self.is_base() => Some(quote!(<#cdr::KeyPart<#ty>>)),
            _ => Some(quote!(<#ty as #cdr::MemberValue>)),
        }
    }

    /// The constant of the member's type with this name in `TypeInfo`, `Encode` and `MemberValue`.
    pub(crate) fn constant(&self, of: &TokenStream, name: &TokenStream, cdr: &TokenStream) -> TokenStream {
        match self.as_owned(cdr) {
            Some(owned) => quote!(#owned::#name),
            None => constant_of_trait(self.named_type(), (of, name), cdr),
        }
    }

    pub(crate) fn default(&self) -> Option<TokenStream> {
        match self.attributes.default.as_ref()? {
            MemberDefault::OfTrait => Some(quote!(::core::default::Default::default())),
            MemberDefault::Value(value) => Some(value.to_token_stream()),
        }
    }

    /// Moves `code` to the member's type, so that compile errors point there.
    ///
    /// The hygiene of its names does not change. Otherwise `self` would resolve in the macro that wrote the type.
    pub(crate) fn locate(&self, code: TokenStream) -> TokenStream {
        locate(code, self.ty.span())
    }

    /// Whether this member is the base: a struct whose members come first.
    pub(crate) fn is_base(&self) -> bool {
        self.attributes.base.is_some()
    }

    /// The id as an expression.
    pub(crate) fn id(&self, cdr: &TokenStream) -> TokenStream {
        let id = self.id;
        match self.counts_from {
            None => quote!(#id),
            Some(base) => {
                let described = match has_lifetime(base) {
                    true => constant_of_trait(base, (&quote!(TypeInfo), &quote!(DESCRIPTION)), cdr),
                    // The error for a missing derive is that of the other uses.
                    false => quote!(<#base as #cdr::MemberValue>::DESCRIPTION),
                };
                quote!(const { #cdr::next_member_id(#described) + #id })
            }
        }
    }

    /// The id as a pattern.
    pub(crate) fn id_pattern(&self, cdr: &TokenStream) -> TokenStream {
        let id = self.id(cdr);
        // A constant block is an expression, which no pattern accepts.
        if self.counts_from.is_some() { quote!(id if id == #id) } else { id }
    }

    pub(crate) fn try_construct(&self) -> TryConstructAttribute {
        match self.attributes.try_construct {
            Some((kind, _)) => kind,
            None => TryConstructAttribute::Discard,
        }
    }

    pub(crate) fn bound(&self) -> Option<u32> {
        let (bound, _) = self.attributes.bound?;
        Some(bound)
    }
}

/// A type that borrows has no `MemberValue`, so the code names the trait itself.
fn constant_of_trait(ty: &Type, (of, name): (&TokenStream, &TokenStream), cdr: &TokenStream) -> TokenStream {
    let ty = with_lifetime(ty, "static");
    quote!(<#ty as #cdr::#of>::#name)
}

/// The name of a member or literal in the type description.
pub(crate) fn name_of(ident: &Ident, attributes: &FieldAttributes) -> String {
    match &attributes.name {
        Some(name) => name.value(),
        // `r#type` is the member `type`.
        None => ident.unraw().to_string(),
    }
}

/// The id of a member; `next` is the id after the preceding member.
pub(crate) fn id_of(name: &str, attributes: &FieldAttributes, autoid: AutoId, next: u32) -> u32 {
    match (&attributes.id, &attributes.hashid) {
        (Some((id, _)), _) => *id,
        (None, Some(HashId { name: Some(other), .. })) => hash_of(&other.value()),
        (None, Some(HashId { name: None, .. })) => hash_of(name),
        (None, None) if autoid == AutoId::Hash => hash_of(name),
        (None, None) => next,
    }
}

/// Whether a type is written as `Option<..>`.
pub(crate) fn is_option(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|name| name == "Option")
}

/// The id from a name: the first four bytes of its MD5, little endian, without the high four bits.
fn hash_of(name: &str) -> u32 {
    // XTYPES 1.3, 7.3.1.2.1.1: the first four bytes of the MD5. A member header has 28 bits for the id.
    let [a, b, c, d, ..] = md5::compute(name).0;
    u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff
}

/// The type inside of `Option<..>`.
pub(crate) fn inside_option(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Group(group) => inside_option(&group.elem),
        Type::Paren(inner) => inside_option(&inner.elem),
        Type::Path(path) => {
            let segment = path.path.segments.last()?;
            if segment.ident != "Option" {
                return None;
            }
            let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
            match arguments.args.first() {
                Some(syn::GenericArgument::Type(inner)) => Some(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a lifetime is written in the type.
pub(crate) fn has_lifetime(ty: &Type) -> bool {
    fn is_in(tokens: TokenStream) -> bool {
        for token in tokens {
            let found = match token {
                // A lifetime is an apostrophe and a name; a character literal is one token.
                TokenTree::Punct(punct) => punct.as_char() == '\'',
                TokenTree::Group(group) => is_in(group.stream()),
                _ => false,
            };
            if found {
                return true;
            }
        }
        false
    }
    // A reference without a lifetime is an error elsewhere, but it borrows too.
    is_in(ty.to_token_stream()) || matches!(ty, Type::Reference(_))
}

/// The name of a type without its path and parameters.
pub(crate) fn last_segment(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => Some(&path.path.segments.last()?.ident),
        // A type that came out of another macro.
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(inner) => last_segment(&inner.elem),
        _ => None,
    }
}

/// Replaces every lifetime in the type.
///
/// Constants cannot name the lifetimes of the type, and `impl Decode<'de>` uses one for all of them.
pub(crate) fn with_lifetime(ty: &Type, lifetime: &str) -> TokenStream {
    replace_lifetimes(ty.to_token_stream(), lifetime)
}

fn replace_lifetimes(tokens: TokenStream, lifetime: &str) -> TokenStream {
    let mut after_apostrophe = false;
    let mut replaced = TokenStream::new();
    for token in tokens {
        let is_lifetime_name = std::mem::take(&mut after_apostrophe);
        let token = match token {
            TokenTree::Punct(ref punct) if punct.as_char() == '\'' => {
                after_apostrophe = true;
                token
            }
            TokenTree::Ident(ident) if is_lifetime_name => Ident::new(lifetime, ident.span()).into(),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace_lifetimes(group.stream(), lifetime));
                // A new group has the span of the macro call, and an error in it would point there.
                inner.set_span(group.span());
                inner.into()
            }
            _ => token,
        };
        replaced.extend([token]);
    }
    replaced
}

pub(crate) fn locate(code: TokenStream, place: Span) -> TokenStream {
    let mut located = TokenStream::new();
    for mut token in code {
        // Names still resolve where the macro wrote them. Only the position in error messages changes.
        let span = token.span().located_at(place);
        match &mut token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), locate(group.stream(), place));
                inner.set_span(span);
                *group = inner;
            }
            token => token.set_span(span),
        }
        located.extend([token]);
    }
    located
}

/// `'name` as tokens.
pub(crate) fn lifetime(name: &str) -> TokenStream {
    let apostrophe = TokenTree::Punct(Punct::new('\'', Spacing::Joint));
    [apostrophe, Ident::new(name, Span::call_site()).into()].into_iter().collect()
}
