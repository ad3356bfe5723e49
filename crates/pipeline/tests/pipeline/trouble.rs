//! What happens when something goes wrong.

use std::{fs, time::Duration};

use tabiya_book::Policy;
use tabiya_pipeline::{
    Context, Error,
    config::{Engine, Format},
};
use tabiya_testkit::{Mix, Style, generate, render};

use crate::bench::{Bench, Double};

fn games(n: usize) -> Vec<u8> {
    render(&generate(5, n, Mix::CLEAN), Style::Plain)
}

fn with_engine(pgn: &[u8]) -> Bench {
    let mut bench = Bench::new(pgn);
    bench.config.score.engine = Engine::Command(vec!["double".to_owned()]);
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_stops_while_nothing_is_scored() {
    // Some 20 MB: far more than channels, jobs and batches in flight hold.
    let pgn = games(1000).repeat(40);
    let mut bench = with_engine(&pgn);
    bench.config.input.chunk = "256KiB".parse().unwrap();
    bench.config.filter.jobs = 1;
    bench.book(Format::Polyglot, "book.bin", Policy::Games);
    let cx = Context::default();
    let progress = std::sync::Arc::clone(&cx.progress);
    let run = bench.run(Double::Silent.scorer(), cx);
    assert!(tokio::time::timeout(Duration::from_secs(2), run).await.is_err(), "it cannot end");
    let read = progress.snapshot().games.read;
    assert!(read > 0, "reading began");
    assert!(read < 20_000, "{read} games were read of 40,000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_run_leaves_the_old_book_alone() {
    for (double, telling) in [(Double::Fails, "CLOSED"), (Double::Panics, "stage score")] {
        let mut bench = with_engine(&games(300));
        let path = bench.book(Format::Polyglot, "book.bin", Policy::Games);
        fs::write(&path, b"the old book").unwrap();
        let error = bench.run(double.scorer(), Context::default()).await.unwrap_err();
        assert!(error.to_string().contains(telling), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"the old book");
        let names: Vec<_> =
            fs::read_dir(bench.dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "games, book and work, nothing else: {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_works_in_a_folder() {
    let mut bench = with_engine(&games(300));
    bench.book(Format::Polyglot, "book.bin", Policy::Games);
    let first = bench.run(Double::Silent.scorer(), Context::default());
    let second = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        bench.run(Double::Silent.scorer(), Context::default()).await
    };
    tokio::select! {
        _ = first => panic!("the first cannot end"),
        second = second => assert!(matches!(second, Err(Error::Locked { .. })), "{second:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_breaks_off_is_an_error_and_makes_no_book() {
    let mut bench = Bench::new(&games(300));
    let path = bench.book(Format::Polyglot, "book.bin", Policy::Games);
    let broken = bench.path("broken.pgn.gz");
    fs::write(&broken, b"\x1f\x8b\x08\0\0\0\0\0\0\x03abc").unwrap();
    bench.config.input.files.insert(0, broken.to_str().unwrap().to_owned());
    let error = bench.run(None, Context::default()).await.unwrap_err();
    let Error::Unread(failures) = &error else { panic!("{error}") };
    assert_eq!(failures.len(), 1);
    assert!(failures[0].source.ends_with("broken.pgn.gz"));
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_bad_games_is_an_error() {
    let mut bench = Bench::new(&render(&generate(3, 300, Mix::ALL), Style::Plain));
    let path = bench.book(Format::Polyglot, "book.bin", Policy::Games);
    bench.config.input.max_reject_percent = 0.5;
    let error = bench.run(None, Context::default()).await.unwrap_err();
    assert!(matches!(error, Error::TooManyRejects { .. }), "{error}");
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_that_cannot_be_written_is_found_out_before_the_first_game() {
    let mut bench = with_engine(&games(300));
    fs::write(bench.path("file"), b"").unwrap();
    bench.book(Format::Polyglot, "file/book.bin", Policy::Games);
    let cx = Context::default();
    let progress = std::sync::Arc::clone(&cx.progress);
    let error = bench.run(Double::Silent.scorer(), cx).await.unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
    assert_eq!(progress.snapshot().games.read, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_early() {
    let mut bench = with_engine(&games(3000));
    let path = bench.book(Format::Polyglot, "book.bin", Policy::Games);
    let cx = Context::default();
    cx.stop.cancel();
    let error = bench.run(Double::Scores { delays: true }.scorer(), cx).await.unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(!path.exists());
}
