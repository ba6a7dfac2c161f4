//! Elements, made by calls.
//!
//! Yew's `html!` writes the making of an element out at every place where one stands, which for pages of tables like
//! ours is most of what a reader has to download. These calls make the same elements out of line, at a third of the
//! size. Every text becomes a text node, and every attribute is set as one: nothing here is markup.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use yew::html::{ImplicitClone as _, onchange, onclick, oninput, onkeydown, onpointerenter};
use yew::virtual_dom::{Key, Listener, VNode, VTag, VText};
use yew::{AttrValue, Callback, Event, Html, InputEvent, KeyboardEvent, MouseEvent, PointerEvent};

use crate::state::{Action, Link};

/// An element in the making. In a box, so that it is passed from call to call as a pointer.
#[derive(Debug)]
pub struct El(Box<VTag>);

/// What an element or an attribute may say.
pub trait Words {
    /// As Yew takes it.
    fn words(self) -> AttrValue;
}

impl Words for &'static str {
    fn words(self) -> AttrValue {
        AttrValue::Static(self)
    }
}

impl Words for String {
    #[inline(never)]
    fn words(self) -> AttrValue {
        self.into()
    }
}

impl Words for AttrValue {
    fn words(self) -> AttrValue {
        self
    }
}

/// An element.
#[inline(never)]
pub fn el(tag: &'static str) -> El {
    El(Box::new(VTag::new(tag)))
}

/// An element of a class, and nothing else yet.
pub fn div(class: &'static str) -> El {
    el("div").class(class)
}

/// A text.
pub fn text(text: impl Words) -> Html {
    VText::new(text.words()).into()
}

/// Nothing.
pub fn nothing() -> Html {
    VNode::default()
}

/// Several things, one after the other.
pub fn all(things: impl IntoIterator<Item = Html>) -> Html {
    things.into_iter().collect()
}

impl El {
    /// Of these classes.
    pub fn class(self, class: &'static str) -> Self {
        self.set("class", AttrValue::Static(class))
    }

    /// With an attribute.
    pub fn attr(self, name: &'static str, value: impl Words) -> Self {
        self.set(name, value.words())
    }

    /// With an attribute, if there is a value for it.
    pub fn maybe(self, name: &'static str, value: Option<&'static str>) -> Self {
        match value {
            Some(value) => self.set(name, AttrValue::Static(value)),
            None => self,
        }
    }

    #[inline(never)]
    fn set(mut self, name: &'static str, value: AttrValue) -> Self {
        self.0.add_attribute(name, value);
        self
    }

    /// With a text in it.
    pub fn text(self, text: impl Words) -> Self {
        self.add_text(text.words())
    }

    #[inline(never)]
    fn add_text(mut self, text: AttrValue) -> Self {
        self.0.add_child(VText::new(text).into());
        self
    }

    /// With something in it.
    #[inline(never)]
    pub fn with(mut self, child: Html) -> Self {
        self.0.add_child(child);
        self
    }

    /// With an element in it.
    #[inline(never)]
    pub fn el(self, child: Self) -> Self {
        self.with(child.done())
    }

    /// With something in it, if there is something.
    pub fn when(self, child: Option<Html>) -> Self {
        match child {
            Some(child) => self.with(child),
            None => self,
        }
    }

    /// With these things in it.
    pub fn each(mut self, children: impl IntoIterator<Item = Html>) -> Self {
        for child in children {
            self = self.with(child);
        }
        self
    }

    /// Known among its neighbours by a key, so that it moves rather than changes.
    pub fn key(mut self, key: String) -> Self {
        self.0.key = Some(Key::from(key));
        self
    }

    /// An option of a list, chosen or not.
    pub fn selected(mut self, is: bool) -> Self {
        self.0.add_property("selected", JsValue::from_bool(is));
        self
    }

    /// A box, ticked or not.
    pub fn checked(mut self, is: bool) -> Self {
        self.0.set_checked(is);
        self
    }

    /// A field, with what stands in it.
    pub fn value(mut self, value: String) -> Self {
        self.0.set_value(AttrValue::from(value));
        self
    }

    /// Calls back when it is clicked, or pressed by the keyboard.
    pub fn on_click(self, call: impl Fn() + 'static) -> Self {
        self.listen(Rc::new(onclick::Wrapper::new(Callback::from(move |_: MouseEvent| call()))))
    }

    /// Calls back when a choice in it changed.
    pub fn on_change(self, call: Callback<Event>) -> Self {
        self.listen(Rc::new(onchange::Wrapper::new(call)))
    }

    /// Calls back when something was typed.
    pub fn on_input(self, call: Callback<InputEvent>) -> Self {
        self.listen(Rc::new(oninput::Wrapper::new(call)))
    }

    /// Calls back when a key went down.
    pub fn on_key(self, call: Callback<KeyboardEvent>) -> Self {
        self.listen(Rc::new(onkeydown::Wrapper::new(call)))
    }

    /// Calls back when the pointer came over it.
    pub fn on_enter(self, call: impl Fn() + 'static) -> Self {
        self.listen(Rc::new(onpointerenter::Wrapper::new(Callback::from(move |_: PointerEvent| call()))))
    }

    #[inline(never)]
    fn listen(mut self, listener: Rc<dyn Listener>) -> Self {
        self.0.add_listener(listener);
        self
    }

    /// The element, made.
    #[inline(never)]
    pub fn done(self) -> Html {
        (*self.0).into()
    }
}

impl From<El> for Html {
    fn from(element: El) -> Self {
        element.done()
    }
}

/// Tells the explorer what the reader does.
pub fn act(link: &Link, action: impl Fn() -> Action + 'static) -> impl Fn() + 'static {
    let link = link.clone();
    move || link.emit(action())
}

/// A button that says `label` and does something.
pub fn button(label: impl Words, call: impl Fn() + 'static) -> El {
    el("button").attr("type", "button").text(label.words()).on_click(call)
}

/// A link.
pub fn link(to: String, label: impl Words) -> El {
    el("a").attr("href", to).text(label.words())
}

/// A paragraph.
pub fn p(class: &'static str, words: impl Words) -> Html {
    el("p").class(class).text(words.words()).done()
}

/// The head of a table: a row of column heads, those with a trailing `#` over numbers.
pub fn heads(names: &[&str]) -> Html {
    let head = |name: &&str| {
        let cell = el("th").attr("scope", "col");
        match name.strip_suffix('#') {
            Some(name) => cell.class("number").text(name.to_owned()),
            None => cell.text((*name).to_owned()),
        }
        .done()
    };
    el("thead").el(el("tr").each(names.iter().map(head))).done()
}

/// A cell of a table.
pub fn td(class: &'static str, words: impl Words) -> Html {
    el("td").class(class).text(words.words()).done()
}

/// The head of a row.
pub fn row_head(words: impl Words) -> Html {
    el("th").attr("scope", "row").text(words.words()).done()
}

/// The same text once more, without copying it.
pub fn again(text: &AttrValue) -> AttrValue {
    text.implicit_clone()
}
