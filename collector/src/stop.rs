//! When somebody wants a command to stop.

/// Completes at Ctrl-C or SIGTERM.
pub async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler the default action ends the process; what a measurement had finished is in its journal.
    let _ = tokio::signal::ctrl_c().await;
}
