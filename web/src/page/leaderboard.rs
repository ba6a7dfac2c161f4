//! Every submission's figure of one metric, in one case or all cases of a regime.

use dyno_shared::index::Latest;
use dyno_shared::query::{CaseChoice, CaseKey, Chosen, Query, Selection};
use dyno_shared::workload::Regime;
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::{Callback, Event, Html, InputEvent};

use super::{picks, rows};
use crate::browser;
use crate::component::{facet_list, legend, notice, notice_with};
use crate::dom::{El, act, all, button, div, el, link, nothing, p, text};
use crate::figure;
use crate::route::Route;
use crate::state::{Action, Link, Piece, ROWS, State};

/// How much room there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    /// Everything folds, and every choice is a list.
    Phone,
    /// The facets fold.
    Narrow,
    /// The facets stand beside the table.
    Wide,
}

impl Width {
    fn of(window: u32) -> Self {
        match window {
            ..rows::PHONE => Self::Phone,
            rows::PHONE..1080 => Self::Narrow,
            _ => Self::Wide,
        }
    }
}

/// The page.
pub fn leaderboard(state: &State, link: &Link, query: &Query, selection: &Selection) -> Html {
    if let Some(why) = state.latest.failed() {
        let retry = act(link, || Action::Retry(Piece::Latest));
        return notice_with("The data cannot be shown", why.to_owned(), "Try again", retry);
    }
    let failed = state.pages.iter().enumerate().filter_map(|(i, page)| {
        let why = page.failed()?.to_owned();
        let retry = act(link, move || Action::Retry(Piece::Page(i)));
        Some(notice_with("Some rows are missing", why, "Try again", retry))
    });
    let body = if state.board.rows.is_empty() {
        no_rows(state)
    } else {
        let width = Width::of(state.window);
        let rows = if selection.rows.is_empty() {
            nothing_passes(query, selection)
        } else {
            all([
                rows::table(&state.board, query, selection, state.window, state.shown),
                rest(selection, state.shown, link),
            ])
        };
        let board = div("board")
            .with(summary(query, selection, state.is_loading()))
            .with(chips(query))
            .when(picks::bar(&state.board, query))
            .with(rows);
        let facets = (width == Width::Wide || !state.folded).then(|| facets(link, query, selection, width));
        all([
            controls(link, query, selection, width, state.folded),
            div("results").when(facets).el(board).done(),
        ])
    };
    let foot = state.latest.ready().map(|latest| foot(latest));
    let title = el("h1").class("hidden").text("Leaderboard").done();
    all([title].into_iter().chain(failed).chain([body]).chain(foot))
}

/// Asks another question, as a link does.
pub fn go(query: Query) {
    browser::push(&Route::Leaderboard(query).to_hash());
}

fn to(query: Query) -> String {
    Route::Leaderboard(query).to_hash()
}

fn no_rows(state: &State) -> Html {
    if state.is_loading() {
        return notice("Loading the index …", "");
    }
    if state.pages.iter().any(|page| page.failed().is_some()) {
        return nothing();
    }
    notice(
        "Nothing is published yet",
        "The index is empty. Measure an engine with `dyno run`, put the shard into `results/`, and publish it with \
         `dyno publish`.",
    )
}

/// Regime, case, figure, search; and where the facets fold, the button that unfolds them.
fn controls(link: &Link, query: &Query, selection: &Selection, width: Width, folded: bool) -> Html {
    let chosen = query.models.iter().count() + query.engines.iter().count();
    let label = if chosen == 0 { "Filters".to_owned() } else { format!("Filters ({chosen})") };
    let fold = (width != Width::Wide).then(|| {
        let expanded = if folded { "false" } else { "true" };
        button(label, act(link, || Action::Fold)).class("fold").attr("aria-expanded", expanded).done()
    });
    let regimes = if width == Width::Phone {
        regime_select(query, selection)
    } else {
        let links =
            selection.regimes.iter().map(|(regime, count)| regime_link(query, selection, *regime, *count));
        el("nav").class("regimes").attr("aria-label", "Regime").each(links).done()
    };
    let search = (width != Width::Phone).then(|| search(link, query));
    let selects = [case_select(query, selection), metric_select(query, selection)];
    div("controls").with(regimes).el(div("selects").each(selects).when(search).when(fold)).done()
}

/// The same models, engines and search in another regime; case, metric and order belong to the one that is left.
fn in_regime(query: &Query, regime: Regime) -> Query {
    Query { regime: Some(regime), case: CaseChoice::Commonest, metric: None, sort: None, ..query.clone() }
}

fn regime_select(query: &Query, selection: &Selection) -> Html {
    let options = selection
        .regimes
        .iter()
        .map(|(regime, count)| (format!("{} ({count})", regime.title()), *regime == selection.regime));
    let regimes: Vec<Regime> = selection.regimes.iter().map(|(regime, _)| *regime).collect();
    let query = query.clone();
    select("regime", options, move |chosen| {
        if let Some(regime) = regimes.get(chosen) {
            go(in_regime(&query, *regime));
        }
    })
}

fn regime_link(query: &Query, selection: &Selection, regime: Regime, count: usize) -> Html {
    link(to(in_regime(query, regime)), regime.title())
        .maybe("aria-current", (regime == selection.regime).then_some("true"))
        .attr("title", regime.meaning())
        .el(el("span").class("count").text(count.to_string()))
        .done()
}

/// A list to choose one of, under a name.
pub fn select(
    name: &'static str,
    options: impl IntoIterator<Item = (String, bool)>,
    on_choice: impl Fn(usize) + 'static,
) -> Html {
    let call = Callback::from(move |event: Event| {
        let select = event.target().and_then(|target| target.dyn_into::<HtmlSelectElement>().ok());
        if let Some(chosen) = select.and_then(|select| usize::try_from(select.selected_index()).ok()) {
            on_choice(chosen);
        }
    });
    let options = options.into_iter().map(|(name, chosen)| el("option").selected(chosen).text(name).done());
    el("label").el(el("span").text(name)).el(el("select").on_change(call).each(options)).done()
}

fn case_select(query: &Query, selection: &Selection) -> Html {
    let all: usize = selection.cases.iter().map(|(_, count)| count).sum();
    let mut choices: Vec<(Option<CaseKey>, usize)> =
        selection.cases.iter().map(|(key, count)| (Some(key.clone()), *count)).collect();
    choices.push((None, all));
    // A case that a link names and nobody has: shown as applied all the same.
    if !choices.iter().any(|(key, _)| *key == selection.case) {
        choices.push((selection.case.clone(), 0));
    }
    let options: Vec<(String, bool)> = choices
        .iter()
        .map(|(key, count)| {
            let name = key.as_ref().map_or_else(|| "all cases".to_owned(), CaseKey::title);
            (format!("{name} ({count})"), *key == selection.case)
        })
        .collect();
    let query = query.clone();
    select("case", options, move |chosen| {
        let case = choices.get(chosen).and_then(|(key, _)| key.clone());
        go(Query { case: case.map_or(CaseChoice::All, CaseChoice::One), sort: None, ..query.clone() });
    })
}

fn metric_select(query: &Query, selection: &Selection) -> Html {
    let mut tags = selection.metrics.clone();
    if !tags.contains(&selection.metric) {
        tags.push(selection.metric.clone());
    }
    let options: Vec<(String, bool)> =
        tags.iter().map(|tag| (figure::title(tag), *tag == selection.metric)).collect();
    let query = query.clone();
    select("figure", options, move |chosen| {
        go(Query { metric: tags.get(chosen).cloned(), sort: None, ..query.clone() });
    })
}

fn search(link: &Link, query: &Query) -> Html {
    let (link, asked) = (link.clone(), query.clone());
    let call = Callback::from(move |event: InputEvent| {
        let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let Some(input) = input else { return };
        // Every letter is a question, but only the last one is worth going back to.
        let route = Route::Leaderboard(Query { search: input.value(), ..asked.clone() });
        browser::replace(&route.to_hash());
        link.emit(Action::Went(route));
    });
    let input = el("input")
        .attr("type", "search")
        .attr("placeholder", "hardware, version, label …")
        .attr("spellcheck", "false")
        .value(query.search.clone())
        .on_input(call);
    el("label").class("search").el(el("span").text("search")).el(input).done()
}

fn facets(link: &Link, query: &Query, selection: &Selection, width: Width) -> Html {
    let search = (width == Width::Phone).then(|| search(link, query));
    div("facets")
        .when(search)
        .with(facet_list("Model", &selection.models, &toggle(query, |q| &mut q.models)))
        .with(facet_list("Engine", &selection.engines, &toggle(query, |q| &mut q.engines)))
        .done()
}

fn toggle(query: &Query, of: fn(&mut Query) -> &mut Chosen) -> Callback<String> {
    let query = query.clone();
    Callback::from(move |value: String| {
        let mut next = query.clone();
        of(&mut next).toggle(&value);
        go(next);
    })
}

/// How many rows there are, and where the others are.
fn summary(query: &Query, selection: &Selection, loading: bool) -> Html {
    let (shown, of) = (selection.rows.len(), selection.of);
    let mut words = if shown == of { some(of, "row") } else { format!("{shown} of {}", some(of, "row")) };
    if loading {
        words.push_str(", more are loading …");
    }
    let line = el("p").class("summary").attr("role", "status").text(words).when(elsewhere(query, selection));
    div("board-head").el(line).with(legend()).done()
}

/// Where one case is shown, a way to the others: no submission is out of sight unsaid.
fn elsewhere(query: &Query, selection: &Selection) -> Option<Html> {
    let everywhere: usize = selection.cases.iter().map(|(_, count)| count).sum();
    let others = everywhere.checked_sub(selection.of).filter(|n| *n > 0 && selection.case.is_some())?;
    let there = Query { case: CaseChoice::All, sort: None, ..query.clone() };
    let words = format!("{others} more in other cases of {}", selection.regime.title());
    Some(all([text(" · "), link(to(there), words).done()]))
}

/// The filters that apply, each with a way out of it.
fn chips(query: &Query) -> Html {
    if !query.filters() {
        return nothing();
    }
    let chip = |name: &str, value: &str, without: Query| {
        let words = format!("{name}: {value}");
        let chip = el("a")
            .class("chip")
            .attr("href", to(without))
            .attr("aria-label", format!("Remove the filter {words}"))
            .el(el("span").class("chip-text").text(words))
            .el(el("span").attr("aria-hidden", "true").text(" ×"));
        el("li").el(chip).done()
    };
    let of = |name: &str, chosen: &Chosen, of: fn(&mut Query) -> &mut Chosen| -> Vec<Html> {
        let without = |value: &str| {
            let mut without = query.clone();
            of(&mut without).toggle(value);
            without
        };
        chosen.iter().map(|value| chip(name, value, without(value))).collect()
    };
    let words = query.search.trim();
    let search =
        (!words.is_empty()).then(|| chip("search", words, Query { search: String::new(), ..query.clone() }));
    el("ul")
        .class("chips")
        .attr("aria-label", "Filters that apply")
        .each(of("model", &query.models, |q| &mut q.models))
        .each(of("engine", &query.engines, |q| &mut q.engines))
        .when(search)
        .done()
}

fn nothing_passes(query: &Query, selection: &Selection) -> Html {
    if !query.filters() {
        let why =
            format!("No submission has this case in {}. Choose another above.", selection.regime.title());
        return notice("No row", why);
    }
    let without = query.without_filters();
    let remove = move || go(without.clone());
    notice_with(
        "No row passes these filters",
        "The filters above apply together.",
        "Remove the filters",
        remove,
    )
}

/// A way to the rows that are not in the document yet.
fn rest(selection: &Selection, shown: usize, link: &Link) -> Html {
    match selection.rows.len().saturating_sub(shown) {
        0 => nothing(),
        rest => {
            let words = format!("Show {} more of {}", rest.min(ROWS), selection.rows.len());
            button(words, act(link, || Action::More)).class("more").done()
        }
    }
}

/// What is published, and what could not be.
fn foot(latest: &Latest) -> Html {
    let file = |file: &dyno_shared::index::Rejected| {
        let reason = el("span").text(file.reason.clone());
        el("li").el(el("code").text(file.path.clone())).el(reason).done()
    };
    let rejected = (!latest.rejected.is_empty()).then(|| {
        el("section")
            .class("rejected")
            .el(el("h2").text(format!("{} not published", some(latest.rejected.len(), "file"))))
            .el(el("ul").each(latest.rejected.iter().map(file)))
            .done()
    });
    let published = some(latest.submissions as usize, "submission");
    let words: El = el("footer").class("foot").when(rejected);
    words.with(p("muted", format!("{published} published · data version {}", latest.data_version))).done()
}

/// `1 row`, `3 rows`.
pub fn some(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
