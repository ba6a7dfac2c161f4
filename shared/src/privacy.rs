//! What must never stand in a shard: keys, URLs with credentials, addresses, names of machines, home directories.
//!
//! The patterns are cautious on purpose: they look for what identifies a person or a machine, and say where.

/// What was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// An API key or bearer token.
    Key,
    /// A URL with a user name or password.
    Credentials,
    /// An IP address other than loopback or the unspecified one.
    Address,
    /// An e-mail address.
    Email,
    /// A path under somebody's home directory.
    HomePath,
    /// A URL with the name of a machine that is not on the public net.
    Host,
}

impl Secret {
    /// In words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Key => "an API key or token",
            Self::Credentials => "a URL with credentials",
            Self::Address => "an IP address",
            Self::Email => "an e-mail address",
            Self::HomePath => "a path in a home directory",
            Self::Host => "the name of a machine",
        }
    }
}

/// Prefixes of well-known keys. A prefix counts when at least 16 key characters follow.
const KEY_PREFIXES: [&str; 17] = [
    "sk-",
    "sk_",
    "hf_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "glpat-",
    "nvapi-",
    "gsk_",
    "npm_",
    "r8_",
];

/// Ends of names that are known only inside a house.
const PRIVATE_DOMAINS: [&str; 7] =
    [".local", ".lan", ".home", ".internal", ".corp", ".intranet", ".localdomain"];

/// Where home directories lie.
const HOME_PREFIXES: [&str; 4] = ["/home/", "/Users/", "/root/", "\\Users\\"];

/// The first thing in `text` that must not be published, if any.
pub fn find_secret(text: &str) -> Option<Secret> {
    words(text).find_map(|(_, word)| secret_in_word(word)).or_else(|| bearer(text))
}

/// `text` with everything that [`find_secret`] would find replaced by `[removed: …]`.
pub fn scrub(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    let mut previous_was_bearer = false;
    for (at, word) in words(text) {
        let secret = secret_in_word(word)
            .or_else(|| (previous_was_bearer && looks_like_token(word)).then_some(Secret::Key));
        if let Some(secret) = secret {
            clean.push_str(&text[done..at]);
            clean.push_str("[removed: ");
            clean.push_str(secret.title());
            clean.push(']');
            done = at + word.len();
        }
        previous_was_bearer = word.eq_ignore_ascii_case("bearer");
    }
    clean.push_str(&text[done..]);
    clean
}

/// Runs of characters without blanks, quotes or separators, each with its byte offset.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '=' | '(' | ')' | '<' | '>')
    })
    .filter(|word| !word.is_empty())
    .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn secret_in_word(word: &str) -> Option<Secret> {
    if has_key(word) {
        return Some(Secret::Key);
    }
    if has_credentials(word) {
        return Some(Secret::Credentials);
    }
    if HOME_PREFIXES.iter().any(|p| word.contains(p)) || word == "/root" || word.starts_with("~/") {
        return Some(Secret::HomePath);
    }
    if has_address(word) {
        return Some(Secret::Address);
    }
    if has_private_host(word) {
        return Some(Secret::Host);
    }
    is_email(word).then_some(Secret::Email)
}

fn has_key(word: &str) -> bool {
    KEY_PREFIXES.iter().any(|prefix| {
        word.match_indices(prefix).any(|(at, _)| {
            let starts_a_word = !word[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let key_length = word[at + prefix.len()..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
                .count();
            starts_a_word && key_length >= 16
        })
    })
}

fn bearer(text: &str) -> Option<Secret> {
    let mut words = words(text).peekable();
    while let Some((_, word)) = words.next() {
        if word.eq_ignore_ascii_case("bearer") && words.peek().is_some_and(|(_, next)| looks_like_token(next))
        {
            return Some(Secret::Key);
        }
    }
    None
}

fn looks_like_token(word: &str) -> bool {
    word.len() >= 16
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+'))
}

fn has_credentials(word: &str) -> bool {
    word.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        authority.contains('@')
    })
}

/// The part of a word that may be a host: after a scheme, before a path, brackets and port removed.
fn host(word: &str) -> &str {
    let rest = word.split_once("://").map_or(word, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority
        .strip_prefix('[')
        .and_then(|a| a.split_once(']'))
        .map_or_else(|| without_port(authority), |(host, _)| host);
    host.trim_end_matches(['.', ':'])
}

fn has_address(word: &str) -> bool {
    let Ok(address) = host(word).parse::<std::net::IpAddr>() else { return false };
    // Four-part version numbers such as 1.2.3.4 read like addresses; a version is not worth leaking one for.
    !(address.is_loopback() || address.is_unspecified())
}

/// A URL of the web to a host that has no public name: `http://alice-pc:8000`, `http://gpu.lan`.
fn has_private_host(word: &str) -> bool {
    let Some((scheme, _)) = word.split_once("://") else { return false };
    let host = host(word);
    let is_name = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    scheme.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"))
        && !host.is_empty()
        && is_name
        && host.parse::<std::net::IpAddr>().is_err()
        && !host.eq_ignore_ascii_case("localhost")
        && (!host.contains('.') || PRIVATE_DOMAINS.iter().any(|end| host.ends_with(end)))
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') && port.chars().all(|c| c.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_email(word: &str) -> bool {
    let Some((user, host)) = word.split_once('@') else { return false };
    let host = host.trim_end_matches(['.', ':', '!', '?']);
    !user.is_empty()
        && user.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'))
        && host.contains('.')
        && !host.starts_with('.')
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        && host
            .rsplit('.')
            .next()
            .is_some_and(|tld| tld.len() >= 2 && tld.chars().all(|c| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIVATE: [(&str, Secret); 15] = [
        ("--api-key sk-abcdefghijklmnop1234", Secret::Key),
        ("Authorization: Bearer abcdef0123456789abcdef", Secret::Key),
        ("HF_TOKEN=hf_abcdefghijklmnopqrst", Secret::Key),
        ("http://me:secret@127.0.0.1:8080/v1", Secret::Credentials),
        ("dyno run --url http://192.168.1.20:8080", Secret::Address),
        ("10.0.0.7:8000", Secret::Address),
        ("http://[2001:db8::1]:8080/", Secret::Address),
        ("/home/alice/models/a.gguf", Secret::HomePath),
        ("-m=/Users/alice/a.gguf", Secret::HomePath),
        ("C:\\Users\\alice\\a.gguf", Secret::HomePath),
        ("~/models/a.gguf", Secret::HomePath),
        ("ask alice@example.org", Secret::Email),
        ("--url http://alice-pc:8000/v1", Secret::Host),
        ("https://gpu7.lan", Secret::Host),
        ("nvapi-abcdefghijklmnop1234", Secret::Key),
    ];

    const HARMLESS: [&str; 11] = [
        "dyno run --url http://127.0.0.1:8080 --runs 16",
        "http://localhost:8080",
        "http://[::1]:8080/",
        "llama.cpp b11434",
        "task-based sk-short hf_hub",
        "image pytorch/pytorch:2.11.0-cuda13.0-cudnn9-devel",
        "freetoken[accel] @ git",
        "RadixArk/Qwen3.8-Flash-Next-NVFP4 @ 7b71922",
        "PCIe 4.0 x16, 590.48.01",
        "0.0.0.0:8000",
        "see https://example.org/a?b=http://localhost:1/",
    ];

    #[test]
    fn what_identifies_somebody_is_found_and_removed() {
        for (text, secret) in PRIVATE {
            assert_eq!(find_secret(text), Some(secret), "{text}");
            let clean = scrub(text);
            assert_eq!(find_secret(&clean), None, "{clean}");
            assert!(clean.contains(secret.title()), "{clean}");
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in HARMLESS {
            assert_eq!(find_secret(text), None, "{text}");
            assert_eq!(scrub(text), text);
        }
    }
}
