//! Model of the type: the input of code generation.

use crate::attr::{
    AutoId, Extensibility, FieldAttributes, MemberDefault, TryConstruct, TypeAttributes, VariantAttributes,
};
use crate::bits::{Bitmask, Bitset};
use crate::check::Errors;
use crate::union::Union;
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
    Struct(Vec<Member<'a>>),
    Enum(Vec<Literal<'a>>),
    Union(Union<'a>),
    Bitmask(Bitmask<'a>),
    Bitset(Bitset<'a>),
    /// A type that was rejected.
    Unknown,
}

pub(crate) struct Member<'a> {
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

pub(crate) struct Literal<'a> {
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
            Data::Struct(data) if attributes.bitmask.is_some() => Bitmask::of(data, &attributes, errors),
            Data::Struct(data) if attributes.bitset.is_some() => Bitset::of(data, errors),
            Data::Struct(data) => {
                Body::of_struct(&data.fields, attributes.autoid.unwrap_or_default(), &mut hidden, errors)
            }
            Data::Enum(data) if Union::is_one(data, &attributes) => Body::Union(Union::of(data, &attributes, errors)),
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

    pub(crate) fn extensibility(&self) -> Extensibility {
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
        matches!(self.attributes.try_construct, Some((TryConstruct::UseDefault, _)))
    }

    pub(crate) fn members(&self) -> &[Member<'a>] {
        match &self.body {
            Body::Struct(members) => members,
            _ => &[],
        }
    }

    /// Whether a member or the discriminator is part of the key.
    pub(crate) fn has_key(&self) -> bool {
        if let Body::Union(_) = self.body {
            return self.attributes.key.is_some();
        }
        self.members().iter().any(|member| member.attributes.key.is_some())
    }

    /// The members of the key: the marked ones, or all members if none is marked.
    pub(crate) fn key_members(&self) -> Vec<&Member<'a>> {
        let has_key = self.has_key();
        self.members().iter().filter(|member| member.attributes.key.is_some() || !has_key).collect()
    }
}

impl<'a> Body<'a> {
    fn of_struct(fields: &'a Fields, autoid: AutoId, hidden: &mut Vec<&'a Ident>, errors: &mut Errors) -> Self {
        match fields {
            Fields::Unit => return Self::Struct(Vec::new()),
            Fields::Unnamed(fields) => {
                errors.at(fields, "expected named fields: the members of a DDS type have names");
                return Self::Unknown;
            }
            Fields::Named(_) => {}
        }
        let (mut next_id, mut counts_from) = (0, None);
        let mut members = Vec::new();
        for field in fields {
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
                counts_from = Some(&field.ty);
                members.push(Member { ident, ty: &field.ty, id: 0, counts_from: None, name, is_optional, attributes });
                continue;
            }
            let id = id_of(&name, &attributes, autoid, next_id);
            // An explicit id does not depend on the base, and neither do the ids that continue it.
            if attributes.id.is_some() || attributes.hashid.is_some() || autoid == AutoId::Hash {
                counts_from = None;
            }
            next_id = id.saturating_add(1);
            members.push(Member { ident, ty: &field.ty, id, counts_from, name, is_optional, attributes });
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
            literals.push(Literal { ident, name, discriminant, default: attributes.default });
        }
        Self::Enum(literals)
    }
}

impl Member<'_> {
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
                let base = with_lifetime(base, "static");
                quote!(const { #cdr::next_member_id(<#base as #cdr::TypeInfo>::DESCRIPTION) + #id })
            }
        }
    }

    /// The id as a pattern.
    pub(crate) fn id_pattern(&self, cdr: &TokenStream) -> TokenStream {
        let id = self.id(cdr);
        if self.counts_from.is_some() { quote!(id if id == #id) } else { id }
    }

    pub(crate) fn try_construct(&self) -> TryConstruct {
        self.attributes.try_construct.map_or(TryConstruct::Discard, |(kind, _)| kind)
    }

    pub(crate) fn bound(&self) -> Option<u32> {
        self.attributes.bound.map(|(bound, _)| bound)
    }
}

/// The name of a member or literal in the type description.
pub(crate) fn name_of(ident: &Ident, attributes: &FieldAttributes) -> String {
    attributes.name.as_ref().map_or_else(|| ident.unraw().to_string(), syn::LitStr::value)
}

/// The id of a member; `next` is the id after the preceding member.
pub(crate) fn id_of(name: &str, attributes: &FieldAttributes, autoid: AutoId, next: u32) -> u32 {
    match (&attributes.id, &attributes.hashid) {
        (Some((id, _)), _) => *id,
        (None, Some(hashid)) => hash_of(&hashid.name.as_ref().map_or_else(|| name.to_owned(), syn::LitStr::value)),
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
    let [a, b, c, d, ..] = md5::compute(name).0;
    u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff
}

/// The name of a type without its path and parameters.
pub(crate) fn last_segment(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
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
                inner.set_span(group.span());
                inner.into()
            }
            _ => token,
        };
        replaced.extend([token]);
    }
    replaced
}

fn locate(code: TokenStream, place: Span) -> TokenStream {
    let mut located = TokenStream::new();
    for mut token in code {
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
