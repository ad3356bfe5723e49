//! The built-in engine on its own, for trying it by hand or in a chess program.

use std::io;

fn main() -> io::Result<()> {
    tabiya_scorer::builtin::run(io::BufReader::new(io::stdin()), io::stdout())
}
