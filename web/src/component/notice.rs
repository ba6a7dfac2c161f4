//! What stands in the place of something that is not there: what is missing, why, what to do.

use yew::{AttrValue, Html};

use crate::dom::{Words, button, div, p};

/// What is missing, and why.
pub fn notice(title: impl Words, why: impl Words) -> Html {
    let why: AttrValue = why.words();
    let words = (!why.is_empty()).then(|| p("", why));
    div("notice").attr("role", "status").with(p("notice-title", title)).when(words).done()
}

/// The same with something to do about it.
pub fn notice_with(
    title: impl Words,
    why: impl Words,
    action: &'static str,
    act: impl Fn() + 'static,
) -> Html {
    div("notice")
        .attr("role", "status")
        .with(p("notice-title", title))
        .with(p("", why))
        .el(button(action, act))
        .done()
}
