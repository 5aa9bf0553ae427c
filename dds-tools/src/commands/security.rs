//! `dds security`: the certificates and signed documents of a fleet, made and checked.

use crate::error::ToolError;
use crate::password_file::read_password_file;
use clap::{Args, Subcommand, ValueEnum};
use dds_security::access::{AccessAction, AccessRequest};
use dds_security::keystore::{
    CheckedIdentity, Fleet, FleetFile, FleetOptions, FleetRights, FleetStep, check, check_with_password,
};
use dds_security::pki::{KeyAlgorithm, Validity};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The commands of DDS Security.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum SecurityCommand {
    /// Make authorities, identities, governance and permissions, or add to them. Existing keys stay.
    ///
    /// The folder has the layout of SROS2. Edit the XML files and run the command again: it signs them.
    Init(SecurityInitOptions),
    /// Revoke the certificate of an identity: adds it to `crl.pem` in the folder of each identity.
    Revoke(SecurityRevokeOptions),
    /// Check certificates, keys, signatures, governance and permissions, and show what each identity may do.
    Check(SecurityCheckOptions),
}

/// Options of `dds security init`.
#[derive(Debug, Args)]
pub struct SecurityInitOptions {
    /// The folder.
    pub folder: PathBuf,
    /// Name of an identity, such as `robot7`, or an enclave of ROS 2, such as `/cell3/arm`. Repeat it for several.
    #[arg(short, long, value_name = "NAME")]
    pub identity: Vec<String>,
    /// Domain of a new governance and of new permissions. Repeat it for several.
    #[arg(short, long, default_values_t = [0])]
    pub domain: Vec<u32>,
    /// Topics that a new identity may write, with `*` and `?`. Without --publish and --subscribe: all.
    #[arg(long, value_name = "TOPIC")]
    pub publish: Vec<String>,
    /// Topics that a new identity may read, with `*` and `?`. Without --publish and --subscribe: all.
    #[arg(long, value_name = "TOPIC")]
    pub subscribe: Vec<String>,
    /// Days for which new certificates and permissions count.
    #[arg(long, default_value_t = 3650, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: u32,
    /// Algorithm of new keys, also of new authorities. Participants before DDS Security 1.2 do not know p384.
    #[arg(long, value_enum, default_value_t = NewKey::P256)]
    pub algorithm: NewKey,
}

/// The algorithm of new keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum NewKey {
    /// ECDSA with P-256.
    P256,
    /// ECDSA with P-384.
    P384,
    /// RSA with 2048 bits.
    Rsa2048,
    /// RSA with 3072 bits.
    Rsa3072,
}

impl From<NewKey> for KeyAlgorithm {
    fn from(key: NewKey) -> Self {
        match key {
            NewKey::P256 => Self::EcP256,
            NewKey::P384 => Self::EcP384,
            NewKey::Rsa2048 => Self::Rsa2048,
            NewKey::Rsa3072 => Self::Rsa3072,
        }
    }
}

/// Options of `dds security revoke`.
#[derive(Debug, Args)]
pub struct SecurityRevokeOptions {
    /// The folder that `dds security init` has made, with the key of the authority.
    pub folder: PathBuf,
    /// Name of the identity.
    pub identity: String,
}

/// Options of `dds security check`.
#[derive(Debug, Args)]
pub struct SecurityCheckOptions {
    /// A folder that `dds security init` or SROS2 has made, or the folder of one identity.
    pub folder: PathBuf,
    /// Show this identity only.
    #[arg(short, long, value_name = "NAME")]
    pub identity: Option<String>,
    /// File whose first line is the password of encrypted private keys.
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Domain of --publish and --subscribe.
    #[arg(short, long, default_value_t = 0)]
    pub domain: u32,
    /// Fail unless the identities may write this topic.
    #[arg(long, value_name = "TOPIC")]
    pub publish: Vec<String>,
    /// Fail unless the identities may read this topic.
    #[arg(long, value_name = "TOPIC")]
    pub subscribe: Vec<String>,
    /// Partition of the topics.
    #[arg(long, value_name = "NAME")]
    pub partition: Vec<String>,
    /// Data tag of the endpoints.
    #[arg(long, value_name = "NAME=VALUE", value_parser = data_tag)]
    pub data_tag: Vec<(String, String)>,
}

/// Reads `NAME=VALUE`.
fn data_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as level=secret".to_owned()),
    }
}

/// Runs a command of DDS Security.
///
/// # Errors
/// Fails if the files cannot be made, have errors, or deny a requested access.
pub fn run(command: &SecurityCommand, output: &mut dyn Write) -> Result<(), ToolError> {
    match command {
        SecurityCommand::Init(options) => init(options, output),
        SecurityCommand::Revoke(options) => revoke(options, output),
        SecurityCommand::Check(options) => run_check(options, output),
    }
}

fn revoke(options: &SecurityRevokeOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    if !options.folder.join("private").is_dir() {
        let text = format!("{}: expected a folder that `dds security init` has made", options.folder.display());
        return Err(ToolError::Security { text });
    }
    let mut fleet = Fleet::open(&options.folder, now()).map_err(security_error)?;
    fleet.revoke(&options.identity, now()).map_err(security_error)?;
    write_files(&fleet, output)?;
    writeln!(output, "next: copy crl.pem to each host; participants read it at their start, and on demand")
        .map_err(ToolError::output)
}

fn write_files(fleet: &Fleet, output: &mut dyn Write) -> Result<(), ToolError> {
    for FleetFile { path, step } in fleet.files() {
        let verb = match step {
            FleetStep::Created => "created",
            FleetStep::Signed => "signed",
            _ => "kept",
        };
        writeln!(output, "{verb} {}", path.display()).map_err(ToolError::output)?;
    }
    Ok(())
}

fn init(options: &SecurityInitOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    let now = now();
    // Clocks of hosts differ by a few minutes.
    let validity = Validity { not_before: now - 3600, not_after: now + i64::from(options.days) * 86_400 };
    let all = FleetRights { domains: options.domain.clone(), ..FleetRights::default() };
    let rights = if options.publish.is_empty() && options.subscribe.is_empty() {
        all
    } else {
        FleetRights { publish: options.publish.clone(), subscribe: options.subscribe.clone(), ..all }
    };
    let algorithm = options.algorithm.into();
    let fleet_options = FleetOptions { identities: options.identity.clone(), rights, validity, algorithm };
    let fleet = Fleet::create(&options.folder, &fleet_options).map_err(security_error)?;
    write_files(&fleet, output)?;
    let folder = options.folder.display();
    writeln!(
        output,
        "Keep {folder}/private here. Copy only the files of {folder}/enclaves/NAME to the host of an identity. \
         Folders below it belong to other identities."
    )
    .map_err(ToolError::output)
}

fn run_check(options: &SecurityCheckOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    let now = now();
    let name = options.folder.display().to_string();
    let checked = match &options.password_file {
        Some(file) => check_with_password(&options.folder, now, read_password_file(file)?.password()),
        None => check(&options.folder, now),
    };
    let checked = checked.map_err(|source| ToolError::Io { name, source })?;
    for finding in &checked.findings {
        writeln!(output, "{finding}").map_err(ToolError::output)?;
    }
    let is_chosen = |identity: &&CheckedIdentity| {
        let chosen = options.identity.as_deref().map(|name| name.trim_start_matches('/'));
        chosen.is_none_or(|name| identity.name == name)
    };
    let identities: Vec<_> = checked.identities.iter().filter(is_chosen).collect();
    for identity in &identities {
        write!(output, "{identity}").map_err(ToolError::output)?;
    }
    // Errors of other identities do not concern the chosen one.
    let enclaves = options.folder.join("enclaves");
    let concerns = |path: &Path| match (options.identity.as_deref(), path.parent()) {
        (Some(name), Some(parent)) if parent != enclaves && parent.starts_with(&enclaves) => {
            parent == enclaves.join(name.trim_start_matches('/'))
        }
        _ => true,
    };
    let count = checked.findings.iter().filter(|finding| finding.is_error && concerns(&finding.path)).count();
    if count > 0 {
        return Err(ToolError::Security {
            text: format!("the files have errors ({count}); the lines above name each one"),
        });
    }
    if identities.is_empty() {
        let known: Vec<_> = checked.identities.iter().map(|identity| identity.name.as_str()).collect();
        let text = format!("no identity of this name; known identities: {}", known.join(", "));
        return Err(ToolError::Security { text });
    }
    let mut is_denied = false;
    for (action, topics) in [(AccessAction::Publish, &options.publish), (AccessAction::Subscribe, &options.subscribe)] {
        for topic in topics {
            for identity in &identities {
                is_denied |= !decide(options, identity, action, topic, output)?;
            }
        }
    }
    if is_denied {
        let text = "an access is denied: change permissions.xml or governance.xml, and run `dds security init` again"
            .to_owned();
        return Err(ToolError::Security { text });
    }
    Ok(())
}

/// Prints whether an identity may use a topic, and returns it.
fn decide(
    options: &SecurityCheckOptions,
    identity: &CheckedIdentity,
    action: AccessAction,
    topic: &str,
    output: &mut dyn Write,
) -> Result<bool, ToolError> {
    let partitions: Vec<_> = options.partition.iter().map(String::as_str).collect();
    let domain_id = options.domain;
    let data_tags: Vec<_> = options.data_tag.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let access = AccessRequest { action, domain_id, topic, partitions: &partitions, data_tags: &data_tags };
    let decision = identity.decide(&access, now());
    let verb = if action == AccessAction::Publish { "publishes" } else { "subscribes" };
    writeln!(output, "{} {verb} `{topic}` in domain {domain_id}: {decision}", identity.name)
        .map_err(ToolError::output)?;
    Ok(decision.is_allowed)
}

fn security_error(error: impl std::fmt::Display) -> ToolError {
    ToolError::Security { text: error.to_string() }
}

fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since_1970.as_secs().try_into().unwrap_or(i64::MAX)
}
