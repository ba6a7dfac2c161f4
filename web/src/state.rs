//! What the explorer knows, and how that changes: one pure function. Whatever has to be fetched follows from it.

use std::ops::Deref;
use std::rc::Rc;

use dyno_shared::index::{IndexPage, Latest};
use dyno_shared::query::Board;
use dyno_shared::submission::Submission;
use dyno_shared::summary::CaseSummary;
use yew::Callback;

use crate::route::{Route, is_id};

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

/// A raw shard: what it says, what follows from it, and its very text.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// What it says.
    pub submission: Submission,
    /// The figures of each case.
    pub summaries: Vec<CaseSummary>,
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
    /// Raw shards that somebody looked at, by their ids.
    pub shards: Vec<(String, Load<Shared<Shard>>)>,
    /// Width of the window in CSS pixels.
    pub window: u32,
    /// Whether facets are folded, where there is no room for them.
    pub folded: bool,
    /// How many rows of the leaderboard are in the document.
    pub shown: usize,
    /// Whether the text of a shard is shown.
    pub open: bool,
    /// The submissions that are picked to be compared, or compared already.
    pub picks: Vec<String>,
}

/// So many rows are in the document at first, and so many more on demand.
pub const ROWS: usize = 60;

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
    Latest(Result<Box<Latest>, String>),
    /// A page of the index came, or did not.
    Page(usize, Result<Box<IndexPage>, String>),
    /// A raw shard came, or did not.
    Shard(String, Result<Box<Shard>, String>),
    /// The window has another width.
    Resized(u32),
    /// The reader folds or unfolds the facets.
    Fold,
    /// The reader wants more rows.
    More,
    /// The reader opens or closes the text of a shard.
    Open,
}

/// By which pages tell the explorer what happens.
pub type Link = Callback<Action>;

impl State {
    /// What is known at the first address.
    pub fn at(route: Route, window: u32) -> Self {
        Self {
            picks: picks(&route).unwrap_or_default(),
            route,
            latest: Load::Unasked,
            pages: Vec::new(),
            board: Shared::default(),
            shards: Vec::new(),
            window,
            folded: true,
            shown: ROWS,
            open: false,
        }
    }

    /// How far a raw shard is.
    pub fn shard(&self, id: &str) -> &Load<Shared<Shard>> {
        self.shards.iter().find(|(known, _)| known == id).map_or(&Load::Unasked, |(_, load)| load)
    }

    /// The pieces that have to be fetched now: what the page at hand needs first, then the index page by page.
    pub fn wanted(&self) -> Vec<Piece> {
        let mut wanted = Vec::new();
        let shown: Vec<&String> = match &self.route {
            Route::Submission(id) => vec![id],
            Route::Compare(asked) => asked.ids().filter(|id| is_id(id)).collect(),
            _ => Vec::new(),
        };
        for id in shown {
            let piece = Piece::Shard(id.clone());
            if *self.shard(id) == Load::Unasked && !wanted.contains(&piece) {
                wanted.push(piece);
            }
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
            Piece::Shard(id) => self.put_shard(id, as_load(load)),
        }
    }

    fn put_shard(&mut self, id: String, load: Load<Shared<Shard>>) {
        self.shards.retain(|(known, _)| *known != id);
        self.shards.push((id, load));
    }

    /// What is known after something happened.
    pub fn take(&mut self, action: Action) {
        match action {
            Action::Went(route) => {
                if !self.route.asks_the_same(&route) {
                    self.shown = ROWS;
                }
                if let Some(picks) = picks(&route) {
                    self.picks = picks;
                }
                if !self.route.same_page(&route) {
                    (self.folded, self.open) = (true, false);
                }
                self.route = route;
            }
            Action::Asked(piece) => self.put(piece, &Load::Asked),
            Action::Retry(piece) => self.put(piece, &Load::Unasked),
            Action::Latest(result) => {
                self.pages = result.as_ref().map(|l| vec![Load::Unasked; l.index.len()]).unwrap_or_default();
                self.board = Shared::default();
                self.latest = Load::of(result.map(|latest| Shared::new(*latest)));
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
                self.put_shard(id, Load::of(result.map(|shard| Shared::new(*shard))));
            }
            Action::Resized(window) => self.window = window,
            Action::Fold => self.folded = !self.folded,
            Action::More => self.shown += ROWS,
            Action::Open => self.open = !self.open,
        }
    }
}

/// What an address picks to be compared; `None` where it leaves that as it is.
fn picks(route: &Route) -> Option<Vec<String>> {
    match route {
        Route::Leaderboard(query) => Some(query.picks.clone()),
        Route::Compare(asked) => Some(asked.ids().cloned().collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_shared::index::{IndexFile, SITE_SCHEMA};

    fn latest(pages: usize) -> Action {
        let file = IndexFile { path: "index-0.json".into(), rows: 1 };
        Action::Latest(Ok(Box::new(Latest {
            schema: SITE_SCHEMA.into(),
            data_version: "1".into(),
            index: vec![file; pages],
            submissions: 1,
            rejected: Vec::new(),
        })))
    }

    fn after(state: &State, actions: Vec<Action>) -> State {
        let mut state = state.clone();
        for action in actions {
            state.take(action);
        }
        state
    }

    fn start() -> State {
        State::at(Route::from_hash(""), 1280)
    }

    #[test]
    fn the_index_is_read_page_by_page_and_a_failed_page_does_not_stop_the_next() {
        let mut state = start();
        assert_eq!(state.wanted(), [Piece::Latest]);
        state.take(Action::Asked(Piece::Latest));
        assert_eq!(state.wanted(), []);
        state.take(latest(2));
        assert_eq!(state.wanted(), [Piece::Page(0)]);
        state.take(Action::Asked(Piece::Page(0)));
        assert_eq!(state.wanted(), []);
        state.take(Action::Page(0, Err("HTTP 500".into())));
        assert_eq!(state.wanted(), [Piece::Page(1)]);
        state.take(Action::Asked(Piece::Page(1)));
        state.take(Action::Page(1, Ok(Box::default())));
        assert!(!state.is_loading() && state.pages[0].failed() == Some("HTTP 500"));
        state.take(Action::Retry(Piece::Page(0)));
        assert_eq!(state.wanted(), [Piece::Page(0)]);
    }

    #[test]
    fn a_submission_page_asks_for_its_shard_first_and_once() {
        let mut state = after(&start(), vec![Action::Went(Route::from_hash("#/submission/ab12"))]);
        let shard = Piece::Shard("ab12".into());
        assert_eq!(state.wanted(), [shard.clone(), Piece::Latest]);
        state.take(Action::Asked(shard.clone()));
        assert_eq!(state.wanted(), [Piece::Latest]);
        state.take(Action::Shard("ab12".into(), Err("cut off".into())));
        assert_eq!(state.wanted(), [Piece::Latest]);
        state.take(Action::Retry(shard.clone()));
        assert_eq!(state.wanted(), [shard, Piece::Latest]);
    }

    #[test]
    fn a_comparison_asks_for_every_shard_once_and_for_none_that_cannot_be_one() {
        let state = State::at(Route::from_hash("#/compare?a=ab12,cd34&b=ab12&c=%2e%2e"), 1280);
        let shard = |id: &str| Piece::Shard(id.to_owned());
        assert_eq!(state.wanted(), [shard("ab12"), shard("cd34"), Piece::Latest]);
    }

    #[test]
    fn what_is_picked_stays_picked_on_other_pages_and_picking_keeps_the_rows_in_sight() {
        let picked = Route::from_hash("#/?pick=ab12");
        let state =
            after(&start(), vec![Action::More, Action::Went(picked), Action::Went(Route::Method(None))]);
        assert_eq!(state.picks, ["ab12"]);
        let picked = after(&start(), vec![Action::More, Action::Went(Route::from_hash("#/?pick=ab12"))]);
        assert_eq!(picked.shown, 2 * ROWS);
    }

    #[test]
    fn a_page_that_comes_twice_is_taken_up_once() {
        let page = || Action::Page(0, Ok(Box::default()));
        let once = after(&start(), vec![latest(1), page()]);
        let twice = after(&once, vec![page()]);
        assert!(once.board == twice.board);
    }

    #[test]
    fn without_an_entry_point_there_is_nothing_more_to_ask_for() {
        let state = after(&start(), vec![Action::Latest(Err("HTTP 404".into()))]);
        assert!(state.wanted().is_empty() && !state.is_loading());
    }

    #[test]
    fn another_question_begins_at_its_first_rows_and_another_page_folded() {
        let unfolded = after(&start(), vec![Action::More, Action::Fold]);
        assert_eq!((unfolded.shown, unfolded.folded), (2 * ROWS, false));
        let asked = after(&unfolded, vec![Action::Went(Route::from_hash("#/?engine=vLLM"))]);
        assert_eq!((asked.shown, asked.folded), (ROWS, false));
        let elsewhere = after(&asked, vec![Action::Went(Route::Method(None))]);
        assert!(elsewhere.folded);
    }
}
