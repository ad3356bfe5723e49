//! Data for people: columns that line up.

use std::io::{self, Write};

/// Prints rows under a header, each column as wide as its longest cell; the first `left` columns
/// hold text, the others numbers, which end under each other.
pub(crate) fn table<const N: usize>(
    out: &mut dyn Write,
    left: usize,
    header: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let header = header.map(str::to_owned);
    let all = || std::iter::once(&header).chain(rows);
    let mut widths = [0; N];
    for row in all() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in all() {
        let cells =
            row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
                _ if column < left => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Prints names and their values, the values under each other.
pub(crate) fn facts(out: &mut dyn Write, facts: &[(&str, String)]) -> io::Result<()> {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    facts.iter().try_for_each(|(name, value)| writeln!(out, "{name:<width$}  {value}"))
}

/// Bytes, in the unit that suits them.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let comma = |index: usize| index > 0 && (digits.len() - index).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(index, digit)| comma(index).then_some(',').into_iter().chain([digit]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_off() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        let rows = [["e4".to_owned(), "12".to_owned()], ["exd5".to_owned(), "3".to_owned()]];
        table(&mut out, 1, ["move", "weight"], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "move  weight\ne4        12\nexd5       3\n");
    }
}
