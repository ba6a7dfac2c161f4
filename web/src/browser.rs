//! What the explorer asks of the browser besides the network: address, width, theme.

use gloo::events::EventListener;
use gloo::utils::{document, document_element, window};
use wasm_bindgen::JsValue;
use web_sys::ScrollRestoration;

/// The element that the explorer is drawn into.
pub fn root() -> web_sys::Element {
    document().get_element_by_id("app").unwrap_or_else(document_element)
}

/// The part of the address from `#` on.
pub fn hash() -> String {
    window().location().hash().unwrap_or_default()
}

/// Goes to an address as a link does: the browser remembers the one before.
pub fn push(hash: &str) {
    // Only an address of another site could be refused.
    let _ = window().location().set_hash(hash);
}

/// Changes the address in its place: nothing to go back to.
pub fn replace(hash: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// Calls back whenever the address changes behind `#`, by a link, by [`push`] or by back and forward.
pub fn on_hash_change(mut call: impl FnMut(String) + 'static) -> EventListener {
    EventListener::new(&window(), "hashchange", move |_| call(hash()))
}

/// Names the page in the browser's tab.
pub fn set_title(title: &str) {
    document().set_title(title);
}

/// How far the window is scrolled, in CSS pixels.
fn scrolled() -> f64 {
    window().scroll_y().unwrap_or(0.0)
}

/// Calls back with how far the window is scrolled, whenever it is. From now on the browser leaves it to us where a
/// page begins when the reader goes back.
pub fn on_scroll(mut call: impl FnMut(f64) + 'static) -> EventListener {
    if let Ok(history) = window().history() {
        let _ = history.set_scroll_restoration(ScrollRestoration::Manual);
    }
    EventListener::new(&window(), "scroll", move |_| call(scrolled()))
}

/// Shows a page that was just opened, so far down, and puts the keyboard's focus on it.
pub fn show_from(y: f64) {
    focus("content");
    window().scroll_to_with_x_and_y(0.0, y);
}

/// Brings an element into sight.
pub fn show(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        element.scroll_into_view();
    }
}

/// Puts the keyboard's focus on an element.
pub fn focus(id: &str) {
    use wasm_bindgen::JsCast as _;
    let element = document().get_element_by_id(id).and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(element) = element {
        // A focus that is refused stays where it was.
        let _ = element.focus();
    }
}

/// The width of the window in CSS pixels, as it is now.
pub fn width() -> u32 {
    window().inner_width().ok().and_then(|width| width.as_f64()).map_or(1280, |width| width as u32)
}

/// Calls back whenever the window has another size.
pub fn on_resize(call: impl Fn(u32) + 'static) -> EventListener {
    EventListener::new(&window(), "resize", move |_| call(width()))
}

/// Under which the choice of theme is kept; `web/boot/theme.js` reads it before anything is drawn.
const THEME: &str = "dyno-theme";

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on a light surface.
    Light,
    /// Light text on a dark surface.
    Dark,
}

impl Theme {
    fn tag(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Light => Self::Dark,
            Self::Dark => Self::Light,
        }
    }

    /// The system's.
    fn of_system() -> Self {
        let query = window().match_media("(prefers-color-scheme: dark)");
        if query.ok().flatten().is_some_and(|query| query.matches()) { Self::Dark } else { Self::Light }
    }

    /// The one that is shown.
    pub fn shown() -> Self {
        match document_element().get_attribute("data-theme").as_deref() {
            Some("dark") => Self::Dark,
            Some("light") => Self::Light,
            _ => Self::of_system(),
        }
    }

    /// Shows it. A choice that is the system's own is not kept, so that the page follows the system again.
    pub fn choose(self) {
        let root = document_element();
        // Where the browser keeps nothing for us, the choice lasts as long as the page.
        let storage = window().local_storage().ok().flatten();
        if self == Self::of_system() {
            let _ = root.remove_attribute("data-theme");
            let _ = storage.map(|s| s.remove_item(THEME));
        } else {
            let _ = root.set_attribute("data-theme", self.tag());
            let _ = storage.map(|s| s.set_item(THEME, self.tag()));
        }
    }
}
