//! How a game is likely to end.

use std::{fmt, ops::Neg};

/// An engine's chances of a win, a draw and a loss, per mille, from one side's view; the context
/// says whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wdl {
    win: u16,
    draw: u16,
    loss: u16,
}

impl Wdl {
    /// A draw for certain.
    pub(crate) const DRAWN: Wdl = Wdl { win: 0, draw: 1000, loss: 0 };

    /// Chances that make up a whole, give or take what rounding does to them.
    pub fn new(win: u16, draw: u16, loss: u16) -> Option<Wdl> {
        let sum = u32::from(win) + u32::from(draw) + u32::from(loss);
        (995..=1005).contains(&sum).then_some(Wdl { win, draw, loss })
    }

    /// Win, draw and loss.
    pub fn parts(self) -> [u16; 3] {
        [self.win, self.draw, self.loss]
    }

    /// The expected score per mille: a draw is half a win. Never above 1000.
    pub fn expected(self) -> u16 {
        (self.win + self.draw / 2).min(1000)
    }
}

/// The same chances from the other side's view.
impl Neg for Wdl {
    type Output = Wdl;

    fn neg(self) -> Wdl {
        Wdl { win: self.loss, draw: self.draw, loss: self.win }
    }
}

/// As UCI writes it: `120 800 80`.
impl fmt::Display for Wdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.win, self.draw, self.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_make_up_a_whole() {
        for (win, draw, loss) in [(0, 0, 0), (500, 500, 500), (u16::MAX, u16::MAX, u16::MAX)] {
            assert_eq!(Wdl::new(win, draw, loss), None);
        }
        let chances = Wdl::new(333, 333, 333).unwrap();
        assert_eq!(chances.parts(), [333; 3]);
    }

    #[test]
    fn a_draw_is_half_a_win() {
        let chances = Wdl::new(120, 800, 80).unwrap();
        assert_eq!((chances.expected(), (-chances).expected()), (520, 480));
        assert_eq!(chances.to_string(), "120 800 80");
        assert_eq!(Wdl::new(1005, 0, 0).unwrap().expected(), 1000);
    }
}
