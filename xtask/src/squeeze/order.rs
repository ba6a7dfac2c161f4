//! An order of functions in which a compressor finds what they have in common.
//!
//! gzip looks 32 KiB back and no farther. So each function comes behind those that are most like it: that share the
//! most runs of bytes with what stands just before, a run counting for more the rarer it is.

use std::collections::VecDeque;

/// Bytes in a run.
const RUN: usize = 6;
/// A run in more functions than these says nothing of how alike they are.
const COMMON: usize = 60;
/// Bytes that the compressor still sees; fewer than it could, for what lies far back costs more to point at.
const SIGHT: usize = 28 << 10;

/// The functions, by their places in `bodies`, in the new order.
pub fn order(bodies: &[&[u8]]) -> Vec<usize> {
    let Runs { of, holders } = Runs::find(bodies);
    let weight = |run: usize| (1000.0 / (holders[run].len() as f64).sqrt()) as u64;
    let root: Vec<f64> = bodies.iter().map(|body| (body.len() as f64 + 8.0).sqrt()).collect();
    // What each function shares with those in sight, and how often each run is among them.
    let mut shared = vec![0_u64; bodies.len()];
    let mut seen = vec![0_usize; holders.len()];
    let (mut sight, mut bytes) = (VecDeque::new(), 0);
    let mut rest: Vec<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    while let Some(at) = best(&rest, |i| shared[i] as f64 / root[i]) {
        let next = rest.remove(at);
        order.push(next);
        sight.push_back(next);
        bytes += bodies[next].len();
        for &run in &of[next] {
            seen[run] += 1;
            if seen[run] == 1 {
                for &i in &holders[run] {
                    shared[i] += weight(run);
                }
            }
        }
        while bytes > SIGHT
            && let Some(gone) = sight.pop_front()
        {
            bytes -= bodies[gone].len();
            for &run in &of[gone] {
                seen[run] -= 1;
                if seen[run] == 0 {
                    for &i in &holders[run] {
                        shared[i] -= weight(run);
                    }
                }
            }
        }
    }
    order
}

/// The first place with the highest score.
fn best(rest: &[usize], score: impl Fn(usize) -> f64) -> Option<usize> {
    let mut best = None;
    for (at, &i) in rest.iter().enumerate() {
        let score = score(i);
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((at, score));
        }
    }
    best.map(|(at, _)| at)
}

/// Runs of bytes that some functions share.
struct Runs {
    /// Of each function.
    of: Vec<Vec<usize>>,
    /// The functions that have it, for each run.
    holders: Vec<Vec<usize>>,
}

impl Runs {
    fn find(bodies: &[&[u8]]) -> Self {
        let mut all: Vec<(&[u8], usize)> = bodies
            .iter()
            .enumerate()
            .flat_map(|(i, body)| body.windows(RUN).map(move |run| (run, i)))
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut runs = Self { of: vec![Vec::new(); bodies.len()], holders: Vec::new() };
        for group in all.chunk_by(|a, b| a.0 == b.0).filter(|group| (2..=COMMON).contains(&group.len())) {
            let holders: Vec<usize> = group.iter().map(|(_, i)| *i).collect();
            for &i in &holders {
                runs.of[i].push(runs.holders.len());
            }
            runs.holders.push(holders);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_comes_once_and_alike_ones_together() {
        let bodies: [&[u8]; 5] = [b"abcdefghij", b"0123456789", b"", b"xabcdefghi", b"1234567890"];
        let order = order(&bodies);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        let place = |i: usize| order.iter().position(|&j| j == i).unwrap();
        assert_eq!((place(0).abs_diff(place(3)), place(1).abs_diff(place(4))), (1, 1), "{order:?}");
    }
}
