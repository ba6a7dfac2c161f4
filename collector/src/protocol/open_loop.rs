//! Requests that are due by a schedule, whatever becomes of those before them: an absolute one, so that a slow answer
//! delays no later request and the wait of our own queue is seen.

use std::time::{Duration, Instant};

use dyno_shared::statistics::rng::Rng;
use dyno_shared::workload::Arrival;
use tokio::task::{JoinError, JoinSet};

use super::rig::{Rig, Sending, Sent};
use crate::stream::Observed;
use crate::transport::{Ask, Target, not_sent, open};
use crate::workload::{Prompt, tag};

/// How long before its request is due a connection is opened: longer than any usual set-up, shorter than a server
/// keeps an idle one.
const LEAD: Duration = Duration::from_millis(500);

/// The last stretch before a request is due, which is not slept but watched: timers are a millisecond coarse.
const WATCHED: Duration = Duration::from_millis(2);

impl Rig<'_> {
    /// Sends each prompt when it is due.
    pub(super) async fn send_on_schedule(&self, sending: &Sending<'_>, prompts: Vec<Prompt>) -> Sent {
        let arrival = sending.case.arrival.unwrap_or(Arrival::Constant { per_s: 1.0 });
        // The tag of the first prompt: the same schedule on every set-up of the series.
        let seed = prompts.first().map_or(0, |prompt| tag::seed_of(&prompt.tag));
        let due = schedule(arrival, prompts.len(), seed);
        let asks = self.asks(&prompts, &sending.sampling);
        let limit = sending.case.concurrency.max(1) as usize;
        let (run, observed) = self
            .window(sending.number, async |start| {
                drive(self.target, asks.into_iter().zip(due).collect(), limit, start).await
            })
            .await;
        self.judged(sending, run, prompts, observed)
    }
}

/// When each of `count` requests is due, after the first could be.
fn schedule(arrival: Arrival, count: usize, seed: u64) -> Vec<Duration> {
    let mut rng = Rng::new(seed);
    let mut at = 0.0;
    let due = (0..count).map(|k| match arrival {
        // Products and not sums, so that no error adds up.
        Arrival::Constant { per_s } => k as f64 / per_s,
        Arrival::Poisson { per_s } => {
            at -= (1.0 - rng.next_f64()).ln() / per_s;
            at
        }
    });
    due.map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX / 4)).collect()
}

/// Sends each when it is due, or when fewer than `limit` are under way; the answers in the order of the schedule.
async fn drive(
    target: &Target,
    asks: Vec<(Ask, Duration)>,
    limit: usize,
    run_start: Instant,
) -> Vec<Observed> {
    let first = Instant::now() + LEAD;
    let (mut under_way, mut ended) = (JoinSet::new(), Vec::with_capacity(asks.len()));
    for (place, (mut ask, after)) in asks.into_iter().enumerate() {
        let due = first + after;
        ask.t_due = Some(due);
        sleep_until(due.checked_sub(LEAD)).await;
        while let Some(done) = under_way.try_join_next() {
            ended.push(unbroken(done));
        }
        while under_way.len() >= limit
            && let Some(done) = under_way.join_next().await
        {
            ended.push(unbroken(done));
        }
        let target = target.clone();
        under_way.spawn(async move { (place, one(&target, ask, due, run_start).await) });
    }
    ended.extend(under_way.join_all().await);
    ended.sort_unstable_by_key(|(place, _)| *place);
    ended.into_iter().map(|(_, observed): (usize, Observed)| observed).collect()
}

/// What a task gave; its panic goes on here.
fn unbroken<T>(done: Result<T, JoinError>) -> T {
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn one(target: &Target, ask: Ask, due: Instant, run_start: Instant) -> Observed {
    match open(target).await {
        Ok(connection) => {
            sleep_until(due.checked_sub(WATCHED)).await;
            while Instant::now() < due {
                // Other streams are read meanwhile.
                tokio::task::yield_now().await;
            }
            connection.send(ask, run_start).await
        }
        Err(error) => not_sent(&ask, run_start, error),
    }
}

async fn sleep_until(at: Option<Instant>) {
    if let Some(at) = at.filter(|at| *at > Instant::now()) {
        tokio::time::sleep_until(at.into()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_stand_at_equal_distances_and_no_error_adds_up() {
        let due = schedule(Arrival::Constant { per_s: 3.0 }, 3_001, 1);
        assert_eq!(due[0], Duration::ZERO);
        assert!((due[3_000].as_secs_f64() - 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_independent_users() {
        let due = schedule(Arrival::Poisson { per_s: 4.0 }, 20_000, 9);
        let gaps: Vec<f64> =
            due.windows(2).map(|pair| pair[1].as_secs_f64() - pair[0].as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 0.25).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05, "an exponential's deviation is its mean");
        assert_eq!(due, schedule(Arrival::Poisson { per_s: 4.0 }, 20_000, 9), "the seed decides");
        assert_ne!(due, schedule(Arrival::Poisson { per_s: 4.0 }, 20_000, 10));
    }
}
