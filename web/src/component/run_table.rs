//! The table behind the figure of runs: what each run says, failed ones with their reasons.

use dyno_shared::format::{UNKNOWN, maybe};
use dyno_shared::metric::{self, Metric};
use dyno_shared::query::TTFT;
use dyno_shared::record::RequestRecord;
use dyno_shared::submission::{Case, Run};
use dyno_shared::units::Tokens;
use yew::Html;

use crate::dom::{div, el, heads, row_head, td};

/// One line per run, warm-ups first.
pub fn run_table(case: &Case) -> Html {
    // Where the headline is the time to first token, which has a column anyway, the whole request says more.
    let headline = match case.regime.headline() {
        TTFT => "client_wall_e2e_s",
        tag => tag,
    };
    let figures = [metric::find(headline), metric::find(TTFT)];
    let [first, second] =
        figures.map(|m| m.map_or_else(String::new, |m| format!("{}, {}#", m.title, m.unit.symbol())));
    let cycles = case.runs.iter().any(|run| run.cycle.is_some());
    let mut names =
        vec!["run", &first, &second, "prompt, tok#", "cached, tok#", "output, tok#", "ended by", "verdict"];
    if cycles {
        names.insert(1, "cycle#");
    }
    let warmups = case.warmups.iter().map(|run| row(run, figures, cycles, true));
    let runs = case.runs.iter().map(|run| row(run, figures, cycles, false));
    let table = el("table").class("plain").with(heads(&names)).el(el("tbody").each(warmups).each(runs));
    div("wide-table")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", "Every run")
        .el(table)
        .done()
}

fn row(run: &Run, figures: [Option<&'static Metric>; 2], cycles: bool, warmup: bool) -> Html {
    let name = if warmup { format!("warm-up {}", run.number) } else { run.number.to_string() };
    let figure = |m: Option<&Metric>| maybe(m.and_then(|m| (m.sample)(run)?.figure()));
    let total = |of: fn(&RequestRecord) -> Option<Tokens>| {
        let mut sum = (!run.requests.is_empty()).then_some(0_u64);
        for request in &run.requests {
            sum = sum.zip(of(request)).and_then(|(sum, tokens)| sum.checked_add(tokens.get()));
        }
        sum.map_or_else(|| UNKNOWN.to_owned(), |sum| sum.to_string())
    };
    el("tr")
        .with(row_head(name))
        .when(cycles.then(|| td("number", run.cycle.map_or_else(String::new, |cycle| cycle.to_string()))))
        .each(figures.map(|m| td("number", figure(m))))
        .with(td("number", total(|r| r.prompt_tokens)))
        .with(td("number", total(|r| r.cached_prompt_tokens)))
        .with(td("number", total(|r| r.output_tokens)))
        .with(td("", ends(run)))
        .with(td("verdict", verdict(run, warmup)))
        .done()
}

/// Why the requests of a run ended, each reason once.
fn ends(run: &Run) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in run.requests.iter().filter_map(|r| r.finish_reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    if reasons.is_empty() { UNKNOWN.to_owned() } else { reasons.join(", ") }
}

fn verdict(run: &Run, warmup: bool) -> String {
    let failures = run.failures();
    if !failures.is_empty() {
        return format!("failed: {}", failures.join("; "));
    }
    let mut words = vec![if warmup { "not recorded" } else { "passed" }];
    words.extend(run.flags.iter().map(String::as_str));
    words.join(", ")
}
