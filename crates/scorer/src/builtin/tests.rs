use std::{
    io::{self, BufReader, Cursor, Read},
    sync::mpsc::{self, Receiver, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use proptest::prelude::*;
use shakmaty::{Setup, fen::Fen};

use super::*;

/// Everything the engine says to a whole script.
fn answers(script: &str) -> Vec<String> {
    let mut output = Vec::new();
    run(Cursor::new(script.as_bytes().to_vec()), &mut output).unwrap();
    String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
}

/// The answers without what differs from one run to the next.
fn reproducible(script: &str) -> Vec<String> {
    let clock = |line: String| match (line.find(" nps "), line.find(" pv ")) {
        (Some(from), Some(to)) => format!("{}{}", &line[..from], &line[to..]),
        _ => line,
    };
    answers(script).into_iter().map(clock).collect()
}

fn field<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_whitespace().skip_while(|&word| word != name).nth(1).unwrap()
}

/// The last score said, as `cp N` or `mate N`.
fn score(lines: &[String]) -> String {
    let line = lines.iter().rfind(|line| line.contains(" score ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|&word| word == "score").unwrap();
    words[at + 1..at + 3].join(" ")
}

fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

const MIDDLEGAME: &str = "r1bq1rk1/pp2bppp/2n2n2/2pp4/3P4/2N2NP1/PP2PPBP/R1BQ1RK1 w - - 0 1";

const POSITIONS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    MIDDLEGAME,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "rnbqkbnr/ppp2ppp/8/3pp3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq d6 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
    "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 1",
];

#[test]
fn conversations() {
    let table: [(&str, &[&str]); 18] = [
        ("", &[]),
        ("\n  \n", &[]),
        ("isready", &["readyok"]),
        ("  isready \r\nquit\r\nisready", &["readyok"]),
        ("ucinewgame\nstop\nisready", &["readyok"]),
        ("setoption name Hash value 1\nsetoption name hash value 9999999\nisready", &["readyok"]),
        ("setoption name Hash value much", &["info string Hash cannot be \"much\""]),
        ("setoption name Threads value 2", &["info string no option \"Threads\""]),
        ("fly", &["info string unknown command \"fly\""]),
        ("position", &["info string position needs startpos or fen"]),
        (
            "position fen 8/8/8/8/8/8/8/8 w - - 0 1\ngo depth 1",
            &[
                "info string illegal position: empty board, missing king: \"8/8/8/8/8/8/8/8 w - - 0 1\"",
                "info string no position",
                "bestmove (none)",
            ],
        ),
        (
            "position startpos moves e2e4 e2e4\ngo depth 1\neval",
            &[
                "info string illegal move \"e2e4\"",
                "info string no position",
                "bestmove (none)",
                "info string no position",
            ],
        ),
        ("go depth", &["info string depth needs a number", "bestmove (none)"]),
        ("go nodes many", &["info string nodes cannot be \"many\"", "bestmove (none)"]),
        ("go mate 3", &["info string unknown limit \"mate\"", "bestmove (none)"]),
        // Mated, stalemated.
        (
            "position startpos moves f2f3 e7e5 g2g4 d8h4\ngo depth 5",
            &["info depth 0 score mate 0", "bestmove (none)"],
        ),
        (
            "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo infinite",
            &["info depth 0 score cp 0", "bestmove (none)"],
        ),
        // A refused position does not stay refused.
        (
            "position fen ?\nposition fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo depth 1",
            &[
                "info string invalid board part in fen: \"?\"",
                "info depth 0 score cp 0",
                "bestmove (none)",
            ],
        ),
    ];
    for (script, expected) in table {
        assert_eq!(answers(script), expected, "{script:?}");
    }
}

#[test]
fn introduces_itself() {
    let lines = answers("uci");
    assert!(lines[0].starts_with("id name tabiya "));
    assert!(lines.iter().any(|line| line.starts_with("option name Hash type spin default 4")));
    assert_eq!(lines.last().unwrap(), "uciok");
}

#[test]
fn overlong_lines_are_no_commands() {
    let line = format!("isready {}isready\nisready", " ".repeat(100_000));
    assert_eq!(answers(&line), ["info string unknown command \"too-long-line\"", "readyok"]);
}

#[test]
fn finds_mates_with_the_right_sign() {
    let table = [
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 2, "mate 1"),
        ("k2r4/8/8/8/8/8/5PPP/6K1 b - - 0 1", 2, "mate 1"),
        ("7k/8/8/8/8/8/1R6/R6K w - - 0 1", 4, "mate 2"),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 6, "mate 3"),
        // The side to move is mated whatever it does.
        ("7k/R7/6K1/8/8/8/8/8 b - - 0 1", 3, "mate -1"),
        ("6k1/R7/8/8/8/8/1R6/7K b - - 0 1", 4, "mate -1"),
    ];
    for (fen, depth, expected) in table {
        let lines = answers(&format!("position fen {fen}\ngo depth {depth}"));
        assert_eq!(score(&lines), expected, "{fen}: {lines:?}");
    }
}

#[test]
fn drawn_positions_score_nothing() {
    let table = [
        // Nothing to mate with.
        "position fen 8/8/4k3/8/8/3NK3/8/8 w - - 0 1\ngo depth 4",
        "position fen 8/8/4k3/8/8/3NK3/8/8 w - - 0 1\ngo nodes 1",
        // Fifty moves are over with the next one.
        "position fen 8/8/4k3/8/8/3RK3/8/8 w - - 99 80\ngo depth 2",
    ];
    for script in table {
        assert_eq!(score(&answers(script)), "cp 0", "{script}");
    }
}

#[test]
fn a_mirrored_position_has_the_same_value() {
    for fen in POSITIONS {
        let pos = position(fen);
        let mirrored: Setup = pos.to_setup(shakmaty::EnPassantMode::Legal).into_mirrored();
        let mirrored: Chess = mirrored.position(CastlingMode::Standard).unwrap();
        assert_eq!(net::evaluate(&pos), net::evaluate(&mirrored), "{fen}");
    }
}

#[test]
fn material_outweighs_the_rest() {
    let queen_up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
    assert!(net::evaluate(&position(queen_up)) < -500);
    assert!(net::evaluate(&Chess::default()).abs() < 100);
}

#[test]
fn a_score_depends_on_nothing_searched_before() {
    let alone: Vec<Vec<String>> = POSITIONS
        .iter()
        .map(|fen| reproducible(&format!("position fen {fen}\ngo depth 4\ngo nodes 3000")))
        .collect();
    let script = |fens: &mut dyn Iterator<Item = &&str>| -> String {
        fens.map(|fen| format!("position fen {fen}\ngo depth 4\ngo nodes 3000\n")).collect()
    };
    assert_eq!(reproducible(&script(&mut POSITIONS.iter())), alone.concat());
    let backwards: Vec<Vec<String>> = alone.into_iter().rev().collect();
    assert_eq!(reproducible(&script(&mut POSITIONS.iter().rev())), backwards.concat());
}

#[test]
fn every_depth_is_reported_once() {
    let lines = answers(&format!("position fen {MIDDLEGAME}\ngo depth 5"));
    let depths: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("info "))
        .map(|line| field(line, "depth"))
        .collect();
    assert_eq!(depths, ["1", "2", "3", "4", "5"]);
    let last = &lines[4];
    assert_eq!(format!("bestmove {}", field(last, "pv")), lines[5]);
}

#[test]
fn the_node_limit_holds() {
    for limit in [0, 1, 20, 500, 20_000] {
        let lines = answers(&format!("position fen {MIDDLEGAME}\ngo nodes {limit}"));
        let info = &lines[lines.len() - 2];
        let nodes: u64 = field(info, "nodes").parse().unwrap();
        assert!(nodes <= limit.max(1), "{info}");
        assert_ne!(lines.last().unwrap(), "bestmove (none)");
    }
}

#[test]
fn the_time_limit_holds() {
    for limit in ["movetime 100", "wtime 3000 btime 10", "movetime 100 depth 60"] {
        let begun = Instant::now();
        answers(&format!("position fen {MIDDLEGAME}\ngo {limit}"));
        assert!(begun.elapsed() < Duration::from_secs(2), "{limit}");
    }
}

/// An input that is written to while the engine reads it.
struct Typed(Receiver<Vec<u8>>, Vec<u8>);

impl Read for Typed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().unwrap_or_default();
        }
        let len = self.1.len().min(into.len());
        into[..len].copy_from_slice(&self.1[..len]);
        self.1.drain(..len);
        Ok(len)
    }
}

/// An output that is read while the engine writes to it.
struct Heard(Sender<String>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(String::from_utf8(bytes.to_vec()).unwrap()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Talk {
    input: Sender<Vec<u8>>,
    output: Receiver<String>,
    engine: JoinHandle<io::Result<()>>,
}

impl Talk {
    fn begin() -> Talk {
        let (input, typed) = mpsc::channel();
        let (heard, output) = mpsc::channel();
        let input_end = BufReader::new(Typed(typed, Vec::new()));
        let engine = thread::spawn(move || run(input_end, Heard(heard)));
        Talk { input, output, engine }
    }

    fn say(&self, line: &str) {
        self.input.send(format!("{line}\n").into_bytes()).unwrap();
    }

    /// All that is said up to and with `wanted`.
    fn hear(&self, wanted: &str) -> String {
        let mut text = String::new();
        while !text.contains(wanted) {
            text += &self.output.recv_timeout(Duration::from_secs(20)).unwrap();
        }
        text
    }
}

#[test]
fn commands_are_heard_during_a_search() {
    let talk = Talk::begin();
    talk.say(&format!("position fen {MIDDLEGAME}\ngo infinite"));
    talk.hear("info depth 3 ");
    talk.say("isready");
    assert!(!talk.hear("readyok").contains("bestmove"));
    // What cannot be answered now is answered afterwards.
    talk.say("eval\nstop");
    assert!(talk.hear("info string evaluation cp ").contains("bestmove "));

    talk.say("go depth 60");
    talk.hear("info depth 3 ");
    talk.say("quit");
    talk.hear("bestmove ");
    talk.engine.join().unwrap().unwrap();
}

#[test]
fn an_infinite_search_waits_even_when_there_is_nothing_left_to_search() {
    let talk = Talk::begin();
    talk.say("position fen 7k/8/6K1/8/8/8/8/7R b - - 0 1\ngo infinite");
    talk.say("isready");
    let said = talk.hear("readyok");
    assert!(!said.contains("bestmove"), "{said}");
    talk.say("stop");
    talk.hear("bestmove ");
    talk.say("go infinite");
    // The end of input ends it, too.
    drop(talk.input);
    talk.engine.join().unwrap().unwrap();
}

/// Something that is nearly a command.
fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(vec![
            "uci", "isready", "ucinewgame", "setoption", "name", "Hash", "value", "position",
            "startpos", "fen", "moves", "e2e4", "e7e5", "e1g1", "a7a8q", "0000", "Q@e4", "go",
            "depth", "nodes", "movetime", "wtime", "btime", "movestogo", "stop", "eval", "0", "1",
            "2", "-1", "99999999999999999999", "w", "b", "-", "KQkq", "e3",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "8/8/8/8/8/8/8/8",
            "QQQQQQQQ/QQQQQQQQ/8/k7/8/8/8/K7", "4k3/8/8/8/8/8/8/4K2R",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ];
    // Without a small limit a search might be right to take its time.
    proptest::collection::vec(word, 0..9).prop_map(|words| {
        let line = words.join(" ");
        if line.trim_start().starts_with("go") { format!("{line} depth 1 nodes 200") } else { line }
    })
}

proptest! {
    #[test]
    fn garbage_is_answered_and_survived(lines in proptest::collection::vec(line(), 0..12)) {
        let said = answers(&format!("{}\nisready", lines.join("\n")));
        prop_assert_eq!(said.last().map(String::as_str), Some("readyok"));
    }

    #[test]
    fn bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        run(Cursor::new(bytes), io::sink()).unwrap();
    }

    #[test]
    fn every_position_of_a_random_game_is_searched(choices in proptest::collection::vec(any::<u8>(), 0..120)) {
        let mut pos = Chess::default();
        let mut script = "position startpos moves".to_owned();
        for choice in choices {
            let moves = pos.legal_moves();
            let Some(&m) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
            script.push_str(&format!(" {}", m.to_uci(CastlingMode::Standard)));
            pos.play_unchecked(m);
        }
        let lines = answers(&format!("{script}\ngo depth 2"));
        let best = lines.last().unwrap().strip_prefix("bestmove ").unwrap();
        if pos.legal_moves().is_empty() {
            prop_assert_eq!(best, "(none)");
        } else {
            let uci: shakmaty::uci::UciMove = best.parse().unwrap();
            prop_assert!(uci.to_move(&pos).is_ok());
        }
    }
}
