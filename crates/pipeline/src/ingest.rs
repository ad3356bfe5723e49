//! Reading the inputs: bytes to chunks of whole games.

use std::path::PathBuf;

use tokio::{fs::File, io::AsyncRead, sync::mpsc};

use crate::{
    Context, Error, InputFailure, Source,
    batch::{SourceChunk, SourceEnd},
    config,
    container::{Read, Text},
    journal::Pending,
    pgn::{Chunk, Splitter},
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

/// Reads what is left of the sources, one after the other. An input that fails does not keep the
/// others from being read. `finished` are the bytes of inputs that are not read any more.
pub(crate) async fn run(
    section: config::Input,
    pending: Vec<Pending>,
    finished: u64,
    tx: mpsc::Sender<SourceChunk>,
    cx: Context,
) -> Result<Ingested, Error> {
    let mut ingested = Ingested::default();
    let mut reader = SourceReader { section: &section, tx, cx: &cx, finished_bytes: finished };
    cx.progress.skip_bytes(finished);
    for pending in &pending {
        match reader.read(pending, &mut ingested).await {
            Ok(()) => {}
            Err(Stop::Failure(failure)) => {
                tracing::error!("{failure}");
                ingested.failures.push(failure);
            }
            Err(Stop::Asked) => break,
        }
        reader.finished_bytes += pending.source.size().unwrap_or(0);
    }
    Ok(ingested)
}

enum Stop {
    Failure(InputFailure),
    /// By a signal, or whoever took the chunks has stopped, and says why.
    Asked,
}

struct SourceReader<'a> {
    section: &'a config::Input,
    tx: mpsc::Sender<SourceChunk>,
    cx: &'a Context,
    finished_bytes: u64,
}

impl SourceReader<'_> {
    async fn read(&mut self, pending: &Pending, ingested: &mut Ingested) -> Result<(), Stop> {
        let Pending { index, source, start } = pending;
        let size = source.size();
        let file = open(source).await.map_err(Stop::Failure)?;
        let mut text = Text::new(file, source.name(), self.section.max_window.0);
        let mut splitter = Splitter::new(self.section.max_game.to_usize(), *start);
        self.skip(&mut text, start.offset, splitter.buffer()).await?;
        splitter.split(false);
        let chunk = self.section.chunk.to_usize().max(1);
        loop {
            let buffer = splitter.buffer();
            buffer.reserve(READ);
            let before = buffer.len();
            let read = self.unless_stopped(text.read(buffer)).await?;
            ingested.bytes += (splitter.len() - before) as u64;
            self.cx.progress.set_bytes_read(self.finished_bytes + text.bytes_read());
            match read {
                Ok(Read::Bytes) => splitter.split(false),
                Ok(Read::End(_)) if source.size() != size => {
                    return Err(Stop::Failure(InputFailure {
                        source: source.name(),
                        class: "CHANGED",
                        message: "it changed while it was read: run again once it is complete"
                            .to_owned(),
                    }));
                }
                Ok(Read::End(warning)) => {
                    splitter.split(true);
                    if let Some(warning) = &warning {
                        let warning = format!("{}: {warning}", source.name());
                        tracing::warn!("{warning}");
                        ingested.warnings.push(warning);
                    }
                    let end = Some(SourceEnd { warning, content: text.content() });
                    return self.send(*index, splitter.finish(), end).await;
                }
                Err(failure) => {
                    // The games before the damage are whole; the one it hit is not one.
                    splitter.split_damaged();
                    self.send(*index, splitter.finish(), None).await?;
                    return Err(Stop::Failure(failure));
                }
            }
            if splitter.len() >= chunk
                && let Some(chunk) = splitter.take()
            {
                self.send(*index, chunk, None).await?;
            }
        }
    }

    /// Passes over the text that was read in earlier runs; what comes behind it goes to `rest`.
    async fn skip(&self, text: &mut Text, offset: u64, rest: &mut Vec<u8>) -> Result<(), Stop> {
        let mut skipped = 0;
        while skipped < offset {
            rest.clear();
            rest.reserve(READ);
            match self.unless_stopped(text.read(rest)).await? {
                Ok(Read::Bytes) => skipped += rest.len() as u64,
                // Whatever became of the rest of it, it is found out by reading on.
                Ok(Read::End(_)) => break,
                Err(failure) => return Err(Stop::Failure(failure)),
            }
        }
        let behind = skipped.saturating_sub(offset) as usize;
        rest.drain(..rest.len() - behind.min(rest.len()));
        self.cx.progress.skip_bytes(self.finished_bytes + text.bytes_read());
        Ok(())
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::select! {
            done = work => Ok(done),
            () = self.cx.stop.cancelled() => Err(Stop::Asked),
        }
    }

    async fn send(&self, source: usize, chunk: Chunk, end: Option<SourceEnd>) -> Result<(), Stop> {
        let sent = self.tx.send(SourceChunk { source, chunk, end });
        match self.unless_stopped(sent).await? {
            Ok(()) => Ok(()),
            Err(_) => Err(Stop::Asked),
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
