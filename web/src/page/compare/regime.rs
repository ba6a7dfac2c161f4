//! The cases of a regime: the figure, then its table.

use dyno_shared::chart::forest;
use dyno_shared::comparison::CaseComparison;
use dyno_shared::figure::ratios;
use dyno_shared::workload::Regime;
use yew::{Html, html};

use super::table;
use crate::compare::{Asked, Compared};
use crate::component::MarkedFigure;
use crate::dom::{el, p};

/// The section of a regime; `None` where no side has a case of it.
pub fn section(compared: &Compared, regime: Regime, asked: &Asked, width: u32) -> Option<Html> {
    let of = &compared.comparison;
    let cases: Vec<&CaseComparison> = of.cases.iter().filter(|case| case.regime == regime).collect();
    if cases.is_empty() {
        return None;
    }
    let figure = ratios::forest(&cases, of.sides.len());
    let drawn = figure.rows.iter().any(|row| row.ratio.value.is_some()).then(|| {
        html! {
            <MarkedFigure
                drawing={forest(&figure, width)}
                about="Ratios; the arrow keys read them out"
                hint="Point at a ratio, or use the arrow keys, to read it."
            />
        }
    });
    let noise = cases.iter().any(|case| case.noise.is_some()).then(|| {
        p("muted", "Grey: how far two starts of one configuration lie apart. A difference within is one that a restart makes, too.")
    });
    Some(
        el("section")
            .class("regime")
            .attr("data-regime", regime.tag())
            .el(el("h2").text(regime.title()))
            .with(p("muted", regime.meaning()))
            .when(drawn)
            .when(noise)
            .with(table::table(compared, &cases, asked))
            .done(),
    )
}
