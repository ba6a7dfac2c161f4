//! A batch: every connection first, then all requests at once. No lock and no channel stands between two streams.

use std::time::Instant;

use tokio::task::JoinSet;

use crate::stream::Observed;
use crate::transport::{Ask, Target, not_sent, open, open_many};

/// Sends all of them at one moment and observes each to its end; the answers in the order of `asks`.
///
/// Every request is due once all connections stand: setting them up is timed apart. Dropping the future closes them.
pub(super) async fn drive(target: &Target, asks: Vec<Ask>, run_start: Instant) -> Vec<Observed> {
    let connections = open_many(target, asks.len()).await;
    let due = Instant::now();
    let mut streams = JoinSet::new();
    for (place, (mut ask, connection)) in asks.into_iter().zip(connections).enumerate() {
        ask.t_due = Some(due);
        streams.spawn(async move {
            let observed = match connection {
                Ok(connection) => connection.send(ask, run_start).await,
                Err(error) => not_sent(&ask, run_start, error),
            };
            (place, observed)
        });
    }
    let mut observed = streams.join_all().await;
    observed.sort_unstable_by_key(|(place, _)| *place);
    observed.into_iter().map(|(_, observed)| observed).collect()
}

/// Sends one by itself, due once its connection stands.
pub(super) async fn one(target: &Target, mut ask: Ask, run_start: Instant) -> Observed {
    match open(target).await {
        Ok(connection) => {
            ask.t_due = Some(Instant::now());
            connection.send(ask, run_start).await
        }
        Err(error) => not_sent(&ask, run_start, error),
    }
}
