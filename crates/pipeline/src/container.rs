//! What a file is packed in, by its first bytes and never by its name.
//!
//! Packed files may have several members one after the other, as parallel compressors write them,
//! with padding between: each is unpacked in turn. Bytes behind the last one that belong to none
//! are reported and never read as games.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use async_compression::{
    tokio::bufread::{BzDecoder, GzipDecoder, Lz4Decoder, XzDecoder, ZstdDecoder},
    zstd::DParameter,
};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use xxhash_rust::xxh3::Xxh3;

use crate::InputFailure;

/// Kinds of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Lz4,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Packing::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Packing::Zstd)
            }
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Packing::Lz4),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Bzip2 => "bzip2",
            Packing::Xz => "xz",
            Packing::Zstd => "zstd",
            Packing::Lz4 => "lz4",
        }
    }

    /// The packing a file name promises.
    fn promised(name: &str) -> Option<Packing> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Some(Packing::Gzip),
            "bz2" => Some(Packing::Bzip2),
            "xz" => Some(Packing::Xz),
            "zst" => Some(Packing::Zstd),
            "lz4" => Some(Packing::Lz4),
            _ => None,
        }
    }
}

/// Files that hold no games as they are.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"Rar!", "a rar archive: unpack it first"),
    (b"\xff\xfe", "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)"),
    (b"SQLite format 3", "an SQLite database, not PGN"),
    (b"version https://git-lfs", "a Git LFS pointer: fetch the file itself (git lfs pull)"),
];

/// Something to say about an input that is no failure.
pub(crate) type Warning = String;

/// The text of one input, unpacked.
pub(crate) struct Text {
    state: State,
    hash: Arc<Mutex<Xxh3>>,
    name: String,
    max_window: u64,
}

enum State {
    /// Before a member, or before plain text.
    Ready {
        input: Input,
        first: bool,
    },
    Plain(Input),
    Packed(Packing, Box<Decoder>),
    Done {
        position: u64,
    },
}

enum Decoder {
    Gzip(GzipDecoder<Input>),
    Bzip2(BzDecoder<Input>),
    Xz(XzDecoder<Input>),
    Zstd(ZstdDecoder<Input>),
    Lz4(Lz4Decoder<Input>),
}

/// What a read gave.
pub(crate) enum Read {
    /// So many bytes more.
    Bytes,
    /// The end of the text, and what is to be said about it.
    End(Option<Warning>),
}

impl Text {
    pub(crate) fn new(
        file: Box<dyn AsyncRead + Send + Sync + Unpin>,
        name: String,
        max_window: u64,
    ) -> Text {
        let hash = Arc::new(Mutex::new(Xxh3::new()));
        let file = Box::new(Hashed { file, hash: Arc::clone(&hash) });
        Text {
            state: State::Ready { input: Input::new(file), first: true },
            hash,
            name,
            max_window,
        }
    }

    /// A hash of the file as it is on disk. At the end of the text all of it has been read.
    pub(crate) fn content(&self) -> u128 {
        self.hash.lock().unwrap_or_else(PoisonError::into_inner).digest128()
    }

    /// Bytes of the file used so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        match &self.state {
            State::Ready { input, .. } | State::Plain(input) => input.position,
            State::Packed(_, decoder) => decoder.input().position,
            State::Done { position } => *position,
        }
    }

    /// Appends text to `buffer`, as much as comes at once.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> Result<Read, InputFailure> {
        loop {
            let done = State::Done { position: self.bytes_read() };
            match std::mem::replace(&mut self.state, done) {
                State::Ready { input, first } => {
                    if let Some(end) = self.next_member(input, first).await? {
                        return Ok(end);
                    }
                }
                State::Plain(mut input) => {
                    let bytes = input.read_buf(buffer).await.map_err(|error| self.io(&error))?;
                    self.state = State::Plain(input);
                    return Ok(if bytes == 0 { Read::End(None) } else { Read::Bytes });
                }
                State::Packed(packing, mut decoder) => {
                    let read = decoder.read(buffer).await;
                    let bytes = read.map_err(|error| self.unpacking(packing, &decoder, &error))?;
                    if bytes > 0 {
                        self.state = State::Packed(packing, decoder);
                        return Ok(Read::Bytes);
                    }
                    self.state = State::Ready { input: decoder.into_input(), first: false };
                }
                State::Done { .. } => return Ok(Read::End(None)),
            }
        }
    }

    /// Looks at what comes next: a member, plain text, padding or the end.
    async fn next_member(
        &mut self,
        mut input: Input,
        first: bool,
    ) -> Result<Option<Read>, InputFailure> {
        if !first {
            input.skip_zeros().await.map_err(|error| self.io(&error))?;
        }
        let head = input.peek().await.map_err(|error| self.io(&error))?;
        if let Some(packing) = Packing::of(head) {
            self.check_window(packing, head)?;
            self.state = State::Packed(packing, Box::new(self.decoder(packing, input)));
            return Ok(None);
        }
        if !first {
            return self.garbage(input).await.map(Some);
        }
        if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(self.fail("FORMAT_MISMATCH", format!("this is {what}")));
        }
        match Packing::promised(&self.name) {
            Some(packing) if head.is_empty() => {
                let kind = packing.name();
                let message = format!("the file is empty, which no {kind} file is: get it again");
                Err(self.fail("TRUNCATED", message))
            }
            _ if head.is_empty() => Ok(Some(Read::End(Some("the file is empty".to_owned())))),
            _ => {
                self.state = State::Plain(input);
                Ok(None)
            }
        }
    }

    /// Passes over bytes behind the last member that belong to none, and says so.
    async fn garbage(&self, mut input: Input) -> Result<Read, InputFailure> {
        let offset = input.position;
        loop {
            let length = input.fill_buf().await.map_err(|error| self.io(&error))?.len();
            if length == 0 {
                break;
            }
            input.consume(length);
        }
        let bytes = input.position - offset;
        Ok(Read::End((bytes > 0).then(|| {
            format!("{bytes} bytes behind the packed data, at byte {offset}, are not read")
        })))
    }

    /// Refuses a zstd frame that asks for more memory than it may have.
    fn check_window(&self, packing: Packing, head: &[u8]) -> Result<(), InputFailure> {
        let window = match packing {
            Packing::Zstd => zstd_window(head),
            _ => None,
        };
        match window.filter(|window| *window > self.max_window) {
            None => Ok(()),
            Some(window) => {
                let message = format!(
                    "it asks for a window of {window} bytes, more than the {} allowed: raise \
                     input.max_window",
                    self.max_window
                );
                Err(self.fail("LIMIT", message))
            }
        }
    }

    fn decoder(&self, packing: Packing, input: Input) -> Decoder {
        match packing {
            Packing::Gzip => Decoder::Gzip(GzipDecoder::new(input)),
            Packing::Bzip2 => Decoder::Bzip2(BzDecoder::new(input)),
            Packing::Xz => Decoder::Xz(XzDecoder::new(input)),
            Packing::Lz4 => Decoder::Lz4(Lz4Decoder::new(input)),
            Packing::Zstd => {
                // What a frame may ask for was looked at in its header.
                let window = DParameter::window_log_max(31);
                Decoder::Zstd(ZstdDecoder::with_params(input, &[window]))
            }
        }
    }

    fn unpacking(&self, packing: Packing, decoder: &Decoder, error: &io::Error) -> InputFailure {
        if error.kind() == io::ErrorKind::UnexpectedEof || decoder.input().ended {
            return self.truncated(packing);
        }
        let (kind, offset) = (packing.name(), decoder.input().position);
        let message =
            format!("{kind} data near byte {offset} do not unpack ({error}): get it again");
        self.fail("CORRUPT", message)
    }

    fn truncated(&self, packing: Packing) -> InputFailure {
        let message = format!("{} data end too early: get the whole file", packing.name());
        self.fail("TRUNCATED", message)
    }

    fn io(&self, error: &io::Error) -> InputFailure {
        self.fail("IO", error.to_string())
    }

    fn fail(&self, class: &'static str, message: String) -> InputFailure {
        InputFailure { source: self.name.clone(), class, message }
    }
}

impl Decoder {
    fn input(&self) -> &Input {
        match self {
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Bzip2(decoder) => decoder.get_ref(),
            Decoder::Xz(decoder) => decoder.get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref(),
            Decoder::Lz4(decoder) => decoder.get_ref(),
        }
    }

    fn into_input(self) -> Input {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
            Decoder::Xz(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.into_inner(),
            Decoder::Lz4(decoder) => decoder.into_inner(),
        }
    }

    async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read_buf(buffer).await,
            Decoder::Bzip2(decoder) => decoder.read_buf(buffer).await,
            Decoder::Xz(decoder) => decoder.read_buf(buffer).await,
            Decoder::Zstd(decoder) => decoder.read_buf(buffer).await,
            Decoder::Lz4(decoder) => decoder.read_buf(buffer).await,
        }
    }
}

/// The window of a zstd frame, as its header states it (RFC 8878, section 3.1.1.1).
fn zstd_window(head: &[u8]) -> Option<u64> {
    let frame = head.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?;
    let (&descriptor, rest) = frame.split_first()?;
    let single_segment = descriptor & 0x20 != 0;
    if single_segment {
        // The window is as large as the content: what is unpacked anyway.
        return None;
    }
    let window = *rest.first()?;
    let base = 1u64 << (10 + u32::from(window >> 3));
    Some(base + base / 8 * u64::from(window & 7))
}

/// A file whose bytes are hashed on their way.
struct Hashed {
    file: Box<dyn AsyncRead + Send + Sync + Unpin>,
    hash: Arc<Mutex<Xxh3>>,
}

impl AsyncRead for Hashed {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.file).poll_read(cx, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        this.hash.lock().unwrap_or_else(PoisonError::into_inner).update(new);
        Poll::Ready(Ok(()))
    }
}

/// A file with a look ahead.
struct Input {
    file: BufReader<Box<dyn AsyncRead + Send + Sync + Unpin>>,
    /// Bytes taken from the file to look at, not yet used.
    ahead: Vec<u8>,
    /// Bytes used.
    position: u64,
    /// The file has no more.
    ended: bool,
}

/// Bytes that tell the packing and its window.
const HEAD: usize = 32;

impl Input {
    fn new(file: Box<dyn AsyncRead + Send + Sync + Unpin>) -> Input {
        // Larger than the default: fewer hops between threads for the same bytes.
        let file = BufReader::with_capacity(256 << 10, file);
        Input { file, ahead: Vec::new(), position: 0, ended: false }
    }

    /// The next bytes, as many as there are up to [`HEAD`]; a pipe may give them one by one.
    async fn peek(&mut self) -> io::Result<&[u8]> {
        while self.ahead.len() < HEAD {
            let rest = self.file.fill_buf().await?;
            let taken = rest.len().min(HEAD - self.ahead.len());
            if taken == 0 {
                break;
            }
            self.ahead.extend(rest.iter().take(taken));
            self.file.consume(taken);
        }
        Ok(&self.ahead)
    }

    async fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let rest = self.fill_buf().await?;
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                return Ok(());
            }
            self.consume(zeros);
        }
    }
}

impl AsyncBufRead for Input {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if !this.ahead.is_empty() {
            return Poll::Ready(Ok(&this.ahead));
        }
        let rest = ready!(Pin::new(&mut this.file).poll_fill_buf(cx))?;
        this.ended |= rest.is_empty();
        Poll::Ready(Ok(rest))
    }

    fn consume(self: Pin<&mut Self>, bytes: usize) {
        let this = self.get_mut();
        this.position += bytes as u64;
        if this.ahead.is_empty() {
            Pin::new(&mut this.file).consume(bytes);
        } else {
            this.ahead.drain(..bytes);
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = ready!(self.as_mut().poll_fill_buf(cx))?;
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..taken).unwrap_or_default());
        self.consume(taken);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{
        BzEncoder, GzipEncoder, Lz4Encoder, XzEncoder, ZstdEncoder,
    };

    use super::*;

    async fn unpack(bytes: Vec<u8>, name: &str) -> Result<(Vec<u8>, Option<String>), InputFailure> {
        let mut text = Text::new(Box::new(io::Cursor::new(bytes)), name.to_owned(), 1 << 31);
        let mut buffer = Vec::new();
        loop {
            if let Read::End(warning) = text.read(&mut buffer).await? {
                return Ok((buffer, warning));
            }
        }
    }

    async fn pack(packing: Packing, text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        match packing {
            Packing::Gzip => GzipEncoder::new(text).read_to_end(&mut packed).await,
            Packing::Bzip2 => BzEncoder::new(text).read_to_end(&mut packed).await,
            Packing::Xz => XzEncoder::new(text).read_to_end(&mut packed).await,
            Packing::Zstd => ZstdEncoder::new(text).read_to_end(&mut packed).await,
            Packing::Lz4 => Lz4Encoder::new(text).read_to_end(&mut packed).await,
        }
        .unwrap();
        packed
    }

    const PACKINGS: [Packing; 5] =
        [Packing::Gzip, Packing::Bzip2, Packing::Xz, Packing::Zstd, Packing::Lz4];

    #[tokio::test]
    async fn all_members_are_unpacked() {
        for packing in PACKINGS {
            let mut bytes = pack(packing, b"one ").await;
            bytes.extend(pack(packing, b"").await);
            bytes.extend([0; 8]);
            bytes.extend(pack(packing, b"two").await);
            let (text, warning) = unpack(bytes, "x").await.unwrap();
            assert_eq!((text.as_slice(), warning), (b"one two".as_slice(), None), "{packing:?}");
        }
        let mut skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        skippable.extend(pack(Packing::Zstd, b"text").await);
        assert_eq!(unpack(skippable, "x").await.unwrap().0, b"text");
    }

    #[tokio::test]
    async fn a_file_cut_anywhere_is_truncated() {
        let text: Vec<u8> = (0..3000u32).flat_map(|n| (n * n).to_string().into_bytes()).collect();
        for packing in PACKINGS {
            let whole = pack(packing, &text).await;
            let step = (whole.len() / 97).max(1);
            for length in (6..whole.len()).step_by(step).chain(whole.len() - 12..whole.len()) {
                let failure = unpack(whole[..length].to_vec(), "x").await.unwrap_err();
                assert_eq!(failure.class, "TRUNCATED", "{packing:?} cut at {length}");
            }
        }
    }

    #[tokio::test]
    async fn bytes_behind_the_data_are_reported_and_not_read() {
        for packing in PACKINGS {
            let mut bytes = pack(packing, b"text").await;
            let offset = bytes.len();
            bytes.extend(b"1. e4 garbage");
            let (text, warning) = unpack(bytes, "x").await.unwrap();
            assert_eq!(text, b"text");
            let expected =
                format!("13 bytes behind the packed data, at byte {offset}, are not read");
            assert_eq!(warning, Some(expected), "{packing:?}");
        }
    }

    #[tokio::test]
    async fn names_do_not_count() {
        let packed = pack(Packing::Gzip, b"text").await;
        assert_eq!(unpack(packed, "x.pgn").await.unwrap().0, b"text");
        assert_eq!(unpack(b"text".to_vec(), "x.pgn.gz").await.unwrap().0, b"text");
        assert_eq!(unpack(vec![], "x.pgn.gz").await.unwrap_err().class, "TRUNCATED");
        assert!(unpack(vec![], "x.pgn").await.unwrap().1.is_some());
        assert_eq!(unpack(b"PK\x03\x04".to_vec(), "x").await.unwrap_err().class, "FORMAT_MISMATCH");
    }

    #[tokio::test]
    async fn damaged_data_are_an_error() {
        for packing in PACKINGS {
            let mut bytes = pack(packing, &[b'a'; 5000]).await;
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x55;
            bytes.extend([7; 64]);
            let result = unpack(bytes, "x").await;
            let sound = matches!(&result, Ok((text, _)) if text == &[b'a'; 5000]);
            assert!(!sound || packing == Packing::Lz4, "{packing:?}");
        }
    }

    #[tokio::test]
    async fn a_window_beyond_the_limit_is_refused() {
        let mut head = b"\x28\xb5\x2f\xfd\x00\xa8".to_vec();
        assert_eq!(zstd_window(&head), Some(1 << 31));
        head.extend([0; 40]);
        let mut text = Text::new(Box::new(io::Cursor::new(head)), "x".to_owned(), 1 << 27);
        let failure = text.read(&mut Vec::new()).await.err().unwrap();
        assert_eq!(failure.class, "LIMIT");
        assert!(failure.message.contains("2147483648"), "{}", failure.message);
    }
}
