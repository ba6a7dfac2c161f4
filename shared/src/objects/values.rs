//! Numbers, words, lists and maps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Slot, Wrong, read};
use crate::units::{Joules, Seconds, Tokens, TokensPerSecond};

impl Slot for bool {
    fn blank() -> Self {
        false
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        *self = value.as_bool().ok_or_else(|| Wrong::expected("true or false", value))?;
        Ok(())
    }
}

impl Slot for f64 {
    fn blank() -> Self {
        0.0
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        *self = value.as_f64().ok_or_else(|| Wrong::expected("a number", value))?;
        Ok(())
    }
}

impl Slot for u64 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        *self = value.as_u64().ok_or_else(|| Wrong::expected("a whole number from 0 on", value))?;
        Ok(())
    }
}

impl Slot for u32 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        let number = value.as_u64().and_then(|n| Self::try_from(n).ok());
        *self = number.ok_or_else(|| Wrong::expected("a whole number from 0 to 4294967295", value))?;
        Ok(())
    }
}

impl Slot for u16 {
    fn blank() -> Self {
        0
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        let number = value.as_u64().and_then(|n| Self::try_from(n).ok());
        *self = number.ok_or_else(|| Wrong::expected("a whole number from 0 to 65535", value))?;
        Ok(())
    }
}

impl Slot for String {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        value.as_str().ok_or_else(|| Wrong::expected("a text", value))?.clone_into(self);
        Ok(())
    }
}

macro_rules! units {
    ($($unit:ty),*) => {$(
        impl Slot for $unit {
            fn blank() -> Self {
                Self(Slot::blank())
            }

            fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
                self.0.fill(value)
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

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        *self = if value.is_null() { None } else { Some(read(value)?) };
        Ok(())
    }
}

impl<T: Slot> Slot for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        let elements = value.as_array().ok_or_else(|| Wrong::expected("a list", value))?;
        self.reserve_exact(elements.len());
        for (i, element) in elements.iter().enumerate() {
            self.push(read(element).map_err(|wrong| wrong.inside_list(i))?);
        }
        Ok(())
    }
}

/// A pair is a list of two.
impl Slot for (f64, f64) {
    fn blank() -> Self {
        (0.0, 0.0)
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        let Some([first, second]) = value.as_array().map(Vec::as_slice) else {
            return Err(Wrong::expected("a list of two", value));
        };
        self.0.fill(first).map_err(|wrong| wrong.inside_list(0))?;
        self.1.fill(second).map_err(|wrong| wrong.inside_list(1))
    }
}

/// What a map is asked by.
pub trait FromKey: Ord + Sized {
    /// Reads the name of a member.
    ///
    /// # Errors
    /// When the name is none.
    fn from_key(key: &str) -> Result<Self, Wrong>;
}

impl FromKey for String {
    fn from_key(key: &str) -> Result<Self, Wrong> {
        Ok(key.to_owned())
    }
}

impl FromKey for u32 {
    fn from_key(key: &str) -> Result<Self, Wrong> {
        key.parse().map_err(|_| Wrong::new(&["expected a whole number as the name"]).inside(key))
    }
}

impl<K: FromKey, T: Slot> Slot for BTreeMap<K, T> {
    fn blank() -> Self {
        Self::new()
    }

    fn fill(&mut self, value: &Value) -> Result<(), Wrong> {
        let members = value.as_object().ok_or_else(|| Wrong::expected("an object", value))?;
        for (key, value) in members {
            self.insert(K::from_key(key)?, read(value).map_err(|wrong| wrong.inside(key))?);
        }
        Ok(())
    }
}
