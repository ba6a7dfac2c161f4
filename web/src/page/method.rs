//! What the words and the numbers mean, drawn from the declarations that compute them.

use dyno_shared::chart::MarkKind;
use dyno_shared::metric::{Family, METRICS, Metric};
use dyno_shared::units::Unit;
use dyno_shared::workload::Regime;
use yew::Html;

use crate::component::swatch;
use crate::dom::{el, p};

/// The statistics, in the order in which a reader meets them.
const STATISTICS: [(&str, &str); 12] = [
    (
        "run",
        "One repetition of a case: one request, or one batch of concurrent requests. Warm-ups come before it, at the same \
             concurrency, and are in no figure.",
    ),
    (
        "passed",
        "A run that ended well and whose answer passed its checks: not empty, no replacement characters, no unexpected script, \
                the list or the count that was asked for, no endless repetition. A failed run stays in the file and is in no figure.",
    ),
    (
        "ratio of totals",
        "The rate of a case: all tokens of the passing runs over all their seconds. A slow run weighs as much as it lasted.",
    ),
    ("mean", "Of the passing runs, for times and shares."),
    (
        "95 % interval",
        "Percentile bootstrap over runs, 10,000 resamples, with Hesterberg's expansion for small samples: with it, 92 to 95 % \
                       of the intervals hold the truth on data like these. Fewer than three runs have none.",
    ),
    (
        "spread",
        "The runs' standard deviation over their mean. On decode it is mostly a difference between prompts.",
    ),
    (
        "detects",
        "The smallest difference that an unpaired comparison of this many runs would find, with 95 % confidence and 80 % power.",
    ),
    (
        "outliers",
        "Runs with a modified Z-score above 3.5: 0.6745 times the distance from the median, over the median absolute deviation. \
                  They are named and kept.",
    ),
    (
        "drift",
        "The Theil–Sen slope of the logarithm of the rate over the order of the runs. A warning stands where it moved the rate by \
               more than the interval's half-width.",
    ),
    (
        "stated",
        "What a published text or another tool's file says, under the statistic's name there. It never gets an interval that nobody \
                measured, and a range is not an interval.",
    ),
    (
        "raw, summary",
        "Raw: every run is in the file, and every figure here is computed from them in your browser by the code that the \
                      command line runs, to the last bit. Summary: figures without their runs.",
    ),
    (
        "not measured",
        "Unknown is unknown: it is never drawn as zero, and a row without the figure stays in its table.",
    ),
];

const LEAD: &str = "Prefill, decode and time to first token are separate regimes, because a set-up that wins one may lose another. \
                    The client’s clock and the engine’s own report are two families, and are never merged. There is no score.";

/// The page.
pub fn method() -> Html {
    let term = |(term, meaning): (&'static str, &'static str)| {
        el("div").el(el("dt").text(term)).el(el("dd").text(meaning)).done()
    };
    let regimes = Regime::ALL.into_iter().map(|regime| term((regime.title(), regime.meaning())));
    el("article")
        .class("method")
        .el(el("h1").text("Method"))
        .with(p("lead", LEAD))
        .el(el("h2").text("Regimes"))
        .el(el("dl").class("terms").each(regimes))
        .el(el("h2").text("Metrics"))
        .each([Family::Client, Family::Engine, Family::Both].map(family))
        .el(el("h2").text("Statistics"))
        .el(el("dl").class("terms").each(STATISTICS.into_iter().map(term)))
        .done()
}

fn family(family: Family) -> Html {
    let (mark, title) = match family {
        Family::Client => (MarkKind::ClientSolid, "By the client’s clock"),
        Family::Engine => (MarkKind::Engine, "By the engine’s own report"),
        Family::Both => (MarkKind::ClientSolid, "By both"),
    };
    let metrics = METRICS.iter().filter(|m| m.family == family).map(|m| metric(m));
    el("section").el(el("h3").with(swatch(mark)).text(title)).el(el("dl").class("terms").each(metrics)).done()
}

fn metric(metric: &Metric) -> Html {
    let unit = if metric.unit == Unit::One { "a pure number" } else { metric.unit.symbol() };
    let formula =
        el("p").class("formula").el(el("code").text(metric.tag)).text(format!(" = {}", metric.formula));
    let name = el("dt")
        .text(metric.title)
        .el(el("span").class("unit").text(format!("{unit}, {}", metric.better.words())));
    el("div").attr("id", metric.tag).el(name).el(el("dd").with(p("", metric.meaning)).el(formula)).done()
}
