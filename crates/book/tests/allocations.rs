//! Look-ups take no memory from the system once the book is open.

use std::collections::BTreeMap;

use shakmaty::{Chess, Position};
use tabiya_book::{
    BookWriter, Probe, polyglot,
    sob::{self, Codec},
};
use tabiya_model::{PackedMove, PositionKey};
use tabiya_testkit::{Mix, generate};

const PROBES: usize = 100_000;

#[test]
fn a_hundred_thousand_look_ups_allocate_nothing() {
    let mut asked: Vec<Chess> = Vec::new();
    let mut book: BTreeMap<PositionKey, Vec<(PackedMove, u8)>> = BTreeMap::new();
    for game in generate(5, 600, Mix::CLEAN) {
        let mut position = game.start;
        for (ply, &m) in game.moves.iter().take(40).enumerate() {
            let (key, mv) = (PositionKey::of(&position), PackedMove::new(m));
            asked.push(position.clone());
            position.play_unchecked(m);
            // What comes later is asked for, too, and not there.
            let moves = book.entry(key).or_default();
            if ply < 20 && !moves.iter().any(|&(known, _)| known == mv) {
                moves.push((mv, 1 + (ply % 15) as u8));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut readers: Vec<(String, Box<dyn Probe>)> = Vec::new();
    let path = folder.path().join("book.bin");
    let mut writer = Box::new(polyglot::Writer::create(&path).unwrap());
    for (&key, moves) in &book {
        let moves: Vec<_> = moves.iter().map(|&(m, rank)| (m, rank.into(), 0)).collect();
        writer.weighted(key, &moves).unwrap();
    }
    writer.finish().unwrap();
    readers.push(("PolyGlot".to_owned(), Box::new(polyglot::Reader::open(&path).unwrap())));
    for codec in [Codec::Stored, Codec::Compact, Codec::Lzma, Codec::Zstd] {
        let path = folder.path().join(codec.to_string());
        let mut writer = Box::new(sob::Writer::create(&path, sob::Options::new(codec)).unwrap());
        for (&key, moves) in &book {
            writer.ranked(key, moves).unwrap();
        }
        writer.finish().unwrap();
        let reader = sob::Reader::open(&path).unwrap();
        readers.push((codec.to_string(), Box::new(reader)));
        if matches!(codec, Codec::Stored | Codec::Compact) {
            // With memory for one block, nearly every look-up decodes another.
            let reader = sob::Reader::open(&path).unwrap().with_memory(0);
            readers.push((format!("{codec}, one block"), Box::new(reader)));
        }
    }

    for (name, reader) in &readers {
        let mut moves = Vec::with_capacity(32);
        let mut found = 0;
        let mut ask = |position: &Chess| {
            reader.probe(position, &mut moves).unwrap();
            found += moves.len();
        };
        // The first few: every block of this small book once.
        asked.iter().for_each(&mut ask);
        let info = allocation_counter::measure(|| {
            (0..PROBES).for_each(|probe| ask(&asked[(probe * 7919) % asked.len()]));
        });
        assert_eq!(info.count_total, 0, "{name}");
        assert!(found > PROBES / 4, "{name}");
    }
}
