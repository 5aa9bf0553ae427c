//! The picture of a terminal in the book shows what the commands print today.
//!
//! `UPDATE_BOOK=1` writes the picture. Without it, the test compares all but numbers and GUIDs.

use crate::cyclone::Peer;
use crate::support::{PATIENCE, run_local};
use std::fmt::Write;
use std::time::Instant;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/images/tools.svg");
/// The commands in the order of the picture, and how long each one is shown.
const COMMANDS: [&str; 5] = [
    "dds ls",
    "dds show robot/pose",
    "dds echo robot/pose --count 3 --json",
    "dds why robot/pose",
    "dds hz robot/pose --count 30",
];
const FRAME_SECONDS: usize = 5;
/// The frame of a picture without motion: the reason of the missing match.
const STILL_FRAME: usize = 3;
/// Characters of a line.
const COLUMNS: usize = 108;
/// Pixels of a line, of a character, and around the text.
const LINE: usize = 18;
const CHARACTER: f64 = 7.83;
const MARGIN: usize = 16;

/// A command with its lines.
struct Frame {
    command: &'static str,
    lines: Vec<String>,
}

/// Runs the commands beside a publisher and a subscriber of Cyclone DDS that do not match.
fn frames() -> Vec<Frame> {
    let (mut publisher, mut subscriber) = (Peer::start("publish_pose"), Peer::start("subscribe_pose"));
    assert_eq!((publisher.line(), subscriber.line()), ("ready".to_owned(), "ready".to_owned()));
    let run = |command: &'static str| {
        let arguments: Vec<&str> = command.split(' ').skip(1).chain(["--domain", "0"]).collect();
        let text = run_local(&arguments).unwrap();
        Frame { command, lines: text.trim_end().lines().map(str::to_owned).collect() }
    };
    let start = Instant::now();
    while !run("dds why robot/pose").lines.iter().any(|line| line.contains("RELIABILITY")) {
        assert!(start.elapsed() < PATIENCE, "the peers were not found");
    }
    COMMANDS.map(run).into()
}

/// Returns a line as parts of at most [`COLUMNS`] characters, broken at spaces.
fn wrapped(line: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), line);
    while rest.chars().count() > COLUMNS {
        let limit = rest.char_indices().nth(COLUMNS).map_or(rest.len(), |(at, _)| at);
        let at = rest[..limit].rfind(' ').filter(|at| !rest[..*at].trim().is_empty()).unwrap_or(limit);
        parts.push(rest[..at].to_owned());
        rest = rest[at..].trim_start();
    }
    parts.push(rest.to_owned());
    parts
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the picture. A continued line has the class `more`.
fn picture(frames: &[Frame]) -> String {
    let (mut groups, mut rows_max) = (String::new(), 0);
    for frame in frames {
        let _ = writeln!(groups, "<g class=\"frame\">");
        let mut rows = vec![("command", format!("$ {}", frame.command))];
        for line in &frame.lines {
            let parts = wrapped(line).into_iter().enumerate();
            rows.extend(parts.map(|(part, text)| (if part == 0 { "line" } else { "more" }, text)));
        }
        for (row, (class, text)) in rows.iter().enumerate() {
            let (y, text) = (MARGIN + LINE * (row + 1) - 4, escaped(text));
            let _ = writeln!(
                groups,
                "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>"
            );
        }
        let _ = writeln!(groups, "</g>");
        rows_max = rows_max.max(rows.len());
    }
    let (width, height) = (2 * MARGIN + (COLUMNS as f64 * CHARACTER) as usize, 2 * MARGIN + LINE * rows_max);
    let delays: String = (0..frames.len())
        .map(|frame| {
            let seconds = frame * FRAME_SECONDS;
            format!(".frame:nth-of-type({}) {{ animation-delay: {seconds}s; }}\n", frame + 1)
        })
        .collect();
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A terminal with dds ls, show, echo, why and hz">
<style>
text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }}
.command {{ fill: #8fd18f; font-weight: bold; }}
.frame {{ opacity: 0; animation: show {}s step-end infinite; }}
@keyframes show {{ 0% {{ opacity: 1; }} {}% {{ opacity: 0; }} }}
{delays}@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} .frame:nth-of-type({}) {{ opacity: 1; }} }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#1e222a"/>
{groups}</svg>
"##,
        frames.len() * FRAME_SECONDS,
        100 / frames.len(),
        STILL_FRAME + 1,
    )
}

/// Returns a line without its numbers and GUIDs, and with single spaces.
fn masked(line: &str) -> String {
    let word = |word: &str| {
        if word.matches(':').count() >= 3 {
            return "GUID".to_owned();
        }
        let mut text = word.replace(|letter: char| letter.is_ascii_digit(), "#");
        while text.contains("##") {
            text = text.replace("##", "#");
        }
        text
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the masked lines of a picture. Further periods of a measurement have equal lines, which appear once.
fn content(picture: &str) -> Vec<String> {
    let mut lines = Vec::<String>::new();
    for row in picture.lines().filter_map(|line| line.strip_prefix("<text class=\"")) {
        let (class, rest) = row.split_once('"').expect("a class");
        let text = rest.split_once('>').and_then(|(_, text)| text.strip_suffix("</text>")).expect("a text");
        match lines.last_mut() {
            Some(last) if class == "more" => *last = format!("{last} {text}"),
            _ => lines.push(text.to_owned()),
        }
    }
    let mut lines: Vec<String> = lines.iter().map(|line| masked(line)).collect();
    lines.dedup();
    lines
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn picture_of_the_book_has_the_present_output() {
    let present = picture(&frames());
    if std::env::var_os("UPDATE_BOOK").is_some() {
        std::fs::write(PATH, &present).unwrap();
    }
    let known = std::fs::read_to_string(PATH).unwrap();
    assert_eq!(content(&known), content(&present), "UPDATE_BOOK=1 writes the picture");
}

#[test]
fn long_lines_continue_at_a_space() {
    let line = format!("  {} {}", "a".repeat(90), "b".repeat(COLUMNS + 20));
    let parts = wrapped(&line);
    assert_eq!(parts, [format!("  {}", "a".repeat(90)), "b".repeat(COLUMNS), "b".repeat(20)]);
    assert_eq!(wrapped("short"), ["short"]);
}
