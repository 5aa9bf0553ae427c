//! The parser of `.msg`, `.srv` and `.action` files.
//!
//! The format is one definition a line. The rules are those of `rosidl_adapter` of ROS 2, with its surprises: a `#` in
//! quotes starts a comment, and a `=` anywhere makes the line a constant. An old form with one clear meaning is
//! accepted with a warning.

use super::comment::RosComment;
use super::name::{is_constant_name, is_package_name, shorten};
use super::type_name::parse_type;
use super::value::{parse_one, parse_value};
use super::{InterfaceKind, InterfaceName, RosBaseType, RosConstant, RosField, RosInterface, RosStructure};
use crate::model::{Diagnostic, Diagnostics, FileId, SourceFile, SourceMap, Span};
use std::collections::BTreeMap;

/// Longest interface file, in bytes. The longest of the common packages has 20 KiB.
pub const ROS_FILE_LEN_MAX: usize = 16 << 20;

const SEPARATOR: &str = "---";

/// Parses an interface file. `name` selects the format, and the package of type names without a package.
///
/// Returns `None` and adds errors if `rosidl` of ROS 2 would refuse the file. Old forms with one clear meaning are
/// accepted with a warning: `time`, `duration`, `package/msg/Name`, indented fields.
///
/// ```
/// use dds_idl::model::{Diagnostics, SourceMap};
/// use dds_idl::ros::{RosInterface, parse_interface};
///
/// let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
/// let good = sources.add("Speed.msg", "float32 value 0.5  # Speed [m/s]\n", None);
/// let name = "pkg/msg/Speed".parse()?;
/// let parsed = parse_interface(&name, good, &sources, &mut diagnostics);
/// let Some(RosInterface::Message(speed)) = parsed else { panic!("expected a message") };
/// assert_eq!(speed.fields[0].unit.as_deref(), Some("m/s"));
///
/// let wrong = sources.add("Wrong.msg", "flaot32 value\n", None);
/// assert_eq!(parse_interface(&name, wrong, &sources, &mut diagnostics), None);
/// let error = diagnostics.iter().next().unwrap();
/// assert_eq!(error.one_line(&sources), "Wrong.msg:1:1: error: unknown type `flaot32`");
/// assert_eq!(error.help.as_deref(), Some("did you mean `float32`?"));
/// # Ok::<(), dds_idl::ros::InterfaceNameError>(())
/// ```
pub fn parse_interface(
    name: &InterfaceName,
    file: FileId,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<RosInterface> {
    let text = sources.file(file).map_or("", SourceFile::text);
    let before = diagnostics.error_count();
    let mut parser = InterfaceParser { package: name.package(), file, text, diagnostics };
    if text.len() > ROS_FILE_LEN_MAX {
        parser.error(0..0, format!("an interface file has at most {ROS_FILE_LEN_MAX} bytes, found {}", text.len()));
        return None;
    }
    if let Some(at) = text.find('\0') {
        parser.error(at..at + 1, "expected text, found a NUL byte");
        return None;
    }
    let lines = split_lines(text);
    let interface = match name.kind() {
        InterfaceKind::Message => RosInterface::Message(parser.structure(name.clone(), &lines)),
        InterfaceKind::Service => {
            let [request, response] = parser.sections(&lines, "request and response");
            RosInterface::Service {
                name: name.clone(),
                request: parser.structure(name.derived("_Request"), request),
                response: parser.structure(name.derived("_Response"), response),
            }
        }
        InterfaceKind::Action => {
            let [goal, result, feedback] = parser.sections(&lines, "goal, result and feedback");
            RosInterface::Action {
                name: name.clone(),
                goal: parser.structure(name.derived("_Goal"), goal),
                result: parser.structure(name.derived("_Result"), result),
                feedback: parser.structure(name.derived("_Feedback"), feedback),
            }
        }
    };
    (diagnostics.error_count() == before).then_some(interface)
}

/// A part of a line with its place in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinePart<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
}

impl LinePart<'_> {
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn trim(self) -> Self {
        let text = self.text.trim_start();
        Self { start: self.start + self.text.len() - text.len(), text: text.trim_end() }
    }

    /// The parts before and behind the `len` bytes at `at`.
    pub(super) fn split(self, at: usize, len: usize) -> (Self, Self) {
        let behind = Self { start: self.start + at + len, text: &self.text[at + len..] };
        (Self { start: self.start, text: &self.text[..at] }, behind)
    }

    /// Splits at the first space or tab. Without one, the second part is empty.
    fn split_word(self) -> (Self, Self) {
        let at = self.text.find([' ', '\t']).unwrap_or(self.text.len());
        let (word, rest) = self.split(at, 0);
        (word, rest.trim())
    }
}

pub(super) struct InterfaceParser<'t, 'd> {
    pub(super) package: &'t str,
    file: FileId,
    text: &'t str,
    diagnostics: &'d mut Diagnostics,
}

/// A field or a constant. Comments behind it belong to it.
enum RosElement {
    Field(RosField),
    Constant(RosConstant),
}

impl RosElement {
    fn comment(&mut self) -> &mut Vec<String> {
        match self {
            Self::Field(field) => &mut field.comment,
            Self::Constant(constant) => &mut constant.comment,
        }
    }
}

impl<'t> InterfaceParser<'t, '_> {
    pub(super) fn span(&self, range: std::ops::Range<usize>) -> Span {
        // A file has at most `ROS_FILE_LEN_MAX` bytes.
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.file, offset(range.start), offset(range.end))
    }

    pub(super) fn error(&mut self, range: std::ops::Range<usize>, message: impl Into<String>) {
        self.push(Diagnostic::error(message, self.span(range)));
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Splits the lines at `---` into `N` sections.
    fn sections<'l, const N: usize>(&mut self, lines: &'l [LinePart<'t>], names: &str) -> [&'l [LinePart<'t>]; N] {
        let mut sections = [&lines[..0]; N];
        for (place, section) in sections.iter_mut().zip(lines.split(|line| line.text == SEPARATOR)) {
            *place = section;
        }
        let separators: Vec<&LinePart<'t>> = lines.iter().filter(|line| line.text == SEPARATOR).collect();
        let (expected, found) = (N - 1, separators.len());
        if found == expected {
            return sections;
        }
        // The first separator that is too much, or the end of the file.
        let range = separators.get(expected).map_or(self.text.len()..self.text.len(), |line| line.range());
        let noun = if expected == 1 { "line" } else { "lines" };
        let message = format!("expected {expected} {noun} `---` between {names}, found {found}");
        let mut error = Diagnostic::error(message, self.span(range));
        for line in lines {
            let trimmed = line.text.trim();
            if line.text != SEPARATOR && trimmed.len() >= 2 && trimmed.bytes().all(|byte| byte == b'-') {
                error = error.label(self.span(line.range()), "expected exactly `---`");
                break;
            }
        }
        self.push(error);
        sections
    }

    fn structure(&mut self, name: InterfaceName, lines: &[LinePart<'t>]) -> RosStructure {
        let header_len = lines.iter().take_while(|line| line.text.starts_with('#')).count();
        let (header, body) = lines.split_at(header_len);
        let header = header.iter().map(|line| comment_text(line.text)).collect();
        let mut elements: Vec<RosElement> = Vec::new();
        // Comments that belong to the next element.
        let mut unused: Vec<String> = Vec::new();
        for line in body {
            let line = LinePart { start: line.start, text: line.text.trim_end() };
            let (code, comment) = match line.text.find('#') {
                Some(at) => (line.split(at, 0).0, Some(comment_text(&line.text[at..]))),
                None => (line, None),
            };
            let is_blank = code.text.trim().is_empty();
            if let Some(comment) = comment {
                if is_blank && !code.text.is_empty() {
                    // An indented comment continues the comment of the element before it.
                    if let Some(element) = elements.last_mut() {
                        element.comment().push(comment);
                    }
                    continue;
                }
                unused.push(comment);
            }
            if is_blank {
                continue;
            }
            if let Some(mut element) = self.element(code) {
                element.comment().append(&mut unused);
                elements.push(element);
            }
            unused.clear();
        }
        self.assemble(name, header, elements)
    }

    /// A field or a constant. `None` if the line has an error.
    fn element(&mut self, line: LinePart<'t>) -> Option<RosElement> {
        if line.text.starts_with([' ', '\t']) {
            let warning = Diagnostic::warning("`rosidl` refuses an indented line", self.span(line.range()));
            self.push(warning.help("remove the spaces before the type"));
        }
        let line = line.trim();
        if line.text.starts_with('@') {
            let error = Diagnostic::error("annotations need an `.idl` file", self.span(line.range()));
            self.push(error.note("interface files of ROS 2 have types, names and values only"));
            return None;
        }
        let (ty, rest) = line.split_word();
        if rest.text.is_empty() {
            self.error(line.range(), format!("expected a type and a name, found only `{}`", shorten(line.text)));
            return None;
        }
        match rest.text.find('=') {
            Some(at) => {
                let (name, value) = rest.split(at, 1);
                self.constant(ty, name.trim(), value.trim()).map(RosElement::Constant)
            }
            None => {
                let (name, value) = rest.split_word();
                self.field(ty, name, value).map(RosElement::Field)
            }
        }
    }

    fn constant(&mut self, ty: LinePart<'t>, name: LinePart<'t>, value: LinePart<'t>) -> Option<RosConstant> {
        if !is_constant_name(name.text) {
            let message = format!("invalid constant name `{}`", shorten(name.text));
            let mut error = Diagnostic::error(message, self.span(name.range()));
            if name.text.contains([' ', '\t']) {
                error = error.note("a `=` in a line makes it a constant, even inside of a default value");
            } else if is_constant_name(&name.text.to_ascii_uppercase()) {
                error = error.help(format!("did you mean `{}`?", name.text.to_ascii_uppercase()));
            } else {
                error = error.note("a constant name has upper-case letters, digits and single underscores");
            }
            self.push(error);
            return None;
        }
        let Some(base) = RosBaseType::from_keyword(ty.text) else {
            let parsed = parse_type(self, ty)?;
            let message = format!("a constant cannot have the type `{parsed}`");
            let error = Diagnostic::error(message, self.span(ty.range()));
            self.push(error.help("a constant is a number, a `bool`, a `string` or a `wstring`"));
            return None;
        };
        let value = match parse_one(&base, &plain(value.text)) {
            Ok(value) => value,
            Err(message) => {
                self.error(value.range(), message);
                return None;
            }
        };
        let name = name.text.to_owned();
        Some(RosConstant { ty: base, name, value, comment: Vec::new(), unit: None, span: self.span(ty.range()) })
    }

    fn field(&mut self, ty: LinePart<'t>, name: LinePart<'t>, default: LinePart<'t>) -> Option<RosField> {
        let parsed = parse_type(self, ty);
        if !is_package_name(name.text) {
            let message = format!("invalid field name `{}`", shorten(name.text));
            let mut error = Diagnostic::error(message, self.span(name.range()));
            if is_package_name(&snake_case(name.text)) {
                error = error.help(format!("did you mean `{}`?", snake_case(name.text)));
            } else {
                error = error.note("a field name has lower-case letters, digits and single underscores");
            }
            self.push(error);
            return None;
        }
        let mut field = RosField::with_type(parsed?, name.text);
        field.type_span = self.span(ty.range());
        field.name_span = self.span(name.range());
        if default.text.is_empty() {
            return Some(field);
        }
        match parse_value(&field.ty, &plain(default.text)) {
            Ok(value) => field.default = Some(value),
            Err(message) => {
                self.error(default.range(), message);
                return None;
            }
        }
        if default.text.len() > 1 && starts_unclosed_quote(default.text) {
            let warning = Diagnostic::warning("the quotes are part of the default value", self.span(default.range()));
            self.push(warning.note("quotes do not protect `#`: it starts a comment, and the text ends before it"));
        }
        Some(field)
    }

    /// Sorts the elements, and refuses a name that occurs twice.
    fn assemble(&mut self, name: InterfaceName, header: Vec<String>, elements: Vec<RosElement>) -> RosStructure {
        let comment = RosComment::new(header).lines;
        let mut structure = RosStructure { name, comment, constants: Vec::new(), fields: Vec::new() };
        let mut places: BTreeMap<String, Span> = BTreeMap::new();
        for element in elements {
            let (name, span) = match element {
                RosElement::Field(mut field) => {
                    let comment = RosComment::new(std::mem::take(&mut field.comment));
                    (field.comment, field.unit) = (comment.lines, comment.unit);
                    structure.fields.push(field.clone());
                    (field.name, field.name_span)
                }
                RosElement::Constant(mut constant) => {
                    let comment = RosComment::new(std::mem::take(&mut constant.comment));
                    (constant.comment, constant.unit) = (comment.lines, comment.unit);
                    structure.constants.push(constant.clone());
                    (constant.name, constant.span)
                }
            };
            if let Some(first) = places.get(&name) {
                let error = Diagnostic::error(format!("the name `{name}` occurs twice"), span);
                self.push(error.label(*first, "first here"));
            } else {
                places.insert(name, span);
            }
        }
        structure
    }
}

/// The text of a comment.
fn comment_text(text: &str) -> String {
    plain(text.trim_start_matches('#'))
}

/// A text as `rosidl` reads it: a tab is a space.
fn plain(text: &str) -> String {
    text.replace('\t', " ")
}

fn starts_unclosed_quote(text: &str) -> bool {
    ['"', '\''].into_iter().any(|quote| text.starts_with(quote) && !text.ends_with(quote))
}

/// `maxSpeed` and `Max-Speed` as `max_speed`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut is_after_lower = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && is_after_lower {
            snake.push('_');
        }
        is_after_lower = character.is_ascii_lowercase();
        snake.push(if character == '-' { '_' } else { character.to_ascii_lowercase() });
    }
    snake
}

/// Splits at every line end that Python knows, because `rosidl` does so.
fn split_lines(text: &str) -> Vec<LinePart<'_>> {
    // Some editors put a byte order mark in front.
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = Vec::new();
    while start < text.len() {
        let rest = &text[start..];
        let at = rest.find(is_line_end).unwrap_or(rest.len());
        lines.push(LinePart { start, text: &rest[..at] });
        let end = &rest[at..];
        let end_len = if end.starts_with("\r\n") { 2 } else { end.chars().next().map_or(0, char::len_utf8) };
        start += at + end_len;
    }
    lines
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
