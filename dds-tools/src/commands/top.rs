//! `dds top`: the problems, topics and participants of a domain, live in the terminal.

use super::text::{bytes_text, nanos_text, write_json};
use super::why;
use crate::domain_view::{DomainView, DomainWatch};
use crate::error::ToolError;
use crate::latencies::{DelayMeter, LatencyFigures, LatencyWatch, TimeCounts, TopicLatencies};
use crate::network;
use crate::options::TopOptions;
use crate::socket_drops::DropsSinceStart;
use crate::stop::Stop;
use crate::topic_set::TopicSet;
use dds_core::DomainParticipant;
use dds_core::stats::ReaderLosses;
use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{ExecutableCommand, cursor};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph, Row, Table, Wrap};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between two looks at the readers and the keyboard.
const STEP: Duration = Duration::from_millis(20);
/// Problems that the screen has room for.
const PROBLEMS_MAX: usize = 8;

/// Everything that one screen shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TopScreen {
    /// What needs a look, worst first: lost samples, dropped datagrams, pairs that do not match.
    pub problems: Vec<String>,
    /// The topics, by name.
    pub topics: Vec<TopicLine>,
    /// The participants, by name.
    pub participants: Vec<ParticipantLine>,
}

/// One topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TopicLine {
    /// Its name.
    pub topic: String,
    /// Names of its types.
    pub types: Vec<String>,
    /// Number of its writers.
    pub writers: usize,
    /// Number of its readers.
    pub readers: usize,
    /// Samples for each second.
    pub rate_hz: f64,
    /// Bytes for each second.
    pub bytes_per_second: f64,
    /// Samples that got lost on the way to this program in the last period.
    pub lost: u64,
    /// The same since the start of the program.
    pub lost_total: u64,
    /// From the write to the reception in this program, in the last period.
    pub delay: Option<LatencyFigures>,
    /// The latencies that participants publish.
    pub latencies: TopicLatencies,
}

/// One participant.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ParticipantLine {
    /// Its name, or its GUID.
    pub participant: String,
    /// Vendor of its DDS.
    pub vendor: String,
    /// Number of its writers.
    pub writers: usize,
    /// Number of its readers.
    pub readers: usize,
    /// Datagrams that its sockets dropped since the start of the program, if it lives on this host.
    pub socket_dropped: Option<u64>,
}

/// Shows the domain until `q`, Ctrl-C or the time. With `--json`, prints one object for each period instead.
///
/// # Errors
/// Fails without a terminal, unless the output is JSON.
pub fn run(options: &TopOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    if !options.output.json && !std::io::stdout().is_terminal() {
        let reason = "the output is no terminal; use --json, or `dds hz`, `dds bw` and `dds loss`".to_owned();
        return Err(ToolError::value(reason));
    }
    let participant = network::join_to_read(&options.network, &options.topics)?;
    let mut watch = DomainWatch::new(&participant)?;
    let mut observer = DomainObserver {
        set: TopicSet::new(participant.clone(), &options.topics),
        latencies: LatencyWatch::new(&participant)?,
        participant,
        asked_topics: HashSet::new(),
        socket_drops: DropsSinceStart::default(),
        delays: DelayMeter::default(),
        period_delays: HashMap::new(),
    };
    let stop = stop.after(options.end.duration);
    if options.output.json {
        return observer.each_period(options, &mut watch, &stop, |screen| {
            let line = serde_json::to_value(screen).map_err(|error| ToolError::output(error.into()))?;
            write_json(output, &line)
        });
    }
    let screen = RawScreen::enter(output)?;
    let mut terminal = Terminal::new(CrosstermBackend::new(&mut *screen.output)).map_err(ToolError::output)?;
    observer.each_period(options, &mut watch, &stop, |screen| {
        terminal.draw(|frame| draw(screen, frame)).map(|_| ()).map_err(ToolError::output)
    })
}

/// A terminal in raw mode with its second screen. Its end restores the terminal, also after an error.
struct RawScreen<'o> {
    output: &'o mut dyn Write,
}

impl<'o> RawScreen<'o> {
    fn enter(output: &'o mut dyn Write) -> Result<Self, ToolError> {
        enable_raw_mode().map_err(ToolError::output)?;
        let screen = Self { output };
        screen.output.execute(EnterAlternateScreen).map_err(ToolError::output)?;
        screen.output.execute(cursor::Hide).map_err(ToolError::output)?;
        Ok(screen)
    }
}

impl Drop for RawScreen<'_> {
    fn drop(&mut self) {
        // A terminal that has gone needs no restoration.
        let _ = self.output.execute(LeaveAlternateScreen);
        let _ = self.output.execute(cursor::Show);
        let _ = disable_raw_mode();
    }
}

struct DomainObserver {
    set: TopicSet,
    participant: DomainParticipant,
    /// Topics whose types the participant has asked for. The first explanation asks, and a later one has the answer.
    asked_topics: HashSet<String>,
    socket_drops: DropsSinceStart,
    latencies: LatencyWatch,
    delays: DelayMeter,
    /// The delays of the present period, by the number of the topic.
    period_delays: HashMap<usize, TimeCounts>,
}

impl DomainObserver {
    /// Observes the domain, and calls `show` at the end of each period.
    fn each_period(
        &mut self,
        options: &TopOptions,
        watch: &mut DomainWatch,
        stop: &Stop,
        mut show: impl FnMut(&TopScreen) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let reads_keys = std::io::stdin().is_terminal();
        let (mut period_start, mut shown) = (Instant::now(), 0);
        while !stop.is_due() && options.end.count.is_none_or(|count| shown < count) {
            watch.update()?;
            self.set.open_topics(watch)?;
            self.latencies.update()?;
            let Self { set, delays, period_delays, .. } = &mut *self;
            set.take(|topic, info, _| {
                if let Some(delay) = delays.measure(info, watch.view()) {
                    period_delays.entry(topic).or_default().record(delay);
                }
            })?;
            if period_start.elapsed() >= options.every {
                period_start = Instant::now();
                show(&self.screen(watch.view()))?;
                shown += 1;
            }
            if reads_keys {
                if is_end_requested(STEP)? {
                    return Ok(());
                }
            } else {
                stop.sleep(STEP);
            }
        }
        Ok(())
    }

    /// Ends the period of each topic, and returns the screen.
    fn screen(&mut self, view: &DomainView) -> TopScreen {
        let mut screen = TopScreen::default();
        let topics = view.topics();
        let mut latencies = self.latencies.by_topic();
        let delays = std::mem::take(&mut self.period_delays);
        for (number, name, topic) in self.set.topics() {
            let period = topic.end_period();
            let lost = period.losses.total().lost();
            if lost > 0 {
                screen.problems.push(format!("topic {name}: {}", first_line(&period.losses)));
            }
            let mut line = TopicLine {
                topic: name.to_owned(),
                rate_hz: period.rate,
                bytes_per_second: period.bytes_per_second,
                lost,
                lost_total: topic.losses().total().lost(),
                delay: delays.get(&number).and_then(TimeCounts::figures),
                latencies: latencies.remove(name).unwrap_or_default(),
                ..TopicLine::default()
            };
            // The last endpoint of an observed topic may have left.
            if let Some(found) = topics.get(name) {
                (line.types, line.writers, line.readers) =
                    (found.type_names(), found.writers.len(), found.readers.len());
            }
            screen.topics.push(line);
        }
        self.add_participants(view, &mut screen);
        self.asked_topics.retain(|topic| topics.contains_key(topic.as_str()));
        for topic in topics.keys() {
            let is_first = self.asked_topics.insert((*topic).to_owned());
            let reports = self.participant.explain(topic);
            if !is_first {
                let pairs = why::problem_pairs(reports, view);
                screen.problems.extend(pairs.iter().map(ToString::to_string));
            }
        }
        screen
    }

    fn add_participants(&mut self, view: &DomainView, screen: &mut TopScreen) {
        let drops = self.socket_drops.read(view);
        for found in view.participants() {
            let socket_dropped = drops.get(&found.key).copied();
            let participant = view.participant_name(found.key);
            if let Some(dropped) = socket_dropped
                && dropped > 0
            {
                screen.problems.push(format!("participant {participant}: its sockets dropped {dropped} datagrams"));
            }
            let (writers, readers) = view.endpoint_counts(found.key);
            let vendor = view.vendor(found.key);
            screen.participants.push(ParticipantLine { participant, vendor, writers, readers, socket_dropped });
        }
    }
}

/// Waits for a key for `limit`. Returns whether it is `q`, Escape or Ctrl-C, which raw mode delivers as a key.
fn is_end_requested(limit: Duration) -> Result<bool, ToolError> {
    if !event::poll(limit).map_err(ToolError::output)? {
        return Ok(false);
    }
    let Event::Key(key) = event::read().map_err(ToolError::output)? else { return Ok(false) };
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(key.kind == KeyEventKind::Press && (is_interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)))
}

fn first_line(losses: &ReaderLosses) -> String {
    losses.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Draws a screen: problems first.
pub fn draw(screen: &TopScreen, frame: &mut Frame<'_>) {
    let shown = screen.problems.len().min(PROBLEMS_MAX);
    let [problems, topics, latencies, participants] = Layout::vertical([
        Constraint::Length(shown.max(1) as u16 + 2),
        Constraint::Fill(2),
        Constraint::Fill(1),
        Constraint::Fill(1),
    ])
    .areas(frame.area());

    let title = format!(" problems: {} ", screen.problems.len());
    let (lines, color) = if shown == 0 {
        (vec![Line::from("none")], Color::Green)
    } else {
        let first_lines = screen.problems.iter().take(shown).map(|text| text.lines().next().unwrap_or_default());
        (first_lines.map(Line::from).collect(), Color::Red)
    };
    let block = Block::bordered().title(title).border_style(Style::new().fg(color));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }).block(block), problems);

    let bold = Style::new().add_modifier(Modifier::BOLD);
    let rows = screen.topics.iter().map(|topic| {
        let row = Row::new([
            topic.topic.clone(),
            topic.types.join(" "),
            topic.writers.to_string(),
            topic.readers.to_string(),
            format!("{:.1} Hz", topic.rate_hz),
            format!("{}/s", bytes_text(topic.bytes_per_second)),
            topic.lost.to_string(),
            topic.lost_total.to_string(),
        ]);
        if topic.lost > 0 { row.style(Style::new().fg(Color::Red)) } else { row }
    });
    let widths = [
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(12),
        Constraint::Length(12),
        Constraint::Length(8),
        Constraint::Length(8),
    ];
    let header = Row::new(["TOPIC", "TYPE", "WRITERS", "READERS", "RATE", "BYTES", "LOST", "IN ALL"]).style(bold);
    let block = Block::bordered().title(format!(" topics: {} ", screen.topics.len()));
    frame.render_widget(Table::new(rows, widths).header(header).block(block), topics);

    draw_latencies(screen, frame, latencies);

    let rows = screen.participants.iter().map(|found| {
        Row::new([
            found.participant.clone(),
            found.vendor.clone(),
            found.writers.to_string(),
            found.readers.to_string(),
            found.socket_dropped.map_or_else(|| "-".to_owned(), |dropped| dropped.to_string()),
        ])
    });
    let widths =
        [Constraint::Fill(3), Constraint::Fill(2), Constraint::Length(7), Constraint::Length(7), Constraint::Length(8)];
    let header = Row::new(["PARTICIPANT", "VENDOR", "WRITERS", "READERS", "DROPPED"]).style(bold);
    let block = Block::bordered().title(format!(" participants: {} — q ends ", screen.participants.len()));
    frame.render_widget(Table::new(rows, widths).header(header).block(block), participants);
}

/// Draws the latencies of the topics that have some: p50 and p99.
fn draw_latencies(screen: &TopScreen, frame: &mut Frame<'_>, area: Rect) {
    let rows = screen.topics.iter().filter_map(|line| {
        let TopicLatencies { write_to_reception, reception_to_take, acknowledgment } = line.latencies;
        let figures = [line.delay, write_to_reception, reception_to_take, acknowledgment];
        let cells = std::iter::once(line.topic.clone()).chain(figures.iter().map(figures_text));
        figures.iter().any(Option::is_some).then(|| Row::new(cells))
    });
    let widths = [Constraint::Fill(1)].into_iter().chain([Constraint::Length(21); 4]);
    let header = Row::new(["TOPIC", "TO HERE p50/p99", "TO READERS", "UNTIL TAKE", "UNTIL ACKNOWLEDGED"]);
    let title = " latencies: ~ above the fastest sample, for another host has another clock ";
    let table = Table::new(rows, widths).header(header.style(Style::new().add_modifier(Modifier::BOLD)));
    frame.render_widget(table.block(Block::bordered().title(title)), area);
}

fn figures_text(figures: &Option<LatencyFigures>) -> String {
    let Some(figures) = figures else { return "-".to_owned() };
    let mark = if figures.is_estimated { "~" } else { "" };
    format!("{mark}{} / {mark}{}", nanos_text(figures.p50_ns as f64), nanos_text(figures.p99_ns as f64))
}

#[cfg(test)]
mod tests {
    use super::{LatencyFigures, ParticipantLine, TopScreen, TopicLatencies, TopicLine, draw};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(screen: &TopScreen) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(100, 20)).expect("a test terminal");
        terminal.draw(|frame| draw(screen, frame)).expect("a test terminal accepts everything");
        let buffer = terminal.backend().buffer();
        buffer.content().chunks(100).map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect()
    }

    #[test]
    fn screen_shows_problems_before_topics() {
        let screen = TopScreen {
            problems: vec!["topic scan: 7 samples never arrived\nlikely cause".to_owned()],
            topics: vec![TopicLine {
                topic: "scan".to_owned(),
                types: vec!["LaserScan".to_owned()],
                writers: 1,
                rate_hz: 10.0,
                bytes_per_second: 1500.0,
                lost: 7,
                lost_total: 9,
                delay: Some(LatencyFigures { count: 10, p50_ns: 12_000, p99_ns: 45_000, is_estimated: false }),
                latencies: TopicLatencies {
                    write_to_reception: Some(LatencyFigures {
                        count: 10,
                        p50_ns: 2_000_000,
                        p99_ns: 3_000_000,
                        is_estimated: true,
                    }),
                    ..TopicLatencies::default()
                },
                ..TopicLine::default()
            }],
            participants: vec![ParticipantLine { participant: "robot".to_owned(), ..ParticipantLine::default() }],
        };
        let rows = drawn(&screen);
        let place = |text: &str| rows.iter().position(|row| row.contains(text));
        let (problem, topic, participant) = (place("7 samples never arrived"), place("LaserScan"), place("robot"));
        assert!(problem.is_some() && problem < topic && topic < participant, "{rows:#?}");
        assert!(rows.iter().any(|row| row.contains("10.0 Hz") && row.contains("1.50 kB/s")), "{rows:#?}");
        let latencies = rows.iter().find(|row| row.contains("12.0 us / 45.0 us")).expect("the delays of the topic");
        assert!(latencies.contains("scan") && latencies.contains("~2.000 ms / ~3.000 ms"), "{latencies}");
        assert_eq!(place("likely cause"), None, "a problem has one line");
    }

    #[test]
    fn screen_counts_problems_without_room() {
        let problems = (0..30).map(|number| format!("problem {number}")).collect();
        let rows = drawn(&TopScreen { problems, ..TopScreen::default() });
        assert!(rows[0].contains("problems: 30"), "{rows:#?}");
        assert!(rows.iter().any(|row| row.contains("TOPIC")), "{rows:#?}");
        assert!(drawn(&TopScreen::default())[1].contains("none"));
    }
}
