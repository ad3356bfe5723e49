//! What is published: the sources, how far each was read, and the segments that hold it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tabiya_model::Census;
use xxhash_rust::xxh3::xxh3_128;

use super::{fingerprint::Fingerprint, sources::Digest};
use crate::pgn::{Resume, Start};

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The fingerprint of the journal.
    pub(super) fingerprint: String,
    /// The effective configuration of the last run.
    pub(super) config: serde_json::Value,
    /// In the order in which they were first read.
    pub(super) sources: Vec<SourceRecord>,
    /// In the order in which they were written.
    pub(super) segments: Vec<SegmentRecord>,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SourceRecord {
    /// As it was named.
    pub(super) name: String,
    /// What it is known by; `None` for standard input.
    pub(super) digest: Option<Digest>,
    /// When it was last changed, in nanoseconds since 1970: spares looking into it again.
    pub(super) modified: Option<u64>,
    /// It was read to its end.
    pub(super) finished: bool,
    /// A hash of all of it, once it was.
    #[serde(default)]
    pub(super) content: Option<String>,
    /// It was replaced before it was read to its end, and does not count.
    #[serde(default)]
    pub(super) retired: bool,
    /// What was to be said at its end.
    #[serde(default)]
    pub(super) warning: Option<String>,
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SegmentRecord {
    pub(super) number: u32,
    /// Size of the file.
    pub(super) bytes: u64,
    /// xxh3 of the file.
    pub(super) checksum: String,
    /// Size of the file of rejects; 0: there is none.
    pub(super) rejects: u64,
    pub(super) rejects_checksum: String,
    /// The pieces of sources in it.
    pub(super) spans: Vec<SpanRecord>,
}

/// A piece of one source, as it became lines, rejects and counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpanRecord {
    /// Index into [`Manifest::sources`].
    pub(super) source: usize,
    /// Bytes of text: from, to.
    pub(super) bytes: (u64, u64),
    /// Games: from, to.
    pub(super) games: (u64, u64),
    /// How the text behind it is to be taken.
    pub(super) then: Resume,
    pub(super) lines: u64,
    /// Bytes of the file of rejects.
    pub(super) rejects: u64,
    pub(super) census: Census,
    pub(super) set_aside: u64,
    pub(super) stray: u64,
    pub(super) unmarked: u64,
}

impl SegmentRecord {
    pub(super) fn name(&self) -> String {
        segment_name(self.number)
    }

    pub(super) fn rejects_name(&self) -> String {
        rejects_name(self.number)
    }
}

pub(super) fn segment_name(number: u32) -> String {
    format!("{number:06}.seg")
}

pub(super) fn rejects_name(number: u32) -> String {
    format!("{number:06}.rejects.jsonl")
}

const HEAD: &str = "{\"checksum\":\"";
const MIDDLE: &str = "\",\"manifest\":";
const TAIL: &str = "}\n";

impl Manifest {
    pub(super) fn new(fingerprint: &Fingerprint) -> Manifest {
        Manifest {
            fingerprint: fingerprint.0.clone(),
            config: serde_json::Value::Null,
            sources: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// The bytes of the file: JSON that holds the checksum of its own content.
    pub(super) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let content = serde_json::to_string(self)?;
        let checksum = hex(xxh3_128(content.as_bytes()));
        Ok([HEAD, &checksum, MIDDLE, &content, TAIL].concat().into_bytes())
    }

    /// The manifest in a file; what is wrong with it, if it is not as it was written.
    pub(super) fn decode(bytes: &[u8]) -> Result<Manifest, String> {
        let parts = || {
            let rest = std::str::from_utf8(bytes).ok()?.strip_prefix(HEAD)?;
            let (checksum, rest) = rest.split_at_checked(32)?;
            let content = rest.strip_prefix(MIDDLE)?.strip_suffix(TAIL)?;
            Some((checksum, content))
        };
        let (checksum, content) = parts().ok_or("it is not as it was written")?;
        if hex(xxh3_128(content.as_bytes())) != checksum {
            return Err("its checksum is wrong".to_owned());
        }
        let manifest: Manifest =
            serde_json::from_str(content).map_err(|error| error.to_string())?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Spans of a source chain: nothing is missing and nothing is there twice.
    fn check(&self) -> Result<(), String> {
        let mut ends: HashMap<usize, (&SpanRecord, u32)> = HashMap::new();
        for segment in &self.segments {
            for span in &segment.spans {
                let Some(source) = self.sources.get(span.source) else {
                    return Err(format!("{} has a span of no source", segment.name()));
                };
                let (bytes, games) =
                    ends.get(&span.source).map_or((0, 0), |(last, _)| (last.bytes.1, last.games.1));
                if span.bytes.0 != bytes || span.games.0 != games {
                    let before = ends
                        .get(&span.source)
                        .map_or("the start".to_owned(), |(_, number)| segment_name(*number));
                    return Err(format!(
                        "the spans of {} do not chain: {before} ends at byte {bytes}, game \
                         {games}; {} begins at byte {}, game {}",
                        source.name,
                        segment.name(),
                        span.bytes.0,
                        span.games.0
                    ));
                }
                ends.insert(span.source, (span, segment.number));
            }
        }
        Ok(())
    }

    /// Whether the lines of a source count.
    pub(super) fn is_counted(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| !source.retired)
    }

    /// The spans that count, with their segments.
    pub(super) fn live_spans(&self) -> impl Iterator<Item = (&SegmentRecord, &SpanRecord)> {
        self.segments
            .iter()
            .flat_map(|segment| segment.spans.iter().map(move |span| (segment, span)))
            .filter(|(_, span)| self.is_counted(span.source))
    }

    /// Where reading of a source goes on.
    pub(super) fn end_of(&self, source: usize) -> Start {
        let spans = self.segments.iter().rev().flat_map(|segment| segment.spans.iter().rev());
        spans.into_iter().find(|span| span.source == source).map_or(Start::default(), |span| {
            Start { offset: span.bytes.1, game: span.games.1, resume: span.then }
        })
    }

    pub(super) fn next_number(&self) -> u32 {
        self.segments.last().map_or(1, |last| last.number + 1)
    }
}

/// Checksums as they stand in files.
pub(crate) fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(source: usize, bytes: (u64, u64), games: (u64, u64)) -> SpanRecord {
        SpanRecord {
            source,
            bytes,
            games,
            then: Resume::LineStart,
            lines: 0,
            rejects: 0,
            census: Census::default(),
            set_aside: 0,
            stray: 0,
            unmarked: 0,
        }
    }

    fn manifest(spans: Vec<Vec<SpanRecord>>) -> Manifest {
        let source = |name: &str| SourceRecord {
            name: name.to_owned(),
            digest: None,
            modified: None,
            finished: false,
            content: None,
            retired: false,
            warning: None,
        };
        let segment = |(index, spans)| SegmentRecord {
            number: index as u32 + 1,
            bytes: 0,
            checksum: String::new(),
            rejects: 0,
            rejects_checksum: String::new(),
            spans,
        };
        Manifest {
            fingerprint: "f".to_owned(),
            config: serde_json::json!({ "a": 1 }),
            sources: vec![source("a.pgn"), source("b.pgn")],
            segments: spans.into_iter().enumerate().map(segment).collect(),
        }
    }

    #[test]
    fn every_flipped_byte_is_found() {
        let whole = manifest(vec![vec![span(0, (0, 100), (0, 2))]]);
        let bytes = whole.encode().unwrap();
        assert_eq!(Manifest::decode(&bytes).unwrap(), whole);
        for at in 0..bytes.len() {
            for bit in [0x01, 0x20, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= bit;
                assert!(Manifest::decode(&damaged).is_err(), "byte {at}");
            }
        }
        for length in 0..bytes.len() {
            assert!(Manifest::decode(&bytes[..length]).is_err(), "cut at {length}");
        }
    }

    #[test]
    fn gaps_and_overlaps_are_errors_that_name_both() {
        let first = || span(0, (0, 100), (0, 2));
        let check = |spans| Manifest::decode(&manifest(spans).encode().unwrap());
        assert!(
            check(vec![vec![first(), span(1, (0, 9), (0, 1))], vec![span(0, (100, 120), (2, 3))]])
                .is_ok()
        );
        for (bytes, games) in [((101, 120), (2, 3)), ((90, 120), (2, 3)), ((100, 120), (3, 4))] {
            let error = check(vec![vec![first()], vec![span(0, bytes, games)]]).unwrap_err();
            assert!(error.contains("000001.seg") && error.contains("000002.seg"), "{error}");
        }
        assert!(check(vec![vec![span(2, (0, 1), (0, 1))]]).is_err());
    }

    #[test]
    fn reading_goes_on_where_the_last_span_ends() {
        let manifest = manifest(vec![vec![span(0, (0, 100), (0, 2)), span(1, (0, 9), (0, 1))]]);
        assert_eq!(manifest.end_of(0).offset, 100);
        assert_eq!(manifest.end_of(1).game, 1);
        assert_eq!(manifest.next_number(), 2);
    }
}
