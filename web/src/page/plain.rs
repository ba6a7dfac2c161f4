//! The two pages that hold hardly anything.

use yew::Html;

use crate::dom::{div, el, link};
use crate::reference;

/// An address that is no page of ours.
pub fn not_found(path: &str) -> Html {
    let words = el("p").text("There is nothing at ").el(el("code").text(format!("#/{path}"))).text(".");
    div("notice")
        .el(el("h1").text("No such page"))
        .el(words)
        .el(el("p").el(link("#/".to_owned(), "Go to the leaderboard")))
        .done()
}

/// A reference drawing as text: the tests hold the browser's against the native one, byte by byte.
pub fn debug_chart() -> Html {
    el("pre").attr("id", "reference").text(reference::drawing()).done()
}
