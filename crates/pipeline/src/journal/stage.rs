//! The stage: replay what is published, then append what is new.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    time::{Duration, Instant},
};

use tabiya_model::{Census, Reject};
use tokio::{runtime::Handle, sync::mpsc, time};

use super::{
    Journal, durable, hex,
    manifest::{SegmentRecord, SpanRecord},
    segment, sources,
};
use crate::{
    Context, Error,
    batch::{Batch, LineVerdict, Scored, SourceEnd},
    config::Checkpoint,
    crash,
};

/// A segment is published when it is this large, however young it is.
const SEGMENT: usize = 16 << 20;
/// Lines that are replayed at a time.
const LINES: usize = 4096;

/// What is in the journal at the end, in figures.
#[derive(Debug, Default)]
pub(crate) struct Journaled {
    pub(crate) census: Census,
    pub(crate) set_aside: u64,
    pub(crate) stray: u64,
    pub(crate) unmarked: u64,
    /// Lines that earlier runs had published.
    pub(crate) replayed: u64,
    /// Lines that this run set aside.
    pub(crate) newly_set_aside: u64,
    /// What was said about sources that earlier runs have finished.
    pub(crate) warnings: Vec<String>,
}

/// Replays and appends. Blocks; for a thread of its own. What has arrived is published whatever
/// ends the run.
pub(crate) fn run(
    mut journal: Journal,
    section: &Checkpoint,
    mut rx: mpsc::Receiver<Batch<Scored>>,
    tx: mpsc::Sender<Vec<Scored>>,
    cx: &Context,
) -> Result<(Journal, Journaled), Error> {
    let mut journaled = replay(&journal, &tx, cx)?;
    let mut open = Open::new(&journal, section.every.0)?;
    while let Some(arrival) = open.next(&mut rx) {
        let Some(mut batch) = arrival else {
            open.publish(&mut journal)?;
            continue;
        };
        journaled.count(&batch);
        open.append(&mut batch)?;
        // When nobody takes lines any more, somebody down there says why.
        let _ = tx.blocking_send(batch.lines);
        if open.is_due() {
            open.publish(&mut journal)?;
        }
    }
    open.publish(&mut journal)?;
    journal.gather_rejects(&section.dir)?;
    Ok((journal, journaled))
}

/// Hands on the published lines.
pub(crate) fn replay(
    journal: &Journal,
    tx: &mpsc::Sender<Vec<Scored>>,
    cx: &Context,
) -> Result<Journaled, Error> {
    let mut journaled = Journaled::default();
    for (_, span) in journal.manifest.live_spans() {
        journaled.add(span);
        journaled.replayed += span.lines;
    }
    cx.progress.add_games(&journaled.census);
    let finished = journal.manifest.sources.iter().filter(|source| !source.retired);
    journaled.warnings = finished
        .filter_map(|source| Some(format!("{}: {}", source.name, source.warning.as_ref()?)))
        .collect();
    for record in &journal.manifest.segments {
        if cx.stop.is_cancelled() {
            break;
        }
        let mut lines = Vec::with_capacity(LINES);
        journal.read_segment(record, |_, line, _| {
            lines.push(line);
            if lines.len() == LINES {
                let full = std::mem::replace(&mut lines, Vec::with_capacity(LINES));
                let _ = tx.blocking_send(full);
            }
            Ok(())
        })?;
        let _ = tx.blocking_send(lines);
    }
    Ok(journaled)
}

impl Journaled {
    fn add(&mut self, span: &SpanRecord) {
        self.census.add(&span.census);
        self.set_aside += span.set_aside;
        self.stray += span.stray;
        self.unmarked += span.unmarked;
    }

    fn count(&mut self, batch: &Batch<Scored>) {
        let set_aside = count_set_aside(batch);
        self.census.add(&batch.census);
        self.set_aside += set_aside;
        self.newly_set_aside += set_aside;
        self.stray += batch.stray;
        self.unmarked += batch.unmarked;
    }
}

fn count_set_aside(batch: &Batch<Scored>) -> u64 {
    batch.lines.iter().filter(|line| line.verdict == LineVerdict::SetAside).count() as u64
}

/// The segment that is being filled.
struct Open {
    lines: segment::Writer,
    rejects: Vec<u8>,
    spans: Vec<SpanRecord>,
    /// Sources that end in it.
    ends: Vec<(usize, SourceEnd)>,
    /// For each input, the source it is in the manifest.
    sources: Vec<usize>,
    every: Duration,
    due: Instant,
}

impl Open {
    fn new(journal: &Journal, every: Duration) -> Result<Open, Error> {
        Ok(Open {
            lines: new_segment(journal.path())?,
            rejects: Vec::new(),
            spans: Vec::new(),
            ends: Vec::new(),
            sources: sources::indices(&journal.manifest, &journal.matched),
            every,
            due: Instant::now() + every,
        })
    }

    /// The next batch; `Some(None)` when it is time to publish; `None` at the end.
    fn next(&self, rx: &mut mpsc::Receiver<Batch<Scored>>) -> Option<Option<Batch<Scored>>> {
        if self.spans.is_empty() {
            return rx.blocking_recv().map(Some);
        }
        let wait = time::timeout_at(self.due.into(), rx.recv());
        match Handle::current().block_on(wait) {
            Ok(batch) => batch.map(Some),
            Err(_) => Some(None),
        }
    }

    fn is_due(&self) -> bool {
        self.lines.len() + self.rejects.len() >= SEGMENT || Instant::now() >= self.due
    }

    fn append(&mut self, batch: &mut Batch<Scored>) -> Result<(), Error> {
        if self.spans.is_empty() {
            self.due = Instant::now() + self.every;
        }
        let source = self.sources.get(batch.span.source).copied().unwrap_or_default();
        for (index, line) in batch.lines.iter().enumerate() {
            let identity = batch.identities.get(index).copied();
            self.lines.push(line, identity).map_err(Error::io("a segment in memory"))?;
        }
        let before = self.rejects.len();
        for reject in &batch.rejects {
            write_reject(&mut self.rejects, reject);
        }
        let span = SpanRecord {
            source,
            bytes: (batch.span.bytes.start, batch.span.bytes.end),
            games: (batch.span.games.start, batch.span.games.end),
            then: batch.then,
            lines: batch.lines.len() as u64,
            rejects: (self.rejects.len() - before) as u64,
            census: batch.census.clone(),
            set_aside: count_set_aside(batch),
            stray: batch.stray,
            unmarked: batch.unmarked,
        };
        match self.spans.last_mut() {
            Some(last) if last.source == source && last.bytes.1 == span.bytes.0 => {
                last.extend(span)
            }
            _ => self.spans.push(span),
        }
        if let Some(end) = batch.end.take() {
            self.ends.push((source, end));
        }
        Ok(())
    }

    fn publish(&mut self, journal: &mut Journal) -> Result<(), Error> {
        if self.spans.is_empty() {
            return Ok(());
        }
        let lines = std::mem::replace(&mut self.lines, new_segment(journal.path())?);
        let lines = lines.finish().map_err(Error::io("a segment in memory"))?;
        for (source, end) in self.ends.drain(..) {
            if let Some(source) = journal.manifest.sources.get_mut(source) {
                source.finished = true;
                source.content = Some(hex(end.content));
                source.warning = end.warning;
            }
        }
        let spans = std::mem::take(&mut self.spans);
        let rejects = std::mem::take(&mut self.rejects);
        journal.folder.publish(&mut journal.manifest, &lines, &rejects, spans)
    }
}

fn new_segment(journal: &Path) -> Result<segment::Writer, Error> {
    segment::Writer::new().map_err(Error::io(journal))
}

impl SpanRecord {
    fn extend(&mut self, next: SpanRecord) {
        self.bytes.1 = next.bytes.1;
        self.games.1 = next.games.1;
        self.then = next.then;
        self.lines += next.lines;
        self.rejects += next.rejects;
        self.census.add(&next.census);
        self.set_aside += next.set_aside;
        self.stray += next.stray;
        self.unmarked += next.unmarked;
    }
}

/// A reject as one line of JSON. Its source is left out: the file may have another name by the
/// time rejects are put together.
fn write_reject(rejects: &mut Vec<u8>, reject: &Reject) {
    let mut value = serde_json::to_value(reject).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("source");
    }
    rejects.extend(value.to_string().into_bytes());
    rejects.push(b'\n');
}

impl Journal {
    /// Puts the rejects of all sources into one file, in the order of the inputs; sources that are
    /// gone come last.
    fn gather_rejects(&self, work: &Path) -> Result<(), Error> {
        let path = Journal::rejects_path(work);
        let inputs = sources::indices(&self.manifest, &self.matched);
        let gone = (0..self.manifest.sources.len())
            .filter(|source| !inputs.contains(source) && self.manifest.is_counted(*source));
        let draft = path.with_added_extension("tmp");
        let file = File::create(&draft).map_err(Error::io(&path))?;
        let mut file = BufWriter::new(file);
        for source in inputs.iter().copied().chain(gone) {
            for segment in &self.manifest.segments {
                self.copy_rejects(segment, source, &mut file).map_err(|failed| match failed {
                    CopyFailed::Journal(error) => error,
                    CopyFailed::File(error) => Error::io(&path)(error),
                })?;
            }
        }
        let file = file.into_inner().map_err(|error| Error::io(&path)(error.into_error()))?;
        file.sync_all().map_err(Error::io(&path))?;
        crash::point("rejects-written");
        std::fs::rename(&draft, &path).map_err(Error::io(&path))?;
        durable::sync_folder(work)
    }

    fn copy_rejects(
        &self,
        segment: &SegmentRecord,
        source: usize,
        to: &mut impl Write,
    ) -> Result<(), CopyFailed> {
        let wanted = |span: &SpanRecord| span.source == source && span.rejects > 0;
        if !segment.spans.iter().any(wanted) {
            return Ok(());
        }
        let name = self.manifest.sources.get(source).map(|it| it.name.as_str());
        let name = serde_json::Value::from(name.unwrap_or_default()).to_string();
        let bytes = self.folder.read_rejects(segment).map_err(CopyFailed::Journal)?;
        let mut rest = bytes.as_slice();
        for span in &segment.spans {
            let Some((piece, after)) = rest.split_at_checked(span.rejects as usize) else {
                return Err(CopyFailed::Journal(self.folder.damaged(&segment.rejects_name())));
            };
            rest = after;
            for line in piece.split_inclusive(|&byte| byte == b'\n').filter(|_| wanted(span)) {
                let fields = line.strip_prefix(b"{").unwrap_or(line);
                write!(to, "{{\"source\":{name},")
                    .and_then(|()| to.write_all(fields))
                    .map_err(CopyFailed::File)?;
            }
        }
        Ok(())
    }
}

enum CopyFailed {
    Journal(Error),
    File(std::io::Error),
}
