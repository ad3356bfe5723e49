//! The readers for other languages against the one of this crate: the same questions, the same
//! answers, on sound books in each codec and on damaged ones.
//!
//! They need `mcs` and `mono` (Debian: mono-mcs, mono-runtime), `gcc` and `python3`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use shakmaty::{CastlingMode, Chess, EnPassantMode, Position, fen::Fen};
use tabiya_book::{
    Book, BookWriter, Error, Probe, Zobrist, readers,
    sob::{Codec, Options, Reader, Writer},
};
use tabiya_model::{PackedMove, PositionKey, uci};

/// A generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}

type Contents = BTreeMap<PositionKey, (Chess, Vec<(PackedMove, u8)>)>;

/// At least `entries` moves of positions of random games, promotions among them.
fn contents(seed: u64, entries: usize) -> Contents {
    let mut random = Random(seed);
    let mut contents = Contents::new();
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "6nk/PPP4P/8/8/8/8/ppp4p/3N3K w - - 0 1",
    ];
    let mut total = 0;
    while total < entries {
        let mut position = position(starts[usize::from(random.below(8) == 0)]);
        for _ in 0..60 {
            let mut moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let next = moves[random.below(moves.len())];
            let mut kept = Vec::new();
            for _ in 0..=random.below(3).min(moves.len() - 1) {
                let m = moves.remove(random.below(moves.len()));
                kept.push((PackedMove::new(m), random.below(16) as u8));
            }
            let key = PositionKey::of(&position);
            contents.entry(key).or_insert_with(|| {
                total += kept.len();
                (position.clone(), kept)
            });
            position.play_unchecked(next);
        }
    }
    contents
}

fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

fn write(folder: &Path, contents: &Contents, codec: Codec) {
    let mut writer = Box::new(Writer::create(folder, Options::new(codec)).unwrap());
    for (&key, (_, moves)) in contents {
        writer.ranked(key, moves).unwrap();
    }
    writer.finish().unwrap();
}

/// Questions, and what this crate's reader answers.
#[derive(Default)]
struct Dialogue {
    book: Option<Reader>,
    questions: Vec<String>,
    answers: Vec<String>,
}

impl Dialogue {
    fn open(&mut self, folder: &Path) -> String {
        let book = Reader::open(folder);
        let answer = match &book {
            Ok(book) => format!("ok {}", book.info().entries),
            Err(error) => format!("error {}", kind(error)),
        };
        self.book = book.ok();
        self.push(format!("open {}", folder.display()), answer.clone());
        answer
    }

    fn push(&mut self, question: String, answer: String) {
        self.questions.push(question);
        self.answers.push(answer);
    }

    fn ask(&mut self, question: String, ask: impl FnOnce(&Reader) -> Result<Vec<String>, Error>) {
        let answer = match self.book.as_ref().map(ask) {
            None => "closed".to_owned(),
            Some(Err(error)) => format!("error {}", kind(&error)),
            Some(Ok(found)) if found.is_empty() => "-".to_owned(),
            Some(Ok(found)) => found.join(" "),
        };
        self.push(question, answer);
    }

    fn key(&mut self, key: PositionKey) {
        self.ask(format!("key {key}"), |book| {
            Ok(book.words(key)?.iter().map(|word| format!("{:04x}", word.0)).collect())
        });
    }

    fn fen(&mut self, position: &Chess) {
        let fen = Fen::from_position(position, EnPassantMode::Always);
        self.ask(format!("fen {fen}"), |book| {
            let moves = book.moves(position)?;
            let mut texts: Vec<String> =
                moves.iter().map(|found| format!("{}:{}", uci(found.m), found.weight)).collect();
            texts.sort();
            Ok(texts)
        });
        self.ask(format!("hash {fen}"), |_| Ok(vec![PositionKey::of(position).to_string()]));
    }

    /// Asks a reader everything.
    fn put_to(&self, name: &str, mut reader: Command) {
        reader.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = reader.spawn().unwrap();
        let mut questions = child.stdin.take().unwrap();
        let text = self.questions.join("\n") + "\n";
        let writer = std::thread::spawn(move || questions.write_all(text.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success(), "{name}: {}", output.status);
        let answers = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<&str> = answers.lines().collect();
        assert_eq!(answers.len(), self.answers.len(), "{name}");
        let mut opened = "";
        for ((question, expected), answer) in self.questions.iter().zip(&self.answers).zip(answers)
        {
            if question.starts_with("open") {
                opened = question;
            }
            assert_eq!(answer, expected, "{name}, {opened}: {question}");
        }
    }
}

/// The names that the readers use.
fn kind(error: &Error) -> &'static str {
    match error {
        Error::NotABook { .. } => "NotABook",
        Error::TextModeDamage { .. } => "TextModeDamage",
        Error::Corrupt { .. } => "Corrupt",
        Error::Unsupported { .. } => "Unsupported",
        Error::Truncated { .. } => "Truncated",
        Error::TrailingData { .. } => "TrailingData",
        Error::PairMismatch { .. } => "PairMismatch",
        Error::NeedsTable { .. } => "NeedsTable",
        Error::BadBlock { .. } => "BadBlock",
        other => panic!("{other}"),
    }
}

/// Builds the readers: each with its harness, ready to run.
fn build(folder: &Path) -> Vec<(&'static str, Command)> {
    readers::write(folder, &Zobrist::polyglot()).unwrap();
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers");
    for name in ["Main.cs", "main.c", "main.py"] {
        fs::copy(harness.join(name), folder.join(name)).unwrap();
    }
    let run = |program: &str, args: &[&str]| {
        let status = Command::new(program).args(args).current_dir(folder).status();
        let status = status.unwrap_or_else(|error| panic!("{program} is needed: {error}"));
        assert!(status.success(), "{program} {args:?}");
    };
    run(
        "mcs",
        &["-langversion:6", "-warnaserror+", "-target:library", "-out:alone.dll", "OpeningBook.cs"],
    );
    run(
        "mcs",
        &["-langversion:6", "-warnaserror+", "-out:reader.exe", "OpeningBook.cs", "Main.cs"],
    );
    run(
        "gcc",
        &["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "main.c", "-o", "reader"],
    );
    let with = |program: PathBuf, arg: Option<&str>| {
        let mut command = Command::new(program);
        command.args(arg).current_dir(folder);
        command
    };
    vec![
        ("C#", with("mono".into(), Some("reader.exe"))),
        ("C", with(folder.join("reader"), None)),
        ("Python", with("python3".into(), Some("main.py"))),
    ]
}

#[test]
fn all_readers_answer_alike() {
    let folder = tempfile::tempdir().unwrap();
    let contents = contents(1, 30_000);
    let mut random = Random(2);
    let mut asked = Dialogue::default();
    for codec in [Codec::Stored, Codec::Lzma, Codec::Compact] {
        let book = folder.path().join(codec.to_string());
        write(&book, &contents, codec);
        assert!(asked.open(&book).starts_with("ok 3"));
        // In order, so that a reader need not decode a block for each.
        let mut probes: Vec<PositionKey> =
            contents.keys().copied().filter(|_| random.below(14) == 0).collect();
        probes.extend((0..500).map(|_| {
            PositionKey((random.below(1 << 31) as u64) << 33 | random.below(1 << 31) as u64)
        }));
        probes.sort();
        assert!(probes.len() >= 1500);
        probes.into_iter().for_each(|key| asked.key(key));
        let edges = [0, 1, u64::MAX].map(PositionKey);
        edges.into_iter().chain(contents.keys().next().copied()).for_each(|key| asked.key(key));
        for (position, _) in contents.values().filter(|_| random.below(40) == 0) {
            asked.fen(position);
        }
    }
    let promotions = asked.answers.iter().filter(|answer| answer.contains("n:")).count();
    assert!(promotions > 0, "no promotion was asked for");
    for (name, reader) in build(folder.path()) {
        asked.put_to(name, reader);
    }
}

/// Makes the checksum of a header right.
fn seal(bytes: &mut [u8]) {
    let crc = crc32c::crc32c(&bytes[..252]);
    bytes[252..256].copy_from_slice(&crc.to_le_bytes());
}

/// Ways to damage a file: with its name, whether the header's checksum is made right again.
fn damages() -> Vec<(usize, u8, bool)> {
    let plain = [0, 3, 5, 7, 33, 100, 255].map(|at| (at, 0x41, false));
    // Version, required features, header length, entries, keys, blocks, target, codec, filter,
    // LZMA properties, identity, digest, source, rule, variant, bits, sections, length, checksums.
    let sealed = [
        8, 12, 16, 17, 32, 40, 48, 51, 54, 56, 57, 58, 70, 90, 112, 113, 114, 115, 120, 128, 136,
        152, 160, 168, 176, 184, 190, 196, 200,
    ];
    plain.into_iter().chain(sealed.map(|at| (at, 0x42, true))).collect()
}

#[test]
fn all_readers_refuse_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (contents(3, 3000), contents(4, 900));
    let mut asked = Dialogue::default();
    let mut refused = 0;
    for codec in [Codec::Stored, Codec::Lzma, Codec::Compact] {
        let at = |name: String| folder.path().join(format!("{codec}-{name}"));
        let (sound, foreign) = (at("sound".into()), at("foreign".into()));
        write(&sound, &own, codec);
        write(&foreign, &other, codec);
        for name in ["hashes.sob", "moves.sob"] {
            let bytes = fs::read(sound.join(name)).unwrap();
            let mut cases: Vec<Option<Vec<u8>>> =
                vec![None, Some(fs::read(foreign.join(name)).unwrap())];
            for (place, flip, sealed) in damages() {
                let mut bytes = bytes.clone();
                bytes[place] ^= flip;
                if sealed {
                    seal(&mut bytes);
                }
                cases.push(Some(bytes));
            }
            for part in [0.3, 0.5, 0.7, 0.95] {
                let mut bytes = bytes.clone();
                let place = (bytes.len() as f64 * part) as usize;
                bytes[place] ^= 0x10;
                cases.push(Some(bytes));
            }
            for len in [0, 255, 256, bytes.len() / 2, bytes.len() - 1] {
                cases.push(Some(bytes[..len].to_vec()));
            }
            cases.push(Some([&bytes[..], b"x"].concat()));
            for (number, case) in cases.into_iter().enumerate() {
                let damaged = at(format!("{name}-{number}"));
                fs::create_dir(&damaged).unwrap();
                for file in ["hashes.sob", "moves.sob"] {
                    match &case {
                        None if file == name => {}
                        Some(bytes) if file == name => {
                            fs::write(damaged.join(file), bytes).unwrap()
                        }
                        _ => _ = fs::copy(sound.join(file), damaged.join(file)).unwrap(),
                    }
                }
                refused += usize::from(asked.open(&damaged).starts_with("error"));
                for (&key, (position, _)) in own.iter().step_by(own.len() / 4) {
                    asked.key(key);
                    asked.fen(position);
                }
            }
        }
    }
    assert!(refused >= 50, "{refused}");
    for (name, reader) in build(folder.path()) {
        asked.put_to(name, reader);
    }
}
