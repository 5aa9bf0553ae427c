//! Turns the output of `perf script` on standard input into a flame graph on standard output.

use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;
use inferno::flamegraph::{Options, from_reader};
use std::io::{self, BufReader, BufWriter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut folded = Vec::new();
    Folder::default().collapse(BufReader::new(io::stdin().lock()), &mut folded)?;
    let mut options = Options::default();
    options.title = std::env::args().nth(1).unwrap_or_else(|| "flame graph".into());
    from_reader(&mut options, folded.as_slice(), BufWriter::new(io::stdout().lock()))?;
    Ok(())
}
