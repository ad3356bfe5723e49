//! One test for each way in which engines were seen to fail.

use std::{
    ffi::OsStr,
    time::{Duration, Instant},
};

use tabiya_scorer::{
    Cached, EngineSpec, Health, Limit, Pool, Pov, Scorer, ScorerError, StartFailure, Units,
};

use crate::fake::{FAKEUCI, Fake, after, position, texts, three, wandering};

/// The three positions, scored by two engines in this mode.
async fn score_three(mode: &str) -> (Vec<String>, Health, Fake) {
    let fake = Fake::new(mode);
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let verdicts = pool.score(three()).await.unwrap();
    let health = pool.health();
    pool.shutdown().await;
    (texts(&verdicts), health, fake)
}

async fn start_error(spec: EngineSpec) -> ScorerError {
    match Pool::start(spec, 2).await {
        Ok(_) => panic!("it started"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_good_engine_answers_in_order() {
    let fake = Fake::new("normal");
    let pool = Pool::start(fake.spec.clone(), 3).await.unwrap();
    let knight_up = "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let same_for_black = "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
    let batch = vec![after(""), position(knight_up), position(same_for_black), after("e4")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1", "cp 11", "cp -9", "cp 1"]);
    assert_eq!(pool.health(), Health { engines: 3, alive: 3, scored: 4, ..Health::default() });
    let arguments = fake.spec.command[1..].join(OsStr::new(" "));
    assert_eq!(
        pool.identity().to_string(),
        format!(
            "uci ucinewgame; Fake 1; EvalFile=fake.net; Hash=4; Threads=1; arguments={}; depth 4",
            arguments.to_str().unwrap()
        )
    );
    pool.shutdown().await;
    assert_eq!(pool.health().alive, 0);
    assert_eq!(fake.count("quit"), 3);
    assert!(matches!(pool.score(three()).await, Err(ScorerError::Closed)));
}

#[tokio::test]
async fn each_search_is_the_first_and_one_command_is_in_flight() {
    let fake = Fake::new("normal");
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    pool.score(vec![after("e4"), after("d4")]).await.unwrap();
    pool.shutdown().await;
    let log = fake.log();
    assert_eq!(
        log[1..5],
        ["uci", "setoption name Threads value 1", "setoption name Hash value 4", "isready"]
    );
    let search = |fen: &str| {
        let position = format!("position fen {fen}");
        ["ucinewgame", "isready", &position, "go depth 4"].map(str::to_owned)
    };
    let e4 = search("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    let d4 = search("rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1");
    let quit = vec!["quit".to_owned()];
    assert!(log.ends_with(&[e4.to_vec(), d4.to_vec(), quit].concat()), "{log:#?}");
}

#[tokio::test]
async fn games_that_are_over_reach_no_engine() {
    let fake = Fake::new("normal");
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    let searches = fake.count("go");
    let over = vec![
        after("f3 e5 g4 Qh4"),
        position("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"),
        position("8/8/4k3/8/8/4K3/8/6N1 w - - 0 1"),
    ];
    let verdicts = pool.score(over).await.unwrap();
    assert_eq!(texts(&verdicts), ["mate -0", "cp 0", "cp 0"]);
    assert_eq!(fake.count("go"), searches);
}

#[tokio::test]
async fn a_batch_is_spread_over_all_engines_and_concurrent_batches_mix() {
    let fake = Fake::new("normal");
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let positions = wandering(300);
    let alone = pool.score(positions.clone()).await.unwrap();
    let (first, second) = tokio::join!(pool.score(positions.clone()), pool.score(positions));
    assert_eq!((first.unwrap(), second.unwrap()), (alone.clone(), alone));
}

#[tokio::test]
async fn a_hanging_engine_is_killed_and_its_position_set_aside() {
    let (verdicts, health, fake) = score_three("hang").await;
    assert_eq!(verdicts, ["ENGINE_TIMEOUT"; 3]);
    assert_eq!((health.scored, health.set_aside), (0, 3));
    // One search for the probe, three for each position, and each was told to stop.
    assert_eq!((fake.count("go"), fake.count("stop")), (10, 10));
}

#[tokio::test]
async fn one_position_that_hangs_harms_no_other() {
    let fake = Fake::new("hang-on");
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let batch = vec![after("e4"), after("e4 c5"), after("e4 e5"), after("d4")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1", "ENGINE_TIMEOUT", "cp 1", "cp 1"]);
}

#[tokio::test]
async fn one_position_that_crashes_is_tried_three_times() {
    let fake = Fake::new("crash-on");
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let batch = vec![after("e4"), after("e4 c5"), after("e4 e5"), after("d4")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1", "ENGINE_CRASH", "cp 1", "cp 1"]);
    assert_eq!(fake.count("position fen rnbqkbnr/pp1ppppp"), 3);
    assert_eq!(pool.health().set_aside, 1);
}

#[tokio::test]
async fn an_engine_that_crashes_now_and_then_loses_nothing() {
    let fake = Fake::new("crash-fifth");
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    let verdicts = pool.score(wandering(15)).await.unwrap();
    assert!(verdicts.iter().all(|verdict| verdict.score().is_some()));
    // The third search of the first engine, whose probe took two, then each fifth.
    assert_eq!(
        pool.health(),
        Health { engines: 1, alive: 1, restarts: 4, scored: 15, ..Health::default() }
    );
}

/// One position in a hundred crashes it, one in a thousand hangs it.
#[tokio::test]
async fn all_others_are_scored_as_in_a_clean_run() {
    let positions = wandering(2000);
    let clean = Pool::start(Fake::new("normal").spec.clone(), 2).await.unwrap();
    let clean = clean.score(positions.clone()).await.unwrap();
    let mut fake = Fake::new("unreliable");
    fake.spec.timeout = Duration::from_secs(1);
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let verdicts = pool.score(positions).await.unwrap();
    let mut set_aside = Vec::new();
    for (verdict, clean) in verdicts.iter().zip(&clean) {
        match verdict.score() {
            Some(_) => assert_eq!(verdict, clean),
            None => set_aside.push(texts(&[*verdict]).concat()),
        }
    }
    let count = |reason| set_aside.iter().filter(|other| *other == reason).count();
    assert!((10..40).contains(&count("ENGINE_CRASH")), "{set_aside:?}");
    assert!((1..8).contains(&count("ENGINE_TIMEOUT")), "{set_aside:?}");
    assert_eq!(pool.health().set_aside, set_aside.len() as u64);
}

#[tokio::test]
async fn an_engine_that_scores_nothing_at_all_is_given_up() {
    let mut fake = Fake::new("no-score");
    fake.spec.startup = Duration::from_secs(5);
    let pool = Pool::start(fake.spec.clone(), 4).await.unwrap();
    let error = pool.score(wandering(200)).await.unwrap_err();
    assert!(matches!(error, ScorerError::GaveUp { positions: 100.., .. }), "{error}");
    assert!(error.to_string().contains("go depth 4"), "{error}");
}

#[tokio::test]
async fn no_score_is_no_score() {
    let (verdicts, health, fake) = score_three("no-score").await;
    assert_eq!(verdicts, ["NO_SCORE"; 3]);
    assert_eq!((health.scored, health.set_aside), (0, 3));
    // Two for the probe; each position once as asked and once at depth 1.
    assert_eq!((fake.count("go depth 4"), fake.count("go depth 1")), (4, 4));
}

#[tokio::test]
async fn a_fresh_process_may_give_a_score_at_depth_1() {
    let (verdicts, health, _fake) = score_three("no-score-but-depth-1").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 3);
}

#[tokio::test]
async fn a_bound_is_better_than_nothing() {
    let (verdicts, ..) = score_three("only-bounds").await;
    assert_eq!(verdicts, ["cp 7"; 3]);
}

#[tokio::test]
async fn a_late_answer_is_nobodys() {
    let fake = Fake::new("late");
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    let verdicts = pool.score(three()).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1"; 3]);
}

#[tokio::test]
async fn a_search_that_must_be_stopped_has_no_score() {
    let (verdicts, _, fake) = score_three("late-to-stop").await;
    assert_eq!(verdicts, ["ENGINE_TIMEOUT"; 3]);
    // It obeyed, so it was kept.
    assert_eq!(fake.count("start"), 2);
}

#[tokio::test]
async fn a_search_limited_by_time_may_be_stopped() {
    let mut fake = Fake::new("until-stop");
    fake.spec.limit = Limit::Movetime(Duration::from_millis(20));
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let verdicts = pool.score(three()).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1"; 3]);
    assert_eq!(fake.count("go movetime 20"), 3);
}

#[tokio::test]
async fn an_engine_that_ignores_the_node_limit_is_refused() {
    let mut fake = Fake::new("ignores-nodes");
    fake.spec.limit = Limit::Nodes(20_000);
    let error = start_error(fake.spec.clone()).await;
    assert_eq!(
        error.to_string(),
        "the engine Fake 1 searches on after `go nodes 1000`; limit it by depth or movetime"
    );
    // By depth it will do.
    let (verdicts, ..) = score_three("ignores-nodes").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
}

#[tokio::test]
async fn two_bestmoves_count_once() {
    let (verdicts, ..) = score_three("two-bestmoves").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
}

#[tokio::test]
async fn what_is_said_unasked_is_no_answer() {
    let (verdicts, health, _fake) = score_three("talks-unasked").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

/// Some end at the end of their input, without the move they were thinking about.
#[tokio::test]
async fn input_stays_open_while_an_engine_thinks() {
    let (verdicts, health, _fake) = score_three("needs-input").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

#[tokio::test]
#[cfg(unix)]
async fn a_closed_input_is_a_crash() {
    let script = "read x; echo uciok; read x; echo readyok; read x; read x; exec <&-; \
                  echo readyok; sleep 600";
    let pool = Pool::start(EngineSpec::new(["sh", "-c", script], Limit::Depth(1)), 1).await;
    let verdicts = pool.unwrap().score(vec![after("")]).await.unwrap();
    assert_eq!(texts(&verdicts), ["ENGINE_CRASH"]);
}

#[tokio::test]
async fn a_null_move_does_not_spoil_a_score() {
    let (verdicts, health, _fake) = score_three("null-move").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

#[tokio::test]
async fn an_illegal_move_spoils_the_score() {
    let (verdicts, ..) = score_three("illegal-move").await;
    assert_eq!(verdicts, ["NO_SCORE"; 3]);
}

#[tokio::test]
async fn carriage_returns_odd_bytes_and_capitals_are_read() {
    let (verdicts, health, _fake) = score_three("garbage").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

#[tokio::test]
async fn a_banner_is_no_answer() {
    let (verdicts, health, _fake) = score_three("banner").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

#[tokio::test]
async fn a_readyok_that_gets_lost_costs_the_engine_and_no_score() {
    let mut fake = Fake::new("merged-readyok");
    fake.spec.startup = Duration::from_millis(800);
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    let verdicts = pool.score(wandering(4)).await.unwrap();
    assert!(verdicts.iter().all(|verdict| verdict.score().is_some()));
    assert!(pool.health().restarts > 0);
}

#[tokio::test]
async fn a_flood_of_errors_blocks_nothing() {
    let (verdicts, health, _fake) = score_three("stderr-flood").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
    assert_eq!(health.restarts, 0);
}

#[tokio::test]
async fn a_chatterer_is_late_all_the_same() {
    let start = Instant::now();
    let (verdicts, ..) = score_three("info-flood").await;
    assert_eq!(verdicts, ["ENGINE_TIMEOUT"; 3]);
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_line_without_end_is_left_out() {
    let (verdicts, ..) = score_three("long-line").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
}

#[tokio::test]
#[cfg(unix)]
async fn a_closed_output_is_a_crash() {
    let script = "read x; echo uciok; read x; echo readyok; read x; exec >&-; sleep 600";
    let mut spec = EngineSpec::new(["sh", "-c", script], Limit::Depth(1));
    spec.timeout = Duration::from_millis(400);
    let pool = Pool::start(spec, 1).await.unwrap();
    let verdicts = pool.score(vec![after("")]).await.unwrap();
    assert_eq!(texts(&verdicts), ["ENGINE_CRASH"]);
}

#[tokio::test]
async fn mates_are_mates() {
    let (verdicts, ..) = score_three("mates").await;
    assert_eq!(verdicts, ["mate 5", "mate -3", "mate -3"]);
}

#[tokio::test]
async fn absurd_mates_are_mates() {
    let (verdicts, ..) = score_three("far-mates").await;
    assert_eq!(verdicts, ["mate 5000", "mate -5000", "mate -5000"]);
}

/// Older engines show mates as centipawns, and some count a pawn as 10000.
#[tokio::test]
async fn numbers_of_another_kind_are_declared() {
    let hundredth = Units { cp_scale: 0.01, ..Units::default() };
    let mates = Units { mate_threshold: 29_000, ..Units::default() };
    let table = [
        ("hundredfold", Units::default(), ["cp 1100", "cp -900"], ""),
        ("hundredfold", hundredth, ["cp 11", "cp -9"], "; cp_scale=0.01;"),
        ("mates-in-cp", Units::default(), ["cp 29995", "cp -29990"], ""),
        ("mates-in-cp", mates, ["mate 100", "mate -100"], "; mate_threshold=29000;"),
        ("mates", mates, ["mate 5", "mate -3"], ""),
        ("normal", mates, ["cp 11", "cp -9"], ""),
    ];
    for (mode, units, expected, named) in table {
        let mut fake = Fake::new(mode);
        fake.spec.units = units;
        let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
        let knight_up = "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        let batch = ["w", "b"].map(|turn| position(&format!("{knight_up} {turn} KQkq - 0 1")));
        let verdicts = pool.score(batch.to_vec()).await.unwrap();
        assert_eq!(texts(&verdicts), expected, "{mode} {units:?}");
        assert!(pool.identity().to_string().contains(named), "{}", pool.identity());
    }
}

/// A view is told by pawns, not by whatever the engine counts in.
#[tokio::test]
async fn whites_view_is_found_out_in_any_unit() {
    let mut fake = Fake::new("whites-view");
    for (cp_scale, view) in [(0.9, Pov::White), (0.01, Pov::SideToMove)] {
        fake.spec.units.cp_scale = cp_scale;
        let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
        assert_eq!(pool.identity().pov, view, "{cp_scale}");
    }
}

#[tokio::test]
async fn arguments_and_a_tag_make_another_engine() {
    let mut fake = Fake::new("normal");
    let mut identities = Vec::new();
    for (tag, extra, matter) in
        [("", None, true), ("b", None, true), ("", Some("--big"), true), ("", None, false)]
    {
        fake.spec.tag = tag.to_owned();
        fake.spec.command.truncate(3);
        fake.spec.command.extend(extra.map(Into::into));
        fake.spec.arguments_matter = matter;
        let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
        identities.push(pool.identity().to_string());
    }
    assert!(identities[1].contains("; tag=b;") && identities[2].contains(" --big;"));
    // So it was called before anybody looked at arguments.
    let plain = "uci ucinewgame; Fake 1; EvalFile=fake.net; Hash=4; Threads=1; depth 4";
    assert_eq!(identities[3], plain);
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), 4);
}

/// Chances that are needed are found out to be missing before a run begins.
#[tokio::test]
async fn chances_that_are_needed_must_be_said() {
    let mut fake = Fake::new("normal");
    fake.spec.chances = true;
    let error = start_error(fake.spec.clone()).await;
    assert_eq!(error.name(), "CONFIG");
    for part in ["Fake 1", "UCI_ShowWDL", "threshold.win_min_wdl"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let mut fake = Fake::new("chances-but-on");
    fake.spec.chances = true;
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let batch = vec![after("e4"), after("e4 c5"), after("f3 e5 g4 Qh4")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 1", "NO_SCORE", "mate -0"]);
}

#[tokio::test]
async fn whites_view_is_found_out_and_turned_round() {
    let (verdicts, ..) = score_three("whites-view").await;
    assert_eq!(verdicts, ["cp 1", "cp -1", "cp -1"]);
    // What is declared is not found out.
    let mut fake = Fake::new("whites-view");
    fake.spec.pov = Pov::SideToMove;
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    assert_eq!(texts(&pool.score(three()).await.unwrap()), ["cp 1"; 3]);
}

#[tokio::test]
async fn whites_view_is_declared_or_clear() {
    // An engine that always says +60 means the side to move, as UCI has it.
    let (verdicts, ..) = score_three("constant").await;
    assert_eq!(verdicts, ["cp 60"; 3]);
    let table = [("constant", ["cp 60", "cp -60"]), ("mates", ["mate 5", "mate 3"])];
    for (mode, expected) in table {
        let mut fake = Fake::new(mode);
        fake.spec.pov = Pov::White;
        let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
        let verdicts = pool.score(vec![after(""), after("e4")]).await.unwrap();
        assert_eq!(texts(&verdicts), expected);
        assert!(pool.identity().to_string().contains("pov=white"));
    }
}

#[tokio::test]
async fn a_slow_start_is_waited_for() {
    let (verdicts, ..) = score_three("slow-start").await;
    assert_eq!(verdicts, ["cp 1"; 3]);
}

/// Two dozen more than start at a time: that many wait for their turn.
#[tokio::test]
async fn engines_start_a_few_at_a_time() {
    let mut fake = Fake::new("slow-start");
    fake.spec.startup = Duration::from_secs(60);
    let pool = Pool::start(fake.spec.clone(), 40).await.unwrap();
    assert_eq!(pool.health().alive, 40);
    let log = fake.log();
    let begun = log.iter().rposition(|line| line.starts_with("go")).unwrap();
    let (mut starting, mut most) = (0, 0);
    for line in &log[begun..] {
        starting += i32::from(line.starts_with("start")) - i32::from(line == "isready");
        most = most.max(starting);
    }
    assert!((2..=16).contains(&most), "{most} start at a time");
}

#[tokio::test]
async fn an_engine_that_exits_at_once_is_started_once() {
    let fake = Fake::new("exit-127");
    let error = start_error(fake.spec.clone()).await;
    assert_eq!(error.name(), "ENGINE_START");
    let text = error.to_string();
    for part in [FAKEUCI, "exit-127", "exit code 127", "cannot run on this machine"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(fake.count("start"), 1);
}

#[tokio::test]
async fn an_engine_that_never_gets_ready_is_refused() {
    for mode in ["no-uciok", "no-input"] {
        let mut fake = Fake::new(mode);
        fake.spec.startup = Duration::from_millis(300);
        let error = start_error(fake.spec.clone()).await;
        assert!(error.to_string().contains("no `uciok` within 0.3 s"), "{error}");
    }
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_places_tried() {
    let spec = EngineSpec::new(["no-such-engine"], Limit::Depth(1));
    let text = start_error(spec).await.to_string();
    assert!(text.contains("/usr/games/no-such-engine"), "{text}");
    let spec = EngineSpec::new(["/no/such/engine"], Limit::Depth(1));
    let text = start_error(spec).await.to_string();
    assert!(text.contains("tried /no/such/engine"), "{text}");
    let error = start_error(EngineSpec::new([""; 0], Limit::Depth(1))).await;
    assert!(error.to_string().contains("no program is named"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("engine");
    std::fs::write(&file, "no program").unwrap();
    let error = start_error(EngineSpec::new([&file], Limit::Depth(1))).await;
    let ScorerError::EngineStart { failure: StartFailure::Spawn { program, .. }, .. } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(program, &file);
}

#[tokio::test]
async fn an_unknown_option_is_refused_with_the_nearest() {
    let mut fake = Fake::new("normal");
    fake.spec.options.insert("Hsah".to_owned(), "16".to_owned());
    let error = start_error(fake.spec.clone()).await;
    assert_eq!(error.name(), "CONFIG");
    assert!(error.to_string().contains("did you mean \"Hash\"?"), "{error}");

    fake.spec.options = [("hash".to_owned(), "16".to_owned())].into();
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    assert!(pool.identity().to_string().contains("Hash=16"));
    assert_eq!(fake.count("setoption name Hash value 16"), 1);
}

#[tokio::test]
async fn shutdown_waits_for_nobody_long() {
    let start = Instant::now();
    for mode in ["dies-on-quit", "deaf-to-quit"] {
        let (verdicts, ..) = score_three(mode).await;
        assert_eq!(verdicts, ["cp 1"; 3]);
    }
    // In the middle of a search.
    let mut fake = Fake::new("hang-on");
    fake.spec.timeout = Duration::from_secs(60);
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let moment = tokio::time::sleep(Duration::from_millis(200));
    let (verdicts, ()) = tokio::join!(pool.score(vec![after("e4 c5")]), async {
        moment.await;
        pool.shutdown().await;
    });
    assert!(matches!(verdicts, Err(ScorerError::Closed)));
    assert_eq!(fake.pids().len(), 2, "nothing is started after a shutdown");
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
#[cfg(unix)]
async fn engines_have_groups_of_their_own() {
    let fake = Fake::new("normal");
    let _pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    for pid in fake.pids() {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        assert_eq!(rustix::process::getpgid(Some(pid)), Ok(pid));
    }
}

#[tokio::test]
#[cfg(unix)]
async fn dropping_the_pool_kills_whole_groups() {
    let mut fake = Fake::new("deaf-to-quit");
    // A shell between the pool and the engine, as wrapper scripts are.
    let script = ["sh", "-c", "\"$@\"; true", "sh"].map(Into::into);
    fake.spec.command.splice(0..0, script);
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    pool.score(three()).await.unwrap();
    drop(pool);
    let pids = fake.pids();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        wait_for_the_end(pid).await;
    }
}

#[cfg(unix)]
async fn wait_for_the_end(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is dead enough: whoever inherits it will reap it.
    let ended = || rustix::process::test_kill_process(pid).is_err() || state().contains(") Z ");
    for _ in 0..100 {
        if ended() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {pid} is still there");
}

#[tokio::test]
async fn memory_spares_the_engines() {
    let fake = Fake::new("mute-on");
    let cached = Cached::new(Pool::start(fake.spec.clone(), 2).await.unwrap(), 1000);
    let batch = || vec![after("e4 c5"), after("e4"), after("e4"), after("e4 c5")];
    let expected = ["NO_SCORE", "cp 1", "cp 1", "NO_SCORE"];
    assert_eq!(texts(&cached.score(batch()).await.unwrap()), expected);
    let searches = fake.count("go");
    assert_eq!(texts(&cached.score(batch()).await.unwrap()), expected);
    assert_eq!(fake.count("go"), searches);
    assert_eq!(cached.health().cached, 6);
}
