//! Waiting until a server that was just started can be measured.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::engine::{EndpointError, wait_ready};
use crate::transport::Target;

/// Between two looks at a port that nobody listens on yet.
const PAUSE: Duration = Duration::from_millis(100);

/// Why a server cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no such program, or it may not be run.
    #[error("`{program}` cannot be started: {why}. Check its name, or give its path")]
    NotStarted {
        /// The program.
        program: String,
        /// What the system said.
        why: String,
    },
    /// The log cannot be written.
    #[error("the log {} cannot be written: {cause}. Name another folder with --out-dir", .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// It runs and does not answer.
    #[error("the server is not ready after {waited_s} s: {why}. Allow it more time with --load-timeout")]
    NotReady {
        /// How long it was waited for.
        waited_s: u64,
        /// What was seen last.
        why: String,
    },
    /// It answers, and not as an engine.
    #[error(transparent)]
    Endpoint(EndpointError),
}

impl LaunchError {
    /// Whether it would be the same the next time, whatever the server does.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NotStarted { .. } | Self::Log { .. } => true,
            Self::Endpoint(error) => error.is_usage(),
            Self::NotReady { .. } => false,
        }
    }
}

/// Waits until the server answers, at most for `patience`. `waiting` is told how long it has been before every further
/// look. Whoever calls watches whether the server ends meanwhile.
///
/// # Errors
/// If it is not ready in time, or what it answers instead.
pub async fn ready(
    target: &Target,
    patience: Duration,
    mut waiting: impl FnMut(Duration),
) -> Result<(), LaunchError> {
    let begin = Instant::now();
    loop {
        let left = patience.saturating_sub(begin.elapsed());
        let why = match wait_ready(target, left, |_| waiting(begin.elapsed())).await {
            Ok(()) => return Ok(()),
            Err(EndpointError::Unreachable(why)) => why,
            Err(EndpointError::Loading { .. }) => "it is still loading its model".to_owned(),
            Err(error) => return Err(LaunchError::Endpoint(error)),
        };
        let waited = begin.elapsed();
        if waited >= patience {
            return Err(LaunchError::NotReady { waited_s: waited.as_secs(), why });
        }
        waiting(waited);
        tokio::time::sleep(PAUSE).await;
    }
}
