//! How far two judges of the same positions agree.

use std::cmp::Ordering;

/// Percent of the pairs for which something holds.
pub(crate) fn share(pairs: &[(i32, i32)], holds: impl Fn((i32, i32)) -> bool) -> f64 {
    let holding = pairs.iter().filter(|pair| holds(**pair)).count();
    100.0 * holding as f64 / pairs.len() as f64
}

/// Percent of the pairs of one sign, where the first is clear about it.
pub(crate) fn same_sign(pairs: &[(i32, i32)]) -> f64 {
    let clear: Vec<(i32, i32)> =
        pairs.iter().copied().filter(|(theirs, _)| theirs.abs() > 50).collect();
    share(&clear, |(theirs, ours)| theirs.signum() == ours.signum())
}

/// Spearman's rank correlation: Pearson's of the ranks, equal values sharing the mean of theirs.
pub(crate) fn spearman(pairs: &[(i32, i32)]) -> f64 {
    let theirs = ranks(pairs.iter().map(|pair| pair.0).collect());
    let ours = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    sum(&theirs, &ours) / (sum(&theirs, &theirs) * sum(&ours, &ours)).sqrt()
}

fn ranks(values: Vec<i32>) -> Vec<f64> {
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let rank = |value: i32| {
        let below = sorted.partition_point(|other| other.cmp(&value) == Ordering::Less);
        let up_to = sorted.partition_point(|other| *other <= value);
        (below + 1 + up_to) as f64 / 2.0
    };
    values.into_iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_measured_by_rank_and_sign() {
        let same = [(-300, -3), (-60, -2), (10, -1), (70, 5), (200, 120)];
        assert!((spearman(&same) - 1.0).abs() < 1e-9);
        assert_eq!(same_sign(&same), 100.0);
        let turned = same.map(|(theirs, ours)| (theirs, -ours));
        assert!((spearman(&turned) + 1.0).abs() < 1e-9);
        assert_eq!(ranks(vec![5, 1, 5]), [2.5, 1.0, 2.5]);
    }
}
