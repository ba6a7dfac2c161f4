//! A comparison: how it stands in the address, and what came of it, computed once and not at every look at the page.

use dyno_shared::comparison::{Comparison, Side, Terms, compare};
use dyno_shared::format::full;
use dyno_shared::json::Input;
use dyno_shared::query::{decode, encode};

use crate::route::{Route, is_id};
use crate::state::{Shard, Shared, State};

/// What is to be compared, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// The sides in their order: each is a submission's id, or several of one configuration.
    pub sides: Vec<Vec<String>>,
    /// How.
    pub terms: Terms,
    /// The case whose runs are shown one by one.
    pub pairs: Option<String>,
}

/// As many sides as there are letters.
const MOST_SIDES: usize = 26;

impl Asked {
    /// Of submissions, each a side.
    pub fn of(ids: &[String]) -> Self {
        Self { sides: ids.iter().map(|id| vec![id.clone()]).collect(), ..Self::default() }
    }

    /// What an address asks: `a=ID&b=ID,ID&margin=1.05&mismatch=1&pairs=CASE`. What it does not understand is left at
    /// the usual.
    pub fn from_params(params: &str) -> Self {
        let mut asked = Self::default();
        let mut sides: Vec<(u8, Vec<String>)> = Vec::new();
        for pair in params.split('&') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            let value = decode(value);
            match key {
                "margin" => asked.terms.margin_ratio = margin(&value).unwrap_or(asked.terms.margin_ratio),
                "mismatch" => asked.terms.allow_mismatch = value == "1",
                "pairs" => asked.pairs = Some(value),
                _ => {
                    if let [letter @ b'a'..=b'z'] = *key.as_bytes() {
                        let ids: Vec<String> =
                            value.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
                        if !ids.is_empty() {
                            let place = sides.partition_point(|(known, _)| *known <= letter);
                            sides.insert(place, (letter, ids));
                        }
                    }
                }
            }
        }
        asked.sides = sides.into_iter().take(MOST_SIDES).map(|(_, ids)| ids).collect();
        asked
    }

    /// The same as it stands in the address.
    pub fn to_params(&self) -> String {
        let mut params = Vec::new();
        for (letter, ids) in (b'a'..=b'z').zip(&self.sides) {
            params.push([&char::from(letter).to_string(), "=", &encode(&ids.join(","))].concat());
        }
        let usual = Terms::default();
        if self.terms.margin_ratio != usual.margin_ratio {
            params.push(["margin=", &full(self.terms.margin_ratio)].concat());
        }
        if self.terms.allow_mismatch {
            params.push("mismatch=1".to_owned());
        }
        if let Some(case) = &self.pairs {
            params.push(["pairs=", &encode(case)].concat());
        }
        params.join("&")
    }

    /// Every submission, those of the first side first.
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.sides.iter().flatten()
    }

    /// With this side as the first, with which the others are compared.
    pub fn with_first(&self, side: usize) -> Self {
        let mut asked = self.clone();
        if side < asked.sides.len() {
            let first = asked.sides.remove(side);
            asked.sides.insert(0, first);
        }
        asked
    }

    /// Without this side.
    pub fn without(&self, side: usize) -> Self {
        let mut asked = self.clone();
        if side < asked.sides.len() {
            asked.sides.remove(side);
        }
        asked
    }

    /// Where it is shown.
    pub fn to_hash(&self) -> String {
        Route::Compare(self.clone()).to_hash()
    }
}

/// A margin that could be meant: above 1, and not more than twice.
fn margin(text: &str) -> Option<f64> {
    let margin = Input::new(text).number().ok()?.real();
    (margin > 1.0 && margin <= 2.0).then_some(margin)
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// The shards of each side.
    pub sides: Vec<Vec<Shared<Shard>>>,
    /// What came of them.
    pub comparison: Comparison,
}

impl Compared {
    /// Compares what the page at hand asks for, once all of it is here. Where that is what was compared last, nothing
    /// is computed again.
    pub fn keep(kept: &mut Option<Self>, state: &State) {
        let Route::Compare(asked) = &state.route else { return };
        let Some(sides) = shards(state, asked) else { return };
        if kept.as_ref().is_some_and(|kept| kept.is_of(&sides, asked.terms)) {
            return;
        }
        let of_sides: Vec<Side<'_>> = sides
            .iter()
            .map(|boots| Side { boots: boots.iter().map(|shard| &shard.submission).collect() })
            .collect();
        let comparison = compare(&of_sides, asked.terms);
        *kept = Some(Self { sides, comparison });
    }

    /// Whether it answers this question.
    pub fn answers(&self, state: &State, asked: &Asked) -> bool {
        shards(state, asked).is_some_and(|sides| self.is_of(&sides, asked.terms))
    }

    fn is_of(&self, sides: &[Vec<Shared<Shard>>], terms: Terms) -> bool {
        self.sides == sides && self.comparison.terms == terms
    }
}

/// The shards of two or more sides, if all of them are here.
fn shards(state: &State, asked: &Asked) -> Option<Vec<Vec<Shared<Shard>>>> {
    if asked.sides.len() < 2 {
        return None;
    }
    let mut sides = Vec::new();
    for ids in &asked.sides {
        let mut boots = Vec::new();
        for id in ids.iter().filter(|id| is_id(id)) {
            boots.push(state.shard(id).ready()?.clone());
        }
        if boots.len() < ids.len() {
            return None;
        }
        sides.push(boots);
    }
    Some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_survives_its_address() {
        let boots = vec!["0123".to_owned(), "4567".to_owned()];
        let mut asked = Asked::of(&boots);
        asked.sides.push(boots);
        asked.terms = Terms { margin_ratio: 1.05, allow_mismatch: true };
        asked.pairs = Some("code & <prose>".to_owned());
        let params = asked.to_params();
        assert_eq!(params, "a=0123&b=4567&c=0123,4567&margin=1.05&mismatch=1&pairs=code%20%26%20%3Cprose%3E");
        assert_eq!(Asked::from_params(&params), asked);
        assert_eq!(Asked::default().to_params(), "");
    }

    #[test]
    fn a_damaged_address_is_read_as_far_as_it_goes() {
        let asked = Asked::from_params("c=3&a=1,,2&b=&aa=4&margin=0.5&mismatch=yes&&x");
        assert_eq!(asked.sides, [vec!["1".to_owned(), "2".to_owned()], vec!["3".to_owned()]]);
        assert_eq!(asked.terms, Terms::default());
        for margin in ["1", "2.1", "1e999", "NaN", ""] {
            assert_eq!(Asked::from_params(&format!("margin={margin}")).terms, Terms::default(), "{margin}");
        }
    }

    #[test]
    fn another_side_comes_first_and_one_goes_away() {
        let asked = Asked::of(&["1".to_owned(), "2".to_owned(), "3".to_owned()]);
        assert_eq!(asked.with_first(2).to_params(), "a=3&b=1&c=2");
        assert_eq!(asked.without(0).to_params(), "a=2&b=3");
        assert_eq!(asked.without(9), asked);
    }
}
