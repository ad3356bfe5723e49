//! An engine's output, line by line, whatever bytes come.

use std::{borrow::Cow, io};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Longer lines are no UCI and are left out whole.
const LONGEST: usize = 64 * 1024;

/// Lines of a stream. `next` may be cancelled and called again without loss.
pub(crate) struct Lines<R> {
    stream: BufReader<R>,
    line: Vec<u8>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    /// `line` was handed out.
    Done,
    /// `line` holds the beginning of a line.
    Within,
    /// The line is too long: the rest of it is skipped.
    Skipping,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(stream: R) -> Lines<R> {
        Lines { stream: BufReader::new(stream), line: Vec::new(), state: State::Done }
    }

    /// The next line; `None` at the end. An unfinished last line is dropped: its numbers may have
    /// been cut.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Cow<'_, str>>> {
        if self.state == State::Done {
            self.line.clear();
            self.state = State::Within;
        }
        loop {
            let ready = self.stream.fill_buf().await?;
            if ready.is_empty() {
                return Ok(None);
            }
            let (piece, ended) = match ready.iter().position(|&byte| byte == b'\n') {
                Some(end) => (ready.get(..=end).unwrap_or(ready), true),
                None => (ready, false),
            };
            if self.line.len() + piece.len() > LONGEST {
                self.state = State::Skipping;
            }
            if self.state == State::Within {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len();
            self.stream.consume(used);
            if ended {
                match self.state {
                    State::Skipping => self.line.clear(),
                    _ => {
                        self.state = State::Done;
                        return Ok(Some(String::from_utf8_lossy(&self.line)));
                    }
                }
                self.state = State::Within;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line.trim_end().to_owned());
        }
        all
    }

    #[tokio::test]
    async fn any_bytes_make_lines() {
        assert_eq!(all(b"uciok\r\n\nreadyok\nbest").await, ["uciok", "", "readyok"]);
        assert_eq!(all(b"caf\xe9\n\0\n").await, ["caf\u{fffd}", "\0"]);
    }

    #[tokio::test]
    async fn overlong_lines_are_left_out() {
        let mut bytes = vec![b'x'; 3 * LONGEST];
        bytes.extend_from_slice(b"\nreadyok\n");
        assert_eq!(all(&bytes).await, ["readyok"]);
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        use tokio::io::AsyncWriteExt;
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader);
        writer.write_all(b"ready").await.unwrap();
        let wait = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(wait, lines.next()).await.is_err());
        writer.write_all(b"ok\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap().as_deref(), Some("readyok\n"));
    }
}
