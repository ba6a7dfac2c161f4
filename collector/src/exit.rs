//! Exit codes, and errors that know theirs.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Measured, and something failed its checks or was left out.
    ChecksFailed,
    /// Wrong usage or input.
    Usage,
    /// The endpoint failed.
    Endpoint,
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::ChecksFailed => 1,
            Self::Usage => 2,
            Self::Endpoint => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error that ends a command. Its text says what to do.
#[derive(Debug)]
pub struct Failure {
    /// How the command ends.
    pub exit: Exit,
    /// What happened.
    pub error: anyhow::Error,
}

impl Failure {
    /// Wrong usage or input.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    /// The endpoint's fault.
    pub fn endpoint(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Endpoint, error: error.into() }
    }
}

/// Everything that is not said to be the endpoint's fault is usage or input: a flag, a file, a folder.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::usage(error)
    }
}
