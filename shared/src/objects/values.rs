//! Numbers, words, lists and maps.

use std::collections::BTreeMap;

use super::Slot;
use crate::json::{Input, Number, Wrong};
use crate::named::Named;
use crate::units::{Joules, Seconds, Tokens, TokensPerSecond};

impl Slot for bool {
    fn blank() -> Self {
        false
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = input.flag()?;
        Ok(())
    }
}

impl Slot for f64 {
    fn blank() -> Self {
        0.0
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = input.number()?.real();
        Ok(())
    }
}

impl Slot for u64 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = whole(input, u64::MAX)?;
        Ok(())
    }
}

impl Slot for u32 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = whole(input, u64::from(Self::MAX))? as Self;
        Ok(())
    }
}

impl Slot for u16 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = whole(input, u64::from(Self::MAX))? as Self;
        Ok(())
    }
}

/// A whole number up to `most`.
fn whole(input: &mut Input<'_>, most: u64) -> Result<u64, Wrong> {
    let before = input.clone();
    if let Ok(Number::Whole(n)) = input.number()
        && n <= most
    {
        return Ok(n);
    }
    *input = before;
    Err(input.expected(&format!("a whole number from 0 to {most}")))
}

impl Slot for String {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = input.string()?.into_owned();
        Ok(())
    }
}

macro_rules! units {
    ($($unit:ty),*) => {$(
        impl Slot for $unit {
            fn blank() -> Self {
                Self(Slot::blank())
            }

            fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
                self.0.fill(input)
            }
        }
    )*};
}

units!(Seconds, Joules, Tokens, TokensPerSecond);

/// `null` and absence are "unknown".
impl<T: Slot> Slot for Option<T> {
    fn blank() -> Self {
        None
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = None;
        if input.null()? { Ok(()) } else { self.insert(T::blank()).fill(input) }
    }
}

impl<T: Slot> Slot for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        self.clear();
        input.list(&mut |input| self.push_mut(T::blank()).fill(input))
    }
}

/// A pair is a list of two.
impl Slot for (f64, f64) {
    fn blank() -> Self {
        (0.0, 0.0)
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        let mut places = [&mut self.0, &mut self.1].into_iter();
        input.list(&mut |input| match places.next() {
            Some(place) => place.fill(input),
            None => Err(input.wrong(&["expected a list of two, found a longer one"])),
        })?;
        if places.next().is_some() {
            Err(input.wrong(&["expected a list of two, found a shorter one"]))
        } else {
            Ok(())
        }
    }
}

impl<T: Slot> Slot for BTreeMap<String, T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        self.clear();
        input.object(&mut |name, input| {
            let place = self.entry(name.to_owned()).or_insert_with(T::blank);
            *place = T::blank();
            place.fill(input)
        })
    }
}

impl<T: Slot> Slot for Named<T> {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = Self::default();
        input.object(&mut |name, input| self.get_or_insert(name, T::blank).fill(input))
    }
}
