//! All entries in order, in memory or merged from runs.

use std::{cmp::Reverse, collections::BinaryHeap, path::PathBuf};

use tabiya_model::{Entry, PackedMove, PositionKey};

use super::{
    order,
    run::{RunReader, RunWriter, remove},
};
use crate::{Error, crash};

/// What was counted. Can be walked as often as there are books to write.
pub(crate) struct Sorted {
    spill: PathBuf,
    runs: Vec<PathBuf>,
    spilled: u64,
    memory: Vec<Entry>,
}

impl Sorted {
    pub(super) fn new(spill: PathBuf) -> Sorted {
        Sorted { spill, runs: Vec::new(), spilled: 0, memory: Vec::new() }
    }

    /// Writes sorted entries to a run, and merges all runs into one once there are `most`.
    pub(super) fn spill(&mut self, entries: &[Entry], most: usize) -> Result<(), Error> {
        let mut run = self.create_run()?;
        for entry in entries {
            run.push(entry)?;
        }
        self.runs.push(run.finish()?);
        crash::point("run-spilled");
        if self.runs.len() < most {
            return Ok(());
        }
        let mut merged = self.create_run()?;
        self.merge(|entry| merged.push(entry))?;
        let merged = merged.finish()?;
        for run in std::mem::replace(&mut self.runs, vec![merged]) {
            remove(&run)?;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, entries: Vec<Entry>) {
        self.memory = entries;
    }

    fn create_run(&mut self) -> Result<RunWriter, Error> {
        self.spilled += 1;
        RunWriter::create(self.spill.join(format!("{:06}.run", self.spilled)))
    }

    /// Calls `each` for every position, in order, with its moves in order.
    pub(crate) fn positions(
        &self,
        mut each: impl FnMut(&[Entry]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.runs.is_empty() {
            return self.memory.chunk_by(|a, b| a.key == b.key).try_for_each(each);
        }
        let mut position: Vec<Entry> = Vec::new();
        self.merge(|entry| {
            if position.first().is_some_and(|first| first.key != entry.key) {
                each(&position)?;
                position.clear();
            }
            position.push(*entry);
            Ok(())
        })?;
        if position.is_empty() { Ok(()) } else { each(&position) }
    }

    /// Calls `each` for every entry, in order, tallies of the same one added up.
    fn merge(&self, mut each: impl FnMut(&Entry) -> Result<(), Error>) -> Result<(), Error> {
        let mut memory = self.memory.iter().copied();
        let mut runs = Vec::with_capacity(self.runs.len());
        for path in &self.runs {
            runs.push(RunReader::open(path)?);
        }
        let mut next = |source: usize| match runs.get_mut(source) {
            Some(run) => run.next(),
            None => Ok(memory.next()),
        };
        let mut heads = BinaryHeap::with_capacity(self.runs.len() + 1);
        for source in 0..=self.runs.len() {
            heads.extend(next(source)?.map(|entry| Head::new(entry, source)));
        }
        let mut current: Option<Entry> = None;
        while let Some(Head { entry, source, .. }) = heads.pop() {
            heads.extend(next(source)?.map(|entry| Head::new(entry, source)));
            match &mut current {
                Some(same) if order(same) == order(&entry) => same.tally.add(&entry.tally),
                _ => {
                    if let Some(done) = current.replace(entry) {
                        each(&done)?;
                    }
                }
            }
        }
        current.iter().try_for_each(each)
    }
}

/// The next entry of one source. The least comes first out of a heap.
struct Head {
    order: Reverse<(PositionKey, PackedMove)>,
    entry: Entry,
    source: usize,
}

impl Head {
    fn new(entry: Entry, source: usize) -> Head {
        Head { order: Reverse(order(&entry)), entry, source }
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.order == other.order
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::Color;
    use tabiya_model::{Outcome, Score, Tally};

    use super::*;

    fn collect(sorted: &Sorted) -> Vec<Entry> {
        let mut entries = Vec::new();
        sorted
            .positions(|position| {
                entries.extend_from_slice(position);
                Ok(())
            })
            .unwrap();
        entries
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However the games are cut into runs, and however often those are merged.
        #[test]
        fn any_partition_merges_to_the_same(
            games in prop::collection::vec((0..12u64, 0..3u16, -300..300i32), 0..120),
            run in 1..40usize,
            most in 2..5usize,
        ) {
            let entry = |&(key, mv, cp): &(u64, u16, i32)| Entry {
                key: PositionKey(key),
                mv: PackedMove(mv),
                tally: Tally::one(Outcome::White, Color::White, Some(Score::Cp(cp))),
            };
            let count = |games: &[(u64, u16, i32)]| {
                let mut table = super::super::table::Table::new(0);
                games.iter().for_each(|game| table.add(&entry(game)));
                table.into_sorted()
            };
            let dir = tempfile::tempdir().unwrap();
            let mut sorted = Sorted::new(dir.path().to_owned());
            let (spilled, rest) = games.split_at(games.len() / 2);
            for games in spilled.chunks(run) {
                sorted.spill(&count(games), most).unwrap();
            }
            sorted.finish(count(rest));
            prop_assert_eq!(collect(&sorted), count(&games));
            prop_assert!(sorted.runs.len() < most);
        }
    }
}
