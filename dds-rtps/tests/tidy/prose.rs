//! Rules of the prose in comments, strings and documents; `.github/CONTRIBUTING.md` explains them.
//!
//! `PROSE=<part of a path> cargo test -p dds-rtps --test tidy prose -- --nocapture` lists every violation below that path.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Most words of a sentence. Authors aim at 20; the check leaves room for names and lists.
const SENTENCE_WORDS_MAX: usize = 25;
/// Most words of the first sentence of a doc comment.
const SUMMARY_WORDS_MAX: usize = 18;
/// Most words of a table cell.
const CELL_WORDS_MAX: usize = 15;
/// Most columns of a line of prose in Rust code.
const COLUMNS_MAX: usize = 120;

/// Words and phrases that make a sentence slow to read, with the better choice.
const BANNED: &[(&str, &str)] = &[
    ("who", "name the actor: the writer, the reader, the peer, the caller"),
    ("whom", "name the actor"),
    ("whoever", "name the actor"),
    ("whomever", "name the actor"),
    ("whatever", "name the thing, or write `any`"),
    ("somebody", "name the actor"),
    ("someone", "name the actor"),
    ("nobody", "name the actor: no reader, no caller"),
    ("anybody", "name the actor: any peer, any thread"),
    ("everybody", "name the actors"),
    ("anew", "again, or the verb with re-"),
    ("meanwhile", "name the moment: before the visit ends"),
    ("such of", "those"),
    ("is none", "is not one"),
    ("for ever", "forever"),
    ("he", "name the actor"),
    ("his", "name the actor"),
    ("him", "name the actor"),
    ("what is", "name the thing: missing samples, not `what is missing`"),
    ("what was", "name the thing"),
    ("what are", "name the things"),
    ("what has", "name the thing"),
    ("what it", "name the thing"),
    ("what they", "name the things"),
    ("what came", "name the thing"),
    ("what comes", "name the thing"),
    ("what lies", "name the thing"),
    ("what stands", "name the thing"),
    ("what goes", "name the thing"),
    ("what becomes of", "the outcome of"),
    ("what became of", "the outcome of"),
    ("what has become of", "the outcome of"),
    ("what others", "name the thing"),
    ("what cannot", "name the thing"),
    ("what only", "name the thing"),
    ("what does", "name the thing"),
    ("what nothing", "name the thing"),
    ("what no", "name the thing"),
    ("that which", "name the thing"),
    ("of which the", "start a new sentence"),
    ("so many", "write the number, or `this many`"),
    ("word of", "announcement, claim"),
    ("stranger", "unknown peer, untrusted bytes"),
    ("strangers", "unknown peers"),
    ("farewell", "disposal of the participant"),
    ("farewells", "disposals of participants"),
    ("behaviour", "behavior"),
    ("colour", "color"),
    ("colours", "colors"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("honour", "honor"),
    ("favour", "favor"),
    ("licence", "license"),
    ("centre", "center"),
    ("grey", "gray"),
    ("whilst", "while"),
    ("anymore", "any more, or no longer"),
    ("modelled", "modeled"),
    ("travelled", "traveled"),
    ("judgement", "judgment"),
    ("synchronised", "synchronized"),
    ("acknowledgement", "acknowledgment"),
    ("acknowledgements", "acknowledgments"),
    ("misspelt", "misspelled"),
    ("artefact", "artifact"),
    ("artefacts", "artifacts"),
    ("catalogue", "catalog"),
    ("serialise", "serialize"),
    ("initialise", "initialize"),
    ("recognise", "recognize"),
    ("analyse", "analyze"),
    ("towards", "toward"),
    ("afterwards", "afterward"),
];

/// One piece of prose: a paragraph, a string, a table cell.
struct Piece {
    line: usize,
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The first paragraph of a doc comment.
    Summary,
    Paragraph,
    Cell,
    Text,
    TestName,
}

#[test]
fn prose_has_no_banned_words_and_no_long_sentences() {
    let only = std::env::var("PROSE").ok();
    let root = workspace();
    let mut report = String::new();
    let mut count = 0;
    for path in files(&root) {
        let shown = path.strip_prefix(&root).unwrap().display().to_string();
        if only.as_ref().is_some_and(|part| !shown.contains(part.as_str())) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (line, message) in violations(&shown, &text) {
            writeln!(report, "{shown}:{line}: {message}").unwrap();
            count += 1;
        }
    }
    assert!(count == 0, "\n{report}{count} violations");
}

fn workspace() -> PathBuf {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    Path::new(&crate_folder).parent().unwrap().to_owned()
}

/// The files with prose, sorted: sources, documents, manifests and scripts.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_generated = ["target", ".git", "corpus", "artifacts", "profiles"].contains(&name.as_str());
                if !is_generated {
                    folders.push(path);
                }
            } else if has_prose(&path, &name) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn has_prose(path: &Path, name: &str) -> bool {
    // The comments are those of the ROS packages.
    if path.to_string_lossy().contains("dds-ros2-msgs/src/generated/") {
        return false;
    }
    // These two list the banned words.
    if path.ends_with("tidy/prose.rs") || path.ends_with("docs/glossary.md") {
        return false;
    }
    let kinds = [".rs", ".md", ".toml", ".py", ".sh", ".yml", ".stderr", ".cpp", ".c"];
    kinds.iter().any(|kind| name.ends_with(kind)) || path.to_string_lossy().contains("/.ci/")
}

fn violations(path: &str, text: &str) -> Vec<(usize, String)> {
    let pieces = if path.ends_with(".rs") || path.ends_with(".c") || path.ends_with(".cpp") {
        rust_pieces(text)
    } else if path.ends_with(".stderr") {
        compiler_pieces(text)
    } else if path.ends_with(".md") {
        markdown_pieces(text.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned())), false)
    } else {
        script_pieces(text)
    };
    let mut found: Vec<(usize, String)> = pieces.iter().flat_map(check).collect();
    if path.ends_with(".rs") {
        for (at, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            let is_table = line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with('|');
            if line.trim_start().starts_with("//") && columns > COLUMNS_MAX && !is_table && !line.contains("](http") {
                found.push((at + 1, format!("{columns} columns, at most {COLUMNS_MAX}")));
            }
        }
    }
    found.sort();
    found
}

fn check(piece: &Piece) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let text = without_code(&piece.text);
    let words: Vec<String> = if piece.kind == Kind::TestName {
        text.split('_').map(str::to_lowercase).collect()
    } else {
        text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-' || c == '`'))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let joined = format!(" {} ", words.join(" "));
    for (banned, better) in BANNED {
        let times = joined.matches(&format!(" {banned} ")).count();
        for _ in 0..times {
            found.push((piece.line, format!("`{banned}`: {better}")));
        }
    }
    match piece.kind {
        Kind::Cell => {
            let count = word_count(&text);
            if count > CELL_WORDS_MAX {
                found.push((piece.line, format!("a table cell of {count} words, at most {CELL_WORDS_MAX}")));
            }
        }
        Kind::TestName => {}
        Kind::Summary | Kind::Paragraph | Kind::Text => {
            for (at, sentence) in sentences(&text).into_iter().enumerate() {
                let is_summary = piece.kind == Kind::Summary && at == 0;
                let max = if is_summary { SUMMARY_WORDS_MAX } else { SENTENCE_WORDS_MAX };
                let count = word_count(sentence);
                if count > max {
                    let start: String = sentence.trim().chars().take(50).collect();
                    found.push((piece.line, format!("a sentence of {count} words, at most {max}: {start}…")));
                }
            }
        }
    }
    found
}

fn word_count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Splits at full stops, question and exclamation marks, semicolons and colons that are followed by a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let ends = matches!(bytes[at], b'.' | b'?' | b'!' | b';' | b':');
        let is_last = at + 1 == bytes.len() || bytes[at + 1].is_ascii_whitespace() || bytes[at + 1] == b')';
        if ends && is_last {
            found.push(&text[start..at]);
            start = at + 1;
        }
    }
    found.push(&text[start..]);
    found
}

/// Replaces each piece of inline code by one word and drops the targets of links.
fn without_code(text: &str) -> String {
    let mut result = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 0 {
            result.push_str(part);
        } else {
            result.push_str("Code");
        }
    }
    while let Some(start) = result.find("](") {
        let Some(length) = result[start..].find(')') else { break };
        result.replace_range(start..start + length + 1, "");
    }
    result
}

/// Comments, strings and names of tests in Rust or C source.
fn rust_pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut comment: Vec<(usize, String)> = Vec::new();
    let mut comment_kind = "";
    let mut is_test = false;
    let mut strings = StringScanner::default();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let trimmed = line.trim_start();
        let kind = if strings.is_inside() {
            ""
        } else {
            ["//!", "///", "//"].into_iter().find(|kind| trimmed.starts_with(kind)).unwrap_or("")
        };
        if kind != comment_kind && !comment.is_empty() {
            pieces.extend(markdown_pieces(std::mem::take(&mut comment).into_iter(), comment_kind == "///"));
        }
        comment_kind = kind;
        if !kind.is_empty() {
            comment.push((number, trimmed[kind.len()..].to_owned()));
            continue;
        }
        if trimmed.starts_with("#[test]") {
            is_test = true;
        } else if is_test && let Some(rest) = trimmed.strip_prefix("fn ") {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            pieces.push(Piece { line: number, kind: Kind::TestName, text: name });
            is_test = false;
        }
        let (found, trailing) = strings.scan(line);
        for string in found {
            if word_count(&string) >= 3 {
                pieces.push(Piece { line: number, kind: Kind::Text, text: string });
            }
        }
        if let Some(trailing) = trailing {
            pieces.push(Piece { line: number, kind: Kind::Paragraph, text: trailing });
        }
    }
    pieces.extend(markdown_pieces(comment.into_iter(), comment_kind == "///"));
    pieces
}

/// Messages and notes of the project in the output of the compiler. The compiler writes the rest.
fn compiler_pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let is_message = line.starts_with("error") || line.starts_with("= note: ");
        if is_message && !line.contains("(in Nightly builds") {
            pieces.push(Piece { line: at + 1, kind: Kind::Paragraph, text: line.to_owned() });
        }
    }
    pieces
}

/// Finds string literals line by line.
#[derive(Default)]
struct StringScanner {
    /// The text so far of a literal that continues on the next line.
    open: Option<(String, usize)>,
}

impl StringScanner {
    fn is_inside(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the literals that end in this line, and a trailing line comment.
    fn scan(&mut self, line: &str) -> (Vec<String>, Option<String>) {
        let chars: Vec<char> = line.chars().collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            if let Some((mut text, hashes)) = self.open.take() {
                let mut ended = false;
                while at < chars.len() {
                    let c = chars[at];
                    at += 1;
                    if hashes == 0 && c == '\\' {
                        at += 1;
                        text.push(' ');
                    } else if c == '"' && (hashes <= 1 || chars[at..].iter().take(hashes - 1).all(|c| *c == '#')) {
                        ended = true;
                        break;
                    } else {
                        text.push(c);
                    }
                }
                if ended {
                    found.push(text);
                } else {
                    text.push(' ');
                    self.open = Some((text, hashes));
                }
                continue;
            }
            match chars[at] {
                '/' if chars.get(at + 1) == Some(&'/') => return (found, Some(chars[at + 2..].iter().collect())),
                '\'' => {
                    // A character literal; a lifetime has no closing quote two or three characters on.
                    if chars.get(at + 1) == Some(&'\\') {
                        at += 3;
                    } else if chars.get(at + 2) == Some(&'\'') {
                        at += 2;
                    }
                    at += 1;
                }
                '"' => {
                    self.open = Some((String::new(), raw_prefix(&chars[..at])));
                    at += 1;
                }
                _ => at += 1,
            }
        }
        (found, None)
    }
}

/// Number of `#` plus one if a raw string starts behind `before`, otherwise 0.
fn raw_prefix(before: &[char]) -> usize {
    let hashes = before.iter().rev().take_while(|c| **c == '#').count();
    let is_raw = before.len() > hashes && before[before.len() - hashes - 1] == 'r';
    if is_raw { hashes + 1 } else { 0 }
}

/// Paragraphs and table cells of Markdown, without code blocks.
fn markdown_pieces(lines: impl Iterator<Item = (usize, String)>, is_doc: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut is_code = false;
    let mut is_first = is_doc;
    let mut finish = |open: &mut Option<(usize, String)>, pieces: &mut Vec<Piece>| {
        if let Some((line, text)) = open.take() {
            let kind = if is_first { Kind::Summary } else { Kind::Paragraph };
            is_first = false;
            pieces.push(Piece { line, kind, text });
        }
    };
    for (number, line) in lines {
        let line = line.trim().to_owned();
        if line.starts_with("```") {
            finish(&mut open, &mut pieces);
            is_code = !is_code;
            continue;
        }
        if is_code {
            // Comments in examples are prose as well.
            if let Some((_, comment)) = line.split_once("// ") {
                pieces.push(Piece { line: number, kind: Kind::Paragraph, text: comment.to_owned() });
            }
            continue;
        }
        if line.starts_with('|') {
            finish(&mut open, &mut pieces);
            for cell in line.trim_matches('|').split(" | ") {
                pieces.push(Piece { line: number, kind: Kind::Cell, text: cell.to_owned() });
            }
            continue;
        }
        let starts_item = ["- ", "* ", "#", "> "].iter().any(|start| line.starts_with(start))
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if line.is_empty() || starts_item {
            finish(&mut open, &mut pieces);
        }
        if line.is_empty() {
            continue;
        }
        match &mut open {
            Some((_, text)) => {
                text.push(' ');
                text.push_str(&line);
            }
            None => open = Some((number, line)),
        }
    }
    finish(&mut open, &mut pieces);
    pieces
}

/// Comments of shell scripts, Python and manifests.
fn script_pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let comment =
            line.trim_start().strip_prefix('#').filter(|rest| !rest.starts_with('!') && !rest.starts_with('['));
        match comment {
            Some(rest) => open.push((at + 1, rest.trim_start_matches('#').to_owned())),
            None => pieces.extend(markdown_pieces(std::mem::take(&mut open).into_iter(), false)),
        }
    }
    pieces.extend(markdown_pieces(open.into_iter(), false));
    pieces
}

mod planted {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        violations(path, text).len()
    }

    #[test]
    fn message_is_checked_in_the_output_of_the_compiler() {
        assert_eq!(count("a.stderr", "error: nobody has the trait\n"), 1);
        assert_eq!(count("a.stderr", "  = note: whoever reads it fails\n"), 1);
        assert_eq!(count("a.stderr", "  = help: nobody else\n  | nobody\n"), 0);
    }

    #[test]
    fn banned_word_is_found_in_comments_strings_names_and_documents() {
        assert_eq!(count("a.rs", "// Whoever enters waits.\n"), 1);
        assert_eq!(count("a.rs", "/// Returns `whoever`.\nfn f() {}\n"), 0);
        assert_eq!(count("a.rs", "fn f() { g(\"nobody reads the topic\") }\n"), 1);
        assert_eq!(count("a.rs", "fn f() { g(r#\"nobody \"reads\" the topic\"#) }\n"), 1);
        assert_eq!(count("a.rs", "#[test]\nfn nobody_reads() {}\n"), 1);
        assert_eq!(count("a.rs", "fn nobody() { let c = '\"'; } // fine\n"), 0);
        assert_eq!(count("a.md", "The colour of it.\n\n```\nwho\n```\n"), 1);
        assert_eq!(count("a.md", "| a | what is missing |\n"), 1);
        assert_eq!(count("run", "# Whoever runs this.\necho who\n"), 1);
    }

    #[test]
    fn long_sentence_is_found_and_colons_end_a_sentence() {
        let long = "word ".repeat(SENTENCE_WORDS_MAX + 1);
        assert_eq!(count("a.md", &format!("{long}.\n")), 1);
        assert_eq!(count("a.md", &format!("Word: {}.\n", "word ".repeat(SENTENCE_WORDS_MAX))), 0);
        assert_eq!(count("a.rs", &format!("/// {}.\n", "word ".repeat(SUMMARY_WORDS_MAX + 1))), 1);
        assert_eq!(count("a.md", &format!("| {} |\n", "word ".repeat(CELL_WORDS_MAX + 1))), 1);
    }

    #[test]
    fn long_line_of_prose_is_found() {
        assert_eq!(count("a.rs", &format!("// {}\n", "x".repeat(COLUMNS_MAX))), 1);
    }
}
