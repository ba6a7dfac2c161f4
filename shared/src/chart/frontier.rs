//! The points that no other point beats in both directions.

/// Indices of the points that are not dominated, by rising `x`; larger is better in both. A point is dominated where
/// another has as much of one and more of the other. Of points that tie in both, the first in the list stands for all. Points
/// that are not finite and positive are no candidates: a log axis cannot show them.
pub fn frontier(points: &[(f64, f64)]) -> Vec<usize> {
    let good = |x: f64| x.is_finite() && x > 0.0;
    let mut order: Vec<usize> =
        (0..points.len()).filter(|&i| good(points[i].0) && good(points[i].1)).collect();
    order.sort_by(|&a, &b| points[b].0.total_cmp(&points[a].0).then(points[b].1.total_cmp(&points[a].1)));
    let mut best = 0.0;
    order.retain(|&i| {
        let better = points[i].1 > best;
        best = points[i].1.max(best);
        better
    });
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::frontier;

    #[test]
    fn dominated_and_tied_points_are_not_on_the_line() {
        let points = [(1.0, 9.0), (2.0, 8.0), (2.0, 7.0), (1.5, 7.5), (3.0, 8.0), (3.0, 8.0), (4.0, 1.0)];
        assert_eq!(frontier(&points), [0, 4, 6]);
    }

    #[test]
    fn what_no_axis_can_show_is_no_candidate() {
        assert!(frontier(&[(f64::NAN, 1.0), (1.0, 0.0), (f64::INFINITY, 5.0), (2.0, -1.0)]).is_empty());
        assert!(frontier(&[]).is_empty());
    }
}
