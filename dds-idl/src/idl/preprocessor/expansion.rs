//! Macros: their definitions, and their replacement in the text.

use super::{EXPANDED_TOKENS_MAX, EXPANSION_DEPTH_MAX, Preprocessor};
use crate::idl::symbol::{Symbol, SymbolTable};
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, Span};
use logos::Logos;
use std::rc::Rc;

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    span: Span,
    /// `None` for a macro without parentheses.
    parameters: Option<Vec<Symbol>>,
    /// Whether the last parameter takes all other arguments.
    is_variadic: bool,
    body: Rc<[Token]>,
    /// Whether the macro is being replaced: its name in its own body is not replaced.
    is_active: bool,
}

/// The rest of a macro's replacement.
struct ExpansionFrame {
    tokens: Rc<[Token]>,
    at: usize,
    /// The macro that becomes usable again at the end.
    name: Option<Symbol>,
}

/// Tokens that wait for expansion: frames of macros, and the tokens of the file behind them.
struct ExpansionInput<'t> {
    frames: Vec<ExpansionFrame>,
    file: &'t [Token],
    at: usize,
}

impl Macro {
    pub(super) fn new(span: Span, parameters: Option<Vec<Symbol>>, is_variadic: bool, body: Vec<Token>) -> Self {
        Self { span, parameters, is_variadic, body: body.into(), is_active: false }
    }

    pub(super) fn span(&self) -> Span {
        self.span
    }
}

impl Preprocessor<'_> {
    /// Defines a macro of the compiler. Files of Cyclone DDS contain code of C for every compiler but `idlc`.
    pub(super) fn define_number(&mut self, name: &str, value: &str) {
        let symbol = self.symbols.intern(value);
        let kind = TokenKind::Number;
        let span = Span::default();
        let body = Token { kind, starts_line: false, is_joined: false, is_final: false, symbol, span };
        let name = self.symbols.intern(name);
        self.macros.insert(name, Macro::new(span, None, false, vec![body]));
    }

    /// Defines a macro by an option: `-D NAME=VALUE`.
    pub(super) fn define_option(&mut self, name: &str, value: &str) {
        let file = self.sources.add("<command line>", value, None);
        let tokens = crate::idl::token::tokenize(value, file, self.symbols, self.diagnostics).tokens;
        let body = tokens.into_iter().filter(|token| token.kind != TokenKind::EndOfFile).collect();
        let symbol = self.symbols.intern(name);
        self.macros.insert(symbol, Macro::new(Span::new(file, 0, 0), None, false, body));
    }
}

/// Whether a macro has these tokens as its body.
pub(super) fn is_same_body(old: &Macro, body: &[Token]) -> bool {
    let same = |(one, other): (&Token, &Token)| one.kind == other.kind && one.symbol == other.symbol;
    old.body.len() == body.len() && old.body.iter().zip(body).all(same)
}

/// The text of one token.
pub(super) fn token_text<'s>(symbols: &'s SymbolTable, token: &Token) -> &'s str {
    let own = symbols.text(token.symbol);
    if own.is_empty() { token.kind.text() } else { own }
}

/// The text of tokens, with single spaces.
pub(super) fn text_of(symbols: &SymbolTable, tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() && !token.is_joined {
            text.push(' ');
        }
        text.push_str(token_text(symbols, token));
    }
    text
}

/// Number of bytes of the text of tokens, or slightly more.
pub(super) fn text_len(symbols: &SymbolTable, tokens: &[Token]) -> usize {
    tokens.iter().fold(0, |sum: usize, token| sum.saturating_add(token_text(symbols, token).len() + 1))
}

/// Replaces the macro at `tokens[at]`, adds the result to the output, and returns the index behind it.
pub(super) fn expand_at(this: &mut Preprocessor<'_>, tokens: &[Token], at: usize) -> usize {
    let mut input = ExpansionInput { frames: Vec::new(), file: tokens, at: at + 1 };
    let Some(first) = tokens.get(at) else { return at + 1 };
    let mut output = std::mem::take(&mut this.output.tokens);
    replace(this, *first, &mut input, &mut output);
    while let Some(token) = input.next_of_frames(this) {
        if this.is_aborted {
            break;
        }
        replace(this, token, &mut input, &mut output);
    }
    this.output.tokens = output;
    input.at
}

/// Replaces all macros in a list of tokens.
pub(super) fn expand_list(this: &mut Preprocessor<'_>, tokens: &[Token]) -> Vec<Token> {
    let span = tokens.first().map(|token| token.span).unwrap_or_default();
    this.expansion_depth += 1;
    let mut output = Vec::new();
    if this.expansion_depth > EXPANSION_DEPTH_MAX {
        this.abort(format!("macro calls are nested more than {EXPANSION_DEPTH_MAX} times"), span);
    } else {
        let frame = ExpansionFrame { tokens: tokens.into(), at: 0, name: None };
        let mut input = ExpansionInput { frames: vec![frame], file: &[], at: 0 };
        while let Some(token) = input.next_of_frames(this) {
            if this.is_aborted {
                break;
            }
            replace(this, token, &mut input, &mut output);
        }
    }
    this.expansion_depth -= 1;
    output
}

/// Adds a token to the output, or the replacement of a macro to the input.
fn replace(this: &mut Preprocessor<'_>, token: Token, input: &mut ExpansionInput<'_>, output: &mut Vec<Token>) {
    let known =
        if token.kind == TokenKind::Identifier && !token.is_final { this.macros.get(&token.symbol) } else { None };
    let Some(known) = known else {
        output.push(token);
        return;
    };
    if known.is_active {
        output.push(Token { is_final: true, ..token });
        return;
    }
    let (body, parameters, is_variadic) = (Rc::clone(&known.body), known.parameters.clone(), known.is_variadic);
    let replacement: Rc<[Token]> = match parameters {
        None => {
            let at_use: Vec<Token> = body.iter().map(|part| Token { span: token.span, ..*part }).collect();
            paste(this, at_use).into()
        }
        Some(_) if !input.starts_arguments(this) => {
            output.push(token);
            return;
        }
        Some(parameters) => {
            let Some(arguments) = arguments_of(this, token, input, &parameters, is_variadic) else { return };
            substitute(this, token.span, &body, &parameters, &arguments).into()
        }
    };
    this.expanded_tokens += replacement.len() + 1;
    if this.expanded_tokens > EXPANDED_TOKENS_MAX {
        this.abort(format!("macros produce more than {EXPANDED_TOKENS_MAX} tokens"), token.span);
        return;
    }
    if let Some(known) = this.macros.get_mut(&token.symbol) {
        known.is_active = true;
    }
    input.frames.push(ExpansionFrame { tokens: replacement, at: 0, name: Some(token.symbol) });
}

impl ExpansionInput<'_> {
    /// The next token of a macro's replacement. Ended replacements are removed.
    fn next_of_frames(&mut self, this: &mut Preprocessor<'_>) -> Option<Token> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(token) = frame.tokens.get(frame.at) {
                frame.at += 1;
                return Some(*token);
            }
            if let Some(known) = frame.name.and_then(|name| this.macros.get_mut(&name)) {
                known.is_active = false;
            }
            self.frames.pop();
        }
        None
    }

    /// The next token of the replacements or of the file. Directives and the end of the file are not part of it.
    fn next(&mut self, this: &mut Preprocessor<'_>) -> Option<Token> {
        if let Some(token) = self.next_of_frames(this) {
            return Some(token);
        }
        let token = self.file.get(self.at)?;
        if token.kind == TokenKind::EndOfFile || token.kind == TokenKind::Hash && token.starts_line {
            return None;
        }
        self.at += 1;
        Some(*token)
    }

    /// Takes a `(` if it is next.
    fn starts_arguments(&mut self, this: &mut Preprocessor<'_>) -> bool {
        if let Some(token) = self.next_of_frames(this) {
            if token.kind == TokenKind::OpenParenthesis {
                return true;
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.at -= 1;
            }
            return false;
        }
        let is_open = self.file.get(self.at).is_some_and(|token| token.kind == TokenKind::OpenParenthesis);
        self.at += usize::from(is_open);
        is_open
    }
}

/// Reads the arguments of a macro call behind its `(`.
fn arguments_of(
    this: &mut Preprocessor<'_>,
    name: Token,
    input: &mut ExpansionInput<'_>,
    parameters: &[Symbol],
    is_variadic: bool,
) -> Option<Vec<Vec<Token>>> {
    let mut arguments = vec![Vec::new()];
    let mut depth = 0_usize;
    loop {
        let Some(token) = input.next(this) else {
            let message = format!("the call of macro `{}` has no `)`", this.symbols.text(name.symbol));
            this.error(message, name.span);
            return None;
        };
        match token.kind {
            TokenKind::CloseParenthesis if depth == 0 => break,
            TokenKind::OpenParenthesis => depth += 1,
            TokenKind::CloseParenthesis => depth -= 1,
            TokenKind::Comma if depth == 0 && !(is_variadic && arguments.len() == parameters.len()) => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    }
    if parameters.is_empty() && arguments.first().is_some_and(Vec::is_empty) {
        arguments.clear();
    }
    if is_variadic && arguments.len() + 1 == parameters.len() {
        arguments.push(Vec::new());
    }
    if arguments.len() != parameters.len() {
        let macro_name = this.symbols.text(name.symbol);
        let message = format!("macro `{macro_name}` has {} parameters, not {}", parameters.len(), arguments.len());
        let place = this.macros.get(&name.symbol).map(Macro::span);
        let mut diagnostic = Diagnostic::error(message, name.span);
        if let Some(place) = place {
            diagnostic = diagnostic.label(place, "defined here");
        }
        this.diagnostics.push(diagnostic);
        return None;
    }
    Some(arguments)
}

/// Replaces the parameters in a body.
fn substitute(
    this: &mut Preprocessor<'_>,
    place: Span,
    body: &[Token],
    parameters: &[Symbol],
    arguments: &[Vec<Token>],
) -> Vec<Token> {
    let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
    let mut result = Vec::new();
    let parameter_of = |token: Option<&Token>| {
        let token = token.filter(|token| token.kind == TokenKind::Identifier)?;
        parameters.iter().position(|name| *name == token.symbol)
    };
    let mut at = 0;
    while let Some(token) = body.get(at) {
        let token = Token { span: place, ..*token };
        at += 1;
        if token.kind == TokenKind::Hash
            && let Some(argument) = parameter_of(body.get(at)).and_then(|index| arguments.get(index))
        {
            let Some(text) = this.created_text(argument, place) else { break };
            let symbol = this.symbols.intern(&quoted(&text));
            result.push(Token { kind: TokenKind::String, symbol, ..token });
            at += 1;
            continue;
        }
        let Some(index) = parameter_of(Some(&token)) else {
            result.push(token);
            continue;
        };
        let is_pasted = body.get(at).is_some_and(|next| next.kind == TokenKind::HashHash)
            || at >= 2 && body.get(at - 2).is_some_and(|before| before.kind == TokenKind::HashHash);
        let raw = arguments.get(index).map(Vec::as_slice).unwrap_or_default();
        if is_pasted {
            if raw.is_empty() {
                // An empty argument is pasted as an empty text.
                result.push(Token { kind: TokenKind::Unknown, symbol: Symbol::EMPTY, ..token });
            }
            result.extend(raw.iter().map(|part| Token { span: place, ..*part }));
        } else {
            if expanded.get(index).is_some_and(Option::is_none) {
                let list = expand_list(this, raw);
                if let Some(entry) = expanded.get_mut(index) {
                    *entry = Some(list);
                }
            }
            let list = expanded.get(index).and_then(Option::as_deref).unwrap_or_default();
            result.extend(list.iter().map(|part| Token { span: place, ..*part }));
        }
        if result.len() > EXPANDED_TOKENS_MAX {
            break;
        }
    }
    paste(this, result)
}

/// A string literal with this text.
fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        if matches!(c, '\\' | '"') {
            literal.push('\\');
        }
        literal.push(c);
    }
    literal.push('"');
    literal
}

/// Joins the tokens on both sides of each `##`.
fn paste(this: &mut Preprocessor<'_>, tokens: Vec<Token>) -> Vec<Token> {
    let is_empty = |token: &Token| token.kind == TokenKind::Unknown && token.symbol == Symbol::EMPTY;
    if !tokens.iter().any(|token| token.kind == TokenKind::HashHash || is_empty(token)) {
        return tokens;
    }
    let mut result: Vec<Token> = Vec::new();
    let mut joins = false;
    for token in tokens {
        if token.kind == TokenKind::HashHash {
            joins = true;
            continue;
        }
        let left = if std::mem::take(&mut joins) { result.pop() } else { None };
        let Some(left) = left else {
            result.push(token);
            continue;
        };
        let pair = [left, Token { is_joined: true, ..token }];
        let Some(text) = this.created_text(&pair, token.span) else { break };
        let mut lexer = TokenKind::lexer(&text);
        let kind = match lexer.next() {
            None => TokenKind::Unknown,
            Some(kind) => kind.unwrap_or(TokenKind::Unknown),
        };
        if lexer.next().is_some() || kind == TokenKind::Unknown && !text.is_empty() {
            this.error(format!("`##` creates `{text}`, which is not one token"), token.span);
        }
        let symbol = if kind.text().is_empty() { this.symbols.intern(&text) } else { Symbol::EMPTY };
        result.push(Token { kind, symbol, is_final: false, ..left });
    }
    result.retain(|token| !is_empty(token));
    result
}
