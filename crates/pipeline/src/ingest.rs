//! Reading the inputs: bytes to chunks of whole games.

use std::path::PathBuf;

use tokio::{fs::File, io::AsyncRead, sync::mpsc};

use crate::{
    Context, Error, InputFailure, Source,
    batch::SourceChunk,
    config,
    container::{Read, Text},
    pgn::Splitter,
};

/// What was seen on the way that is neither game nor failure.
#[derive(Debug, Default)]
pub(crate) struct Ingested {
    /// Decompressed bytes.
    pub(crate) bytes: u64,
    /// Inputs that could not be read to their end.
    pub(crate) failures: Vec<InputFailure>,
    /// One line each.
    pub(crate) warnings: Vec<String>,
}

/// How much is asked of a file at a time.
const READ: usize = 256 << 10;

/// Reads the sources one after the other. An input that fails does not keep the others from being
/// read.
pub(crate) async fn run(
    section: config::Input,
    sources: Vec<Source>,
    tx: mpsc::Sender<SourceChunk>,
    cx: Context,
) -> Result<Ingested, Error> {
    let mut ingested = Ingested::default();
    let mut reader = SourceReader { section: &section, tx, cx: &cx, finished_bytes: 0 };
    for (index, source) in sources.iter().enumerate() {
        match reader.read(index, source, &mut ingested).await {
            Ok(()) => {}
            Err(Stop::Failure(failure)) => {
                tracing::error!("{failure}");
                ingested.failures.push(failure);
            }
            Err(Stop::Interrupted) => return Err(Error::Interrupted),
            // Whoever took the chunks has stopped, and says why.
            Err(Stop::Closed) => break,
        }
        reader.finished_bytes += source.size().unwrap_or(0);
    }
    Ok(ingested)
}

enum Stop {
    Failure(InputFailure),
    Interrupted,
    Closed,
}

struct SourceReader<'a> {
    section: &'a config::Input,
    tx: mpsc::Sender<SourceChunk>,
    cx: &'a Context,
    finished_bytes: u64,
}

impl SourceReader<'_> {
    async fn read(
        &mut self,
        source: usize,
        from: &Source,
        ingested: &mut Ingested,
    ) -> Result<(), Stop> {
        let file = open(from).await.map_err(Stop::Failure)?;
        let mut text = Text::new(file, from.name(), self.section.max_window.0);
        let mut splitter = Splitter::new(self.section.max_game.to_usize());
        let chunk = self.section.chunk.to_usize().max(1);
        loop {
            let buffer = splitter.buffer();
            buffer.reserve(READ);
            let before = buffer.len();
            let read = tokio::select! {
                read = text.read(buffer) => read,
                () = self.cx.stop.cancelled() => return Err(Stop::Interrupted),
            };
            ingested.bytes += (splitter.len() - before) as u64;
            self.cx.progress.set_bytes_read(self.finished_bytes + text.bytes_read());
            match read {
                Ok(Read::Bytes) => splitter.split(false),
                Ok(Read::End(warning)) => {
                    splitter.split(true);
                    self.send(source, &mut splitter).await?;
                    if let Some(warning) = warning {
                        let warning = format!("{}: {warning}", from.name());
                        tracing::warn!("{warning}");
                        ingested.warnings.push(warning);
                    }
                    return Ok(());
                }
                Err(failure) => {
                    // The games before the damage are whole; the one it hit is not one.
                    splitter.split_damaged();
                    self.send(source, &mut splitter).await?;
                    return Err(Stop::Failure(failure));
                }
            }
            if splitter.len() >= chunk {
                self.send(source, &mut splitter).await?;
            }
        }
    }

    async fn send(&self, source: usize, splitter: &mut Splitter) -> Result<(), Stop> {
        match splitter.take() {
            Some(chunk) => {
                self.tx.send(SourceChunk { source, chunk }).await.map_err(|_| Stop::Closed)
            }
            None => Ok(()),
        }
    }
}

async fn open(source: &Source) -> Result<Box<dyn AsyncRead + Send + Sync + Unpin>, InputFailure> {
    match source {
        Source::Stdin => Ok(Box::new(tokio::io::stdin())),
        Source::File(path) => match File::open(path).await {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => {
                Err(InputFailure { source: source.name(), class: "IO", message: error.to_string() })
            }
        },
    }
}

/// Bytes on disk of all sources; 0 when one has no size.
pub(crate) fn total_size(sources: &[Source]) -> u64 {
    sources.iter().map(Source::size).sum::<Option<u64>>().unwrap_or(0)
}

/// The paths that inputs in a configuration name.
pub fn input_paths(section: &config::Input) -> Vec<PathBuf> {
    section.files.iter().map(PathBuf::from).collect()
}
