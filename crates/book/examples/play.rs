//! Plays a game from a book: `cargo run -p tabiya-book --example play BOOK`.

use shakmaty::{Chess, Position, san::SanPlus};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("which book?")?;
    // Any format, told by its content.
    let book = tabiya_book::open(path)?;
    let mut position = Chess::default();
    let mut moves = Vec::new();
    loop {
        // Best first; a weight of 0 says "never".
        book.probe(&position, &mut moves)?;
        let Some(best) = moves.iter().find(|found| found.is_playable()) else { break };
        println!("{}  {}", SanPlus::from_move(position.clone(), best.m), best.weight);
        position.play_unchecked(best.m);
    }
    Ok(())
}
