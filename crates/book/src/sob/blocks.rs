//! The blocks that were decoded last.

use crate::Error;

/// Decoded blocks, each in the slot that its number says. All memory is taken at the beginning.
#[derive(Debug)]
pub(super) struct Blocks<T> {
    /// Values that a slot has room for.
    room: usize,
    values: Vec<T>,
    /// Which block is in which slot.
    held: Vec<Option<usize>>,
}

impl<T: Copy + Default> Blocks<T> {
    /// For blocks of at most `room` values; as many as are in `bytes`, at least one.
    pub(super) fn new(room: usize, blocks: usize, bytes: usize) -> Blocks<T> {
        let slots = (bytes / (room.max(1) * size_of::<T>())).min(blocks).max(1);
        Blocks { room, values: vec![T::default(); slots * room], held: vec![None; slots] }
    }

    /// The values of a block, which `decode` gives if they are not here.
    pub(super) fn get(
        &mut self,
        block: usize,
        len: usize,
        decode: impl FnOnce(&mut [T]) -> Result<(), Error>,
    ) -> Result<&[T], Error> {
        let slot = block % self.held.len();
        let values = self.values.get_mut(slot * self.room..).and_then(|rest| rest.get_mut(..len));
        let values = values.unwrap_or_default();
        if let Some(held) = self.held.get_mut(slot).filter(|held| **held != Some(block)) {
            *held = None;
            decode(values)?;
            *held = Some(block);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_decoded_once_while_there_is_room() {
        for (bytes, decoded) in [(0, 6), (12, 5), (100, 3)] {
            let mut blocks = Blocks::<u16>::new(3, 3, bytes);
            let mut times = 0;
            for block in [0, 1, 1, 2, 0, 1, 2] {
                let fill = |values: &mut [u16]| {
                    times += 1;
                    values.fill(block as u16);
                    Ok(())
                };
                assert_eq!(blocks.get(block, 2, fill).unwrap(), [block as u16; 2]);
            }
            assert_eq!(times, decoded, "{bytes}");
        }
    }
}
