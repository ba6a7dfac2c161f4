//! Servers that Dyno starts itself: how their command line is made, that they come up, and that they are gone
//! afterwards, however Dyno ends.

pub mod flags;
pub mod guard;
pub mod known;
pub mod log;
mod ready;
mod server;
pub mod template;

use std::collections::BTreeMap;

pub use ready::{LaunchError, ready};
pub use server::Server;

/// One server to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program, by its name or path.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that are set for it beside those of Dyno's own environment.
    pub environment: BTreeMap<String, String>,
}

impl Invocation {
    /// As a shell would take it, on one line.
    pub fn line(&self) -> String {
        let variables = self.environment.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = std::iter::once(&self.program).chain(&self.arguments).map(|word| quoted(word));
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

/// A port of 127.0.0.1 that nobody listens on. Nobody holds it either: a server that comes too late ends, and says so.
///
/// # Errors
/// If the system has none.
pub fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_given_to_a_shell() {
        let invocation = Invocation {
            program: "llama-server".into(),
            arguments: vec!["-m".into(), "a model.gguf".into(), "--port".into(), "8080".into()],
            environment: [("OMP_NUM_THREADS".to_owned(), "2".to_owned())].into(),
        };
        assert_eq!(invocation.line(), "OMP_NUM_THREADS=2 llama-server -m 'a model.gguf' --port 8080");
        assert_eq!(shlex::split(&invocation.line()).unwrap().len(), 6);
    }

    #[test]
    fn a_free_port_can_be_listened_on() {
        let port = free_port().unwrap();
        assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok());
    }
}
