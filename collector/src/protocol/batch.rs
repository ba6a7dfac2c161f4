//! A batch: every connection first, then all requests at once. No lock and no channel stands between two streams.

use std::time::Instant;

use dyno_shared::record::RequestError;
use tokio::task::JoinSet;

use crate::stream::Observed;
use crate::transport::{Ask, Connection, Target, not_sent, open};

/// Connections that are opened at a time: a server's queue of new ones may be short.
const OPENED_AT_A_TIME: usize = 64;

/// Sends all of them at one moment and observes each to its end; the answers in the order of `asks`.
///
/// Every request is due once all connections stand: setting them up is timed apart. Dropping the future closes them.
pub(super) async fn drive(target: &Target, asks: Vec<Ask>, run_start: Instant) -> Vec<Observed> {
    let connections = connect(target, asks.len()).await;
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

/// Opens so many connections, each timed by itself.
async fn connect(target: &Target, count: usize) -> Vec<Result<Connection, RequestError>> {
    let mut connections = Vec::with_capacity(count);
    while connections.len() < count {
        let mut opening = JoinSet::new();
        for _ in connections.len()..count.min(connections.len() + OPENED_AT_A_TIME) {
            let target = target.clone();
            opening.spawn(async move { open(&target).await });
        }
        connections.extend(opening.join_all().await);
    }
    connections
}
