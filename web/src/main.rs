//! Dyno's explorer: a static page over published shards, without a backend.

mod app;
mod badge;
mod browser;
mod compare;
mod component;
mod dom;
mod fetch;
mod figure;
mod identity;
mod page;
mod pretty;
mod reference;
mod route;
mod state;

fn main() {
    yew::Renderer::<app::App>::with_root(browser::root()).render();
}
