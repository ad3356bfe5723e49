//! What a run leaves behind, and what the next one makes of it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tabiya_book::Policy;
use tabiya_pipeline::{
    Context, Error, Journal, Report, Rules, Strangers, Why, Work,
    config::{Engine, Format},
    find, run,
};
use tabiya_testkit::{Mix, Style, generate, render};

use crate::bench::{Bench, Double, files};

fn games(seed: u64, n: usize) -> Vec<u8> {
    render(&generate(seed, n, Mix::ALL), Style::Plain)
}

const RETIRE: Strangers = Strangers::Retire { settling: Vec::new() };

/// Two books of these games, scored by a double.
fn bench(pgn: &[u8]) -> Bench {
    let mut bench = Bench::new(pgn);
    bench.config.score.engine = Engine::Command(vec!["double".to_owned()]);
    bench.config.input.chunk = "16KiB".parse().unwrap();
    bench.book(Format::Sob, "out/book", Policy::Score);
    bench.book(Format::Polyglot, "out/book.bin", Policy::Score);
    bench
}

impl Bench {
    fn add(&mut self, name: &str, pgn: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, pgn).unwrap();
        self.config.input.files.push(path.to_str().unwrap().to_owned());
        path
    }

    async fn scored(&self) -> Result<Report, Error> {
        self.run(Double::Scores { delays: false }.scorer(), Context::default()).await
    }

    /// The books and rejects of the same configuration in a work folder of its own.
    async fn anew(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut config = self.config.clone();
        config.checkpoint.dir = self.path("anew");
        let again = Bench { dir: tempfile::tempdir().unwrap(), config };
        again.scored().await.unwrap();
        let made = self.made();
        fs::remove_dir_all(self.path("anew")).unwrap();
        made
    }

    /// The books.
    fn made(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(&self.path("out"))
    }

    fn rejects(&self) -> String {
        fs::read_to_string(self.config.checkpoint.dir.join("rejects.jsonl")).unwrap()
    }

    fn journal(&self, strangers: Strangers) -> Result<Journal, Error> {
        let files: Vec<PathBuf> = self.config.input.files.iter().map(PathBuf::from).collect();
        Journal::open(&self.config, find(&files), strangers)
    }

    /// The files of the journal.
    fn segments(&self) -> Vec<PathBuf> {
        let in_journal = files(&self.config.checkpoint.dir).into_iter().map(|(path, _)| path);
        in_journal.filter(|path| path.to_string_lossy().contains("journal-")).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_reads_nothing_and_asks_nobody() {
    let bench = bench(&games(1, 400));
    let first = bench.scored().await.unwrap();
    let (books, rejects) = (bench.made(), bench.rejects());
    assert!(first.bytes > 0 && first.replayed == 0 && rejects.lines().count() > 5);
    let second = bench.run(None, Context::default()).await.unwrap();
    assert_eq!((second.bytes, second.replayed), (0, first.games.accepted));
    assert_eq!((second.games, second.lines), (first.games, first.lines));
    assert!(bench.made() == books && bench.rejects() == rejects);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_threshold_is_a_rebuild() {
    let mut bench = bench(&games(2, 400));
    bench.scored().await.unwrap();
    for win_min_cp in [0, 250, -300] {
        bench.config.threshold.win_min_cp = win_min_cp;
        let changed = bench.journal(Strangers::Refuse).unwrap().plan().changed;
        assert!(changed[0].contains("threshold.win_min_cp"), "{changed:?}");
        let rebuilt = bench.run(None, Context::default()).await.unwrap();
        assert_eq!(rebuilt.bytes, 0);
        let books = bench.made();
        assert!(books == bench.anew().await, "{win_min_cp}");
    }
    for win_min_wdl in [Some(500), Some(640), None] {
        bench.config.threshold.win_min_wdl = win_min_wdl;
        assert_eq!(bench.run(None, Context::default()).await.unwrap().bytes, 0);
        let books = bench.made();
        assert!(books == bench.anew().await, "{win_min_wdl:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_input_is_read_alone() {
    let mut bench = bench(&games(3, 300));
    bench.scored().await.unwrap();
    let more = games(4, 200);
    bench.add("a-more.pgn", &more);
    // The order of the inputs is the order of the rejects, however they came.
    bench.config.input.files.rotate_right(1);
    let plan = bench.journal(Strangers::Refuse).unwrap().plan();
    assert_eq!((plan.read.len(), plan.finished, plan.read[0].why), (1, 1, Why::New));
    let report = bench.scored().await.unwrap();
    assert_eq!(report.bytes, more.len() as u64);
    let (books, rejects) = (bench.made(), bench.rejects());
    assert!(books == bench.anew().await);
    bench.config.checkpoint.dir = bench.path("other");
    bench.scored().await.unwrap();
    assert!(rejects == bench.rejects());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_stopped_goes_on_and_ends_the_same() {
    for (seed, dedupe) in [(5, false), (6, true)] {
        let mut bench = bench(&games(seed, 60));
        // The last ones are the first ones once more.
        for more in 1..=15 {
            bench.add(&format!("{more}.pgn"), &games(seed + more % 12, 60));
        }
        bench.config.filter.dedupe = dedupe;
        bench.config.checkpoint.every = "1ms".parse().unwrap();
        bench.config.input.chunk = "4KiB".parse().unwrap();
        let whole = bench.anew().await;
        let mut stops = 0;
        let report = loop {
            let cx = Context::default();
            // Past what may be in flight, so that something was handed on by then.
            let scorer = Double::Scores { delays: true }.that_stops(&cx, 5 + stops);
            match bench.run(scorer, cx).await {
                Ok(report) => break report,
                Err(Error::Interrupted) => stops += 1,
                Err(error) => panic!("{error}"),
            }
            assert!(stops < 200, "it gets nowhere");
        };
        assert!(stops > 0, "it was never stopped");
        assert!(report.games.read >= 16 * 60, "{:?}", report.games);
        assert!(report.replayed > 0, "after {stops} stops nothing was kept");
        assert!(bench.made() == whole, "after {stops} stops, dedupe {dedupe}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_file_twice_is_two_inputs() {
    let pgn = games(7, 100);
    let mut bench = bench(&pgn);
    bench.add("copy.pgn", &pgn);
    let first = bench.scored().await.unwrap();
    let second = bench.run(None, Context::default()).await.unwrap();
    assert_eq!(first.games.read, second.games.read);
    bench.add("third.pgn", &pgn);
    let third = bench.scored().await.unwrap();
    assert_eq!((third.bytes, third.games.read), (pgn.len() as u64, first.games.read / 2 * 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_may_be_renamed_or_go_but_not_change() {
    let pgn = games(8, 100);
    let mut bench = bench(&pgn);
    let second = bench.add("second.pgn", &games(9, 100));
    let first = bench.scored().await.unwrap();

    let moved = bench.path("moved.pgn");
    fs::rename(&second, &moved).unwrap();
    bench.config.input.files[1] = moved.to_str().unwrap().to_owned();
    let report = bench.run(None, Context::default()).await.unwrap();
    assert_eq!((report.bytes, report.warnings.len()), (0, 0));

    fs::write(&moved, games(10, 100)).unwrap();
    let error = bench.scored().await.unwrap_err();
    assert!(matches!(error, Error::AlteredInput { .. }), "{error}");
    assert!(error.to_string().contains("--fresh"));
    let replaced = bench.journal(RETIRE).unwrap().plan();
    assert_eq!(replaced.read.len(), 1);

    fs::remove_file(&moved).unwrap();
    let report = bench.run(None, Context::default()).await.unwrap();
    assert_eq!(report.games, first.games);
    assert!(report.warnings[0].contains("moved.pgn is gone"), "{:?}", report.warnings);

    let input = bench.config.input.files.remove(0);
    let error = bench.scored().await.unwrap_err();
    assert!(matches!(error, Error::DroppedInput { .. }), "{error}");
    bench.config.input.files.insert(0, input);

    fs::write(bench.path("never.pgn"), "").unwrap();
    bench.config.input.files.push(bench.path("missing.pgn").to_str().unwrap().to_owned());
    assert!(matches!(bench.scored().await.unwrap_err(), Error::Source(_)));
}

/// Size and ends are as they were; only the middle, and the time, tell.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_the_middle_of_an_input_is_found() {
    let pgn = games(17, 1500);
    assert!(pgn.len() > 300_000);
    let bench = bench(&pgn);
    bench.scored().await.unwrap();
    let path = bench.path("games.pgn");
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    let touch = || fs::File::options().append(true).open(&path).unwrap().set_modified(later);
    touch().unwrap();
    assert_eq!(bench.run(None, Context::default()).await.unwrap().bytes, 0, "touched, no more");
    let mut altered = pgn.clone();
    altered[150_000] ^= 1;
    fs::write(&path, &altered).unwrap();
    let error = bench.scored().await.unwrap_err();
    assert!(matches!(error, Error::AlteredInput { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_takes_no_place_that_is_in_use() {
    let pgn = games(18, 50);
    for path in ["games.pgn", "work/scores.db", "work/LOCK", "work/../games.pgn"] {
        let mut bench = bench(&pgn);
        fs::create_dir_all(bench.path("work")).unwrap();
        bench.config.book[1].path = bench.path(path);
        let error = bench.scored().await.unwrap_err();
        assert!(matches!(error, Error::OutputInUse { .. }), "{path}: {error}");
        assert!(fs::read(bench.path("games.pgn")).unwrap() == pgn);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_replaces_what_has_changed() {
    for dedupe in [false, true] {
        let mut bench = bench(&games(11, 150));
        bench.config.filter.dedupe = dedupe;
        let second = bench.add("second.pgn", &games(12, 150));
        bench.scored().await.unwrap();
        fs::write(&second, [games(12, 150), games(13, 50)].concat()).unwrap();
        let work = Work::open(&bench.config.checkpoint.dir).unwrap();
        let journal = bench.journal(RETIRE).unwrap();
        let rules = Rules::compile(&bench.config.filter).unwrap();
        let config = Arc::new(bench.config.clone());
        let scorer = Double::Scores { delays: false }.scorer();
        run(config, rules, &work, journal, scorer, Context::default()).await.unwrap();
        drop(work);
        let books = bench.made();
        assert!(books == bench.anew().await, "dedupe {dedupe}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_damaged_byte_is_found_and_named() {
    let bench = bench(&games(14, 40));
    bench.scored().await.unwrap();
    fs::remove_dir_all(bench.path("out")).unwrap();
    for path in bench.segments() {
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(1 + whole.len() / 60) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&path, &damaged).unwrap();
            let error = bench.run(None, Context::default()).await.unwrap_err();
            assert!(matches!(error, Error::DamagedJournal { .. }), "{}: {error}", path.display());
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
        fs::remove_file(&path).unwrap();
        if path.ends_with("manifest.json") {
            assert_eq!(bench.journal(Strangers::Refuse).unwrap().lines(), 0, "it begins anew");
        } else {
            let error = bench.run(None, Context::default()).await.unwrap_err();
            assert!(matches!(error, Error::DamagedJournal { .. }), "{error}");
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(!bench.path("out").exists(), "a damaged journal makes no book");
    bench.run(None, Context::default()).await.unwrap();
    assert!(bench.made() == bench.anew().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_manifest_names_is_removed() {
    let bench = bench(&games(15, 100));
    bench.scored().await.unwrap();
    let journal = bench.segments()[0].parent().map(Path::to_owned).unwrap();
    let before = bench.segments();
    for orphan in ["000009.seg", "000009.rejects.jsonl", "manifest.json.tmp", "000010.seg.tmp"] {
        fs::write(journal.join(orphan), b"half").unwrap();
    }
    bench.run(None, Context::default()).await.unwrap();
    assert_eq!(bench.segments(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_start_puts_the_journal_aside() {
    let bench = bench(&games(16, 100));
    let first = bench.scored().await.unwrap();
    let aside = Journal::set_aside(&bench.config).unwrap().unwrap();
    assert_eq!(aside.lines, first.games.accepted);
    assert!(aside.path.join("manifest.json").exists());
    assert_eq!(bench.journal(Strangers::Refuse).unwrap().plan().read.len(), 1);
    let again = bench.scored().await.unwrap();
    assert_eq!((again.replayed, again.games), (0, first.games));
    assert!(Journal::set_aside(&bench.config).unwrap().unwrap().path != aside.path);
}
