//! Where the engine is: base URL, key, time-outs.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dyno_shared::privacy::Secret;
use http::Uri;
use http::header::HeaderValue;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The environment variable of the server's key; the command line reads it.
pub const API_KEY_ENV: &str = "DYNO_API_KEY";

/// Bytes of the shortest key that is looked for in what a server says.
const SHORTEST_SECRET: usize = 8;

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Name look-up, TCP and TLS set-up of one connection.
    pub connect: Duration,
    /// From the request to the headers, and from the headers to the first byte of the body: a long prefill.
    pub first_byte: Duration,
    /// Silence after the first byte. Any byte is life, a keep-alive comment too.
    pub idle: Duration,
    /// A whole side call, which is never measured.
    pub call: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(10),
            idle: Duration::from_mins(2),
            call: Duration::from_secs(15),
        }
    }
}

/// Why an address or a key is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not a URL that can be used.
    #[error("`{0}` is no address of an engine: give its root, such as http://127.0.0.1:8080")]
    Malformed(String),
    /// A user name or password in the URL.
    #[error(
        "the address holds a user name or password: leave it out and pass the key with --api-key or {API_KEY_ENV}"
    )]
    Credentials,
    /// A key that cannot be a header.
    #[error("the API key holds characters that a header cannot carry: is there a line break in it?")]
    Key,
    /// No certificate authorities on this machine.
    #[error(
        "no certificate authorities were found on this machine, so https cannot be checked: install the package \
         ca-certificates, or name a file of them in SSL_CERT_FILE"
    )]
    NoAuthorities,
}

/// An engine's address with everything that a request to it needs.
#[derive(Clone)]
pub struct Target {
    /// The root without `/v1`, as shown to people.
    url: String,
    /// Host as it is looked up: an IPv6 address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) host_header: HeaderValue,
    /// Path before the routes; empty or `/…` without a slash at its end.
    prefix: String,
    pub(super) tls: Option<Arc<ClientConfig>>,
    pub(super) authorization: Option<HeaderValue>,
    timeouts: Timeouts,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("url", &self.url)
            .field("api_key", &self.authorization.as_ref().map(|_| "[redacted]"))
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl Target {
    /// Reads a base URL: `http://` or `https://`, with or without a slash, `/v1` or a whole route at its end.
    ///
    /// # Errors
    /// When it is no such URL, holds credentials, or needs certificate authorities that this machine lacks.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let malformed = || TargetError::Malformed(without_credentials(url));
        let uri: Uri = url.trim().parse().map_err(|_| malformed())?;
        let authority = uri.authority().ok_or_else(malformed)?;
        if authority.as_str().contains('@') {
            return Err(TargetError::Credentials);
        }
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(malformed()),
        };
        // `Uri` takes "host:" and "host:99999" for a host without a port.
        let named_port = authority.as_str().rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        let port = match (named_port, authority.port_u16()) {
            (Some(_), None) => return Err(malformed()),
            (_, port) => port.unwrap_or(if secure { 443 } else { 80 }),
        };
        if authority.host().is_empty() || uri.query().is_some() {
            return Err(malformed());
        }
        let prefix = prefix(uri.path());
        Ok(Self {
            url: format!("{}://{authority}{prefix}", if secure { "https" } else { "http" }),
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            host_header: HeaderValue::from_str(authority.as_str()).map_err(|_| malformed())?,
            prefix,
            tls: if secure { Some(tls_config()?) } else { None },
            authorization: None,
            timeouts: Timeouts::default(),
        })
    }

    /// The same with a key, sent as `Authorization: Bearer`.
    ///
    /// # Errors
    /// When a header cannot carry it.
    pub fn with_api_key(mut self, key: &str) -> Result<Self, TargetError> {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(|_| TargetError::Key)?;
        value.set_sensitive(true);
        self.authorization = Some(value);
        Ok(self)
    }

    /// Text from the server without the key that it was sent: some repeat it in a refusal, and not every key has the
    /// looks of one. Words that are too short for a secret (`EMPTY`) stay.
    pub(super) fn without_key(&self, text: String) -> String {
        let sent = self.authorization.as_ref().and_then(|value| value.to_str().ok());
        match sent.and_then(|value| value.strip_prefix("Bearer ")) {
            Some(key) if key.len() >= SHORTEST_SECRET && text.contains(key) => {
                text.replace(key, &format!("[removed: {}]", Secret::Key.title()))
            }
            _ => text,
        }
    }

    /// The same with other time-outs.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The time-outs.
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// The root without `/v1`. It names a machine, so it has no place in a shard.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the engine runs on this machine, as far as the address tells.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// The port on which the engine listens here; `None` where it runs on another machine.
    pub fn local_port(&self) -> Option<u16> {
        self.is_loopback().then_some(self.port)
    }

    /// The request target of a route.
    pub(super) fn path(&self, route: &str) -> String {
        format!("{}{route}", self.prefix)
    }
}

/// What stands before the routes: the path without a route that people often copy along.
fn prefix(path: &str) -> String {
    let mut path = path.trim_end_matches('/');
    for route in ["/chat/completions", "/completions", "/models", "/v1"] {
        path = path.strip_suffix(route).unwrap_or(path).trim_end_matches('/');
    }
    path.to_owned()
}

fn without_credentials(url: &str) -> String {
    match url.split_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => url.to_owned(),
    }
}

fn tls_config() -> Result<Arc<ClientConfig>, TargetError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(TargetError::NoAuthorities);
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        // The ring provider has suites for both versions.
        .map_err(|_| TargetError::NoAuthorities)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Every connection is set up alike, the first and the last.
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_however_the_address_is_written() {
        for url in [
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080/v1",
            " http://127.0.0.1:8080/v1/ ",
            "http://127.0.0.1:8080/v1/chat/completions",
            "http://127.0.0.1:8080/v1/models",
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.url(), "http://127.0.0.1:8080", "{url}");
            assert_eq!(target.path("/v1/models"), "/v1/models");
            assert!(target.is_loopback());
        }
        let behind = Target::parse("http://gateway.example/api/v1").unwrap();
        assert_eq!((behind.path("/v1/models").as_str(), behind.port), ("/api/v1/models", 80));
        assert!(!behind.is_loopback());
    }

    #[test]
    fn ipv6_is_looked_up_without_its_brackets() {
        let target = Target::parse("http://[::1]:8080/v1").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("::1", 8080));
        assert!(target.is_loopback());
        assert_eq!(Target::parse("http://[::1]").unwrap().port, 80);
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for url in [
            "",
            "127.0.0.1:8080",
            "localhost",
            "ftp://a:1",
            "http://",
            "http://a:b",
            "http://a:99999",
            "http://a?x=1",
        ] {
            let error = Target::parse(url).unwrap_err();
            assert!(error.to_string().contains("http://127.0.0.1:8080"), "{url}: {error}");
        }
    }

    #[test]
    fn credentials_are_refused_and_not_repeated() {
        for url in ["http://jo:secret@127.0.0.1:8080", "jo:secret@host"] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(Target::parse("http://jo:secret@h:1").unwrap_err(), TargetError::Credentials);
    }

    #[test]
    fn a_key_that_the_server_repeats_is_taken_out_of_its_words() {
        let with = |key: &str| Target::parse("http://localhost:1").unwrap().with_api_key(key).unwrap();
        assert_eq!(
            with("hunter2secret").without_key("bad key hunter2secret.".into()),
            "bad key [removed: an API key or token]."
        );
        assert_eq!(with("EMPTY").without_key("EMPTY".into()), "EMPTY");
        assert_eq!(Target::parse("http://a").unwrap().without_key("x".into()), "x");
    }

    #[test]
    fn the_key_is_never_shown() {
        let target = Target::parse("http://localhost:1").unwrap().with_api_key("sk-very-secret\n").unwrap();
        assert!(!format!("{target:?}").contains("secret"));
        assert_eq!(target.authorization.unwrap().to_str().unwrap(), "Bearer sk-very-secret");
        assert_eq!(Target::parse("http://a").unwrap().with_api_key("a\nb").unwrap_err(), TargetError::Key);
    }
}
