//! Interned texts of tokens. Equal texts have equal symbols.

use std::collections::HashMap;
use std::sync::Arc;

/// An interned text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol(u32);

/// All texts of one run. Keywords have the first symbols.
#[derive(Debug)]
pub(super) struct SymbolTable {
    texts: Vec<Arc<str>>,
    /// Symbol of the text in lowercase: IDL compares identifiers without regard to case.
    folded: Vec<Symbol>,
    by_text: HashMap<Arc<str>, Symbol, foldhash::fast::RandomState>,
}

macro_rules! keywords {
    ($($name:ident $text:literal)*) => {
        #[allow(dead_code, clippy::upper_case_acronyms, reason = "the list of keywords is complete")]
        #[repr(u32)]
        enum KeywordIndex { $($name,)* COUNT }

        /// Symbols of the keywords of IDL 4.2 (7.2.4).
        #[allow(dead_code, reason = "the list of keywords is complete")]
        pub(super) mod keyword {
            use super::{KeywordIndex, Symbol};
            $(pub(in crate::idl) const $name: Symbol = Symbol(KeywordIndex::$name as u32);)*
        }

        const KEYWORDS: &[&str] = &[$($text,)*];
    };
}

keywords! {
    ABSTRACT "abstract" ANY "any" ALIAS "alias" ATTRIBUTE "attribute" BITFIELD "bitfield" BITMASK "bitmask"
    BITSET "bitset" BOOLEAN "boolean" CASE "case" CHAR "char" COMPONENT "component" CONNECTOR "connector"
    CONST "const" CONSUMES "consumes" CONTEXT "context" CUSTOM "custom" DEFAULT "default" DOUBLE "double"
    EMITS "emits" ENUM "enum" EVENTTYPE "eventtype" EXCEPTION "exception" FACTORY "factory" FALSE "FALSE"
    FINDER "finder" FIXED "fixed" FLOAT "float" GETRAISES "getraises" HOME "home" IMPORT "import" IN "in"
    INOUT "inout" INTERFACE "interface" LOCAL "local" LONG "long" MANAGES "manages" MAP "map"
    MIRRORPORT "mirrorport" MODULE "module" MULTIPLE "multiple" NATIVE "native" OBJECT "Object" OCTET "octet"
    ONEWAY "oneway" OUT "out" PORT "port" PORTTYPE "porttype" PRIMARYKEY "primarykey" PRIVATE "private"
    PROVIDES "provides" PUBLIC "public" PUBLISHES "publishes" RAISES "raises" READONLY "readonly"
    SEQUENCE "sequence" SETRAISES "setraises" SHORT "short" STRING "string" STRUCT "struct" SUPPORTS "supports"
    SWITCH "switch" TRUE "TRUE" TRUNCATABLE "truncatable" TYPEDEF "typedef" TYPEID "typeid" TYPENAME "typename"
    TYPEPREFIX "typeprefix" UNION "union" UNSIGNED "unsigned" USES "uses" VALUEBASE "ValueBase"
    VALUETYPE "valuetype" VOID "void" WCHAR "wchar" WSTRING "wstring" INT8 "int8" UINT8 "uint8" INT16 "int16"
    UINT16 "uint16" INT32 "int32" UINT32 "uint32" INT64 "int64" UINT64 "uint64"
}

impl Symbol {
    /// The empty text, for tokens that need none.
    pub(super) const EMPTY: Self = Self(KeywordIndex::COUNT as u32);

    /// Whether the text is a keyword in its exact spelling.
    pub(super) fn is_keyword(self) -> bool {
        self.0 < KeywordIndex::COUNT as u32
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl SymbolTable {
    pub(super) fn new() -> Self {
        let mut table = Self { texts: Vec::new(), folded: Vec::new(), by_text: HashMap::default() };
        // The lowercase text of a keyword is interned later, because keywords have the first symbols.
        for (at, text) in (0..).zip(KEYWORDS.iter().chain(&[""])) {
            let shared: Arc<str> = Arc::from(*text);
            table.texts.push(Arc::clone(&shared));
            table.folded.push(Symbol(at));
            table.by_text.insert(shared, Symbol(at));
        }
        for (at, text) in KEYWORDS.iter().enumerate() {
            let folded = table.intern(&text.to_ascii_lowercase());
            if let Some(entry) = table.folded.get_mut(at) {
                *entry = folded;
            }
        }
        table
    }

    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.by_text.get(text) {
            return *symbol;
        }
        let has_uppercase = text.bytes().any(|byte| byte.is_ascii_uppercase());
        let folded = has_uppercase.then(|| self.intern(&text.to_ascii_lowercase()));
        let symbol = Symbol(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let shared: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&shared));
        self.folded.push(folded.unwrap_or(symbol));
        self.by_text.insert(shared, symbol);
        symbol
    }

    pub(super) fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol.index()).map_or("", |text| text)
    }

    pub(super) fn shared(&self, symbol: Symbol) -> Arc<str> {
        self.texts.get(symbol.index()).cloned().unwrap_or_default()
    }

    /// The symbol of the text in lowercase.
    pub(super) fn folded(&self, symbol: Symbol) -> Symbol {
        self.folded.get(symbol.index()).copied().unwrap_or(symbol)
    }

    /// The keyword that differs from this text at most in case.
    pub(super) fn keyword_of(&self, symbol: Symbol) -> Option<&'static str> {
        let text = self.text(symbol);
        if symbol.is_keyword() {
            return KEYWORDS.get(symbol.index()).copied();
        }
        KEYWORDS.iter().find(|keyword| keyword.eq_ignore_ascii_case(text)).copied()
    }

    /// All keywords, for suggestions.
    pub(super) fn keywords() -> &'static [&'static str] {
        KEYWORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyword_symbols_are_constant() {
        let mut table = SymbolTable::new();
        assert_eq!(table.intern("struct"), keyword::STRUCT);
        assert_eq!(table.intern("uint64"), keyword::UINT64);
        assert_eq!(table.intern(""), Symbol::EMPTY);
        assert!(!Symbol::EMPTY.is_keyword());
    }

    #[test]
    fn folded_symbols_of_different_case_are_equal() {
        let mut table = SymbolTable::new();
        let (one, other) = (table.intern("Pose"), table.intern("pOSE"));
        assert_ne!(one, other);
        assert_eq!(table.folded(one), table.folded(other));
        let object = table.intern("object");
        assert_eq!(table.folded(keyword::OBJECT), object);
        assert_eq!(table.keyword_of(object), Some("Object"));
    }
}
