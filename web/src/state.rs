//! What the explorer knows, and how that changes: one pure reducer. Whatever has to be fetched follows from it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use dyno_shared::index::{IndexPage, Latest};
use dyno_shared::query::Board;
use dyno_shared::submission::Submission;
use yew::Reducible;

use crate::route::Route;

/// Something large that is compared by identity, so that a page need not look through it to see that nothing changed.
#[derive(Debug, Default)]
pub struct Shared<T>(Rc<T>);

impl<T> Shared<T> {
    /// Takes it up.
    pub fn new(value: T) -> Self {
        Self(Rc::new(value))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Something that comes over the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Load<T> {
    /// Nobody asked for it yet, or asked again.
    #[default]
    Unasked,
    /// On its way.
    Asked,
    /// Here.
    Ready(T),
    /// It did not come, and why.
    Failed(String),
}

impl<T> Load<T> {
    fn of(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self::Ready(value),
            Err(why) => Self::Failed(why),
        }
    }

    /// The thing itself, if it is here.
    pub fn ready(&self) -> Option<&T> {
        if let Self::Ready(value) = self { Some(value) } else { None }
    }

    /// Why it did not come.
    pub fn failed(&self) -> Option<&str> {
        if let Self::Failed(why) = self { Some(why) } else { None }
    }

    /// Whether it may still come by itself.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Unasked | Self::Asked)
    }
}

/// A raw shard: what it says, and its very text.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// What it says.
    pub submission: Submission,
    /// The text as it was published.
    pub text: String,
}

/// A piece of the published data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The entry point.
    Latest,
    /// A page of the index, by its place in the list.
    Page(usize),
    /// A raw shard, by its id.
    Shard(String),
}

/// What the explorer knows.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Where the reader is.
    pub route: Route,
    /// The entry point of the data.
    pub latest: Load<Shared<Latest>>,
    /// The pages of the index, whose rows are in `board` once they are ready.
    pub pages: Vec<Load<()>>,
    /// The rows so far.
    pub board: Shared<Board>,
    /// Raw shards that somebody looked at.
    pub shards: BTreeMap<String, Load<Shared<Shard>>>,
}

/// What can happen.
#[derive(Debug)]
pub enum Action {
    /// The reader went somewhere.
    Went(Route),
    /// A piece is being fetched.
    Asked(Piece),
    /// The reader wants a failed piece tried again.
    Retry(Piece),
    /// The entry point came, or did not.
    Latest(Result<Latest, String>),
    /// A page of the index came, or did not.
    Page(usize, Result<IndexPage, String>),
    /// A raw shard came, or did not.
    Shard(String, Result<Box<Shard>, String>),
}

impl State {
    /// What is known at the first address.
    pub fn at(route: Route) -> Self {
        Self {
            route,
            latest: Load::Unasked,
            pages: Vec::new(),
            board: Shared::default(),
            shards: BTreeMap::new(),
        }
    }

    /// The pieces that have to be fetched now: what the page at hand needs first, then the index page by page.
    pub fn wanted(&self) -> Vec<Piece> {
        let mut wanted = Vec::new();
        if let Route::Submission(id) = &self.route
            && self.shards.get(id).is_none_or(|load| *load == Load::Unasked)
        {
            wanted.push(Piece::Shard(id.clone()));
        }
        if self.latest == Load::Unasked {
            wanted.push(Piece::Latest);
        }
        // One at a time, so that the newest rows are drawn before the rest is read.
        if !self.pages.contains(&Load::Asked)
            && let Some(next) = self.pages.iter().position(|load| *load == Load::Unasked)
        {
            wanted.push(Piece::Page(next));
        }
        wanted
    }

    /// Where a page of the index lies, below `data/`.
    pub fn path_of(&self, piece: &Piece) -> String {
        let file = match (piece, self.latest.ready()) {
            (Piece::Page(i), Some(latest)) => latest.index.get(*i),
            _ => None,
        };
        file.map(|file| file.path.clone()).unwrap_or_default()
    }

    /// Whether rows may still come.
    pub fn is_loading(&self) -> bool {
        self.latest.is_waiting() || self.pages.iter().any(Load::is_waiting)
    }

    fn put(&mut self, piece: Piece, load: &Load<()>) {
        fn as_load<T>(load: &Load<()>) -> Load<T> {
            if *load == Load::Asked { Load::Asked } else { Load::Unasked }
        }
        match piece {
            Piece::Latest => self.latest = as_load(load),
            Piece::Page(i) => {
                if let Some(page) = self.pages.get_mut(i) {
                    *page = as_load(load);
                }
            }
            Piece::Shard(id) => {
                self.shards.insert(id, as_load(load));
            }
        }
    }

    fn take(&mut self, action: Action) {
        match action {
            Action::Went(route) => self.route = route,
            Action::Asked(piece) => self.put(piece, &Load::Asked),
            Action::Retry(piece) => self.put(piece, &Load::Unasked),
            Action::Latest(result) => {
                self.pages = result.as_ref().map(|l| vec![Load::Unasked; l.index.len()]).unwrap_or_default();
                self.board = Shared::default();
                self.latest = Load::of(result.map(Shared::new));
            }
            Action::Page(i, result) => {
                let Some(load) = self.pages.get_mut(i).filter(|load| load.ready().is_none()) else { return };
                *load = Load::of(result.map(|page| {
                    let mut board = Board::clone(&self.board);
                    board.add(&page);
                    self.board = Shared::new(board);
                }));
            }
            Action::Shard(id, result) => {
                let load = Load::of(result.map(|shard| Shared::new(*shard)));
                self.shards.insert(id, load);
            }
        }
    }
}

impl Reducible for State {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let mut next = Self::clone(&self);
        next.take(action);
        Rc::new(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_shared::index::{IndexFile, SITE_SCHEMA};

    fn latest(pages: usize) -> Latest {
        let file = IndexFile { path: "index-0.json".into(), rows: 1 };
        Latest {
            schema: SITE_SCHEMA.into(),
            data_version: "1".into(),
            index: vec![file; pages],
            submissions: 1,
            rejected: Vec::new(),
        }
    }

    fn after(actions: Vec<Action>) -> Rc<State> {
        let start = Rc::new(State::at(Route::from_hash("")));
        actions.into_iter().fold(start, Reducible::reduce)
    }

    #[test]
    fn the_index_is_read_page_by_page_and_a_failed_page_does_not_stop_the_next() {
        let state = after(vec![]);
        assert_eq!(state.wanted(), [Piece::Latest]);
        let state = state.reduce(Action::Asked(Piece::Latest));
        assert_eq!(state.wanted(), []);
        let state = state.reduce(Action::Latest(Ok(latest(2))));
        assert_eq!(state.wanted(), [Piece::Page(0)]);
        let state = state.reduce(Action::Asked(Piece::Page(0)));
        assert_eq!(state.wanted(), []);
        let state = state.reduce(Action::Page(0, Err("HTTP 500".into())));
        assert_eq!(state.wanted(), [Piece::Page(1)]);
        let state =
            state.reduce(Action::Asked(Piece::Page(1))).reduce(Action::Page(1, Ok(IndexPage::default())));
        assert!(!state.is_loading() && state.pages[0].failed() == Some("HTTP 500"));
        assert_eq!(state.reduce(Action::Retry(Piece::Page(0))).wanted(), [Piece::Page(0)]);
    }

    #[test]
    fn a_submission_page_asks_for_its_shard_first_and_once() {
        let state = after(vec![Action::Went(Route::from_hash("#/submission/ab12"))]);
        let shard = Piece::Shard("ab12".into());
        assert_eq!(state.wanted(), [shard.clone(), Piece::Latest]);
        let state = state.reduce(Action::Asked(shard.clone()));
        assert_eq!(state.wanted(), [Piece::Latest]);
        let state = state.reduce(Action::Shard("ab12".into(), Err("cut off".into())));
        assert_eq!(state.wanted(), [Piece::Latest]);
        assert_eq!(state.reduce(Action::Retry(shard.clone())).wanted(), [shard, Piece::Latest]);
    }

    #[test]
    fn a_page_that_comes_twice_is_taken_up_once() {
        let page = || Action::Page(0, Ok(IndexPage::default()));
        let once = after(vec![Action::Latest(Ok(latest(1))), page()]);
        let twice = Rc::clone(&once).reduce(page());
        assert!(once.board == twice.board);
    }

    #[test]
    fn without_an_entry_point_there_is_nothing_more_to_ask_for() {
        let state = after(vec![Action::Latest(Err("HTTP 404".into()))]);
        assert!(state.wanted().is_empty() && !state.is_loading());
    }
}
