//! Seconds that a request would take, from the figures of the separate regimes.
//!
//! `seconds = cold prefill(uncached prompt) + cached TTFT(cached prompt) + answer × seconds per token(prompt)`. Each
//! piece is read off measured points of one stream by log-log interpolation. Outside of them the line through the two
//! nearest goes on, and [`Piece::beyond`] says how far. The interval of the sum takes the pieces for independent: its
//! half-widths are the roots of the summed squares of theirs. Where both a cold and a cached part are there, each
//! carries the fixed overhead of a request, so that the sum counts it twice.

use crate::index::{Cell, Row};
use crate::query::rank_value;
use crate::workload::Regime;

/// What is asked of an engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// Tokens of the prompt.
    pub prompt_tokens: f64,
    /// Tokens of the answer.
    pub answer_tokens: f64,
    /// Share of the prompt that the engine has in its cache, 0 to 1.
    pub cached_share: f64,
}

/// A part of the request's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Seconds.
    pub seconds: f64,
    /// 95 % interval in seconds; `None` where a figure under it has none.
    pub interval: Option<(f64, f64)>,
    /// How many times longer or shorter than any measured length; 1 within them.
    pub beyond: f64,
}

/// What a request takes on one submission.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTime {
    /// Prefill of the part that is not cached; `None` where nothing is uncached or it is not known.
    pub cold: Option<Piece>,
    /// Time to first token of the cached part; likewise.
    pub cached: Option<Piece>,
    /// The answer; likewise.
    pub answer: Option<Piece>,
    /// All of it; `None` where a piece is missing.
    pub total: Option<Piece>,
    /// Why there is no total.
    pub missing: Vec<&'static str>,
}

/// A measured place of a curve: tokens, and seconds with their ends.
#[derive(Debug, Clone, Copy)]
struct Point {
    tokens: f64,
    seconds: f64,
    ends: Option<(f64, f64)>,
}

/// Lengths nearer to each other than this factor are one length: what differs between them is the workload.
const SAME_LENGTH: f64 = 1.25;

/// The tokens at which a row without a stated length stands, so that short decode cases have a place.
const SHORT: f64 = 64.0;

/// What `request` takes, by the rows of one submission. Rows of several streams say nothing of one and are not used.
pub fn request_time(rows: &[&Row], request: Request) -> RequestTime {
    let asked = [request.prompt_tokens, request.answer_tokens, request.cached_share];
    if asked.iter().any(|x| !x.is_finite()) {
        let missing = vec!["the request is not a number"];
        return RequestTime { cold: None, cached: None, answer: None, total: None, missing };
    }
    let prompt = request.prompt_tokens.max(0.0);
    let cached_tokens = prompt * request.cached_share.clamp(0.0, 1.0);
    let uncached = prompt - cached_tokens;
    let mut missing = Vec::new();
    let mut piece = |wanted: bool, why: &'static str, points: Vec<Point>, at: f64, slope: Slope| {
        let found = wanted.then(|| read(&points, at, slope)).flatten();
        if wanted && found.is_none() {
            missing.push(why);
        }
        found
    };
    let cold = piece(
        uncached >= 1.0,
        "no cold prefill measured",
        first_tokens(rows, Regime::ColdPrefill),
        uncached,
        Slope { alone: 1.0, steepest: 2.0 },
    );
    let cached = piece(
        cached_tokens >= 1.0,
        "no cached prefix measured",
        first_tokens(rows, Regime::CachedPrefix),
        cached_tokens,
        Slope { alone: 0.0, steepest: 1.0 },
    );
    let answer = piece(
        request.answer_tokens >= 1.0,
        "no decode rate measured",
        token_times(rows),
        prompt.max(1.0),
        Slope { alone: 0.0, steepest: 1.0 },
    )
    .map(|of| of.times(request.answer_tokens));
    let total = missing.is_empty().then(|| sum(&[cold, cached, answer]));
    RequestTime { cold, cached, answer, total, missing }
}

/// Indices of `times` with the fastest total first; without a total they come last, as they stood.
pub fn fastest_first(times: &[RequestTime]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    let key = |i: &usize| times[*i].total.map_or(f64::INFINITY, |total| total.seconds);
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    order
}

impl Piece {
    fn times(self, factor: f64) -> Self {
        Self {
            seconds: self.seconds * factor,
            interval: self.interval.map(|(low, high)| (low * factor, high * factor)),
            ..self
        }
    }
}

/// How a curve goes on beyond its points, in log-log.
#[derive(Clone, Copy)]
struct Slope {
    /// With one point.
    alone: f64,
    /// At most; never falling.
    steepest: f64,
}

fn first_tokens(rows: &[&Row], regime: Regime) -> Vec<Point> {
    let mut points = Vec::new();
    for row in rows.iter().filter(|row| row.regime == regime && row.concurrency == 1) {
        let Some(tokens) = row.prompt_tokens.filter(|tokens| *tokens >= 1.0 && tokens.is_finite()) else {
            continue;
        };
        let tokens = if regime == Regime::CachedPrefix {
            row.depth_tokens.map_or(tokens, |depth| (depth as f64).max(tokens))
        } else {
            tokens
        };
        let time = known(row, &["client_wall_ttft_s", "engine_ttft_s"]);
        let rates = ["client_wall_prefill_tok_s", "engine_prefill_tok_s", "prefill, tok/s"];
        let point = match time.and_then(|cell| direct(tokens, cell)) {
            None if regime == Regime::ColdPrefill => {
                known(row, &rates).and_then(|cell| inverse(tokens, tokens, cell))
            }
            point => point,
        };
        points.extend(point);
    }
    merged(points)
}

fn token_times(rows: &[&Row]) -> Vec<Point> {
    let mut points = Vec::new();
    for row in rows.iter().filter(|row| row.concurrency == 1) {
        let tokens = match row.regime {
            Regime::Decode => row.prompt_tokens.unwrap_or(SHORT).max(SHORT),
            Regime::DecodeAtDepth => {
                let tokens = row.depth_tokens.unwrap_or(0) as f64 + row.prompt_tokens.unwrap_or(0.0);
                if tokens < 1.0 {
                    continue;
                }
                tokens
            }
            _ => continue,
        };
        let rates = ["client_wall_decode_tok_s", "engine_decode_tok_s", "decode, tok/s"];
        let cell = known(row, &rates);
        points.extend(cell.and_then(|cell| inverse(tokens, 1.0, cell)));
    }
    merged(points)
}

/// The first of these figures that a row has: the client's before the engine's, and the source's own last.
fn known<'r>(row: &'r Row, tags: &[&str]) -> Option<&'r Cell> {
    tags.iter().find_map(|tag| row.cells.get(tag))
}

fn positive(x: f64) -> bool {
    x.is_finite() && x > 0.0
}

fn direct(tokens: f64, cell: &Cell) -> Option<Point> {
    let ends = cell.low.zip(cell.high).filter(|(low, high)| positive(*low) && positive(*high));
    // A stated range is no interval: it has a middle, and no ends.
    rank_value(cell).filter(|x| positive(*x)).map(|seconds| Point { tokens, seconds, ends })
}

/// `work` tokens at the rate of a cell.
fn inverse(tokens: f64, work: f64, cell: &Cell) -> Option<Point> {
    let rate = direct(tokens, cell)?;
    let ends = rate.ends.map(|(low, high)| (work / high, work / low));
    Some(Point { tokens, seconds: work / rate.seconds, ends })
}

/// In the order of their lengths, those of about one length as their geometric mean.
fn merged(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.tokens.total_cmp(&b.tokens));
    let mut all: Vec<Point> = Vec::new();
    let mut from = 0;
    while let Some(first) = points.get(from) {
        let to = points.partition_point(|point| point.tokens < first.tokens * SAME_LENGTH).max(from + 1);
        all.push(mean(&points[from..to]));
        from = to;
    }
    all
}

fn mean(points: &[Point]) -> Point {
    let of = |pick: &dyn Fn(&Point) -> f64| {
        let sum: f64 = points.iter().map(|point| libm::log(pick(point))).sum();
        libm::exp(sum / points.len() as f64)
    };
    let known = points.iter().all(|point| point.ends.is_some());
    let end = |pick: fn((f64, f64)) -> f64| of(&move |p: &Point| p.ends.map_or(p.seconds, pick));
    Point {
        tokens: of(&|p| p.tokens),
        seconds: of(&|p| p.seconds),
        ends: known.then(|| (end(|e| e.0), end(|e| e.1))),
    }
}

/// The curve at `at` tokens; `None` without a point.
fn read(points: &[Point], at: f64, slope: Slope) -> Option<Piece> {
    let (first, last) = (points.first()?, points.last()?);
    let beyond = (first.tokens / at).max(at / last.tokens).max(1.0);
    let right = points.partition_point(|point| point.tokens < at).clamp(1, points.len().max(2) - 1);
    let a = points.get(right - 1)?;
    let b = points.get(right).unwrap_or(a);
    let way = libm::log(b.tokens / a.tokens);
    let outside = beyond > 1.0;
    // Beyond the points only the point at the edge counts, and a slope that measurement cannot turn absurd.
    let edge = if at < first.tokens { a } else { b };
    let line = |pick: &dyn Fn(&Point) -> f64| {
        if way <= 0.0 {
            return pick(a) * libm::pow(at / a.tokens, slope.alone);
        }
        let steep = libm::log(pick(b) / pick(a)) / way;
        if outside {
            let steep = libm::log(b.seconds / a.seconds) / way;
            return pick(edge) * libm::pow(at / edge.tokens, steep.clamp(0.0, slope.steepest));
        }
        pick(a) * libm::pow(at / a.tokens, steep)
    };
    let known = a.ends.is_some() && b.ends.is_some();
    let end = |pick: fn((f64, f64)) -> f64| line(&move |p: &Point| p.ends.map_or(p.seconds, pick));
    Some(Piece {
        seconds: line(&|p| p.seconds),
        interval: known.then(|| (end(|e| e.0), end(|e| e.1))),
        beyond,
    })
}

fn sum(pieces: &[Option<Piece>]) -> Piece {
    let (mut seconds, mut beyond, mut below, mut above, mut known) = (0.0, 1.0_f64, 0.0, 0.0, true);
    for piece in pieces.iter().flatten() {
        seconds += piece.seconds;
        beyond = beyond.max(piece.beyond);
        match piece.interval {
            Some((low, high)) => {
                below += (piece.seconds - low) * (piece.seconds - low);
                above += (high - piece.seconds) * (high - piece.seconds);
            }
            None => known = false,
        }
    }
    let interval = known.then(|| ((seconds - below.sqrt()).max(0.0), seconds + above.sqrt()));
    Piece { seconds, interval, beyond }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    fn row(regime: Regime, tokens: f64, tag: &str, value: f64, share: f64) -> Row {
        let mut cells = Named::default();
        cells.get_or_insert(tag, || Cell {
            value: Some(value),
            low: Some(value * (1.0 - share)),
            high: Some(value * (1.0 + share)),
            range: None,
            n: Some(8),
            statistic: None,
        });
        Row {
            entry: 0,
            case: "case".into(),
            regime,
            workload: "code".into(),
            concurrency: 1,
            prompt_tokens: Some(tokens),
            depth_tokens: None,
            runs: Some(8),
            failed: 0,
            warnings: Vec::new(),
            cells,
        }
    }

    fn engine(prefill_s: f64, decode_tok_s: f64) -> Vec<Row> {
        vec![
            row(Regime::ColdPrefill, 2_000.0, "client_wall_ttft_s", prefill_s, 0.1),
            row(Regime::ColdPrefill, 8_000.0, "client_wall_ttft_s", prefill_s * 4.0, 0.1),
            row(Regime::Decode, 50.0, "client_wall_decode_tok_s", decode_tok_s, 0.1),
        ]
    }

    fn timed(rows: &[Row], prompt_tokens: f64, answer_tokens: f64, cached_share: f64) -> RequestTime {
        let rows: Vec<&Row> = rows.iter().collect();
        request_time(&rows, Request { prompt_tokens, answer_tokens, cached_share })
    }

    #[test]
    fn a_long_fresh_prompt_and_a_long_answer_order_two_engines_the_other_way_round() {
        let (reads_fast, writes_fast) = (engine(1.0, 20.0), engine(4.0, 60.0));
        let order = |prompt, answer| {
            fastest_first(&[
                timed(&reads_fast, prompt, answer, 0.0),
                timed(&writes_fast, prompt, answer, 0.0),
            ])
        };
        assert_eq!(order(8_000.0, 20.0), [0, 1]);
        assert_eq!(order(2_000.0, 2_000.0), [1, 0]);
    }

    #[test]
    fn lengths_between_the_measured_ones_are_interpolated_and_the_interval_is_made_in_quadrature() {
        let of = timed(&engine(1.0, 20.0), 4_000.0, 40.0, 0.0);
        let (cold, total) = (of.cold.unwrap(), of.total.unwrap());
        assert!((cold.seconds - 2.0).abs() < 1e-9 && (cold.beyond - 1.0).abs() < 1e-12);
        assert!((total.seconds - 4.0).abs() < 1e-9);
        let half = 4.0 - total.interval.unwrap().0;
        let answer = 2.0 - 2.0 / 1.1;
        assert!((half - (0.2_f64 * 0.2 + answer * answer).sqrt()).abs() < 1e-9, "{half}");
    }

    #[test]
    fn beyond_the_longest_prompt_it_says_how_far() {
        let cold = timed(&engine(1.0, 20.0), 32_000.0, 0.0, 0.0).cold.unwrap();
        assert!((cold.seconds - 16.0).abs() < 1e-9 && (cold.beyond - 4.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_missing_has_no_total_and_comes_last() {
        let whole = engine(1.0, 20.0);
        let no_cold = vec![row(Regime::Decode, 50.0, "client_wall_decode_tok_s", 90.0, 0.1)];
        let without = timed(&no_cold, 2_000.0, 100.0, 0.0);
        assert_eq!((without.total, without.missing.as_slice()), (None, &["no cold prefill measured"][..]));
        let times = [without, timed(&whole, 2_000.0, 100.0, 0.0)];
        assert_eq!(fastest_first(&times), [1, 0]);
        assert_eq!(timed(&whole, 2_000.0, 9.0, 0.5).missing, ["no cached prefix measured"]);
        let mut absurd = engine(0.0, f64::NAN);
        absurd.truncate(3);
        assert_eq!(timed(&absurd, 2_000.0, 9.0, 0.0).missing.len(), 2);
    }

    #[test]
    fn a_figure_without_an_interval_leaves_the_sum_without_one() {
        let mut rows = engine(1.0, 20.0);
        rows[2] = row(Regime::Decode, 50.0, "engine_decode_tok_s", 20.0, 0.0);
        let mut cell = rows[2].cells.get("engine_decode_tok_s").unwrap().clone();
        (cell.low, cell.high) = (None, None);
        rows[2].cells = Named::default();
        rows[2].cells.get_or_insert("engine_decode_tok_s", || cell);
        let total = timed(&rows, 2_000.0, 100.0, 0.0).total.unwrap();
        assert_eq!(total.interval, None);
    }

    #[test]
    fn a_request_that_is_no_number_has_no_time() {
        for (prompt, answer, share) in [(f64::NAN, 1.0, 0.0), (1.0, f64::INFINITY, 0.0), (1.0, 1.0, f64::NAN)]
        {
            assert_eq!(timed(&engine(1.0, 20.0), prompt, answer, share).total, None);
        }
    }

    #[test]
    fn several_streams_say_nothing_of_one() {
        let mut rows = engine(1.0, 20.0);
        rows[2].concurrency = 8;
        assert_eq!(timed(&rows, 2_000.0, 100.0, 0.0).missing, ["no decode rate measured"]);
    }

    #[test]
    fn published_rows_of_one_card_reverse_between_reading_and_writing() {
        let of = |path: &str| {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/").to_owned() + path;
            let shard = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let mut page = crate::index::IndexPage::default();
            page.push("a", &shard);
            page.rows()
        };
        let engines = [
            of("ollama/2026-08-29/quadro-rtx-4000--qwen3.6-35b-a3b--q4-k-m-cpu-gpu.json"),
            of("freetoken/2026-08-29/quadro-rtx-4000--qwen3.6-35b-a3b--q4-k-offload.json"),
        ];
        let order = |prompt, answer| {
            let times = engines.each_ref().map(|rows| timed(rows, prompt, answer, 0.0));
            assert!(times.iter().all(|time| time.total.is_some()), "{times:?}");
            fastest_first(&times)
        };
        assert_ne!(order(8_000.0, 8.0), order(200.0, 2_000.0));
    }
}
