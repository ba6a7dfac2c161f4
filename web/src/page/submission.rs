//! One submission, with everything that its shard holds.

use dyno_shared::format::{UNKNOWN, bytes, significant};
use dyno_shared::submission::{Case, StatedComparison, Submission};
use dyno_shared::summary::CaseSummary;
use dyno_shared::workload::Regime;
use yew::Html;

use super::{case, configuration, picks, provenance, rows, system};
use crate::component::{badges, legend, notice, notice_with};
use crate::dom::{act, all, button, div, el, heads, link, nothing, p, row_head, td};
use crate::state::{Action, Link, Load, Piece, Shard, State};
use crate::{badge, fetch, identity, pretty};

/// Beside the figures from this width on stand the facts.
const WIDE: u32 = 1080;

/// The page.
pub fn submission(state: &State, to_app: &Link, id: &str) -> Html {
    match state.shard(id) {
        Load::Ready(shard) => el("article")
            .class("submission")
            .el(el("p").class("back").el(link("#/".to_owned(), "Leaderboard")))
            .with(content(shard, state.window, picks::with(state, id)))
            .with(raw(id, &shard.text, state.open, to_app))
            .done(),
        Load::Failed(why) => {
            let id = id.to_owned();
            let retry = act(to_app, move || Action::Retry(Piece::Shard(id.clone())));
            all([
                notice_with("This submission cannot be shown", why.to_owned(), "Try again", retry),
                el("p").class("center").el(link("#/".to_owned(), "Go to the leaderboard")).done(),
            ])
        }
        Load::Unasked | Load::Asked => notice("Loading the submission …", ""),
    }
}

fn content(Shard { submission, summaries, .. }: &Shard, window: u32, actions: Html) -> Html {
    let look = case::Look {
        evidence: submission.provenance.evidence,
        colour: identity::colour(&submission.system.engine.name),
        width: match window {
            WIDE.. => window.min(1440) - 48 - 320 - 32,
            rows::PHONE..WIDE => window - 48,
            _ => window.saturating_sub(32),
        },
    };
    let figures =
        if submission.cases.is_empty() { notice("No case", "The shard holds no figures.") } else { legend() };
    let cases: Vec<(&Case, &CaseSummary)> = submission.cases.iter().zip(summaries).collect();
    let regimes = Regime::ALL.into_iter().chain([Regime::Other]).filter_map(|regime| {
        let mut of_regime = cases.iter().filter(|(case, _)| case.regime == regime).peekable();
        of_regime.peek()?;
        let section = el("section")
            .class("regime")
            .el(el("h2").text(regime.title()))
            .with(p("muted", regime.meaning()))
            .each(of_regime.map(|(case, summary)| case::section(case, summary, look)));
        Some(section.done())
    });
    let left = div("figures").with(figures).each(regimes).with(comparisons(&submission.stated_comparisons));
    let right = el("aside")
        .with(provenance::notes(&submission.notes))
        .with(provenance::evidence(&submission.provenance))
        .with(system::facts_of(&submission.system))
        .with(configuration::table(&submission.configuration))
        .with(provenance::measurement(&submission.provenance))
        .with(provenance::calibration(&submission.provenance));
    all([title(submission), actions, div("columns").el(left).el(right).done()])
}

/// `llama.cpp b11434 · SmolLM2-135M-Instruct Q4_1`.
pub fn name(submission: &Submission) -> String {
    let system = &submission.system;
    let engine = identity::with(&system.engine.name, system.engine.version.as_deref());
    let model = identity::with(&system.model.name, system.model.quantisation.as_deref());
    format!("{engine} · {model}")
}

fn title(submission: &Submission) -> Html {
    let system = &submission.system;
    let date = submission.provenance.started_at.as_deref().map_or("", identity::day);
    let simulated = system.engine.simulated.then(|| {
        p(
            "banner",
            "Simulated: measured on Dyno’s own simulated engine, which is an instrument and never a result.",
        )
    });
    let partial = submission.provenance.partial.as_ref().map(|reason| {
        p("banner", format!("Partial: the measurement ended before all cases were done. {reason}"))
    });
    el("header")
        .class("title")
        .el(el("h1").text(name(submission)))
        .with(p("muted", identity::joined(&[&system.hardware.name, &submission.label, date])))
        .with(badges(&badge::of_submission(submission)))
        .when(simulated)
        .when(partial)
        .done()
}

fn comparisons(comparisons: &[StatedComparison]) -> Html {
    if comparisons.is_empty() {
        return nothing();
    }
    let table = el("table")
        .class("plain")
        .with(heads(&["case", "what", "B", "A", "B / A#", "p", "n#", "note"]))
        .el(el("tbody").each(comparisons.iter().map(comparison)));
    el("section")
        .class("regime")
        .el(el("h2").text("Comparisons that the source states"))
        .el(div("wide-table")
            .attr("tabindex", "0")
            .attr("role", "region")
            .attr("aria-label", "Stated comparisons")
            .el(table))
        .done()
}

fn comparison(stated: &StatedComparison) -> Html {
    let ratio = |x: f64| significant(x, 4);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let mut figure = or_dash(stated.ratio.map(ratio));
    if let Some((low, high)) = stated.low.zip(stated.high) {
        figure = format!("{figure} ({}–{})", ratio(low), ratio(high));
    }
    let kind = stated.interval.clone().map(|kind| el("small").text(kind).done());
    el("tr")
        .with(row_head(stated.case.clone()))
        .each([&stated.metric, &stated.b, &stated.a].map(|words| td("", words.clone())))
        .el(el("td").class("number").text(figure).when(kind))
        .with(td("", or_dash(stated.p.clone())))
        .with(td("number", or_dash(stated.n.map(|n| n.to_string()))))
        .with(td("verdict", stated.note.clone().unwrap_or_default()))
        .done()
}

/// The shard's own text: a link to the file, and the text on demand.
fn raw(id: &str, text: &str, open: bool, to_app: &Link) -> Html {
    let size = bytes(text.len() as u64);
    let download = link(fetch::shard_path(id), "Download the shard").attr("download", format!("{id}.json"));
    let show = button(if open { "Hide the text" } else { "Show the text" }, act(to_app, || Action::Open));
    el("section")
        .class("raw")
        .el(el("h2").text("Raw JSON"))
        .el(el("p").el(download).text(format!(", {size}. Its id, {id}, is the beginning of its SHA-256.")))
        .el(show.attr("aria-expanded", if open { "true" } else { "false" }))
        .when(open.then(|| el("pre").attr("tabindex", "0").text(pretty::indent(text)).done()))
        .done()
}
