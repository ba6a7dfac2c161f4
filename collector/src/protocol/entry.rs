//! What a journal is made of.

use dyno_shared::submission::{Reproducibility, Run};
use serde::{Deserialize, Serialize};

/// One thing that was measured, or is about to be. The journal is a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "entry")]
pub enum Entry {
    /// An unrecorded repetition.
    Warmup {
        /// Its case.
        case: String,
        /// What was observed; of sessions their first turns.
        run: Run,
        /// The later turns of sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continuation: Option<Run>,
    },
    /// A recorded run is about to be sent. Where nothing follows, it was in flight when the measurement broke off.
    Begun {
        /// Its case.
        case: String,
        /// Its number.
        number: u32,
    },
    /// A run that was begun and of which nothing was sent, because no connection could be opened.
    Unsent {
        /// Its case.
        case: String,
        /// Its number.
        number: u32,
    },
    /// A recorded one.
    Run {
        /// Its case.
        case: String,
        /// What was observed; of sessions their first turns.
        run: Run,
        /// The later turns of sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continuation: Option<Run>,
    },
    /// Whether the repeated answers agree.
    Reproducibility {
        /// Its case.
        case: String,
        /// What was found.
        found: Reproducibility,
    },
}

impl Entry {
    /// The case that it is about.
    pub(super) fn case(&self) -> &str {
        match self {
            Self::Warmup { case, .. }
            | Self::Begun { case, .. }
            | Self::Unsent { case, .. }
            | Self::Run { case, .. }
            | Self::Reproducibility { case, .. } => case,
        }
    }
}
