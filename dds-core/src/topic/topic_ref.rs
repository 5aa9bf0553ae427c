//! Ways to name a topic, and the table of a participant's topics.

use crate::infrastructure::CreateErrorKind;
use crate::qos::Preset;
use crate::topic::type_graphs::graph_of;
use crate::topic::{
    BuiltinKind, BuiltinTopic, ContentFilteredTopic, FilteredTopic, SpecPolicies, Topic, TopicHandle, TopicSpec,
};
use dds_rtps::cdr::{AnyType, DdsType, TypeDescription};
use dds_rtps::xtypes::TypeGraph;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// The longest name of a topic or a type, in bytes. DDS has no limit; every known peer cuts or refuses at 255.
const NAME_LEN_MAX: usize = 255;

/// A topic as an argument: [`&Topic<T>`](Topic), [`&TopicSpec<T>`](TopicSpec), `&str` or `&String`.
///
/// Readers also take [`&ContentFilteredTopic<T>`](ContentFilteredTopic) and [`&BuiltinTopic<T>`](BuiltinTopic).
///
/// With a name or a specification, the type must implement [`DdsType`] (`#[derive(DdsType)]`). A [`Topic`] was created
/// with a valid type.
pub struct TopicRef<'t, T> {
    name: &'t str,
    type_name: &'t str,
    /// Description of the type. `None` for raw topics.
    ty: Option<AnyType>,
    policies: SpecPolicies,
    handle: Option<&'t Arc<TopicHandle>>,
    builtin: Option<BuiltinKind>,
    /// The filter, for a content-filtered topic.
    filtered: Option<&'t Arc<FilteredTopic>>,
    marker: PhantomData<fn() -> T>,
}

impl<'t, T> TopicRef<'t, T> {
    pub(crate) fn name(&self) -> &'t str {
        self.name
    }

    pub(crate) fn type_name(&self) -> &'t str {
        self.type_name
    }

    /// Returns the constant description of the type, if the program has one.
    fn description(&self) -> Option<&'static TypeDescription> {
        self.ty.as_ref().and_then(AnyType::description)
    }

    pub(crate) fn ty(&self) -> Option<&AnyType> {
        self.ty.as_ref()
    }

    /// Returns the announced description of the type. `None` announces only its name.
    pub(crate) fn types(&self) -> Option<Arc<TypeGraph>> {
        #[cfg(feature = "dynamic")]
        if let Some(AnyType::Dynamic(ty)) = &self.ty {
            // A dynamic type has no static address, so its graph is built for each endpoint.
            return super::type_graphs::graph_of_dynamic(ty);
        }
        self.description().and_then(graph_of)
    }

    pub(crate) fn has_key(&self) -> bool {
        self.ty.as_ref().is_some_and(AnyType::has_key)
    }

    /// Returns the policies of an endpoint whose builder sets none.
    pub(crate) fn policies(&self) -> SpecPolicies {
        self.policies
    }

    /// Returns the kind of a built-in topic.
    pub(crate) fn builtin(&self) -> Option<BuiltinKind> {
        self.builtin
    }

    /// Returns the filter, if the topic has one.
    pub(crate) fn filtered(&self) -> Option<&'t Arc<FilteredTopic>> {
        self.filtered
    }

    /// Returns the topic object, if the caller passed one.
    pub(crate) fn handle(&self) -> Option<&'t Arc<TopicHandle>> {
        self.handle
    }
}

impl<'t, T: DdsType> From<&'t str> for TopicRef<'t, T> {
    fn from(name: &'t str) -> Self {
        Self {
            name,
            type_name: T::TYPE_NAME,
            ty: Some(T::DESCRIPTION.into()),
            policies: SpecPolicies::DEFAULT,
            handle: None,
            builtin: None,
            filtered: None,
            marker: PhantomData,
        }
    }
}

impl<'t, T: DdsType> From<&'t String> for TopicRef<'t, T> {
    fn from(name: &'t String) -> Self {
        Self::from(name.as_str())
    }
}

impl<'t, T: DdsType> From<&'t TopicSpec<T>> for TopicRef<'t, T> {
    fn from(spec: &'t TopicSpec<T>) -> Self {
        Self { policies: spec.policies(), ..Self::from(spec.name()) }
    }
}

impl<'t, T> From<&'t Topic<T>> for TopicRef<'t, T> {
    fn from(topic: &'t Topic<T>) -> Self {
        let handle = topic.handle();
        Self {
            name: &handle.name,
            type_name: &handle.type_name,
            ty: handle.ty.clone(),
            policies: SpecPolicies::DEFAULT,
            handle: Some(handle),
            builtin: None,
            filtered: None,
            marker: PhantomData,
        }
    }
}

impl<'t, T> From<&'t ContentFilteredTopic<T>> for TopicRef<'t, T> {
    fn from(filtered: &'t ContentFilteredTopic<T>) -> Self {
        Self { filtered: Some(filtered.core()), ..Self::from(filtered.related_topic()) }
    }
}

impl<T> TopicRef<'static, T> {
    /// A built-in topic, whose samples are `T`s.
    pub(crate) fn of_builtin(kind: BuiltinKind) -> Self {
        let description = kind.description();
        Self {
            name: kind.topic_name(),
            type_name: description.name(),
            ty: Some(description.into()),
            policies: SpecPolicies::new(Preset::State),
            handle: None,
            builtin: Some(kind),
            filtered: None,
            marker: PhantomData,
        }
    }
}

impl<'t, T> From<&'t BuiltinTopic<T>> for TopicRef<'t, T> {
    fn from(topic: &'t BuiltinTopic<T>) -> Self {
        TopicRef::of_builtin(topic.kind())
    }
}

impl<T> std::fmt::Debug for TopicRef<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\" of type `{}`", self.name, self.type_name)
    }
}

/// Topics of a participant by name: the type, and the number of endpoints and [`Topic`]s that use it.
///
/// Bound: one entry for each of those. The last user removes the entry.
#[derive(Debug, Default)]
pub(crate) struct TopicTable {
    topics: HashMap<String, (String, usize)>,
}

impl TopicTable {
    /// Adds a user of a topic name.
    pub(crate) fn acquire(&mut self, name: &str, type_name: &str) -> Result<(), CreateErrorKind> {
        // The wire has strings with a NUL at the end, and peers limit their length (RTPS 2.5, 9.3.2).
        if name.is_empty() || name.len() > NAME_LEN_MAX || name.contains('\0') {
            return Err(CreateErrorKind::InvalidTopicName);
        }
        if type_name.is_empty() || type_name.len() > NAME_LEN_MAX || type_name.contains('\0') {
            return Err(CreateErrorKind::InvalidTypeName);
        }
        // The name of a built-in topic belongs to its type, also before the first reader uses it.
        if let Some(kind) = BuiltinKind::of_name(name) {
            let existing = kind.description().name();
            if existing != type_name {
                let (existing, asked) = (existing.to_owned(), type_name.to_owned());
                return Err(CreateErrorKind::TypeConflict { existing, asked });
            }
        }
        match self.topics.get_mut(name) {
            Some((existing, _)) if existing != type_name => {
                Err(CreateErrorKind::TypeConflict { existing: existing.clone(), asked: type_name.to_owned() })
            }
            Some((_, endpoints)) => {
                *endpoints += 1;
                Ok(())
            }
            None => {
                self.topics.insert(name.to_owned(), (type_name.to_owned(), 1));
                Ok(())
            }
        }
    }

    /// The type that the topic has here, if it is in use.
    pub(crate) fn type_of(&self, name: &str) -> Option<&str> {
        let (type_name, _) = self.topics.get(name)?;
        Some(type_name)
    }

    /// Removes a user of a topic name. The last one removes the entry.
    pub(crate) fn release(&mut self, name: &str) {
        if let Some((_, endpoints)) = self.topics.get_mut(name) {
            *endpoints -= 1;
            // Without users the name is free for another type.
            if *endpoints == 0 {
                self.topics.remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_type_until_its_last_endpoint_is_gone() {
        let mut table = TopicTable::default();
        table.acquire("a", "T").unwrap();
        table.acquire("a", "T").unwrap();
        assert!(matches!(table.acquire("a", "U"), Err(CreateErrorKind::TypeConflict { .. })));
        table.release("a");
        table.release("a");
        table.acquire("a", "U").unwrap();
    }

    #[test]
    fn impossible_names_are_refused() {
        let mut table = TopicTable::default();
        for name in ["", "a\0b", &"x".repeat(256)] {
            assert_eq!(table.acquire(name, "T"), Err(CreateErrorKind::InvalidTopicName));
        }
    }
}
