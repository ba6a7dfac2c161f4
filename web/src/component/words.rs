//! Badges, and the dash that stands where a figure is unknown.

use dyno_shared::format::UNKNOWN;
use yew::{AttrValue, Html};

use crate::badge::Badge;
use crate::dom::{Words, again, el};

/// A word each, with its meaning on hover.
pub fn badges(badges: &[Badge]) -> Html {
    let item = |badge: &Badge| {
        el("li")
            .class(if badge.caution { "badge caution" } else { "badge" })
            .attr("title", badge.meaning.clone())
            .text(badge.word.clone())
            .done()
    };
    el("ul").class("badges").each(badges.iter().map(item)).done()
}

/// `–`, with the reason on hover and focus.
pub fn unknown(why: impl Words) -> Html {
    let why: AttrValue = why.words();
    el("span")
        .class("unknown tip")
        .attr("tabindex", "0")
        .attr("role", "img")
        .attr("aria-label", again(&why))
        .attr("data-tip", why)
        .el(el("span").attr("aria-hidden", "true").text(UNKNOWN))
        .done()
}
