//! The part of the address behind `#`: which page, and what it is asked.

use dyno_shared::query::Query;

use crate::compare::Asked;

/// A page of the explorer.
#[derive(Debug, Clone, PartialEq)]
pub enum Route {
    /// Every submission, by one case and metric.
    Leaderboard(Query),
    /// One submission, by its id.
    Submission(String),
    /// Submissions against each other.
    Compare(Asked),
    /// What the words mean; with a metric's tag, what that one means.
    Method(Option<String>),
    /// The reference drawing as text, by which the browser's figures are held against the native ones.
    DebugChart,
    /// Nothing that we know.
    Unknown(String),
}

/// No id of a shard is longer.
const LONGEST_ID: usize = 64;

impl Route {
    /// The page of a `location.hash`.
    pub fn from_hash(hash: &str) -> Self {
        let path = hash.trim_start_matches('#').trim_start_matches('/');
        let (path, params) = path.split_once('?').unwrap_or((path, ""));
        let (page, rest) = path.split_once('/').unwrap_or((path, ""));
        match (page, rest) {
            ("", "") => Self::Leaderboard(Query::from_params(params)),
            ("submission", id) if is_id(id) => Self::Submission(id.to_owned()),
            ("compare", "") => Self::Compare(Asked::from_params(params)),
            ("method", "") => Self::Method(None),
            ("method", tag) => Self::Method(Some(tag.to_owned())),
            ("debug", "chart") => Self::DebugChart,
            _ => Self::Unknown(path.to_owned()),
        }
    }

    /// The `location.hash` of a page.
    pub fn to_hash(&self) -> String {
        match self {
            Self::Leaderboard(query) => match query.to_params() {
                params if params.is_empty() => "#/".to_owned(),
                params => format!("#/?{params}"),
            },
            Self::Submission(id) => format!("#/submission/{id}"),
            Self::Compare(asked) => match asked.to_params() {
                params if params.is_empty() => "#/compare".to_owned(),
                params => format!("#/compare?{params}"),
            },
            Self::Method(None) => "#/method".to_owned(),
            Self::Method(Some(tag)) => format!("#/method/{tag}"),
            Self::DebugChart => "#/debug/chart".to_owned(),
            Self::Unknown(path) => format!("#/{path}"),
        }
    }

    /// Whether two addresses ask the same of the same page, whatever is picked there.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Leaderboard(a), Self::Leaderboard(b)) => {
                *a == Query { picks: a.picks.clone(), ..b.clone() }
            }
            _ => self == other,
        }
    }

    /// Whether two addresses show the same page, however they ask it.
    pub fn same_page(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Submission(a), Self::Submission(b)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// An id becomes part of a path that is fetched: letters, digits, `-` and `_` only.
pub fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_survives_its_address() {
        let routes = [
            Route::Leaderboard(Query::default()),
            Route::Leaderboard(Query { search: "a#b?c".into(), ..Query::default() }),
            Route::Submission("0123456789abcdef".into()),
            Route::Compare(Asked::default()),
            Route::Compare(Asked::of(&["0123".into(), "4567".into()])),
            Route::Method(None),
            Route::Method(Some("client_wall_ttft_s".into())),
            Route::DebugChart,
            Route::Unknown("no/such/page".into()),
        ];
        for route in routes {
            assert_eq!(Route::from_hash(&route.to_hash()), route);
        }
    }

    #[test]
    fn an_empty_address_is_the_leaderboard() {
        for hash in ["", "#", "#/", "#/?"] {
            assert_eq!(Route::from_hash(hash), Route::Leaderboard(Query::default()), "{hash}");
        }
    }

    #[test]
    fn an_id_that_would_leave_its_folder_is_no_submission() {
        for hash in
            ["#/submission/", "#/submission/..", "#/submission/a/b", "#/submission/%2e%2e", "#/submission/é"]
        {
            assert!(matches!(Route::from_hash(hash), Route::Unknown(_)), "{hash}");
        }
    }

    #[test]
    fn another_question_is_the_same_page_and_another_submission_is_not() {
        let asked = Route::from_hash("#/?engine=vLLM");
        assert!(asked.same_page(&Route::from_hash("#/")));
        assert!(!Route::from_hash("#/submission/a").same_page(&Route::from_hash("#/submission/b")));
        assert!(!asked.same_page(&Route::Method(None)));
        assert!(asked.asks_the_same(&Route::from_hash("#/?engine=vLLM&pick=a")));
        assert!(!asked.asks_the_same(&Route::from_hash("#/?engine=Ollama")));
    }
}
