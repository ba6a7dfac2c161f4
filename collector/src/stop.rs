//! When somebody wants a command to stop.

use tokio::sync::watch;

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

/// The same for a command of many parts, each of which may ask whether it was meant.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Watches from now on. Needs a runtime.
    pub fn watch() -> Self {
        let (tell, told) = watch::channel(false);
        tokio::spawn(async move {
            stopped().await;
            // Nobody may be left to be told.
            let _ = tell.send(true);
        });
        Self(told)
    }

    /// Completes once somebody wants it to stop, at once if that was before.
    pub async fn asked(&self) {
        if self.0.clone().wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
