//! Engines that run on this machine, on the ports where they usually listen.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::task::JoinSet;

use super::ENGINES;
use super::answers::{MODELS, look, recognise};
use super::identify::served;
use crate::transport::{Method, Target, Timeouts, call};

/// Where engines listen when nobody says otherwise, in the order of the list of engines.
pub static USUAL_PORTS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut ports = Vec::new();
    for &port in ENGINES.iter().flat_map(|engine| engine.ports) {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
});

/// A local port answers slowly only when the machine is busy.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_millis(300),
    first_byte: Duration::from_secs(2),
    idle: Duration::from_secs(2),
    call: Duration::from_secs(2),
};

/// An engine that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its root.
    pub url: String,
    /// Its port.
    pub port: u16,
    /// Its name; empty while it is loading.
    pub engine: String,
    /// The models that it serves.
    pub models: Vec<String>,
    /// It answers 503: not ready yet.
    pub loading: bool,
}

/// Looks at these ports of 127.0.0.1, all at once; what is found comes in the order of the ports.
pub async fn discover(ports: &[u16]) -> Vec<Found> {
    let mut looks = JoinSet::new();
    for (place, &port) in ports.iter().enumerate() {
        looks.spawn(async move { (place, look_at(port).await) });
    }
    let mut found = Vec::new();
    while let Some(look) = looks.join_next().await {
        // A look that was lost is a port without an engine.
        if let Ok((place, Some(engine))) = look {
            found.push((place, engine));
        }
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, engine)| engine).collect()
}

async fn look_at(port: u16) -> Option<Found> {
    let url = format!("http://127.0.0.1:{port}");
    let target = Target::parse(&url).ok()?.with_timeouts(TIMEOUTS);
    // Most ports are closed; whoever listens and is loading says so on every route.
    if call(&target, Method::GET, MODELS, None).await.ok()?.status == 503 {
        return Some(Found { url, port, engine: String::new(), models: Vec::new(), loading: true });
    }
    let answers = look(&target).await.ok()?;
    let models = served(answers.models())?.into_iter().map(|model| model.id).collect();
    Some(Found { url, port, engine: recognise(&answers).name.to_owned(), models, loading: false })
}
