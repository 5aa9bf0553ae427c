//! The command line.

pub use crate::commands::durability::DurabilityOptions;
pub use crate::commands::perf::{PerfCommand, PerfReportOptions, PerfSendOptions, PerfSideOptions};
pub use crate::commands::security::{
    NewKey, SecurityCheckOptions, SecurityCommand, SecurityInitOptions, SecurityRevokeOptions,
};
pub use crate::commands::shapes::{ShapeKind, ShapesOptions};
pub use crate::live_view::otlp::CollectorUrl;
pub use crate::writer_options::{DurabilityOption, GivenPolicies, WriterQosOptions};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// List, explain, print, publish, measure, record and replay the topics of any DDS.
#[derive(Debug, Parser)]
#[command(name = "dds", version, max_term_width = 100)]
pub struct CommandLine {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// A command with its options.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// List the topics with their types, writers and readers.
    Ls(ListOptions),
    /// List the participants.
    Ps(ListOptions),
    /// Show the type of a topic as IDL, its endpoints, and the pairs that do not match.
    Show(ShowOptions),
    /// Explain which endpoints of other processes do not match, and why.
    Why(WhyOptions),
    /// Compare the running system with a contract: a file with its topics, types, QoS and participants.
    Check(CheckOptions),
    /// Print samples of a topic. The program needs no type definition.
    Echo(EchoOptions),
    /// Publish samples from JSON or YAML.
    Pub(PublishOptions),
    /// Send a request to a service, and print its reply.
    Call(CallOptions),
    /// Measure the rate of a topic or of all, with the jitter.
    Hz(MeasureOptions),
    /// Measure the bytes of a topic or of all for each second.
    Bw(MeasureOptions),
    /// Measure the time from the source timestamp of a sample until its reception here.
    Delay(MeasureOptions),
    /// Measure round trips or throughput between two processes of this program.
    #[command(subcommand)]
    Perf(PerfCommand),
    /// Show where samples of topics get lost.
    Loss(LossOptions),
    /// Show problems, topics, rates, losses and participants, live in the terminal.
    Top(TopOptions),
    /// Record topics into an MCAP file.
    Record(RecordOptions),
    /// Publish the samples of a recording again.
    Play(PlayOptions),
    /// Show the domain in a browser, and its topics in Foxglove.
    Serve(ServeOptions),
    /// Store the samples of transient and persistent writers for late readers, until Ctrl-C.
    Durability(DurabilityOptions),
    /// Publish or print the moving shapes of the demo that every DDS vendor ships.
    Shapes(ShapesOptions),
    /// Print what a recording contains.
    Info(InfoOptions),
    /// Copy all samples before the first damaged place of a recording into a new file.
    Recover(RecoverOptions),
    /// Make the certificates and signed documents of a fleet, and check them.
    #[command(subcommand)]
    Security(SecurityCommand),
    /// Print the completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man {
        /// The command whose page is printed. Without it, the page of the program.
        command: Option<String>,
    },
}

/// Options for the network.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkOptions {
    /// Domain ID. Without it, the environment variable DDS_DOMAIN decides, or else 0.
    #[arg(short, long)]
    pub domain: Option<u32>,
    /// Address of a peer, with or without a port. Repeat it for several peers.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub peer: Vec<String>,
    /// Participants that the program can discover.
    #[arg(long, value_enum)]
    pub scope: Option<ScopeOption>,
    /// Network interface, by name or address. Repeat it for several interfaces.
    #[arg(long, value_name = "NAME")]
    pub interface: Vec<String>,
    /// Domain tag. Only participants with the same tag communicate.
    #[arg(long)]
    pub tag: Option<String>,
    /// Folder of an identity, as `dds security init` makes it, for a domain that DDS Security protects.
    #[arg(long, value_name = "DIR")]
    pub enclave: Option<PathBuf>,
    /// File whose first line is the password of the identity's encrypted private key.
    #[arg(long, value_name = "FILE", requires = "enclave")]
    pub password_file: Option<PathBuf>,
}

/// Participants that the program can discover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeOption {
    /// Only participants on this host.
    Host,
    /// Participants that multicast reaches, and the given peers.
    Subnet,
    /// Only the given peers.
    PeersOnly,
}

/// Options for the output.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct OutputOptions {
    /// Print one JSON object for each line.
    #[arg(long)]
    pub json: bool,
}

/// Options for the first look at the domain.
#[derive(Debug, Clone, Copy, Args)]
pub struct DiscoveryOptions {
    /// Seconds until the program knows the domain.
    ///
    /// The program looks for at least this time, and until no new endpoint has appeared for a third of it.
    #[arg(long, value_name = "SECONDS", default_value = "1.5", value_parser = seconds)]
    pub wait: Duration,
}

/// Options of `ls` and `ps`.
#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// Print only topics or participants whose name contains this text.
    pub pattern: Option<String>,
    /// Print the QoS of each endpoint (`ls`), or the properties of each participant (`ps`).
    #[arg(short, long)]
    pub long: bool,
    /// Print again after each change, until Ctrl-C.
    #[arg(short, long)]
    pub watch: bool,
    /// End after this number of lists.
    #[arg(short = 'n', long, value_parser = value_parser!(u64).range(1..), requires = "watch")]
    pub count: Option<u64>,
    /// End after this number of seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, requires = "watch")]
    pub duration: Option<Duration>,
    /// The first look.
    #[command(flatten)]
    pub discovery: DiscoveryOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `show`.
#[derive(Debug, Clone, Args)]
pub struct ShowOptions {
    /// Name of the topic. A leading slash marks a topic of ROS: `/chatter` is `rt/chatter`.
    #[arg(value_parser = topic)]
    pub topic: String,
    /// The first look.
    #[command(flatten)]
    pub discovery: DiscoveryOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `why`.
#[derive(Debug, Clone, Args)]
pub struct WhyOptions {
    /// Name of the topic; without it, all topics. A leading slash marks a topic of ROS.
    #[arg(value_parser = topic)]
    pub topic: Option<String>,
    /// End with status 1 if there is a problem, for scripts.
    #[arg(long)]
    pub exit_code: bool,
    /// The first look.
    #[command(flatten)]
    pub discovery: DiscoveryOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckOptions {
    /// The contract, a TOML file.
    pub file: PathBuf,
    /// Write the contract that the system meets now.
    #[arg(long)]
    pub write: bool,
    /// Accept topics and endpoints that the contract does not have.
    #[arg(long, conflicts_with = "write")]
    pub allow_more: bool,
    /// Seconds until the system must meet the contract, from the end of the first look.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds, conflicts_with = "write")]
    pub within: Duration,
    /// The first look.
    #[command(flatten)]
    pub discovery: DiscoveryOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// The end of a command that runs on.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct EndOptions {
    /// End after this number of samples.
    #[arg(short = 'n', long)]
    pub count: Option<u64>,
    /// End after this number of seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,
}

/// The end of a command that prints reports.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ReportEndOptions {
    /// End after this number of reports.
    #[arg(short = 'n', long, value_parser = value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// End after this number of seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,
}

/// Where the type of a topic comes from.
#[derive(Debug, Clone, Default, Args)]
pub struct TypeOptions {
    /// IDL file with the type of the topic, for peers that do not describe it.
    #[arg(long = "type", value_name = "FILE.idl")]
    pub type_file: Option<PathBuf>,
    /// Name of the type in the file. With it, the topic may be new.
    #[arg(long, value_name = "NAME", requires = "type_file")]
    pub type_name: Option<String>,
    /// Seconds to wait for a peer that describes the type.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub type_wait: Duration,
}

/// Options of `echo`.
#[derive(Debug, Clone, Args)]
pub struct EchoOptions {
    /// Name of the topic. A leading slash marks a topic of ROS: `/chatter` is `rt/chatter`.
    #[arg(value_parser = topic)]
    pub topic: String,
    /// Print only this part of each sample, such as `pose.position.x` or `points[3]`.
    #[arg(long, value_name = "PATH")]
    pub field: Option<String>,
    /// Print only samples that pass this SQL filter, such as `x > 1 AND name LIKE 'a%'` (DDS 1.4, Annex B).
    #[arg(long, value_name = "SQL")]
    pub filter: Option<String>,
    /// Print YAML documents. `pub` accepts them.
    #[arg(long, conflicts_with_all = ["json", "info"])]
    pub yaml: bool,
    /// Print the writer, the timestamps and the sequence number of each sample.
    #[arg(short, long)]
    pub info: bool,
    /// Print the encoded bytes as hexadecimal digits, with the encapsulation header. It needs no type.
    ///
    /// With `--json`, each object has them as the member `encoded`. Ends of instances have no lines.
    #[arg(long, conflicts_with_all = ["field", "filter", "yaml", "type_file"])]
    pub raw: bool,
    /// The end.
    #[command(flatten)]
    pub end: EndOptions,
    /// The type.
    #[command(flatten)]
    pub ty: TypeOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `pub`.
#[derive(Debug, Clone, Args)]
pub struct PublishOptions {
    /// Name of the topic. A leading slash marks a topic of ROS: `/chatter` is `rt/chatter`.
    #[arg(value_parser = topic)]
    pub topic: String,
    /// The sample as JSON or YAML. Absent members have their default values.
    ///
    /// `-` reads one sample from each line of the input, or with `--yaml` from each document. Ends of instances have
    /// the form in which `echo` prints them.
    pub value: String,
    /// Samples for each second. Without it, the program publishes one sample, or each line of the input at once.
    #[arg(short, long, value_name = "HZ", value_parser = rate)]
    pub rate: Option<f64>,
    /// Number of readers to wait for.
    #[arg(long, default_value_t = 1)]
    pub readers: usize,
    /// Seconds to wait for the readers.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub readers_wait: Duration,
    /// The input has YAML documents.
    #[arg(long)]
    pub yaml: bool,
    /// Dispose the instance of the sample rather than write it.
    #[arg(long)]
    pub dispose: bool,
    /// Unregister the instance of the sample rather than write it: this writer leaves the instance.
    #[arg(long, conflicts_with = "dispose")]
    pub unregister: bool,
    /// The end. Without `--rate`, `--count` publishes the sample again and again.
    #[command(flatten)]
    pub end: EndOptions,
    /// The type.
    #[command(flatten)]
    pub ty: TypeOptions,
    /// The QoS. Its heading in the help covers all options up to the next heading.
    #[command(flatten)]
    pub qos: WriterQosOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `call`.
#[derive(Debug, Clone, Args)]
pub struct CallOptions {
    /// Name of the service (DDS-RPC 1.0). A leading slash marks a service of ROS, such as `/add_two_ints`.
    pub service: String,
    /// The request as JSON or YAML. Absent members have their default values.
    #[arg(default_value = "{}")]
    pub value: String,
    /// Seconds to wait for a server, and for its reply.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub within: Duration,
    /// IDL file with the types of request and reply, for servers that do not describe them.
    #[arg(long = "type", value_name = "FILE.idl")]
    pub type_file: Option<PathBuf>,
    /// Name of the request type in the file.
    #[arg(long, value_name = "NAME", requires = "type_file")]
    pub request_type: Option<String>,
    /// Name of the reply type in the file.
    #[arg(long, value_name = "NAME", requires = "type_file")]
    pub reply_type: Option<String>,
    /// Seconds to wait for a server that describes its types.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub type_wait: Duration,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `hz`, `bw` and `delay`.
#[derive(Debug, Clone, Args)]
pub struct MeasureOptions {
    /// Name of the topic; without it, all topics with a writer. A leading slash marks a topic of ROS.
    #[arg(value_parser = topic)]
    pub topic: Option<String>,
    /// Seconds between two lines.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = period)]
    pub every: Duration,
    /// The end.
    #[command(flatten)]
    pub end: EndOptions,
    /// The type.
    #[command(flatten)]
    pub ty: TypeOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `loss`.
#[derive(Debug, Clone, Args)]
pub struct LossOptions {
    /// Topics, by name or with `*` and `?`. Without one, all topics. A leading slash marks a topic of ROS.
    #[arg(value_parser = topic)]
    pub topics: Vec<String>,
    /// Seconds between two reports.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = period)]
    pub every: Duration,
    /// The end. A report has lines for each topic.
    #[command(flatten)]
    pub end: ReportEndOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `top`.
#[derive(Debug, Clone, Args)]
pub struct TopOptions {
    /// Topics, by name or with `*` and `?`. Without one, all topics. A leading slash marks a topic of ROS.
    #[arg(value_parser = topic)]
    pub topics: Vec<String>,
    /// Seconds between two screens.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = period)]
    pub every: Duration,
    /// The end. Each screen is a report.
    #[command(flatten)]
    pub end: ReportEndOptions,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `record`.
#[derive(Debug, Clone, Args)]
pub struct RecordOptions {
    /// The file. It must not exist. With several files, `drive.mcap` stands for `drive_0.mcap`, `drive_1.mcap` …
    #[arg(short, long, value_name = "FILE.mcap")]
    pub output: PathBuf,
    /// Topics to record, by name or with `*` and `?`. Without one, all topics. A leading slash marks a topic of ROS.
    #[arg(value_parser = topic)]
    pub topics: Vec<String>,
    /// Topics that are not recorded, by name or with `*` and `?`.
    #[arg(long, value_name = "PATTERN", value_parser = topic)]
    pub exclude: Vec<String>,
    /// Record only samples that pass this SQL filter. Topics that lack one of its fields are not recorded.
    #[arg(long, value_name = "SQL")]
    pub filter: Option<String>,
    /// Compression of the chunks.
    #[arg(long, value_enum, default_value_t)]
    pub compression: CompressionOption,
    /// Begin a new file after this size, such as 500M or 2G.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub split_bytes: Option<u64>,
    /// Begin a new file after this number of seconds.
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub split_time: Option<Duration>,
    /// Keep only the last seconds, in memory. Enter, SIGUSR1, the trigger topic and the end write them into a file.
    #[arg(long, value_name = "SECONDS", value_parser = period, conflicts_with_all = ["split_bytes", "split_time"])]
    pub last: Option<Duration>,
    /// Most memory for the last seconds.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256M", requires = "last")]
    pub last_bytes: u64,
    /// Most memory for samples that wait for the disk. The command counts samples that have no room.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1G")]
    pub queue_bytes: u64,
    /// Topic whose samples write the last seconds into a file. It is recorded even if --exclude has it.
    #[arg(long, value_name = "TOPIC", value_parser = topic, requires = "last")]
    pub trigger: Option<String>,
    /// IDL file with types of topics, for peers that do not describe them.
    #[arg(long = "type", value_name = "FILE.idl")]
    pub type_file: Option<PathBuf>,
    /// Seconds to wait for a peer that describes the type of a topic. Samples before that are not recorded.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub type_wait: Duration,
    /// The end.
    #[command(flatten)]
    pub end: EndOptions,
    /// The report at the end.
    #[command(flatten)]
    pub report: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Compression of the chunks of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CompressionOption {
    /// No compression.
    #[cfg_attr(not(feature = "compression"), default)]
    None,
    /// zstd, fastest level.
    #[cfg(feature = "compression")]
    #[default]
    Zstd,
    /// lz4.
    #[cfg(feature = "compression")]
    Lz4,
}

/// Options of `play`.
#[derive(Debug, Clone, Args)]
pub struct PlayOptions {
    /// The recording.
    pub file: PathBuf,
    /// Topics to play, by name or with `*` and `?`. Without one, all topics.
    pub topics: Vec<String>,
    /// Topics that are not played, by name or with `*` and `?`.
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Begin this number of seconds after the start of the recording.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub start: Duration,
    /// End this number of seconds after the start of the recording.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub until: Option<Duration>,
    /// Speed: 2 plays twice as fast.
    #[arg(short, long, default_value = "1", value_parser = rate)]
    pub rate: f64,
    /// Start again at the end, until Ctrl-C.
    #[arg(short = 'l', long = "loop")]
    pub repeat: bool,
    /// Publish the samples of one topic as another topic.
    #[arg(long, value_name = "FROM=TO", value_parser = remap)]
    pub remap: Vec<(String, String)>,
    /// Keep the recorded source timestamps. Otherwise samples have the present time.
    #[arg(long)]
    pub source_timestamps: bool,
    /// Seconds to wait for a reader of each topic before the first sample.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub readers_wait: Duration,
    /// The end.
    #[command(flatten)]
    pub end: EndOptions,
    /// The report at the end.
    #[command(flatten)]
    pub report: OutputOptions,
    /// The QoS. Without an option, that of the recording. Its heading in the help covers all options up to the next
    /// heading.
    #[command(flatten)]
    pub qos: WriterQosOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    /// Address and port of the server. Other addresses than those of this host need a token.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8765")]
    pub bind: SocketAddr,
    /// Token that every request needs. Without it, the program makes one if other hosts can connect.
    #[arg(long, value_name = "TEXT", value_parser = token)]
    pub token: Option<String>,
    /// Origin of a web page that may connect, beside the own page. Repeat it for several origins. `*` needs a token.
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// IDL file with types of topics, for peers that do not describe them.
    #[arg(long = "type", value_name = "FILE.idl")]
    pub type_file: Option<PathBuf>,
    /// Accept no samples from clients.
    #[arg(long)]
    pub read_only: bool,
    /// Send the metrics to an OpenTelemetry collector (OTLP/HTTP with JSON), such as http://localhost:4318.
    #[arg(long, value_name = "URL", value_parser = CollectorUrl::parse)]
    pub otlp: Option<CollectorUrl>,
    /// Seconds between two messages to the collector.
    #[arg(long, value_name = "SECONDS", value_parser = period, default_value = "10", requires = "otlp")]
    pub otlp_every: Duration,
    /// Seconds to wait for a peer that describes the type of a topic.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub type_wait: Duration,
    /// End after this number of seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Options of `info`.
#[derive(Debug, Clone, Args)]
pub struct InfoOptions {
    /// The recording.
    pub file: PathBuf,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Options of `recover`.
#[derive(Debug, Clone, Args)]
pub struct RecoverOptions {
    /// The damaged recording.
    pub file: PathBuf,
    /// The new file. It must not exist.
    #[arg(short, long, value_name = "FILE.mcap")]
    pub output: PathBuf,
    /// The report at the end.
    #[command(flatten)]
    pub report: OutputOptions,
}

/// Reads a number of seconds, at most some thirty years. The unit may follow, as in `60s`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match text.strip_suffix('s').unwrap_or(text).parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds from 0 to 1e9, such as 1.5".to_owned()),
    }
}

/// Reads a number of seconds above 0.
pub(crate) fn period(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("expected more than 0 seconds".to_owned()),
        period => Ok(period),
    }
}

/// Reads a number of bytes with an optional unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)) {
        Some(size) if size > 0 => Ok(size),
        _ => Err("expected a number of bytes, such as 500000, 500k, 500M or 2G".to_owned()),
    }
}

/// Reads a token, which is also a part of addresses.
fn token(text: &str) -> Result<String, String> {
    match text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
        true => Ok(text.to_owned()),
        false => Err("expected at least 16 letters, digits, `-` or `_`".to_owned()),
    }
}

/// Reads a rate or a speed.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (1e-6..=1e9).contains(&rate) => Ok(rate),
        _ => Err("expected a number from 1e-6 to 1e9".to_owned()),
    }
}

/// Reads the name or pattern of a topic.
fn topic(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(crate::ros::dds_topic(text))
}

/// Reads `FROM=TO`.
fn remap(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_owned(), to.to_owned())),
        _ => Err("expected FROM=TO, such as robot/pose=replay/pose".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandLine, period, rate, remap, seconds, size};
    use clap::CommandFactory;
    use std::time::Duration;

    #[test]
    fn command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn times_and_rates_have_ranges() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["-1", "NaN", "inf", "1e10", "1e300", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(seconds("60s"), Ok(Duration::from_secs(60)));
        assert!(period("0").is_err());
        assert_eq!((size("12"), size("3k"), size("2G")), (Ok(12), Ok(3000), Ok(2_000_000_000)));
        for text in ["", "0", "-1", "1.5M", "M", "999999999999G", "1T"] {
            assert!(size(text).is_err(), "{text}");
        }
        for text in ["0", "-1", "1e-7", "1e-300", "1e10", "NaN", "inf", "x"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert_eq!(rate("0.5"), Ok(0.5));
    }

    #[test]
    fn remap_needs_both_names() {
        assert_eq!(remap("a=b"), Ok(("a".to_owned(), "b".to_owned())));
        for text in ["a", "=b", "a="] {
            assert!(remap(text).is_err(), "{text}");
        }
    }
}
