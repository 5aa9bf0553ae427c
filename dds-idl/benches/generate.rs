//! Time from IDL to Rust code.
//!
//! `cargo bench -p dds-idl --bench generate` prints the least of ten times for 1 MB of IDL, and for the common packages
//! of ROS.

#![allow(clippy::print_stdout, reason = "the result of the program")]

use dds_idl::idl::{Options, parse_text};
use dds_idl::packages::RosPackages;
use dds_idl::ros::InterfaceName;
use dds_idl::rust::{RustOptions, generate, generate_ros};
use std::error::Error;
use std::time::Instant;

const RUNS: u32 = 10;

/// A module with ordinary types. `N` is its number.
const MODULE: &str = "
module robot_N {
  /// State of the robot N.
  enum Mode { MODE_IDLE, MODE_DRIVE, MODE_CHARGE };
  const long LIMIT = N * 4 + 1;
  struct Pose { double x; double y; @default(1.5) double yaw; };
  @appendable struct Status {
    @key long id; Mode mode; Pose pose; sequence<Pose, 16> path; @optional string<64> note; octet data[LIMIT];
    sequence<string> names; float ranges[4][3];
  };
  union Command switch (Mode) { case MODE_IDLE: long wait; case MODE_DRIVE: Pose target; default: string text; };
  typedef sequence<Status> StatusList;
};
";

fn megabyte() -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < 1_000_000 {
        text.push_str(&MODULE.replace('N', &number.to_string()));
        number += 1;
    }
    text
}

/// Prints the least time of a run, which returns the length of its code.
fn measure(name: &str, run: impl Fn() -> Result<usize, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut least = f64::INFINITY;
    let mut len = 0;
    for _ in 0..RUNS {
        let start = Instant::now();
        len = run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    println!("{name}: {:.0} ms, {} kB of Rust", least * 1000.0, len / 1000);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = megabyte();
    measure("1 MB of IDL", || {
        let specification = parse_text("robots.idl", &text, &Options::default())?;
        let code = generate(&specification, &RustOptions::default());
        Ok(code.map_err(|errors| errors.render(&specification.sources, false))?.len())
    })?;
    measure("common packages of ROS", || {
        let packages = RosPackages::default();
        let mut names: Vec<InterfaceName> = Vec::new();
        for package in packages.package_names() {
            names.extend(packages.interfaces_of(&package));
        }
        let loaded = packages.load(&names);
        let code = generate_ros(&loaded, &RustOptions::default());
        Ok(code.map_err(|errors| errors.render(&loaded.sources, false))?.len())
    })
}
