//! The frame of every page: head, routes, and the fetching of what the state wants.

use std::rc::Rc;

use yew::platform::spawn_local;
use yew::{Html, UseReducerHandle, component, html, use_effect_with, use_mut_ref, use_reducer, use_state};

use crate::browser::{self, Theme};
use crate::dom::{El, all, button, el, link};
use crate::fetch;
use crate::page::{self, Leaderboard, Submission};
use crate::route::Route;
use crate::state::{Action, Piece, State};

/// The explorer.
#[component]
pub fn App() -> Html {
    let state = use_reducer(|| State::at(Route::from_hash(&browser::hash())));
    {
        let dispatch = state.dispatcher();
        use_effect_with((), move |()| {
            let listener =
                browser::on_hash_change(move |hash| dispatch.dispatch(Action::Went(Route::from_hash(&hash))));
            move || drop(listener)
        });
    }
    {
        let state = state.clone();
        use_effect_with(state.wanted(), move |wanted| {
            for piece in wanted {
                fetch_piece(&state, piece.clone());
            }
        });
    }
    let left = use_mut_ref(Left::default);
    {
        let left = Rc::clone(&left);
        use_effect_with((), move |()| {
            let listener = browser::on_scroll(move |y| left.borrow_mut().note(&browser::hash(), y));
            move || drop(listener)
        });
    }
    let last = use_state(|| None::<Route>);
    use_effect_with(state.route.clone(), move |route| {
        browser::set_title(title(route));
        if last.as_ref().is_some_and(|last| !last.same_page(route)) {
            browser::show_from(left.borrow().place(&route.to_hash()));
        }
        if let Route::Method(Some(tag)) = route {
            browser::show(tag);
        }
        if last.as_ref() != Some(route) {
            last.set(Some(route.clone()));
        }
    });
    let theme = use_state(Theme::shown);
    let flip = {
        let theme = theme.clone();
        move || {
            let other = Theme::shown().other();
            other.choose();
            theme.set(other);
        }
    };
    all([
        button("Skip to the content", || browser::focus("content")).class("skip").done(),
        head(&state.route, *theme, flip),
        el("main").attr("id", "content").attr("tabindex", "-1").with(page_of(&state)).done(),
    ])
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

fn page_of(state: &UseReducerHandle<State>) -> Html {
    match &state.route {
        Route::Leaderboard(query) => html! { <Leaderboard state={state.clone()} query={query.clone()} /> },
        Route::Submission(id) => html! { <Submission state={state.clone()} id={id.clone()} /> },
        Route::Method(_) => page::method(),
        Route::DebugChart => page::debug_chart(),
        Route::Unknown(path) => page::not_found(path),
    }
}

fn title(route: &Route) -> &'static str {
    match route {
        Route::Leaderboard(_) => "Dyno: a dynamometer for LLM engines",
        Route::Submission(_) => "Submission · Dyno",
        Route::Method(_) => "Method · Dyno",
        Route::DebugChart => "Reference drawing · Dyno",
        Route::Unknown(_) => "Not found · Dyno",
    }
}

/// Begins to fetch a piece and tells the state what came of it.
fn fetch_piece(state: &UseReducerHandle<State>, piece: Piece) {
    let dispatch = state.dispatcher();
    dispatch.dispatch(Action::Asked(piece.clone()));
    let path = state.path_of(&piece);
    spawn_local(async move {
        dispatch.dispatch(match piece {
            Piece::Latest => Action::Latest(fetch::latest().await),
            Piece::Page(i) => Action::Page(i, fetch::index_page(&path).await),
            Piece::Shard(id) => {
                let shard = fetch::shard(&id).await;
                Action::Shard(id, shard)
            }
        });
    });
}

fn head(route: &Route, theme: Theme, flip: impl Fn() + 'static) -> Html {
    let (sign, name) = match theme {
        Theme::Light => ("☾", "Show in dark"),
        Theme::Dark => ("☀", "Show in light"),
    };
    let to = |there: &Route, name: &'static str| -> El {
        link(there.to_hash(), name).maybe("aria-current", there.same_page(route).then_some("page"))
    };
    let board = Route::Leaderboard(dyno_shared::query::Query::default());
    el("header")
        .class("head")
        .el(link("#/".to_owned(), "Dyno").class("brand"))
        .el(el("nav")
            .attr("aria-label", "Pages")
            .el(to(&board, "Leaderboard"))
            .el(to(&Route::Method(None), "Method")))
        .el(button(sign, flip).class("theme").attr("aria-label", name).attr("title", name))
        .done()
}
