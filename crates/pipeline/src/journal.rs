//! The durable cut: left of it is dear and counted here, right of it is cheap and pure.
//!
//! What is known of every batch passes this stage in the order of the inputs, with the span it
//! came from. Bad games are written down here.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
};

use tabiya_model::Census;
use tokio::sync::mpsc;

use crate::{
    Error,
    batch::{Batch, LineVerdict, Scored},
};

/// What passed, in figures.
#[derive(Debug, Default)]
pub(crate) struct Journaled {
    pub(crate) census: Census,
    pub(crate) set_aside: u64,
    pub(crate) stray: u64,
    pub(crate) unmarked: u64,
}

/// Writes down rejects and hands on the lines. Blocks; for a thread of its own.
pub(crate) fn run(
    rejects: PathBuf,
    mut rx: mpsc::Receiver<Batch<Scored>>,
    tx: mpsc::Sender<Vec<Scored>>,
) -> Result<Journaled, Error> {
    let file = File::create(&rejects).map_err(Error::io(&rejects))?;
    let mut file = BufWriter::new(file);
    let mut journaled = Journaled::default();
    while let Some(batch) = rx.blocking_recv() {
        journaled.add(&batch);
        for reject in &batch.rejects {
            serde_json::to_writer(&mut file, reject)
                .map_err(|error| Error::io(&rejects)(error.into()))?;
            file.write_all(b"\n").map_err(Error::io(&rejects))?;
        }
        if tx.blocking_send(batch.lines).is_err() {
            break;
        }
    }
    file.flush().map_err(Error::io(&rejects))?;
    file.get_ref().sync_all().map_err(Error::io(&rejects))?;
    Ok(journaled)
}

impl Journaled {
    fn add(&mut self, batch: &Batch<Scored>) {
        let set_aside = |line: &&Scored| line.verdict == LineVerdict::SetAside;
        self.census.add(&batch.census);
        self.set_aside += batch.lines.iter().filter(set_aside).count() as u64;
        self.stray += batch.stray;
        self.unmarked += batch.unmarked;
    }
}
