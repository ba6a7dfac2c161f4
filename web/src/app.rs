//! The frame of every page: head, routes, and the fetching of what the state wants.

use dyno_shared::query::{self, Board, Query, Selection};
use gloo::events::EventListener;
use yew::platform::spawn_local;
use yew::{Component, Context, Html};

use crate::browser::{self, Theme};
use crate::compare::{Asked, Compared};
use crate::dom::{El, all, button, el, link};
use crate::fetch;
use crate::page;
use crate::route::Route;
use crate::state::{Action, Link, Load, Piece, State};

/// The explorer.
#[derive(Debug)]
pub struct App {
    state: State,
    /// What the leaderboard shows; not computed again while its question and its rows stay.
    selection: Selection,
    /// What the compare page shows; likewise.
    compared: Option<Compared>,
    /// By which pages tell what happens.
    link: Link,
    /// The page that was last shown, with its title.
    last: Option<(Route, String)>,
    left: Left,
    /// Heard as long as the explorer is there.
    _listeners: [EventListener; 3],
}

/// What comes to the explorer: what the state takes, and what concerns the browser alone.
#[derive(Debug)]
pub enum Message {
    /// For the state.
    Act(Action),
    /// The window was scrolled so far down, at this address.
    Scrolled(String, f64),
    /// The reader wants the other theme.
    OtherTheme,
}

impl Component for App {
    type Message = Message;
    type Properties = ();

    fn create(context: &Context<Self>) -> Self {
        let scope = context.link();
        let link = scope.callback(Message::Act);
        let (went, resized, scrolled) = (link.clone(), link.clone(), scope.clone());
        let state = State::at(Route::from_hash(&browser::hash()), browser::width());
        let mut app = Self {
            selection: select(&state),
            compared: None,
            state,
            link,
            last: None,
            left: Left::default(),
            _listeners: [
                browser::on_hash_change(move |hash| went.emit(Action::Went(Route::from_hash(&hash)))),
                browser::on_resize(move |width| resized.emit(Action::Resized(width))),
                browser::on_scroll(move |y| scrolled.send_message(Message::Scrolled(browser::hash(), y))),
            ],
        };
        app.fetch();
        app
    }

    fn update(&mut self, _: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Scrolled(hash, y) => {
                self.left.note(&hash, y);
                return false;
            }
            Message::OtherTheme => Theme::shown().other().choose(),
            Message::Act(action) => {
                let (board, route) = (self.state.board.clone(), self.state.route.clone());
                self.state.take(action);
                Compared::keep(&mut self.compared, &self.state);
                if self.state.board != board || self.state.route != route {
                    self.selection = select(&self.state);
                }
                self.fetch();
            }
        }
        true
    }

    fn view(&self, context: &Context<Self>) -> Html {
        let scope = context.link().clone();
        all([
            button("Skip to the content", || browser::focus("content")).class("skip").done(),
            head(&self.state, move || scope.send_message(Message::OtherTheme)),
            el("main").attr("id", "content").attr("tabindex", "-1").with(self.page()).done(),
        ])
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        let (route, title) = (&self.state.route, self.title());
        let last = self.last.replace((route.clone(), title.clone()));
        if last.as_ref().is_none_or(|(_, before)| *before != title) {
            browser::set_title(&title);
        }
        if last.as_ref().is_some_and(|(last, _)| !last.same_page(route)) {
            browser::show_from(self.left.place(&route.to_hash()));
        }
        if let Route::Method(Some(tag)) = route
            && last.is_none_or(|(last, _)| last != *route)
        {
            browser::show(tag);
        }
    }
}

impl App {
    /// Begins to fetch what is wanted, and tells what comes of it.
    fn fetch(&mut self) {
        for piece in self.state.wanted() {
            self.state.take(Action::Asked(piece.clone()));
            let (link, path) = (self.link.clone(), self.state.path_of(&piece));
            spawn_local(async move {
                link.emit(match piece {
                    Piece::Latest => Action::Latest(fetch::latest().await),
                    Piece::Page(i) => Action::Page(i, fetch::index_page(&path).await),
                    Piece::Shard(id) => {
                        let shard = fetch::shard(&id).await;
                        Action::Shard(id, shard)
                    }
                });
            });
        }
    }

    fn page(&self) -> Html {
        match &self.state.route {
            Route::Leaderboard(query) => page::leaderboard(&self.state, &self.link, query, &self.selection),
            Route::Submission(id) => page::submission(&self.state, &self.link, id),
            Route::Compare(asked) => page::compare(&self.state, &self.link, asked, self.compared.as_ref()),
            Route::Method(_) => page::method(),
            Route::DebugChart => page::debug_chart(),
            Route::Unknown(path) => page::not_found(path),
        }
    }

    fn title(&self) -> String {
        let page = match &self.state.route {
            Route::Leaderboard(_) => return "Dyno: a dynamometer for LLM engines".to_owned(),
            Route::Submission(id) => match self.state.shard(id) {
                Load::Ready(shard) => &page::name(&shard.submission),
                _ => "Submission",
            },
            Route::Compare(_) => "Compare",
            Route::Method(_) => "Method",
            Route::DebugChart => "Reference drawing",
            Route::Unknown(_) => "Not found",
        };
        format!("{page} · Dyno")
    }
}

fn select(state: &State) -> Selection {
    match &state.route {
        Route::Leaderboard(query) => query::select(&state.board, query),
        _ => query::select(&Board::default(), &Query::default()),
    }
}

/// Where a reader left the leaderboard, who comes back to it from a submission.
#[derive(Debug, Default)]
struct Left {
    hash: String,
    y: f64,
}

impl Left {
    fn note(&mut self, hash: &str, y: f64) {
        if let route @ Route::Leaderboard(_) = Route::from_hash(hash) {
            *self = Self { hash: route.to_hash(), y };
        }
    }

    /// How far down a page begins.
    fn place(&self, hash: &str) -> f64 {
        if self.hash == hash { self.y } else { 0.0 }
    }
}

fn head(state: &State, flip: impl Fn() + 'static) -> Html {
    let (sign, name) = match Theme::shown() {
        Theme::Light => ("☾", "Show in dark"),
        Theme::Dark => ("☀", "Show in light"),
    };
    let to = |there: &Route, name: &'static str| -> El {
        link(there.to_hash(), name).maybe("aria-current", there.same_page(&state.route).then_some("page"))
    };
    let board = Route::Leaderboard(Query { picks: state.picks.clone(), ..Query::default() });
    let compare = match &state.route {
        Route::Compare(asked) => asked.clone(),
        _ => Asked::of(&state.picks),
    };
    let picked = match compare.sides.len() {
        0 => String::new(),
        n => format!(" ({n})"),
    };
    el("header")
        .class("head")
        .el(link("#/".to_owned(), "Dyno").class("brand"))
        .el(el("nav")
            .attr("aria-label", "Pages")
            .el(to(&board, "Leaderboard"))
            .el(to(&Route::Compare(compare), "Compare").text(picked))
            .el(to(&Route::Method(None), "Method")))
        .el(button(sign, flip).class("theme").attr("aria-label", name).attr("title", name))
        .done()
}
